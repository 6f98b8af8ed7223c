# Comparison of text by an engine. A collation, or a type of fixed width, may equate text that R
# distinguishes: capitals and small letters, or blanks at the end. The engine then counts and joins
# differently from a data frame.

# Differences that the engine ignores in a column of text, tested with one of its values: `case`,
# `blanks`. Only text has capitals: for other types that the driver delivers as text, such as a
# UUID, the engine gives an error, and nothing is ignored.
ignored_in_text <- function(data, column, value) {
  x <- as.name(column)
  swapped <- if (value == toupper(value)) tolower(value) else toupper(value)
  is_other <- function(other) rlang::expr(max(ifelse(!!x == !!other, 1L, 0L), na.rm = TRUE))
  here <- dplyr::filter(dplyr::ungroup(data), !!x == !!value, !is.na(toupper(!!x)))
  asked <- list(sdc_case = is_other(swapped), sdc_blanks = is_other(paste0(value, " ")))
  found <- tryCatch(
    vapply(collect_one_row(here, asked), engine_counts, 0, USE.NAMES = FALSE),
    error = function(e) {
      pass_on_time_limit(first_cause(e))
      NA
    }
  )
  found <- rep_len(found %in% 1, 2)
  c(case = found[[1]] && swapped != value, blanks = found[[2]])
}

# A value to ask by, one with letters where there is one.
telling_value <- function(values) {
  values <- values[!is.na(values) & nzchar(values)]
  c(grep("[A-Za-z]", values, value = TRUE), values)[1]
}

# TRUE if some text has blanks at its end, and a text without them another width: then the
# blanks tell values apart. Text of a fixed width is the same to engine and data frame.
has_telling_blanks <- function(waves, column) {
  x <- as.name(column)
  blank <- rlang::call2("%like%", x, "% ")
  padded <- lapply(waves, function(wave) {
    one <- dplyr::select(dplyr::filter(dplyr::ungroup(wave), !!blank), !!x)
    with_engine(collect_query(utils::head(one, 1)))[[1]]
  })
  width <- unique(nchar(unlist(padded)))
  if (length(width) != 1) {
    return(length(width) > 1)
  }
  wide <- rlang::call2("%like%", x, strrep("_", width))
  any(vapply(waves, function(wave) {
    others <- dplyr::filter(dplyr::ungroup(wave), !is.na(!!x), !(!!wide))
    nrow(with_engine(collect_query(utils::head(dplyr::select(others, !!x), 1)))) > 0
  }, NA))
}

# The columns of a pattern table in whose text the engine ignores case, and blanks.
columns_ignoring <- function(data, table) {
  ignored <- lapply(rlang::set_names(table$key_vars), function(key) {
    values <- table$patterns[[key]]
    value <- if (is.character(values)) telling_value(values) else NA
    if (is.na(value)) {
      return(c(case = FALSE, blanks = FALSE))
    }
    found <- ignored_in_text(data, key, value)
    found[["blanks"]] <- found[["blanks"]] && has_telling_blanks(list(data), key)
    found
  })
  of <- function(what) names(ignored)[vapply(ignored, `[[`, NA, what)]
  list(case = of("case"), blanks = of("blanks"))
}

# Ids, which are in no pattern: some of them to ask by.
some_ids <- function(wave, id) {
  x <- as.name(id)
  known <- dplyr::filter(dplyr::select(dplyr::ungroup(wave), !!x), !is.na(!!x))
  with_engine(collect_query(utils::head(known, 1000)))[[1]]
}

# By their ids the engine must join what R would join: ids of one kind, and the same text.
check_joined_ids <- function(waves, id) {
  ids <- lapply(waves, some_ids, id)
  ids <- ids[lengths(ids) > 0]
  kinds <- vapply(ids, function(x) {
    if (is.character(x)) "text" else if (is_plain_number(x) || inherits(x, "integer64")) {
      "numbers"
    } else {
      paste0("class ", class(x)[[1]])
    }
  }, "")
  if (length(unique(kinds)) > 1) {
    stop_argument(
      "id", "hold values of one kind in all tables",
      paste0("It has ", paste0(kinds, " in `", names(ids), "`", collapse = ", "), "."),
      "Convert it in the query: dplyr::mutate(wave, id = as.character(id))."
    )
  }
  if (!identical(unique(unname(kinds)), "text")) {
    return(invisible())
  }
  ignored <- Map(function(wave, x) {
    value <- telling_value(x)
    if (is.na(value)) c(case = FALSE, blanks = FALSE) else ignored_in_text(wave, id, value)
  }, waves[names(ids)], ids)
  if (any(vapply(ignored, `[[`, NA, "case"))) stop_ignored_text(list(case = id))
  blanks <- vapply(ignored, `[[`, NA, "blanks")
  if (any(blanks) && has_telling_blanks(waves, id)) stop_ignored_text(list(blanks = id))
}

ignored_words <- list(
  case = c(
    must = "Text must be compared letter by letter, capitals and small letters apart.",
    found = "The engine takes them for the same in ",
    advice = "Give these columns a binary collation, or use toupper() in the query."
  ),
  blanks = c(
    must = "Text must be compared letter by letter, blanks at its end too.",
    found = "The engine ignores some of these blanks in ",
    advice = "Take them off in the query, dplyr::mutate(table, x = trimws(x))."
  )
)

# An error where numbers would differ from those of a data frame without a word.
stop_ignored_text <- function(ignored) {
  for (what in names(ignored)) {
    columns <- unique(ignored[[what]])
    words <- ignored_words[[what]]
    if (length(columns)) {
      stop_sdc(
        "bad_data", words[["must"]], x = paste0(words[["found"]], quote_names(columns), "."),
        i = words[["advice"]],
        columns = columns
      )
    }
  }
}

warn_ignored_text <- function(data, table) {
  ignored <- columns_ignoring(data, table)
  for (what in names(ignored)) {
    columns <- ignored[[what]]
    words <- ignored_words[[what]]
    if (length(columns)) {
      warn_sdc(
        paste0("ignores_", what),
        words[["must"]], x = paste0(words[["found"]], quote_names(columns), "."),
        i = "Values that differ in this alone count as one: the risk looks smaller.",
        i = words[["advice"]],
        columns = columns
      )
    }
  }
}
