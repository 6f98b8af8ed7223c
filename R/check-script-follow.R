# Data frames with known roles, and what is made of them. A state is a list:
#   name      the variable, "" for what has none
#   file      the open file: data, roles, and what is known of its past
#   columns   its columns, held so that their addresses, `pointers`, stay theirs
#   address, hash   by which a change is seen; tables that change in place need the hash
#   classed   whether it carries its roles itself
#   was       protected columns as they were before, by variable
#   aligned   whether its records are in the order of `was`
#   ids       columns that identify and were in the file once; `allowed_ids` those on purpose
#   numbered  columns that number the records anew and identify nobody
#   part      whether it is a part of the records that nothing has judged yet
#   page      judged figures, see judge_frame()
#   whole, told   of a frame that was written: that its state is complete, and which key variables
#             other columns reveal
#   line      where it was made

# The state of `value`, NULL if no roles are known. What its columns tell, compared with those of
# the frame that it descends from, is found on the way.
follow <- function(run, value, name, target, before, comment = NULL, written = FALSE,
                   hash = frame_hash(value)) {
  parent <- parent_of(value, name, target, before, run$parsed$first[[run$at]])
  file <- file_of(run, value, parent, comment)
  if (!written && !length(comment$roles) && made_plain(value, parent, run)) {
    roles_gone(run, name, parent, names(value))
  }
  if (is.null(file)) {
    return(NULL)
  }
  columns <- own_columns(file$data)
  run$most_rows <- max(run$most_rows, nrow(file$data))
  if (is.null(parent)) run$past <- c(run$past, columns)
  state <- list(
    name = name, file = file, columns = columns, pointers = addresses_of(columns),
    address = rlang::obj_address(value), hash = hash, kind = class(value)[[1]],
    classed = !is.data.frame(value) || inherits(value, "sdc_file") &&
      all(file$roles$key_vars %in% attr(value, "roles")$key_vars),
    was = list(), aligned = TRUE,
    allowed_ids = keeps_ids(run),
    line = run$parsed$first[[run$at]], column = run$parsed$column[[run$at]]
  )
  # A part of the records is judged when it is written: most parts never are.
  state$part <- !written && !is.null(parent) && is.null(comment) &&
    is_some_records(value, state, parent)
  state$numbered <- numbered_columns(run, columns, parent)
  state$ids <- setdiff(
    c(identifying_columns(file, if (!written) parent), copied_ids(run, columns, parent)),
    state$numbered
  )
  if (!state$allowed_ids) run$ids[state$ids] <- state$columns[state$ids]
  again <- any(all.names(run$parsed$code[[run$at]]) %in% script_remedies)
  state$protected <- if (again) run$at else parent$protected
  if (!is.null(parent)) state <- descend(run, state, parent)
  if (!state$part) state$page <- judge_frame(state, run$limit, run$followed, written)
  state
}

keeps_ids <- function(run) {
  text <- run$lines[run$parsed$first[[run$at]]:run$parsed$last[[run$at]]]
  any(grepl("_ids", text, fixed = TRUE)) &&
    any(c("keep_ids", "new_ids") %in% argument_names_in(run$parsed$code[[run$at]]))
}

# Fewer records than the parent has, or a part in another order.
is_some_records <- function(value, state, parent) {
  is.data.frame(value) && all(names(value) %in% names(parent$columns)) && (
    nrow(value) < nrow(parent$file$data) ||
      parent$part && same_records(state, parent, parent$file$roles$key_vars)
  )
}

# Completes the state of a frame before it is written, once.
whole_state <- function(run, state) {
  if (is.null(state$whole)) {
    state$whole <- TRUE
    state$ids <- union(state$ids, setdiff(identifying_columns(state$file), state$numbered))
    if (state$part || isTRUE(state$page$draft)) {
      state$part <- FALSE
      state$page <- judge_frame(state, run$limit, run$followed, written = TRUE)
      run$frames <- c(run$frames, list(frame_line(run, state)))
    }
    run$followed[[state$name]] <- state
  }
  state
}

