# Diagnostics of key variables that every method gives before its own figures: missing values and
# their reasons, the number of records lost by them, and key variables that look like identifiers.

# Per column of a table: missing records, those of them that hold a code which
# the column declares missing, and these codes as text.
missing_cells <- function(table, data) {
  # A pattern has NA for every missing value, whatever it was declared to be.
  declared <- lapply(unname(unclass(data)[table$positions]), declared_missing)
  frame(
    variable = table$variables, n_missing = as_count(table$n_missing),
    n_declared = vapply(declared, `[[`, 1L, "n"), codes = vapply(declared, `[[`, "", "codes")
  )
}

# "Missing: age 3.1%, stat 18.3% (declared codes -9)." NULL where nothing is.
missing_line <- function(cells, n, most = 4) {
  cells <- cells[cells$n_missing > 0, ]
  if (nrow(cells) == 0) {
    return(NULL)
  }
  shown <- utils::head(cells[order(-cells$n_missing), ], most)
  rest <- nrow(cells) - nrow(shown)
  of_codes <- ifelse(
    shown$n_declared == 0, "",
    paste0(
      " (declared codes ", shown$codes,
      ifelse(
        shown$n_declared == shown$n_missing, "", paste0(": ", format_percent(shown$n_declared / n))
      ),
      ")"
    )
  )
  paste0(
    "Missing: ",
    paste0(shown$variable, " ", format_percent(shown$n_missing / n), of_codes, collapse = ", "),
    if (rest > 0) paste0(" and ", plural(rest, "more key variable")), "."
  )
}

# More records than this share left out is more than a detail.
most_excluded <- 0.05

inform_excluded <- function(n_excluded, n, unit = "record") {
  if (n_excluded <= most_excluded * n) {
    return(invisible())
  }
  inform_sdc(
    "many_excluded",
    paste0(
      plural(n_excluded, paste("incomplete", unit)), " of ", format_count(n), " (",
      format_percent(n_excluded / n), ") ", if (n_excluded == 1) "is" else "are",
      " left out."
    ),
    i = paste0(
      "The numbers are about the other ", unit, "s, among which whole groups may be absent."
    ),
    n_excluded = n_excluded
  )
}

# Names of the columns in which nearly all of at least 20 values differ: an
# identifier, or a continuous variable, that no one should take for a key.
# `exempt` are columns whose values match others than themselves.
identifying_keys <- function(table, exempt = character()) {
  n_known <- table$n - table$n_missing
  nearly <- n_known >= 20 & table$n_values > 0.9 * n_known
  of_sets <- !vapply(table$sets, is.null, NA)
  setdiff(table$variables[nearly & !of_sets], exempt)
}

inform_identifying <- function(keys) {
  if (length(keys)) inform_sdc(
    "identifying_key",
    paste0("Nearly every record has a value of its own of ", quote_names(keys), "."),
    i = paste(
      "An identifier or a continuous variable is not a key variable:",
      "leave it out, or coarsen it."
    ),
    columns = keys
  )
}

# As above, as a line of a print.
identifying_line <- function(keys) {
  if (length(keys)) {
    paste0("Nearly all values differ: ", quote_names(keys, 3), ". Is it an identifier?")
  }
}

# Limits with that of the smallest class, which may be given by itself.
with_k <- function(limits, k) {
  if (is.null(k)) {
    return(limits)
  }
  k <- check_whole(k, "k")
  arg <- intersect(c("limit", "constraint"), argument_names())
  other <- limits[["k"]]
  if (length(arg) && was_given(arg) && is.numeric(other) && !k %in% other) {
    stop_argument(
      "k", paste0("be that of `", arg, "` if both are given"),
      found = paste(format_count(k), "and", format_number(other), "were given.")
    )
  }
  c(list(k = k), as.list(limits)[setdiff(names(limits), "k")])
}

# An identifier whose values repeat, of several the one with the fewest values: its records are
# those of one person, and no matches of each other. A household by role is asked for its own.
repeated_id <- function(file) {
  ids <- if (is.null(file$roles$hh_id)) of_persons(file$data, file$roles$id_vars)
  n_values <- vapply(ids, function(id) {
    known <- file$data[[id]][!is.na(file$data[[id]])]
    if (anyDuplicated(known)) length(unique(known)) else NA_integer_
  }, 0L)
  names(which.min(n_values))
}

# Identifiers of a file, of several without those that few values tell to number within another.
of_persons <- function(data, ids) {
  ids <- intersect(as.character(ids), names(data))
  many <- vapply(ids, function(id) {
    length(unique(as_bare(data[[id]]))) > n_records(data) / 50
  }, NA)
  if (any(many)) ids[many] else ids
}

inform_repeated_id <- function(file) {
  id <- repeated_id(file)
  if (length(id)) {
    inform_sdc(
      "repeated_id", paste0("Several records have one value of ", quote_names(id), "."),
      i = paste0(
        "They count as matches of each other. If they are of one person or household: hh_id = ",
        dput_text(id), "."
      )
    )
  }
}
