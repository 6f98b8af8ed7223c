# Files that are written, looked at after the expression that writes them.

look_at_written <- function(run, one) {
  run$where <- one$where
  on.exit(run$where <- NULL)
  if (!is.null(one$text)) {
    what <- if (is.null(one$what)) paste0("Text is written by ", one$name, "().") else one$what
    return(written_otherwise(run, what, one$name))
  }
  value <- one$value
  names <- writer_names(one$name)
  if (!identical(frame_hash(value), one$hash)) {
    return(written_otherwise(run, "A table is written that the same line changes later.", names))
  }
  if (is_followable(value)) {
    written_frame(run, value, names, one)
  } else if (is_plain_list(value)) {
    for (part in value) {
      one[c("value", "variable", "hash")] <- list(part, "", frame_hash(part))
      look_at_written(run, one)
    }
    # Record by record.
    if (!any(vapply(value, is_followable, NA)) && is_many(run, one$place, length(value))) {
      written_otherwise(run, "A list is written with as many parts as a file has records.", names)
    }
  } else if (may_hold_records(value)) {
    written_otherwise(run, "A line writes an object other than a data frame.", names)
  }
  for (part in frames_inside(value)) written_inside(run, part, names, one)
}

# Data frames in attributes, list columns, slots, environments and functions that go with an object.
frames_inside <- function(value) {
  found <- list()
  if (is_own(value) && !inherits(value, "sdc_file") || is_sdcmicro(value)) {
    return(found)
  }
  open <- contents_of(value, whole = !is_followable(value) && !is_plain_list(value))
  seen <- list()
  while (length(open) && length(seen) < 10000) {
    part <- open[[1]]
    open <- open[-1]
    if (is.environment(part)) {
      known <- any(vapply(seen, identical, NA, part))
      if (known || nzchar(environmentName(part))) next
    }
    seen <- c(seen, if (is.environment(part)) list(part) else list(NULL))
    if (is_followable(part)) {
      found <- c(found, list(part))
    } else {
      open <- c(open, contents_of(part))
    }
  }
  found
}

contents_of <- function(value, whole = TRUE) {
  parts <- attributes(value)
  parts <- parts[setdiff(names(parts), c(plain_attributes, if (is_own(value)) own_attributes))]
  if (is.data.frame(value)) {
    columns <- own_columns(value)
    parts <- c(parts, columns[vapply(columns, is.list, NA)])
  } else if (whole && is.list(value)) {
    parts <- c(parts, unclass(value))
  } else if (is.function(value)) {
    parts <- c(parts, list(environment(value)))
  } else if (is.environment(value)) {
    parts <- c(parts, bound_values(value), list(parent.env(value)))
  }
  Filter(function(part) {
    is.recursive(part) && !is.language(part) || !is.null(attributes(part))
  }, unname(parts))
}

# What is not computed yet is not.
bound_values <- function(env) {
  names <- ls(env, all.names = TRUE, sorted = FALSE)
  odd <- rlang::env_binding_are_lazy(env, names) | rlang::env_binding_are_active(env, names)
  mget(names[!odd], envir = env)
}

plain_attributes <- c(
  "names", "row.names", "class", "dim", "dimnames", "levels", "srcref", "srcfile", "wholeSrcref",
  "tsp", "package"
)

own_attributes <- c("roles", "kept")

is_plain_list <- function(value) is.list(value) && !is.object(value)

is_own <- function(value) any(startsWith(class(value), "sdc_"))

# A frame that goes with another object is not seen by those who write it: that one is named.
written_inside <- function(run, value, names, one) {
  state <- state_of_written(run, value, "")
  if (is.null(state)) {
    return(written_unknown(run, value, names, one))
  }
  kept <- any(state$page$rows$verdict == "above") || is_remedy(value) || is_sdcmicro(value) ||
    !state$allowed_ids && any(state$ids %in% names(state$columns))
  if (kept) {
    add_finding(run, "original_written", paste0(
      "An object is written with a data frame inside it",
      if (nzchar(state$name)) paste0(", that of ", quote_names(state$name)),
      ": its values are not protected, or it has identifiers."
    ), names = names)
  }
}