# The frame of which `value` was made: one that the line names, or that shares a column. If neither
# is known, one whose key variables `value` has by name with no other values. A frame that `line`
# made is that of an earlier turn of a loop, from which the next seldom comes. A frame that is
# changed in part, or made of itself with most of its columns, is its own parent. What joins a
# protected frame with another is that one, with what the other brings back.
parent_of <- function(value, name, target, before, line) {
  if (length(before) == 0) {
    return(NULL)
  }
  columns <- columns_of(value)
  at <- addresses_of(columns)
  own <- if (identical(target$name, name)) before[[name]]
  remade <- name %in% target$reads && 2 * sum(at %in% own$pointers) >= length(at)
  if (!is.null(own) && (target$part || remade)) {
    return(own)
  }
  score <- vapply(before, function(state) {
    own <- state$name == name
    turn <- if (state$line == line) -own else own / 2
    score <- kinship(state, names(columns), at, target$reads)
    if (score > 0) score + turn else 0
  }, 0)
  if (max(score) > 0) {
    return(before[[which.max(score)]])
  }
  Find(function(state) has_no_other_keys(columns, state), before)
}

# How much a frame has in common with the columns of a value, `at` their addresses.
kinship <- function(state, names, at, reads) {
  named <- state$name %in% reads
  shared <- sum(at %in% state$pointers)
  if (!named && shared == 0) {
    return(0)
  }
  keys <- state$file$roles$key_vars
  of_keys <- any(keys %in% names) || any(state$pointers[keys] %in% at)
  joined <- if (any(reads %in% join_calls) && named && length(state$was)) length(names) else 0
  alike <- sum(names %in% names(state$columns))
  if (named || of_keys) 2 + named + 3 * shared + alike + joined else 0
}

# Columns with the key variables of a frame by name, and with no other values of them.
has_no_other_keys <- function(columns, state) {
  keys <- state$file$roles$key_vars
  all(keys %in% names(columns)) && all(vapply(keys, function(key) {
    all(column_plain(unique(columns[[key]])) %in% column_plain(unique(state$columns[[key]])))
  }, NA))
}

join_calls <- c(
  "merge", "left_join", "right_join", "inner_join", "full_join", "cbind", "bind_cols"
)

# The file of a value that has roles, or gets them from a comment or from its parent.
file_of <- function(run, value, parent, comment) {
  if (!is.data.frame(value)) {
    return(as_file(value, "x"))
  }
  if (inherits(value, c("grouped_df", "rowwise_df"))) {
    class(value) <- c("tbl_df", "tbl", "data.frame")
  }
  if (!is.null(comment) && length(comment$roles)) {
    made <- tryCatch(
      as_file(eval(as.call(c(list(sdc_file, value), comment$roles)), globalenv()), "x"),
      sdcRisk_error = function(e) {
        bad_comment(run, comment, first_line(e))
        NULL
      }
    )
    return(made)
  }
  if (inherits(value, "sdc_file") && length(attr(value, "roles")$key_vars)) {
    file <- as_file(value, "x")
    # A part that gets columns back has them without their roles; sdc_file() says which are.
    if (!"sdc_file" %in% all.names(run$parsed$code[[run$at]])) {
      back <- c(intersect(parent$file$roles$key_vars, names(value)), renamed_keys(value, parent))
      file$roles$key_vars <- union(file$roles$key_vars, back)
    }
    return(file)
  }
  value <- bare_frame(value)
  if (is.null(parent) || is_summary(run, value, parent)) {
    return(NULL)
  }
  roles <- inherited_roles(value, parent)
  if (length(roles$key_vars)) new_file(value, roles)
}

# Tables of counts have a row for each key, and so have lists of all keys that there are.
is_summary <- function(run, value, parent) {
  keys <- intersect(parent$file$roles$key_vars, names(value))
  if (nrow(value) >= nrow(parent$file$data)) {
    return(FALSE)
  }
  of_keys <- as.data.frame(own_columns(value)[keys])
  if (anyDuplicated(utils::head(of_keys, 1000)) || anyDuplicated(of_keys)) {
    return(FALSE)
  }
  listed <- function() {
    of_parent <- parent$columns[keys]
    of_parent <- if (length(keys) == 1) of_parent[[1]] else as.data.frame(of_parent)
    length(keys) && !any(setdiff(names(parent$columns), keys) %in% names(value)) &&
      nrow(value) == sum(!duplicated(of_parent))
  }
  is_table(run, all.names(run$parsed$code[[run$at]])) || listed()
}

