# A file as the user holds it: the data frame itself, whose class begins with "sdc_file", and
# two attributes,
#   roles   the roles of its columns and the population, a list named by arguments
#   kept    an environment: the place of its codes (`tables`), and what is known of its past.
#           Nobody changes it but to keep codes, which are known by the columns they were
#           made from; a file with another past has another one.
# The file of a table of a database is that table, a query with roles: its class begins with
# "sdc_table" and "sdc_file", and `kept$counted` are its patterns once they were counted.
# Behind the door a file is open: a list of the bare data frame, the roles and the parts below.

# Methods of S4 for data frames, such as DBI::dbWriteTable(), take a file.
methods::setOldClass(c("sdc_file", "data.frame"))

# State of a file besides its roles. `object`: the sdcMicroObj it came from; `defaults`: arguments
# that take precedence over those of functions; `protected`, `remedy`: protections; `original`,
# `forgotten`: see first_original(); `history`, `states`: see release-history.R; `told`: by which
# columns and orders a recoded file reveals values; `part`: TRUE if records were left out,
# `hh_left_out` if household numbers were; `id_left_out`, what is known of an identifier with
# several records of one value that was, see matches_of_units().
past_parts <- c(
  "object", "defaults", "protected", "remedy", "original", "forgotten", "history", "states", "told",
  "part", "hh_left_out", "id_left_out"
)

past_of <- function(file) {
  kept <- attr(file, "kept", exact = TRUE)
  past <- mget(past_parts, envir = kept, ifnotfound = list(NULL))
  past$original <- if (rlang::is_weakref(kept$original)) rlang::wref_value(kept$original)
  past
}

# Those that are about the records in their order.
past_of_records <- c("object", "original")

is_open_file <- function(x) inherits(x, "sdc_open_file")
is_file <- function(x) inherits(x, "sdc_file") || is_open_file(x)
is_file_table <- function(x) inherits(x, "sdc_table")

# The data frame, or table of a database, without class and attributes of a file.
bare_frame <- function(x) {
  if (!inherits(x, "sdc_file")) {
    return(x)
  }
  # A file that was saved comes without the verbs of its table.
  if (is_file_table(x)) loadNamespace("dbplyr")
  attr(x, "roles") <- NULL
  attr(x, "kept") <- NULL
  class(x) <- setdiff(class(x), c("sdc_table", "sdc_file"))
  x
}

# Of a table of a database the patterns are missing if they were not counted yet: see as_file().
open_file <- function(x) {
  kept <- attr(x, "kept", exact = TRUE)
  roles <- attr(x, "roles", exact = TRUE)
  if (!is.data.frame(x) && !is_file_table(x) || !is.environment(kept) || !is.list(roles)) {
    stop_not_whole("file of sdc_file()")
  }
  data <- bare_frame(x)
  stop_grouped(data)
  roles <- roles_kept(roles, colnames(data))
  if (is_file_table(x)) {
    file <- new_file(kept$counted, roles)
    file$table <- data
  } else {
    file <- new_file(data, roles)
  }
  past <- past_of(x)
  # A file that was saved does not hold the values before its protection.
  past$forgotten <- if (length(past$history) && is.null(past$original)) TRUE else past$forgotten
  for (part in names(past)) file[[part]] <- past[[part]]
  file$codes <- kept
  file
}

# A file of patterns stays open: its rows are not records. It, too, holds what it was weakly.
close_file <- function(file) {
  if (!is.null(file$table)) {
    closed <- as_kept_file(file$table, file$roles, unclass(file)[past_parts])
    kept <- attr(closed, "kept")
    kept$counted <- file$data
    return(closed)
  }
  if (!is.null(times_of(file$data))) {
    if (is_open_file(file$original)) {
      file$original <- rlang::new_weakref(file$codes, value = file$original)
    }
    return(file)
  }
  as_kept_file(file$data, file$roles, unclass(file)[past_parts], file$codes)
}