least_records <- 20

# A vector, or an object with one in it, such as a fitted model, that may have a value per record.
may_hold_records <- function(value) {
  if (is.function(value)) value <- environment(value)
  if (is.environment(value)) value <- if (!nzchar(environmentName(value))) bound_values(value)
  size <- if (is.list(value)) {
    lengths(value[!vapply(value, is.data.frame, NA)])
  } else if (is.atomic(value)) {
    length(value)
  }
  !is_own(value) && any(size >= least_records)
}

# Objects without columns by which they could be followed.
written_otherwise <- function(run, what, names = character()) {
  add_finding(run, "not_followed", paste(
    what, "This check cannot follow its values back to a file with roles: it was not judged."
  ), names = names)
}

written_frame <- function(run, value, names, one) {
  state <- state_of_written(run, value, one$variable)
  if (is.null(state)) {
    return(written_unknown(run, value, names, one))
  }
  settle_held(run, sure = state$name)
  if (is_remedy(value) || is_sdcmicro(value)) {
    release <- if (is_remedy(value)) "release_data(" else "sdcMicro::extractManipData("
    add_finding(
      run, "original_written", paste0(
        frame_words(state$name),
        " is written with the values before its protection, or what undoes it."
      ), replacing_code(state$name, release, ")"), names = names
    )
  }
  written_above(run, state, names)
  written_back(run, state, names)
  written_ids(run, state, names)
  written_row_names(run, state, names, one$row_names)
  written_attributes(run, value, state, names, one$name)
  written_told(run, state, names)
}

# Identifiers in comments, labels and names of a frame and its columns, which some formats keep.
written_attributes <- function(run, value, state, names, writer) {
  if (!writer %in% attribute_writers || !is.data.frame(value)) {
    return(invisible())
  }
  objects <- c(list(value), as.list(unclass(value)))
  found <- unlist(lapply(seq_along(objects), function(i) {
    about <- attributes(objects[[i]])
    about <- about[setdiff(base::names(about), c(setdiff(
      plain_attributes, if (i > 1) "names"
    ), own_attributes, "labels"))]
    Filter(is.atomic, about)
  }), recursive = FALSE)
  ids <- unique(unlist(lapply(run$ids, as.character)))
  holds <- function(x) {
    words <- unlist(strsplit(as.character(x), "[^[:alnum:]]+"))
    length(unique(words[words %in% ids])) >= least_records
  }
  if (!state$allowed_ids && any(vapply(found, holds, NA))) {
    add_finding(run, "identifier_written", paste0(
      frame_words(state$name), " is written with a comment, label, name or other attribute that ",
      "identifies persons or households."
    ), names = names)
  } else if (any(lengths(found) == nrow(value) & lengths(found) >= least_records)) {
    written_otherwise(run, "A frame is written with an attribute for every record.", names)
  }
}

# Writers of R's own formats and of SPSS, Stata and SAS.
attribute_writers <- c(
  "saveRDS", "save", "dput", "write_rds", "write_sav", "write_dta", "write_sas", "write_xpt",
  "write_parquet", "write_feather"
)

# NULL if nothing is known of it, or it is a table.
state_of_written <- function(run, value, variable) {
  if (length(Filter(function(other) other$table && is_unchanged(value, other), run$others))) {
    return(NULL)
  }
  known <- Filter(function(state) is_unchanged(value, state), run$followed)
  if (length(known)) {
    return(whole_state(run, known[[1]]))
  }
  target <- target_of(run$parsed$code[[run$at]])
  target$name <- NULL
  like <- parent_of(value, "", target, run$followed, run$parsed$first[[run$at]])
  if (!nzchar(variable) && !is.null(like) && is_part(value, like)) variable <- like$name
  follow(run, value, variable, target, run$followed, written = TRUE)
}

replacing_code <- function(name, before, after) {
  if (nzchar(name)) {
    in_script(paste0(name_code(name), " <- ", before, name_code(name), after))
  } else {
    ""
  }
}