# TRUE if a line makes a table of counts, or uses one.
is_table <- function(run, names) {
  tables <- names(Filter(function(other) isTRUE(other$table), run$others))
  any(names %in% c(summary_calls, tables))
}

summary_calls <- c(
  "count", "tally", "summarise", "summarize", "aggregate", "table", "xtabs", "tapply", "ftable",
  ".N", "by", "reframe", "svytable", "svyby"
)

# The roles whose columns are there, by name, or under another name with the values that they had.
inherited_roles <- function(value, parent) {
  roles <- parent$file$roles
  renamed <- function(columns) {
    found <- unlist(lapply(columns, function(column) {
      if (column %in% names(value)) {
        return(column)
      }
      utils::head(equal_columns(value, parent$columns[[column]]), 1)
    }))
    if (length(found)) found
  }
  for (role in setdiff(names(roles), c(population_roles, "key_groups"))) {
    roles[[role]] <- renamed(roles[[role]])
  }
  groups <- Filter(function(columns) all(columns %in% names(value)), roles$key_groups)
  roles$key_groups <- if (length(groups)) groups
  if (nrow(value) != nrow(parent$file$data)) roles[c("pop_size", "sampling_fraction")] <- NULL
  roles$key_vars <- union(roles$key_vars, renamed_keys(value, parent))
  roles
}

# Columns that have the groups of a key variable of the parent that is not there by its name, or
# was dropped before: another name or other codes for its values hide nobody.
renamed_keys <- function(value, parent) {
  columns <- own_columns(value)
  gone <- c(parent$columns[setdiff(parent$file$roles$key_vars, names(columns))], parent$dropped)
  back <- function(column) any(vapply(gone, same_groups, NA, column))
  if (length(gone)) union(intersect(names(parent$dropped), names(columns)),
                          names(Filter(back, columns)))
}

same_groups <- function(a, b) {
  codes <- function(x) match(x, unique(x))
  same <- function(n) {
    identical(codes(column_plain(utils::head(a, n))), codes(column_plain(utils::head(b, n))))
  }
  is.atomic(b) && length(a) == length(b) && same(200) && varies(b) && same(length(b))
}

# Columns that the parent has too are known until a file is written: to look at all of them after
# every line would take longer than most lines.
identifying_columns <- function(file, parent = NULL) {
  settings <- file$roles[c("key_vars", "weight_var", "strata_var", "hh_id")]
  columns <- as.list(unclass(file$data))
  fresh <- columns[!names(columns) %in% names(parent$columns)]
  ids <- c(parent$ids, identifiers_of(fresh, settings), file$roles$id_vars)
  setdiff(intersect(ids, names(columns)), unlist(file$roles[c("num_vars", "sensitive", "cluster")]))
}

# Fresh columns that are an identifier under another name, or with letters before or after it.
copied_ids <- function(run, columns, parent) {
  fresh <- columns[!names(columns) %in% c(names(parent$columns), names(run$ids))]
  names(Filter(function(column) holds_any(column, run$ids), fresh))
}

holds_any <- function(column, ids) {
  any(vapply(ids, function(id) {
    is.atomic(column) && length(column) == length(id) && varies(id) && holds_id(column, id)
  }, NA))
}

holds_id <- function(column, id) {
  if (!is.character(column) && !is.factor(column)) {
    return(identical(column, id) || are_numbers_of(column, id))
  }
  column <- as.character(column)
  id <- as.character(id)
  around <- function(at) all(endsWith(column[at], id[at]) | startsWith(column[at], id[at]))
  isTRUE(around(seq_len(min(100, length(id))))) && isTRUE(around(seq_along(id)))
}

# The first value says most.
are_numbers_of <- function(column, id) {
  is.numeric(column) && is.numeric(id) && column[[1]] %in% id && all(column %in% id) &&
    length(unique(id)) > 20 && same_values(column, id)
}