as_kept_file <- function(data, roles, past, codes = NULL) {
  past <- past[!vapply(past, is.null, NA)]
  if (!is.environment(codes) || length(past)) {
    codes <- list2env(as.list(past), parent = emptyenv())
    # Held weakly: a file that is saved, or sent, does not have them.
    if (!is.null(past$original)) {
      codes$original <- rlang::new_weakref(codes, value = past$original)
    }
  }
  attr(data, "roles") <- roles
  attr(data, "kept") <- codes
  class(data) <- c(if (inherits(data, "tbl_lazy")) "sdc_table", "sdc_file", class(data))
  # With room for new columns.
  if (inherits(data, "data.table") && requireNamespace("data.table", quietly = TRUE)) {
    data <- data.table::setalloccol(data)
  }
  data
}

# The roles whose columns are there. A key group needs all of its columns.
roles_kept <- function(roles, names, say = TRUE) {
  of_columns <- setdiff(names(roles), population_roles)
  lost <- character()
  for (role in setdiff(of_columns, "key_groups")) {
    gone <- setdiff(roles[[role]], names)
    lost <- c(lost, rlang::set_names(gone, rep(role, length(gone))))
    left <- intersect(roles[[role]], names)
    roles[[role]] <- if (length(left)) left
  }
  groups <- Filter(function(columns) all(columns %in% names), roles$key_groups)
  roles$key_groups <- if (length(groups)) groups
  if (length(lost) && say) {
    inform_sdc(
      "role_lost",
      paste0("The file has lost columns with a role: ", quote_names(unname(lost)), "."),
      i = "sdc_roles() says which roles are left; sdc_file() gives new ones.",
      columns = unname(lost), roles = names(lost)
    )
  }
  roles
}

population_roles <- c("pop_size", "sampling_fraction", "missing", "prob_attempt")

# The file that another data frame makes of `old`. Fewer records are a part of it.
keep_file <- function(new, old, roles = attr(old, "roles"), same_records = FALSE) {
  if (is_lazy_table(new)) {
    return(keep_table(new, old, roles))
  }
  # Without columns no role was lost: verbs that bind columns begin so.
  if (!is.data.frame(new) || length(new) == 0) {
    return(new)
  }
  past <- past_of(old)
  if (NROW(past$told$columns)) {
    # Of a column that was changed nothing is known.
    same <- intersect(names(new), names(old))
    if (same_records) same <- Filter(function(v) identical(new[[v]], old[[v]]), same)
    told <- told_among(past$told$columns, same)
    past$told$again <- isTRUE(past$told$again) || nrow(told) < nrow(past$told$columns)
    past$told$columns <- told
  }
  roles <- roles_kept(roles, names(new))
  if (!same_records) {
    past[past_of_records] <- list(NULL)
    if (nrow(new) < nrow(old)) {
      if (is.null(past$part) && nrow(new) > 0) inform_part(nrow(new), nrow(old), roles)
      past$part <- TRUE
      roles[c("pop_size", "sampling_fraction")] <- NULL
    } else if (nrow(new) > nrow(old)) {
      inform_grown(nrow(new), nrow(old))
    }
  }
  as_kept_file(new, roles, past, attr(old, "kept"))
}

# As above of a query. Nothing runs, so that records are counted when they are needed: `part` is
# TRUE for a verb that leaves some out.
keep_table <- function(new, old, roles = attr(old, "roles"), part = FALSE) {
  past <- past_of(old)
  past[past_of_records] <- list(NULL)
  # Once for a file.
  if (part && is.null(past$part)) inform_part(NULL, NULL, roles)
  if (part) {
    past$part <- TRUE
    roles[c("pop_size", "sampling_fraction")] <- NULL
  }
  as_kept_file(new, roles_kept(roles, colnames(new)), past)
}

# `n` is NULL if the records are not counted yet.
inform_part <- function(n, n_before, roles) {
  inform_sdc(
    "file_part",
    paste0(
      "The file ", if (is.null(n)) "can now be" else "is now", " a part of a file",
      if (!is.null(n)) paste0(": ", format_count(n), " of ", plural(n_before, "record")), "."
    ),
    i = if (any(c("pop_size", "sampling_fraction") %in% names(roles))) {
      "The size of the population was that of the whole file: give that of the part."
    },
    i = "Risks are those of records among the records of the part.",
    n = n, n_before = n_before
  )
}

