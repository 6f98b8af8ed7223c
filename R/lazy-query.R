# Questions to the engine of a database, and what can go wrong with them.

stop_table_changed <- function() {
  stop_sdc("bad_data", c(
    "The table must not change while it is read.",
    x = "Two queries found different records.",
    i = "Copy it first: dplyr::compute(). sdc_file() counts a table anew."
  ))
}

# Row ids as text or doubles, which every driver writes.
bare_ids <- function(x) if (is.character(x)) x else bare_counts(x)

n_rows_of <- function(query) {
  engine_counts(collect_one_row(query, list(sdc_n = quote(n())))$sdc_n)
}

# An engine without types gives text among numbers as 0, with a warning of its driver.
with_types <- function(code) {
  withCallingHandlers(as.data.frame(code), warning = function(w) {
    words <- conditionMessage(w)
    if (grepl("mixed type", words, fixed = TRUE)) {
      stop_sdc("bad_data", c(
        "A column of a table of a database must hold values of one type.",
        x = paste0("Its driver says: ", sub(",.*", "", words), "."),
        i = "Make text of it in the query: dplyr::mutate(data, x = as.character(x))."
      ))
    }
  })
}

collect_query <- function(query) with_types(dplyr::collect(query))

# `expressions` of all records of a query. dplyr::summarise() of dbplyr writes a message for each of
# them in case it fails, which takes longer than the query.
collect_one_row <- function(query, expressions) {
  con <- dbplyr::remote_con(query)
  text <- dbplyr::translate_sql_(expressions, con = con, window = FALSE)
  names <- dbplyr::escape(dbplyr::ident(names(expressions)), collapse = NULL, con = con)
  columns <- paste(text, "AS", names, collapse = ", ")
  # Its order means nothing here, and is left out with a warning.
  records <- suppressWarnings(dbplyr::sql_render(dplyr::ungroup(query), con, subquery = TRUE))
  records <- dbplyr::sql_query_wrap(con, records)
  with_types(dbplyr::db_collect(con, dbplyr::sql(paste("SELECT", columns, "FROM", records))))
}

# Turns an error of the engine into a condition of ours with the engine's words. Quoted text is left
# out, as it may be a value; so is the engine's own condition.
with_engine <- function(code) {
  tryCatch(code, error = function(e) {
    if (inherits(e, "sdcRisk_error")) stop(e)
    pass_on_time_limit(first_cause(e))
    stop_sdc(
      "bad_data", "The engine must be able to run the query.",
      x = paste0("It says: ", without_quoted(first_line(first_cause(e))), "."),
      i = "pattern_table(data, collect = FALSE) gives the query; show_query() shows it."
    )
  })
}

first_cause <- function(condition) {
  if (inherits(condition$parent, "condition")) first_cause(condition$parent) else condition
}

without_quoted <- function(text) gsub("([\"'`]).*\\1", "\\1...\\1", text)

# Counts in whatever type a driver delivers whole numbers in, as doubles.
engine_counts <- function(x) {
  # A sum of nothing is missing, in any type.
  if (is.character(x) || is.logical(x)) as.double(x) else bare_counts(x)
}

rows_of_engine <- function(data) {
  with_engine(n_rows_of(data))
}

# A column that is missing throughout may come in any type: then in that of the patterns. So do
# bands and groups, which are text to the engine.
typed_as <- function(values, patterns) {
  Map(function(x, like) {
    if (is.factor(like)) {
      factor(x, levels(like), ordered = is.ordered(like))
    } else if (all(is.na(x))) {
      rep(like[NA_integer_], length(x))
    } else {
      x
    }
  }, values, patterns)
}

# Columns of a query in the levels that a recoding has given them.
with_levels <- function(found, data) {
  levels <- attr(data, "sdc_levels")
  for (name in intersect(names(levels), names(found))) {
    found[[name]] <- typed_as(found[name], levels[name])[[1]]
  }
  found
}

# A released table without levels that none of its records has: they would name suppressed values.
with_held_levels <- function(table) {
  levels <- attr(table, "sdc_levels")
  names <- intersect(as.character(names(levels)), colnames(table))
  held <- lapply(rlang::set_names(names), function(name) {
    column <- dplyr::distinct(dplyr::select(table, !!as.name(name)))
    of <- levels[[name]]
    found <- intersect(levels(of), with_engine(collect_query(column))[[1]])
    factor(character(), found, ordered = is.ordered(of))
  })
  structure(table, sdc_levels = if (length(held)) held)
}