# Columns that the script has made of 1, 2, ... or the like, in the order of the records. Of a frame
# that was read, and if an identifier has these values, they say who a person is.
numbered_columns <- function(run, columns, parent) {
  if (is.null(parent)) {
    return(NULL)
  }
  known <- c(run$ids, parent$columns[parent$ids])
  fresh <- columns[!names(columns) %in% names(parent$columns)]
  if (!draws_numbers(run, parent, names(fresh))) {
    fresh <- Filter(numbers_records, fresh)
  }
  c(intersect(parent$numbered, names(columns)), names(Filter(function(column) {
    !holds_any(column, known)
  }, fresh)))
}

# TRUE if a line makes columns of nothing but the size of a frame and chance.
draws_numbers <- function(run, parent, fresh) {
  code <- run$parsed$code[[run$at]]
  drawn <- any(all.names(code) %in% c(
    "sample", "sample.int", "runif", "rnorm", "seq_len", "seq_along", "row_number"
  ))
  uses <- setdiff(all.vars(code), c(parent$name, fresh))
  is_number <- function(name) {
    value <- get0(name, globalenv(), inherits = FALSE)
    is.null(value) || is.atomic(value) && length(value) == 1
  }
  drawn && !any(uses %in% c(names(parent$columns), names(run$ids))) &&
    all(vapply(uses, is_number, NA))
}

numbers_records <- function(x) {
  if (is.character(x)) {
    if (!grepl("^[0-9]+$", x[1])) {
      return(FALSE)
    }
    x <- suppressWarnings(as.double(x))
  }
  is.numeric(x) && !is.object(x) && length(x) > 1 && isTRUE(x[[2]] - x[[1]] == 1) &&
    isTRUE(all(x == x[[1]] + seq_along(x) - 1))
}

# Compares a frame with its parent: roles kept, and faults.
descend <- function(run, state, parent) {
  state$allowed_ids <- state$allowed_ids || parent$allowed_ids
  moved <- is_reordered(state, parent)
  state$aligned <- parent$aligned && !moved && nrow(state$file$data) == nrow(parent$file$data)
  state$calibrated <- parent$calibrated
  state$was <- parent$was
  gone <- parent$columns[setdiff(parent$file$roles$key_vars, names(state$columns))]
  kept <- function(column) any(vapply(state$columns, same_groups, NA, column))
  state$dropped <- c(parent$dropped, Filter(Negate(kept), gone))
  keys <- union(parent$file$roles$key_vars, names(parent$was))
  variables <- union(keys, changed_numbers(run, state, parent, moved, keys))
  if (!moved || !same_records(state, parent, c(variables, parent$file$roles$weight_var))) {
    weights_kept(run, state, parent, moved)
    for (variable in variables) {
      if (!moved || !same_values(state$columns[[variable]], parent$columns[[variable]])) {
        state <- protection_of(run, state, parent, variable)
      }
    }
  }
  come_back(run, state, parent)
  records_back(run, state, parent)
  returned_ids(run, state, parent)
  columns_lost(run, state, parent)
  state$ids <- union(state$ids, setdiff(parent$ids, state$numbered))
  state
}

# A plain data frame of all records or some, made of a file with roles.
made_plain <- function(value, parent, run) {
  if (is.null(parent) || !is.data.frame(value) || inherits(value, "sdc_file")) {
    return(FALSE)
  }
  same <- nrow(value) == nrow(parent$file$data) || setequal(names(value), names(parent$columns))
  same && parent$classed && parent$kind == "sdc_file" && !needs_no_roles(run, parent) &&
    !is_summary(run, value, parent) && all(parent$file$roles$key_vars %in% names(value))
}

# A release, or what a line makes of a frame that never had roles.
needs_no_roles <- function(run, parent) {
  reads <- all.names(run$parsed$code[[run$at]])
  isTRUE(parent$file$forgotten) || "release_data" %in% reads ||
    any(reads %in% names(run$others)) && !parent$name %in% reads
}

