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

is_followable <- function(x) {
  if (is_sdcmicro(x) || is_remedy(x)) {
    return(TRUE)
  }
  is.data.frame(x) && nrow(x) > 0 && length(x) > 0 && !is_pattern_table(x) &&
    !inherits(x, c("sdc_replay", "sdc_panel_table"))
}

columns_of <- function(x) {
  data <- if (is.data.frame(x)) x else tryCatch(as_file(x, "x")$data, error = function(e) NULL)
  own_columns(data)
}

addresses_of <- function(columns) vapply(columns, rlang::obj_address, "")

# Objects made by reference change their columns and names in place, but not this list.
own_columns <- function(data) {
  columns <- as.list(unclass(data))
  names(columns) <- paste0(names(columns))
  columns
}

# Only a data.table changes without a new address: then the memory of its columns does.
frame_hash <- function(x) if (inherits(x, "data.table")) memory_hash(own_columns(x))

# `of`: what of the memory is hashed, by column or, whatever their order, by record.
memory_hash <- function(columns, of = rs_memory) {
  plain <- vapply(columns, typeof, "") %in% c("logical", "integer", "double", "character")
  memory <- unwrap(call_core(of, unname(columns[plain])))
  rlang::hash(list(lapply(columns, attributes), memory, columns[!plain]))
}

# The memory of a data.table is looked at if the line may have reached it.
is_unchanged <- function(x, known, reached = NULL) {
  # A column more or less is seen without reading memory.
  same <- identical(rlang::obj_address(x), known$address) &&
    (is.null(known$hash) || identical(names(own_columns(x)), names(known$columns)))
  if (!same || is.null(known$hash)) {
    return(same && is.null(frame_hash(x)))
  }
  out_of_reach <- !is.null(reached) && !any(c(known$address, known$pointers) %in% reached)
  out_of_reach || identical(frame_hash(x), known$hash)
}

# Addresses of the objects that a line names and of their columns. NULL if it can reach others: by a
# function or list of the script, or by names as text.
reached_by <- function(run) {
  words <- words_of(run$lines[run$parsed$first[[run$at]]:run$parsed$last[[run$at]]])
  names <- intersect(words, ls(globalenv(), all.names = TRUE, sorted = FALSE))
  odd <- rlang::env_binding_are_lazy(globalenv(), names) |
    rlang::env_binding_are_active(globalenv(), names)
  if (any(odd) || any(words %in% reaching_calls)) {
    return(NULL)
  }
  found <- lapply(names, function(name) {
    value <- get(name, globalenv())
    columns <- if (is.data.frame(value)) own_columns(value)
    plain <- if (is.null(columns)) is.atomic(value) else all(vapply(columns, is.atomic, NA))
    if (plain) c(rlang::obj_address(value), addresses_of(columns))
  })
  if (!any(vapply(found, is.null, NA))) c("", unlist(found))
}

reaching_calls <- c(
  "get", "get0", "mget", "eval", "evalq", "eval.parent", "do.call", "source", "sys.source",
  "assign", "parse", "str2lang", "str2expression", "as.name", "as.symbol", "globalenv",
  ".GlobalEnv", "environment", "as.environment", "parent.frame", "pos.to.env", "sys.frame",
  "sys.frames", "eapply", "attach", "load", "sym", "syms", "ensym", "parse_expr",
  "parse_exprs", "eval_tidy", "exec", "env_get"
)