# A join that repeats records would make every class as many times larger.
inform_grown <- function(n, n_before) {
  inform_sdc(
    "file_grown",
    paste0("The file now has ", plural(n, "record"), ", not ", format_count(n_before), "."),
    i = "Every record counts as a person of its own: were records repeated by a join?",
    n = n, n_before = n_before
  )
}

# R's own verbs -------------------------------------------------------------------

#' @export
`[.sdc_file` <- function(x, ...) {
  announce("[")
  if (inherits(x, "data.table") && changes_in_place(sys.call())) {
    # The table that the user holds is the file, and stays it.
    call <- sys.call()
    call[[1]] <- utils::getS3method("[", "data.table")
    call[[2]] <- x
    return(invisible(eval(call, parent.frame())))
  }
  new <- on_bare_frame(x, quote(`[`), sys.call(), parent.frame())
  columns_alone <- nargs() < 3 && !inherits(x, "data.table")
  keep_file(new, x, same_records = columns_alone && NROW(new) == nrow(x))
}

# TRUE for a call that changes a data.table by reference, by `:=` or let().
changes_in_place <- function(call) {
  at <- if ("j" %in% names(call)) "j" else if (length(call) > 3) 4
  # An argument that is left out, as in f[1:5, ], cannot be given a name.
  !is.null(at) && is.call(call[[at]]) &&
    (identical(call[[at]][[1]], quote(`:=`)) || identical(call[[at]][[1]], quote(let)))
}

# Repeats the call on the bare data frame: omitted arguments stay omitted, and expressions are
# evaluated in the caller's environment.
on_bare_frame <- function(x, generic, call, frame) {
  call[[1]] <- generic
  call[[2]] <- bare_frame(x)
  eval(call, frame)
}

#' @export
transform.sdc_file <- function(`_data`, ...) {
  announce("transform")
  new <- on_bare_frame(`_data`, quote(transform), sys.call(), parent.frame())
  keep_file(new, `_data`, same_records = TRUE)
}

#' @export
`names<-.sdc_file` <- function(x, value) {
  announce("names<-")
  roles <- renamed_roles(attr(x, "roles"), names(x), as.character(value))
  new <- bare_frame(x)
  names(new) <- value
  keep_file(new, x, roles, same_records = TRUE)
}

# Every column keeps its role under its new name, and loses it without one.
renamed_roles <- function(roles, old, new) {
  to <- function(columns) {
    to <- new[match(columns, old)]
    ifelse(is.na(to), columns, to)
  }
  for (role in setdiff(names(roles), c(population_roles, "key_groups"))) {
    roles[[role]] <- to(roles[[role]])
  }
  roles$key_groups <- if (length(roles$key_groups)) lapply(roles$key_groups, to)
  roles
}

#' @export
as.data.frame.sdc_file <- function(x, ...) {
  inform_second(parent.frame())
  as.data.frame(bare_frame(x), ...)
}

#' @export
duplicated.sdc_file <- function(x, ...) duplicated(bare_frame(x), ...)

#' @importFrom utils head
#' @export
head.sdc_file <- function(x, ...) utils::head(bare_frame(x), ...)

#' @importFrom utils tail
#' @export
tail.sdc_file <- function(x, ...) utils::tail(bare_frame(x), ...)

#' @export
merge.sdc_file <- function(x, y, ...) {
  announce("merge")
  keep_file(merge(bare_frame(x), bare_frame(y), ...), x)
}

#' @export
rbind.sdc_file <- function(...) bind_files(rbind, ...)

#' @export
cbind.sdc_file <- function(...) bind_files(cbind, ...)

bind_files <- function(bind, ...) {
  parts <- list(...)
  first <- Filter(function(x) inherits(x, "sdc_file"), parts)[[1]]
  keep_file(do.call(bind, lapply(parts, bare_frame)), first)
}