# TRUE if a value has only columns of a frame that is followed, and its records.
is_part <- function(value, state) {
  is.data.frame(value) && all(names(value) %in% names(state$columns)) &&
    nrow(value) == nrow(state$file$data)
}

written_above <- function(run, state, names) {
  page <- state$page
  if (is.null(page$rows)) {
    add_finding(run, "not_followed", paste0(
      frame_words(state$name), " is written and could not be judged: ", page$reason, "."
    ), names = names)
    return(invisible())
  }
  words <- function(verdict) {
    rows_verdict(page$rows[page$rows$verdict == verdict, ], page$n)
  }
  verdicts <- page$rows$verdict
  if (any(verdicts == "above")) {
    add_finding(
      run, "above_limit", paste0(frame_words(state$name), " is written while it is ",
                                 words("above"), "."),
      remedy_code(state, run$limit), names = names
    )
  } else if (any(verdicts == "unclear")) {
    # What an intruder finds who knows that a person is in the file needs no model.
    kept <- verdicts == "ok" & page$rows$scenario == "prosecutor"
    add_finding(run, "limit_unclear", paste0(
      frame_words(state$name), " is written while it is ", words("unclear"), ".",
      if (any(kept)) paste0(" ", paste(page$rows$measure[kept], collapse = ", "), " is kept.")
    ), names = names, severity = if (any(kept)) "information")
  }
}

# A frame of a file that is known to be protected, with variables as they were before.
written_back <- function(run, state, names) {
  protected <- intersect(base::names(run$protected), state$file$states$variable)
  back <- Filter(function(variable) {
    is_it <- function(column) any(vapply(run$protected[[variable]], identical, NA, column))
    any(vapply(state$columns, is_it, NA)) && !paste(state$name, variable) %in% run$back
  }, protected)
  if (length(back)) {
    add_finding(run, "value_returned", paste0(
      frame_words(state$name), " is written with the values that ", quote_names(back),
      " had before the protection."
    ), names = names)
  }
}

written_ids <- function(run, state, names) {
  ids <- setdiff(intersect(state$ids, names(state$columns)), if (state$allowed_ids) state$ids)
  ids_found(run, ids, state$name, names, state)
}

# Row names that R has made are numbers, with the names of groups before them.
written_row_names <- function(run, state, names, row_names) {
  as_known <- function(id) all(row_names %in% as.character(id))
  # The first records have the numbers that R gives to all files.
  if (identical(row_names, as.character(seq_along(row_names)))) {
    return(invisible())
  }
  groups <- unique(sub("[.][0-9]+$", "", row_names))
  # rbind() adds a digit to those that occur twice.
  numbers <- suppressWarnings(as.double(sub("[.].*", "", groups)))
  named <- if (nzchar(state$name)) get0(state$name, globalenv(), inherits = FALSE)
  made <- isTRUE(all(numbers <= 10 * run$most_rows)) || length(groups) < length(row_names) / 2
  if (length(row_names) && (!made || any(vapply(run$ids, as_known, NA)))) {
    add_finding(run, "identifier_written", paste0(
      frame_words(state$name), " is written with its row names, which identify persons or ",
      "households."
    ), paste0("rownames(", name_code(state$name), ") <- NULL")[is.data.frame(named)], names = names)
  }
}

# Households whose members must stay together get new numbers, if the file can be released.
ids_found <- function(run, ids, name, names, state = NULL) {
  if (length(ids)) {
    add_finding(
      run, "identifier_written", paste0(
        frame_words(name), " is written with ", quote_names(ids), ", which ",
        ngettext(length(ids), "identifies", "identify"), " persons or households."
      ), if (any(ids %in% state$file$roles$hh_id)) {
        renumbered_code(state)
      } else {
        without_code(run, name, ids)
      }, names = names
    )
  }
}

renumbered_code <- function(state) {
  if (!is.data.frame(state$file$data) || length(state$file$history) == 0 || !state$classed) {
    return("")
  }
  numbers <- paste0(", new_ids = ", dput_text(state$file$roles$hh_id), ")")
  replacing_code(state$name, "release_data(", numbers)
}