# The state of `value`, NULL if no roles are known. What its columns tell, compared with those of
# the frame that it descends from, is found on the way.
follow <- function(run, value, name, target, before, comment = NULL, written = FALSE) {
  parent <- parent_of(value, name, target, before, run$parsed$first[[run$at]])
  file <- file_of(run, value, parent, comment)
  if (!written && !length(comment$roles) && made_plain(value, parent, run)) {
    roles_gone(run, name, parent)
  }
  if (is.null(file)) {
    return(NULL)
  }
  columns <- own_columns(file$data)
  if (is.null(parent)) run$past <- c(run$past, columns)
  state <- list(
    name = name, file = file, columns = columns, pointers = addresses_of(columns),
    address = rlang::obj_address(value), hash = frame_hash(value), kind = class(value)[[1]],
    classed = !is.data.frame(value) || inherits(value, "sdc_file"),
    was = list(), aligned = TRUE,
    allowed_ids = any(c("keep_ids", "new_ids") %in% argument_names_in(run$parsed$code[[run$at]])),
    line = run$parsed$first[[run$at]], column = run$parsed$column[[run$at]]
  )
  # A part of the records is judged when it is written: most parts never are.
  state$part <- !written && !is.null(parent) && is.null(comment) &&
    is_some_records(value, state, parent)
  state$numbered <- numbered_columns(run, columns, parent)
  state$ids <- setdiff(identifying_columns(file, if (!written) parent), state$numbered)
  if (!state$allowed_ids) run$ids[state$ids] <- state$columns[state$ids]
  again <- any(all.names(run$parsed$code[[run$at]]) %in% script_remedies)
  state$protected <- if (again) run$at else parent$protected
  if (!is.null(parent)) state <- descend(run, state, parent)
  if (!state$part) state$page <- judge_frame(state, run$limit, run$followed, written)
  state
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
# changed in part, or made of itself with most of its columns, is its own parent.
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
    theirs <- state$pointers
    keys <- state$file$roles$key_vars
    named <- state$name %in% target$reads
    shared <- sum(at %in% theirs)
    alike <- sum(names(columns) %in% names(state$columns))
    of_keys <- any(keys %in% names(columns)) || any(theirs[keys] %in% at)
    known <- named || shared > 0 && of_keys
    own <- state$name == name
    if (known) 2 + named + 3 * shared + alike + if (state$line == line) -own else own / 2 else 0
  }, 0)
  if (max(score) > 0) {
    return(before[[which.max(score)]])
  }
  within <- function(state) {
    keys <- state$file$roles$key_vars
    all(keys %in% names(columns)) && all(vapply(keys, function(key) {
      all(column_plain(unique(columns[[key]])) %in% column_plain(unique(state$columns[[key]])))
    }, NA))
  }
  Find(within, before)
}

column_plain <- function(x) {
  if (is.factor(x) || is.numeric(x) && is.object(x)) as.character(x) else as.vector(x)
}

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
    return(as_file(value, "x"))
  }
  value <- bare_frame(value)
  if (is.null(parent) || is_summary(run, value, parent)) {
    return(NULL)
  }
  roles <- inherited_roles(value, parent)
  if (length(roles$key_vars)) new_file(value, roles)
}

# Tables of counts have a row for each key.
is_summary <- function(run, value, parent) {
  keys <- intersect(parent$file$roles$key_vars, names(value))
  is_table(run, all.names(run$parsed$code[[run$at]])) &&
    nrow(value) < nrow(parent$file$data) && !anyDuplicated(as.data.frame(value)[keys])
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
  # A key variable that was dropped and is back.
  back <- intersect(parent$dropped, names(value))
  roles$key_vars <- union(roles$key_vars, back)
  roles
}