roles_gone <- function(run, name, parent, columns) {
  roles <- lapply(parent$file$roles, function(role) {
    if (is.character(role)) intersect(role, columns) else role
  })
  roles <- c(Filter(length, roles[names(roles) != "missing"]), parent$file$roles["missing"])
  add_finding(
    run, "roles_lost", paste0(
      "\"", shorten(name), "\" is a plain data frame: the roles of \"", shorten(parent$name),
      "\" are lost, and functions of sdcRisk would take all its columns as key variables."
    ), paste0(name_code(name), " <- ", file_call(name, roles)), "below",
    name = name, repaired = function(state) state$classed
  )
}

# A message of sdcRisk names the columns with a role that a call dropped, `lost`: the frame that the
# line makes may have them. Dropped key variables and identifiers lower the risk, so only weights,
# strata and clusters are findings.
role_lost <- function(run, message) {
  of <- message$roles %in% c("weight_var", "strata_var", "cluster")
  run$lost <- union(run$lost, message$columns[of])
}

columns_lost <- function(run, state, parent) {
  lost <- setdiff(intersect(run$lost, names(parent$columns)), names(state$columns))
  if (length(lost)) {
    add_finding(
      run, "roles_lost", paste0(
        "The file loses ", quote_names(lost), ", a column with a role: risks in the population ",
        "can no longer be judged."
      ), name = state$name, repaired = function(state) all(lost %in% names(state$columns))
    )
  }
}

weights_kept <- function(run, state, parent, moved) {
  weight <- parent$file$roles$weight_var
  new <- state$columns[[if (length(weight)) weight else ""]]
  old <- if (length(weight)) parent$columns[[weight]]
  if (is.null(new) || length(new) != length(old) || identical(new, old) || !is.numeric(new)) {
    return(invisible())
  }
  others <- !weights_differ(sort(new, na.last = TRUE), sort(old, na.last = TRUE))
  same <- others && (!weights_differ(new, old) || moved && move_together(state, parent, weight))
  if (same || weights_on_purpose(run, state)) {
    return(invisible())
  }
  sums <- vapply(list(new, old), function(x) format_amount(signif(sum(x), 4)), "")
  add_finding(run, "weights_changed", paste0(
    "The weights ", quote_names(weight), " are changed",
    if (!is.null(run$calibrated)) paste0(" after their calibration in line ", run$calibrated),
    if (others) {
      ": they are those of other records. "
    } else {
      paste0(": they sum to ", sums[[1]], " and summed to ", sums[[2]], ". ")
    },
    "Risks by weights and published totals no longer agree."
  ), paste0(part_code(state$name, weight), " <- ", part_code(parent$name, weight))[
    nzchar(state$name) && state$name != parent$name
  ], "below", name = state$name, repaired = function(state) {
    identical(state$columns[[weight]], old)
  })
}

# A calibration, or weights that are put back.
weights_on_purpose <- function(run, state) {
  put_back <- vapply(run$held, function(held) {
    held$finding$code == "weights_changed" && held$name == state$name && held$repaired(state)
  }, NA)
  any(put_back) || any(all.names(run$parsed$code[[run$at]]) %in% calibrations)
}

calibrations <- c(
  "calibrate", "postStratify", "rake", "calib", "calibSample", "calibWeights", "e.calibrate",
  "ipf", "ipu", "trimWeights", "calibVars", "anesrake"
)

weights_differ <- function(new, old) {
  sum(abs(new - old), na.rm = TRUE) > 1e-9 * sum(abs(old), na.rm = TRUE) ||
    sum(is.na(new)) != sum(is.na(old))
}

# TRUE if records in another order have kept their weights: of the columns with the values of
# before, most are beside the same weights.
move_together <- function(state, parent, weight) {
  columns <- setdiff(intersect(names(state$columns), names(parent$columns)), weight)
  kept <- Filter(function(column) same_records(state, parent, column), columns)
  beside <- vapply(kept, function(column) same_records(state, parent, c(column, weight)), NA)
  sum(beside) >= sum(!beside)
}

# Records in another order: no column that varies is as it was.
is_reordered <- function(state, parent) {
  both <- intersect(names(state$columns), names(parent$columns))
  in_place <- function(name) {
    column <- state$columns[[name]]
    identical(column, parent$columns[[name]]) && varies(column)
  }
  nrow(state$file$data) == nrow(parent$file$data) && length(both) > 1 &&
    is.null(Find(in_place, both))
}