#' @export
plot.sdc_file <- function(x, ...) {
  announce("plot")
  nouns <- c(sdc_pattern_table = "pattern table", sdc_hierarchy = "hierarchy")
  noun <- c(nouns[intersect(class(x), names(nouns))], "file")[[1]]
  stop_argument(
    "x", "be a result that has a picture", paste0("A ", noun, " has none."),
    if (noun == "hierarchy") {
      "plot(recode_search(data)) draws what recodings cost."
    } else {
      "plot(file_check(x)) draws the risks of a file, plot(n_matches(x)) the numbers of matches."
    }
  )
}

#' @export
plot.sdc_open_file <- plot.sdc_file

#' @export
plot.sdc_pattern_table <- plot.sdc_file

#' @export
plot.sdc_hierarchy <- plot.sdc_file

#' @exportS3Method ggplot2::autoplot
autoplot.sdc_file <- function(object, ...) plot.sdc_file(object, ...)

#' @exportS3Method ggplot2::autoplot
autoplot.sdc_open_file <- autoplot.sdc_file

#' @exportS3Method ggplot2::autoplot
autoplot.sdc_pattern_table <- autoplot.sdc_file

#' @exportS3Method ggplot2::autoplot
autoplot.sdc_hierarchy <- autoplot.sdc_file

# Verbs of dplyr and tibble ---------------------------------------------------------

#' @exportS3Method dplyr::dplyr_reconstruct
dplyr_reconstruct.sdc_file <- function(data, template) {
  announce("dplyr_reconstruct")
  keep_file(dplyr::dplyr_reconstruct(bare_frame(data), bare_frame(template)), template)
}

#' @exportS3Method dplyr::dplyr_col_modify
dplyr_col_modify.sdc_file <- function(data, cols) {
  announce("dplyr_col_modify")
  keep_file(dplyr::dplyr_col_modify(bare_frame(data), cols), data, same_records = TRUE)
}

#' @exportS3Method dplyr::dplyr_row_slice
dplyr_row_slice.sdc_file <- function(data, i, ...) {
  announce("dplyr_row_slice")
  keep_file(dplyr::dplyr_row_slice(bare_frame(data), i, ...), data)
}

# Groups and counts are not files of records.

#' @exportS3Method dplyr::group_by
group_by.sdc_file <- function(.data, ...) {
  grouped <- dplyr::group_by(bare_frame(.data), ...)
  as_kept_file(grouped, attr(.data, "roles"), past_of(.data), attr(.data, "kept"))
}

#' @exportS3Method dplyr::ungroup
ungroup.sdc_file <- function(x, ...) {
  keep_file(dplyr::ungroup(bare_frame(x), ...), x, same_records = TRUE)
}

#' @exportS3Method dplyr::rowwise
rowwise.sdc_file <- function(data, ...) {
  rows <- dplyr::rowwise(bare_frame(data), ...)
  as_kept_file(rows, attr(data, "roles"), past_of(data), attr(data, "kept"))
}

#' @exportS3Method dplyr::summarise
summarise.sdc_file <- function(.data, ...) dplyr::summarise(bare_frame(.data), ...)

#' @exportS3Method dplyr::count
count.sdc_file <- function(x, ...) dplyr::count(bare_frame(x), ...)

#' @exportS3Method tibble::as_tibble
as_tibble.sdc_file <- function(x, ...) {
  inform_second(parent.frame())
  tibble::as_tibble(bare_frame(x), ...)
}

has_groups <- function(table) is_lazy_table(table) && length(dplyr::group_vars(table)) > 0

stop_grouped <- function(data) {
  if (inherits(data, c("grouped_df", "rowwise_df")) || has_groups(data)) {
    stop_sdc(
      "bad_data", "The file must not be grouped: risks are those of a whole file.",
      x = if (has_groups(data)) {
        paste0("Its groups are those of ", quote_names(dplyr::group_vars(data)), ".")
      } else {
        paste0("It has class ", quote_names(class(data)), ".")
      },
      i = "dplyr::ungroup() takes the groups away; summary(x, by = ) gives risks by group.",
      data_class = class(data)
    )
  }
}
