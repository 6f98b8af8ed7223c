# Verbs on the file of a table of a database, which is a query with roles: they work on the bare
# query, and its new form takes the roles. Nothing runs but what dbplyr runs. Methods for verbs of
# joins, groups and tidyr are those of data frames, in sdc-file.R and sdc-file-verbs.R.

# Verbs of dplyr by what they do: `columns` get another place or name, `values` are computed,
# `records` can be left out.
table_verbs <- list(
  columns = c("select", "rename", "rename_with", "relocate"), values = c("mutate", "transmute"),
  records = c(
    "filter", "distinct", "slice_head", "slice_tail", "slice_min", "slice_max", "slice_sample"
  ),
  order = "arrange"
)

table_verb <- function(name, kind) {
  force(name)
  force(kind)
  function(.data, ...) {
    verb <- getExportedValue("dplyr", name)
    made <- verb(bare_frame(.data), ...)
    roles <- attr(.data, "roles")
    levels <- attr(.data, "sdc_levels")
    if (kind == "columns") {
      from <- columns_from(verb, .data, made, ...)
      roles <- renamed_roles(roles_kept(roles, from), from, names(from))
      kept <- intersect(names(levels), from)
      levels <- rlang::set_names(as.list(levels)[kept], names(from)[match(kept, from)])
    } else if (kind == "values") {
      # Levels that a recoding gave are those of its values.
      levels[names(rlang::enquos(...))] <- NULL
    }
    attr(made, "sdc_levels") <- if (length(levels)) levels
    keep_table(made, .data, roles, part = kind == "records")
  }
}

# The columns of a query by their new names: the verb is tried on a row that holds the names.
columns_from <- function(verb, old, made, ...) {
  names <- colnames(old)
  row <- structure(rlang::set_names(as.list(names), names), class = "data.frame", row.names = 1L)
  from <- unlist(verb(row, ...))
  if (setequal(names(from), colnames(made))) from else rlang::set_names(colnames(made))
}

join_verb <- function(name) {
  force(name)
  function(x, y, ...) {
    joined <- getExportedValue("dplyr", name)(bare_frame(x), bare_frame(y), ...)
    keep_table(joined, x, part = name != "union_all")
  }
}

bare_table_verb <- function(name) {
  force(name)
  function(.data, ...) getExportedValue("dplyr", name)(bare_frame(.data), ...)
}

methods_of_table <- c(
  unlist(unname(Map(function(names, kind) {
    lapply(rlang::set_names(names), table_verb, kind)
  }, table_verbs, names(table_verbs)))),
  lapply(rlang::set_names(c("semi_join", "anti_join", "inner_join", "union_all")), join_verb),
  lapply(rlang::set_names(c("pull", "tally", "do")), bare_table_verb)
)

#' @exportS3Method dplyr::compute
compute.sdc_table <- function(x, ...) {
  made <- dplyr::compute(bare_frame(x), ...)
  file <- open_file(x)
  file$table <- structure(made, sdc_levels = attr(x, "sdc_levels"))
  close_file(file)
}

#' @exportS3Method dplyr::collapse
collapse.sdc_table <- function(x, ...) {
  keep_table(structure(dplyr::collapse(bare_frame(x), ...), sdc_levels = attr(x, "sdc_levels")), x)
}

#' @exportS3Method dplyr::collect
collect.sdc_table <- function(x, ..., n = Inf) {
  keep_table(with_levels(dplyr::collect(bare_frame(x), ..., n = n), x), x, part = is.finite(n))
}

#' @export
as.data.frame.sdc_table <- function(x, ...) {
  as.data.frame(with_levels(as.data.frame(bare_frame(x), ...), x))
}

#' @exportS3Method tibble::as_tibble
as_tibble.sdc_table <- function(x, ...) tibble::as_tibble(as.data.frame(x), ...)

# Size and first records ------------------------------------------------------------

#' @export
dim.sdc_table <- function(x) {
  announce("dim")
  c(n_records(as_file(x, "x")$data), length(colnames(x)))
}

