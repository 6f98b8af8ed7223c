# Verbs of dplyr and tidyr whose own steps would lose the roles of a file, or lose them in silence.

# Their steps select columns: only what the whole verb loses is told.
bare_verb <- function(name) {
  force(name)
  function(x, y, ...) {
    verb <- getExportedValue("dplyr", name)
    made <- if (missing(y)) verb(bare_frame(x), ...) else verb(bare_frame(x), bare_frame(y), ...)
    keep_file(made, x)
  }
}

#' @exportS3Method dplyr::rows_insert
rows_insert.sdc_file <- bare_verb("rows_insert")

#' @exportS3Method dplyr::rows_append
rows_append.sdc_file <- bare_verb("rows_append")

#' @exportS3Method dplyr::rows_update
rows_update.sdc_file <- bare_verb("rows_update")

#' @exportS3Method dplyr::rows_patch
rows_patch.sdc_file <- bare_verb("rows_patch")

#' @exportS3Method dplyr::rows_upsert
rows_upsert.sdc_file <- bare_verb("rows_upsert")

#' @exportS3Method dplyr::rows_delete
rows_delete.sdc_file <- bare_verb("rows_delete")

# The check of a package takes these for methods of base's functions of the same name.
set_verbs <- lapply(rlang::set_names(c("union", "intersect", "setdiff")), bare_verb)

# The columns of tidyr's verbs are expressions: they are passed on as they are.
tidy_verb <- function(name, same_records = FALSE) {
  force(same_records)
  function(data, ...) {
    made <- getExportedValue("tidyr", name)(bare_frame(data), ...)
    keep_file(made, data, same_records = same_records && nrow(made) == nrow(data))
  }
}

#' @exportS3Method tidyr::unite
unite.sdc_file <- tidy_verb("unite", TRUE)

#' @exportS3Method tidyr::separate
separate.sdc_file <- tidy_verb("separate", TRUE)

#' @exportS3Method tidyr::extract
extract.sdc_file <- tidy_verb("extract", TRUE)

#' @exportS3Method tidyr::complete
complete.sdc_file <- tidy_verb("complete")

#' @exportS3Method tidyr::drop_na
drop_na.sdc_file <- tidy_verb("drop_na")

# The rows of these tables are not records.
reshaping_verb <- function(name) {
  function(data, ...) {
    inform_no_records(data, paste0("The result of ", name, "()"))
    getExportedValue("tidyr", name)(bare_frame(data), ...)
  }
}

inform_no_records <- function(file, what, why = "its rows are not the records of the file") {
  of_columns <- attr(file, "roles")
  of_columns <- unlist(of_columns[setdiff(names(of_columns), c(population_roles, "key_groups"))])
  inform_sdc(
    "role_lost", paste0(what, " has no roles: ", why, "."),
    i = "If it is a file of records, sdc_file() gives them again.",
    columns = unname(of_columns), roles = names(of_columns)
  )
}

#' @exportS3Method tidyr::pivot_longer
pivot_longer.sdc_file <- reshaping_verb("pivot_longer")

#' @exportS3Method tidyr::pivot_wider
pivot_wider.sdc_file <- reshaping_verb("pivot_wider")

#' @exportS3Method tidyr::nest
nest.sdc_file <- function(.data, ...) {
  inform_no_records(.data, "The result of nest()")
  tidyr::nest(bare_frame(.data), ...)
}

#' @exportS3Method tidyr::unnest
unnest.sdc_file <- reshaping_verb("unnest")

#' @exportS3Method tidyr::separate_rows
separate_rows.sdc_file <- reshaping_verb("separate_rows")

# Joins return what they were given first: a file in the second place loses its roles. They make
# it a plain data frame first, in the frame `caller`.
inform_second <- function(caller) {
  home <- topenv(caller)
  joins <- isNamespace(home) && getNamespaceName(home) %in% c("base", "dplyr", "dbplyr")
  of <- function(name) if (joins) get0(name, envir = caller, inherits = FALSE)
  plain <- is.data.frame(of("x")) && !inherits(of("x"), "sdc_file") || is_lazy_table(of("x"))
  if (plain && inherits(of("y"), "sdc_file")) {
    inform_no_records(of("y"), "The joined table", "the file with roles came second")
  }
}

#' @exportS3Method dplyr::left_join
left_join.sdc_file <- bare_verb("left_join")

#' @exportS3Method dplyr::right_join
right_join.sdc_file <- bare_verb("right_join")

#' @exportS3Method dplyr::inner_join
inner_join.sdc_file <- bare_verb("inner_join")

#' @exportS3Method dplyr::full_join
full_join.sdc_file <- bare_verb("full_join")

# Files of patterns hold no records.

#' @export
dim.sdc_open_file <- function(x) {
  file <- unclass(x)
  c(n_records(file$data), length(all_columns_of(file)))
}

#' @export
head.sdc_open_file <- function(x, ...) {
  announce("head")
  stop_no_single_records("first records")
}

#' @export
tail.sdc_open_file <- function(x, ...) {
  announce("tail")
  stop_no_single_records("last records")
}

#' @export
as.data.frame.sdc_open_file <- function(x, ...) {
  announce("as.data.frame")
  stop_no_single_records("records")
}

#' @export
`$.sdc_open_file` <- function(x, name) {
  value <- unclass(x)[[name]]
  own <- function() c(past_parts, "data", "roles", "codes", "table", "lazy", "before")
  if (is.null(value) && !name %in% own() && name %in% names(all_columns_of(unclass(x)))) {
    announce("$")
    stop_no_single_records(paste0("values of ", quote_names(name)))
  }
  value
}

stop_no_single_records <- function(what) {
  stop_sdc(
    "bad_data", paste0("The file must hold its records in R to give the ", what, "."),
    x = "It is a file of patterns and their counts.",
    i = "Give the data frame that the pattern table was made from.",
    data_class = "sdc_pattern_table"
  )
}