written_told <- function(run, state, names) {
  told <- state$told
  if (is.null(told)) {
    told <- told_of_written(state)
    if (isTRUE(state$whole)) run$followed[[state$name]]$told <- told
  }
  for (by in unique(told$columns$by)) {
    of <- told$columns[told$columns$by == by, ]
    add_finding(
      run, "told_by_column", paste0(
        frame_words(state$name), " is written with ", quote_names(by), ", which",
        if (all(of$part)) " narrows " else " reveals ", quote_names(of$variable),
        ": an intruder who knows it knows more than the key variables."
      ), without_code(run, state$name, by), names = names
    )
  }
  protected <- told$protected[!told$protected$by %in% told$columns$by, ]
  for (by in unique(protected$by)) {
    columns <- intersect(strsplit(by, " + ", fixed = TRUE)[[1]], names(state$columns))
    add_finding(
      run, "told_by_column", paste0(
        frame_words(state$name), " is written with columns that reveal protected or missing ",
        "values: ", told_words(protected[protected$by == by, ]), "."
      ), without_code(run, state$name, columns), names = names
    )
  }
  if (told$order) {
    add_finding(run, "limit_unclear", paste(
      frame_words(state$name),
      "is written in an order of its records that reveals protected or missing values."
    ), names = names)
  }
}

# Columns that are more detailed than a key variable, those that reveal `protected` values, as the
# page finds them, and whether the `order` of the records does.
told_of_written <- function(state) {
  file <- state$file
  roles <- file$roles
  data <- file$data[setdiff(names(file$data), setdiff(unlist(roles), roles$key_vars))]
  told <- told_unasked(told_by_columns(data, NULL, roles$key_vars, pairs = FALSE))
  told <- told[told$share >= 0.5, ]
  if (length(state$was) || length(file$history)) {
    told <- told[!told$by %in% made_of_released(told, data, roles$key_vars), ]
  }
  asked <- coded_page(file, list(missing = "wildcard", p = 1), labels_of_file(file))$asked
  said <- told_of_page(file, asked)
  protected <- rbind(said$missing, said$before)
  if (!state$allowed_ids) protected <- told_unasked(protected)
  list(columns = told, protected = protected, order = anyNA(said$order$by))
}

# Columns that are made of the released key variables and reveal nothing more: all records with
# equal values have the same there, and those with a missing value none that others have.
made_of_released <- function(told, data, key_vars) {
  codes <- function(column) match(column, unique(column))
  is_made_of <- function(column, variables) {
    group <- 0
    for (variable in variables) group <- codes(group * (nrow(data) + 1) + codes(data[[variable]]))
    open <- !stats::complete.cases(data[variables]) & !is.na(column)
    sum(!duplicated(group * (nrow(data) + 1) + codes(column))) == max(group) &&
      !any(column[open] %in% column[!open & !is.na(column)])
  }
  Filter(function(by) {
    variables <- c(key_vars, list(unique(told$variable[told$by == by])))
    any(vapply(variables, is_made_of, NA, column = column_plain(data[[by]])))
  }, unique(told$by))
}

# A file of records of which nothing is known but columns that identified records of another.
# Short tables are no files of records, unless there are many.
written_unknown <- function(run, value, names, one) {
  columns <- columns_of(value)
  is_id <- vapply(columns, function(column) any(vapply(run$ids, identical, NA, column)), NA)
  numbers <- vapply(columns, numbers_records, NA)
  ids_found(run, names(columns)[is_id | names(columns) %in% names(run$ids) & !numbers],
    one$variable, names)
  # A transposed file has a column for each record.
  if (is_many(run, one$place, max(NROW(columns[[1]]), length(columns)))) {
    add_finding(run, "not_followed", paste(
      "A data frame is written that this check cannot follow back to a file with roles: it is a",
      "table, or its columns have other names and values. It was not judged."
    ), names = names)
  }
}

# Whether what is written to a file, or by an expression, is as long as a file of records.
is_many <- function(run, place, size) {
  for (of in c(place, paste("expression", run$at))) {
    run$texts[[of]] <- sum(run$texts[[of]], size)
  }
  max(unlist(run$texts[c(place, paste("expression", run$at))])) >= least_records
}