#' @export
names.sdc_table <- function(x) colnames(x)

#' @export
`names<-.sdc_table` <- function(x, value) {
  announce("names<-")
  dplyr::rename(x, !!!rlang::set_names(colnames(x), as.character(value)))
}

#' @export
head.sdc_table <- function(x, n = 6, ...) {
  announce("head")
  as.data.frame(with_levels(dplyr::collect(utils::head(bare_frame(x), check_whole(n, "n"))), x))
}

#' @export
format.sdc_table <- function(x, ...) format(bare_frame(x), ...)

#' @importFrom utils str
#' @export
str.sdc_table <- function(object, ...) {
  cat(file_lines(object), sep = "\n")
  utils::str(as.list(head(object)), ..., no.list = TRUE, give.length = FALSE)
}

# Verbs that need the records in R --------------------------------------------------

#' @export
`$.sdc_table` <- function(x, name) {
  fields <- unclass(x)
  if (!name %in% names(fields) && name %in% colnames(x)) {
    stop_no_records_in_r("$", paste0("dplyr::pull(x, ", rlang::expr_text(as.name(name)), ")"))
  }
  # A join looks into its second table.
  if (name == "lazy_query") inform_second(parent.frame())
  fields[[name]]
}

#' @export
`[[.sdc_table` <- function(x, i, ...) {
  if (is.character(i)) `$.sdc_table`(x, i) else stop_no_records_in_r("[[", "dplyr::pull(x, column)")
}

# The parts of the query, as dbplyr changes them.
#' @export
`$<-.sdc_table` <- function(x, name, value) {
  if (!name %in% names(unclass(x))) {
    column <- rlang::expr_text(as.name(name))
    stop_no_records_in_r("$<-", paste0("dplyr::mutate(x, ", column, " = ...)"))
  }
  class <- class(x)
  x <- unclass(x)
  x[[name]] <- value
  structure(x, class = class)
}

# By the packages of their generics.
refused_on_tables <- list(
  base = c(
    "[" = "dplyr::filter(x, ...) or dplyr::select(x, ...)",
    "[<-" = "dplyr::mutate(x, ...)", "[[<-" = "dplyr::mutate(x, ...)",
    transform = "dplyr::mutate(x, ...)", within = "dplyr::mutate(x, ...)",
    with = "dplyr::summarise(x, ...)", subset = "dplyr::filter(x, ...)",
    merge = "dplyr::left_join(x, y)", duplicated = "dplyr::count(x, ...)",
    unique = "dplyr::distinct(x)", rbind = "dplyr::union_all(x, y)",
    cbind = "dplyr::mutate(x, ...)", split = "dplyr::filter(x, ...)"
  ),
  utils = c(tail = "head(dplyr::arrange(x, dplyr::desc(column)))"),
  stats = c(aggregate = "dplyr::summarise(x, ...)")
)

refused_verb <- function(name, instead) {
  force(name)
  force(instead)
  function(...) stop_no_records_in_r(name, instead)
}

stop_no_records_in_r <- function(verb, instead) {
  announce(verb)
  stop_sdc(
    "bad_data", paste0("The records of the file must be in R for `", verb, "`."),
    x = "It is a table of a database.",
    i = paste0("Use ", instead, ", or bring the records into R: dplyr::collect(x)."),
    data_class = "tbl_lazy"
  )
}

# Methods of generics of other packages -------------------------------------------------

.onLoad <- function(...) {
  when_loaded("generics", "sdc_file", set_verbs)
  when_loaded("dplyr", "sdc_table", methods_of_table)
  for (package in names(refused_on_tables)) {
    verbs <- refused_on_tables[[package]]
    when_loaded(package, "sdc_table", Map(refused_verb, names(verbs), verbs))
  }
}

when_loaded <- function(package, class, methods) {
  register <- function(...) {
    for (name in names(methods)) {
      registerS3method(name, class, methods[[name]], envir = asNamespace(package))
    }
  }
  if (isNamespaceLoaded(package)) register()
  setHook(packageEvent(package, "onLoad"), register)
}