equal_columns <- function(value, column) {
  names(value)[vapply(as.list(unclass(value)), identical, NA, column)]
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

# Columns that the script has made of 1, 2, ... or the like, in the order of the records. Of a frame
# that was read, and if an identifier has these values, they say who a person is.
numbered_columns <- function(run, columns, parent) {
  if (is.null(parent)) {
    return(NULL)
  }
  known <- c(run$ids, parent$columns[parent$ids])
  fresh <- Filter(numbers_records, columns[!names(columns) %in% names(parent$columns)])
  old <- function(column) any(vapply(known, function(id) isTRUE(all.equal(id, column)), NA))
  c(intersect(parent$numbered, names(columns)), names(Filter(Negate(old), fresh)))
}

numbers_records <- function(x) {
  is.numeric(x) && !is.object(x) && length(x) > 1 && isTRUE(x[[2]] - x[[1]] == 1) &&
    all(x == x[[1]] + seq_along(x) - 1)
}

# Compares a frame with its parent: roles kept, and faults.
descend <- function(run, state, parent) {
  state$allowed_ids <- state$allowed_ids || parent$allowed_ids
  moved <- is_reordered(state, parent)
  state$aligned <- parent$aligned && !moved && nrow(state$file$data) == nrow(parent$file$data)
  state$calibrated <- parent$calibrated
  state$was <- parent$was
  state$dropped <- union(parent$dropped, setdiff(parent$file$roles$key_vars, names(state$columns)))
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
  returned_ids(run, state, parent)
  columns_lost(run, state, parent)
  state$ids <- union(state$ids, setdiff(parent$ids, state$numbered))
  state
}

# Numbers that a line protects: by a function for that, or by fewer values of a continuous variable
# in the first records.
changed_numbers <- function(run, state, parent, moved, keys) {
  called <- any(all.names(run$parsed$code[[run$at]]) %in% script_remedies)
  asked <- if (called) names(parent$columns) else parent$file$roles$num_vars
  asked <- setdiff(asked, c(keys, parent$file$roles$weight_var))
  n_values <- function(x) length(unique(utils::head(x, 20000)))
  Filter(function(name) {
    new <- state$columns[[name]]
    old <- parent$columns[[name]]
    is.numeric(new) && is.numeric(old) && length(new) == length(old) && !identical(new, old) &&
      (called || n_values(new) < n_values(old)) && !(moved && same_records(state, parent, name))
  }, asked)
}

# A plain data frame of all records or some, made of a file with roles. A release needs no roles.
made_plain <- function(value, parent, run) {
  if (is.null(parent) || !is.data.frame(value) || inherits(value, "sdc_file")) {
    return(FALSE)
  }
  released <- isTRUE(parent$file$forgotten) ||
    "release_data" %in% all.names(run$parsed$code[[run$at]])
  same <- nrow(value) == nrow(parent$file$data) || setequal(names(value), names(parent$columns))
  !released && same && parent$classed && parent$kind == "sdc_file" &&
    !is_summary(run, value, parent) && all(parent$file$roles$key_vars %in% names(value))
}

roles_gone <- function(run, name, parent) {
  add_finding(
    run, "roles_lost", paste0(
      "\"", shorten(name), "\" is a plain data frame: the roles of \"", shorten(parent$name),
      "\" are lost, and functions of sdcRisk would take all its columns as key variables."
    ), paste0(name_code(name), " <- ", file_call(name, parent$file$roles)), "below",
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

# Protection ------------------------------------------------------------------------

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

# The first records say most.
varies <- function(x) !all(utils::head(x, 100) %in% x[1]) || !all(x %in% x[1])

same_records <- function(state, parent, names) {
  identical(record_hash(state$columns[names]), record_hash(parent$columns[names]))
}

record_hash <- function(columns) memory_hash(columns, rs_memory_of_rows)

same_values <- function(new, old) {
  new <- column_plain(new)
  old <- column_plain(old)
  values <- unique(old)
  places <- match(new, values)
  !anyNA(places) && identical(
    tabulate(places, length(values)), tabulate(match(old, values), length(values))
  )
}

# Effect of a line on a key variable: it protects the variable, so that the values before are kept,
# or undoes a protection.
protection_of <- function(run, state, parent, variable) {
  new <- state$columns[[variable]]
  old <- parent$columns[[variable]]
  if (is.null(new) || is.null(old) || identical(new, old)) {
    return(state)
  }
  before <- parent$was[[variable]]
  n_back <- if (!is.null(before)) n_restored(new, old, before, state$aligned)
  if (isTRUE(n_back > 0)) {
    is_key <- variable %in% state$file$roles$key_vars
    add_finding(
      run, "remedy_undone", paste0(
        "This line puts ", plural(n_back, "value"), " of ", quote_names(variable),
        " back that ", parent_words(parent), " had protected."
      ), if (is_key) remedy_code(state, run$limit) else "", "below", name = state$name,
      repaired = protected_since(run$at)
    )
    state$was[[variable]] <- NULL
  } else if (is.null(before) && is_protection(new, old)) {
    state$was[[variable]] <- old
    if (nrow(state$file$data) != length(old)) state$aligned <- FALSE
  }
  state
}

protected_since <- function(at) {
  function(state) isTRUE(state$protected > at) && !any(state$page$rows$verdict == "above")
}

parent_words <- function(parent) paste0("line ", parent$line)

# Values are suppressed, or fewer or other values are shown. A record that is left out protects
# nothing.
is_protection <- function(new, old) {
  length(new) == length(old) && !identical(column_plain(new), column_plain(old))
}

# Number of values that equal those before the protection and differed in between.
n_restored <- function(new, old, before, aligned) {
  if (length(new) == length(before) && length(old) == length(before) && aligned) {
    columns <- alike(new, old, before)
    now <- columns[[1]]
    between <- columns[[2]]
    first <- columns[[3]]
    changed <- is.na(between) != is.na(now) | between != now
    changed[is.na(changed)] <- FALSE
    back <- changed & !is.na(first) & !is.na(now) & now == first
    return(if (sum(back) > sum(changed) / 2) sum(back) else 0)
  }
  finer <- setdiff(as.character(column_plain(unique(new))), as.character(column_plain(unique(old))))
  finer <- finer[!is.na(finer)]
  if (length(finer) && all(finer %in% as.character(column_plain(unique(before))))) {
    return(sum(as.character(column_plain(new)) %in% finer))
  }
  rise <- sum(!is.na(new)) - sum(!is.na(old))
  if (rise > max(0, length(new) - length(old))) rise else 0
}

# Columns to be compared: as they are if all are numbers, as text otherwise.
alike <- function(...) {
  columns <- lapply(list(...), column_plain)
  if (all(vapply(columns, is.numeric, NA))) columns else lapply(columns, as.character)
}

# Columns that the parent has not, and that hold what was protected.
come_back <- function(run, state, parent) {
  fresh <- setdiff(names(state$columns), names(parent$columns))
  for (variable in names(state$was)) {
    for (column in fresh) {
      n <- n_told(state$columns[[column]], state$columns[[variable]], state$was[[variable]])
      # Noise and swaps show as many values as there were.
      if (n == 0 && state$aligned && is.numeric(state$columns[[column]]) &&
            !variable %in% parent$file$roles$key_vars) {
        n <- n_restored(
          state$columns[[column]], state$columns[[variable]], state$was[[variable]], TRUE
        )
      }
      if (n > 0) {
        add_finding(
          run, "value_returned", paste0(
            "The column ", quote_names(column), " brings ", plural(n, "protected value"), " of ",
            quote_names(variable), " back."
          ), without_code(run, state$name, column, "below"), "below", name = state$name,
          repaired = is_without(column)
        )
      }
    }
  }
  again <- intersect(fresh, parent$dropped)
  if (length(again)) {
    add_finding(
      run, "value_returned", paste0(
        "The key variable ", quote_names(again), " is back, which had been left out."
      ), without_code(run, state$name, again, "below"), "below", name = state$name,
      repaired = is_without(again)
    )
  }
}

# Number of protected values of a variable that a column reveals: it agrees if both are known, or is
# finer and has no other values than the variable had. A join can give the variable another name:
# then the column has all values of before.
n_told <- function(column, shown, before) {
  if (!is.atomic(column)) {
    return(0)
  }
  if (is.null(shown)) {
    return(if (varies(column) && same_values(column, before)) length(column) else 0)
  }
  column <- column_plain(column)
  shown <- column_plain(shown)
  known <- !is_absent(column)
  both <- known & !is_absent(shown)
  n_hidden <- sum(known) - sum(both)
  if (n_hidden > 0 && any(both) && agree_mostly(column[both], shown[both])) {
    return(n_hidden)
  }
  columns <- alike(column, shown, before)
  column <- columns[[1]]
  shown <- columns[[2]]
  first <- unique(columns[[3]])
  # Most columns have other values: these are not all compared.
  if (!all(utils::head(column[known], 100) %in% first)) {
    return(0)
  }
  values <- unique(column[known])
  finer <- length(values) > length(unique(shown[!is_absent(shown)])) && all(values %in% first)
  nested <- finer && length(unique(paste(column, shown, sep = "\r")[both])) <=
    1.01 * length(unique(column[both]))
  if (nested) sum(known) else 0
}

# As text, NaN is a value.
is_absent <- function(x) if (is.double(x)) is.na(x) & !is.nan(x) else is.na(x)

# At least 99% are equal, as text: of most pairs of columns the first records say that they are not.
agree_mostly <- function(a, b) {
  differ <- function(at) sum(as.character(a[at]) != as.character(b[at]))
  n <- length(a)
  differ(seq_len(n %/% 50)) <= 0.01 * n && differ(seq_len(n)) <= 0.01 * n
}

# Identifiers that the parent has not, and that it, or what it was made of, had, or that come to
# a protected file.
returned_ids <- function(run, state, parent) {
  if (state$allowed_ids) {
    return(invisible())
  }
  back <- setdiff(state$ids, names(parent$columns))
  known <- setdiff(intersect(names(state$columns), parent$ids), state$numbered)
  back <- union(
    back[rep(length(parent$was) > 0, length(back))], setdiff(known, names(parent$columns))
  )
  if (length(back)) {
    add_finding(
      run, "identifier_returned", paste0(
        quote_names(back), ngettext(length(back), " comes", " come"),
        " back, which identifies persons or households."
      ), without_code(run, state$name, back, "below"), "below", name = state$name,
      repaired = is_without(back)
    )
  }
}

is_without <- function(columns) function(state) !any(columns %in% names(state$columns))

frame_words <- function(name) if (nzchar(name)) quote_names(name) else "The data frame"

# Code of a fix -----------------------------------------------------------------------

name_code <- function(name) {
  if (grepl("^[A-Za-z.][A-Za-z0-9._]*$", name)) name else paste0("`", name, "`")
}

part_code <- function(name, column) paste0(name_code(name), "$", vapply(column, name_code, ""))

# A frame without a name cannot be repaired in a line of its own, and a column that the line, or
# one below it, names must stay.
without_code <- function(run, name, columns, place = "above") {
  since <- if (place == "above") run$parsed$first[[run$at]] else run$parsed$last[[run$at]] + 1L
  used <- columns %in% words_of(utils::tail(run$lines, max(0, length(run$lines) - since + 1)))
  if (nzchar(name) && !any(used)) {
    paste0(part_code(name, columns), " <- NULL", collapse = "; ")
  } else {
    ""
  }
}

file_call <- function(name, roles) {
  roles <- roles[intersect(names(roles), setdiff(c(role_names, file_roles), "missing"))]
  in_script(code_text(as.call(c(list(as.name("sdc_file"), as.name(name)), roles))))
}

script_remedies <- c(
  "suppress_cells", "global_recode", "apply_recoding", "recode_search", "invariant_pram", "kAnon",
  "localSuppression", "globalRecode", "pram", "microaggregate", "top_code", "topBotCoding",
  "microaggregation", "mafast", "microaggrGower", "addNoise", "rankSwap", "shuffle", "dataGen"
)

# Code for a script, which may not have attached the package.
in_script <- function(code) {
  if ("package:sdcRisk" %in% search()) {
    return(code)
  }
  own <- "(sdc_file|recode_search|apply_recoding|suppress_cells|release_data)[(]"
  gsub(paste0("(?<![:\\w.])", own), "sdcRisk::\\1(", code, perl = TRUE)
}

# The line that brings a frame under its limits.
remedy_code <- function(state, limit) {
  if (!nzchar(state$name)) {
    return("")
  }
  k <- if (is.null(limit$k)) 3 else limit$k
  if (identical(state$kind, "sdcMicroObj")) {
    return(paste0(
      name_code(state$name), " <- sdcMicro::kAnon(", name_code(state$name), ", k = ",
      number_code(k), ")"
    ))
  }
  file <- if (state$classed) name_code(state$name) else file_call(state$name, state$file$roles)
  recode <- isTRUE(state$page$recode)
  in_script(paste0(
    name_code(state$name), " <- ", if (recode) paste0(
      "recode_search(", file, ", k = ", number_code(k),
      ", suppress = 0.02) |> apply_recoding() |> suppress_cells("
    ) else paste0("suppress_cells(", file, ", "), "k = ", number_code(k),
    if (!is.null(state$page$max_risk)) paste0(", max_risk = ", number_code(state$page$max_risk)),
    ") |> release_data()"
  ))
}
