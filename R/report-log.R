# The log beside a report: what was asked, and every figure, to the last bit in an internal
# report and rounded in an external one. JSON by jsonlite, which reads numbers as the C
# library does, so that 17 digits come back as the number they were; that is why numbers are
# written here and not by it.

log_version <- 1L

report_log <- function(content, settings) {
  settings$digits <- fingerprint_digits(content)
  log <- list(
    format = "sdcRisk report log", log_version = log_version, made = content$made,
    variant = if (settings$internal) "internal" else "external", title = settings$title,
    versions = list(
      sdcRisk = content$versions$sdcRisk, R = content$versions$R,
      platform = content$versions$platform, crates = as.list(content$versions$crates)
    ),
    prob_attempt = json_numbers(settings$prob_attempt, TRUE),
    limit = lapply(settings$limit, json_numbers, TRUE),
    results = lapply(content$entries, log_entry, settings)
  )
  if (length(log$versions$crates) == 0) log$versions$crates <- empty_object()
  if (length(log$limit) == 0) log$limit <- empty_object()
  jsonlite::toJSON(
    log, auto_unbox = TRUE, null = "null", na = "null", pretty = 2, json_verbatim = TRUE
  )
}

empty_object <- function() rlang::set_names(list(), character())

log_entry <- function(entry, settings) {
  list(
    id = entry$id, "function" = if (is.null(entry$asked)) entry$fun else entry$asked$name,
    class = class(entry$result)[[1]], stage = entry$stage,
    call = log_call(entry$asked, entry, settings),
    file = log_marks(file_marks(entry$result$settings), entry, settings),
    tables = lapply(entry$tables, log_table)
  )
}

# Arguments as code that nobody runs: a name and values.
log_call <- function(asked, entry, settings) {
  if (is.null(asked)) {
    return(list(known = FALSE))
  }
  seeds <- if (settings$internal) asked$seeds else list()
  list(
    known = TRUE, "function" = asked$name,
    arguments = if (length(asked$arguments)) {
      given <- asked$arguments
      Map(function(name, value) {
        if (settings$internal || is_external_argument(name, value, entry)) {
          encode_value(value, entry, settings)
        } else {
          list(type = "withheld", why = "not in an external report")
        }
      }, names(given), given)
    } else {
      empty_object()
    },
    n_seeds = length(asked$seeds), seeds = lapply(seeds, json_numbers),
    repeatable = isTRUE(asked$repeatable)
  )
}

# Fingerprints that identify the data of the result.
log_marks <- function(marks, entry, settings) {
  out <- lapply(marks[setdiff(names(marks), c("fingerprint", "wave_fingerprints"))], function(m) {
    if (is.list(m) && length(m) == 0) NULL else encode_value(m, entry, settings)
  })
  out <- out[!vapply(out, is.null, NA)]
  out$digits <- settings$digits
  out$fingerprint <- cut_fingerprint(marks$fingerprint, settings$digits)
  if (!is.null(marks$wave_fingerprints)) {
    out$wave_fingerprints <- lapply(
      as.list(marks$wave_fingerprints), cut_fingerprint, settings$digits
    )
  }
  out
}

# The digits that are compared, NA of what has no fingerprint.
cut_fingerprint <- function(x, digits) {
  x <- paste(unlist(x), collapse = " ")
  if (nzchar(x)) substr(x, 1, digits) else NA_character_
}

# Digits of a fingerprint that may leave: 16 bits, too few to test guesses of 16 values.
fingerprint_lengths <- c(none = 0L, short = 4L, whole = 1000L)
fingerprint_digits <- function(content) {
  if (content$settings$internal) {
    fingerprint_lengths[["whole"]]
  } else if (isTRUE(content$changed < few_for_fingerprint)) {
    fingerprint_lengths[["none"]]
  } else {
    fingerprint_lengths[["short"]]
  }
}

log_table <- function(table) {
  columns <- lapply(table, function(x) {
    if (is.numeric(x) || is.logical(x)) json_numbers(x) else as.list(as.character(x))
  })
  if (length(columns)) columns else empty_object()
}

# Numbers as JSON, up to 17 digits; missing is null, and what JSON lacks is text.
json_numbers <- function(x, scalar = FALSE) {
  text <- exact_text(x)
  text[is.nan(x)] <- "\"NaN\""
  text[is.na(x) & !is.nan(x)] <- "null"
  endless <- is.numeric(x) & is.infinite(x)
  text[endless] <- ifelse(x[endless] > 0, "\"Inf\"", "\"-Inf\"")
  structure(
    if (scalar) text else paste0("[", paste(text, collapse = ", "), "]"), class = "json"
  )
}

# A value with its type, so that it comes back as it was.
encode_value <- function(value, entry, settings) {
  if (inherits(value, "sdc_asked_part")) {
    return(encode_part(value, entry, settings))
  }
  if (is.null(value)) {
    return(list(type = "null"))
  }
  if (rlang::is_formula(value)) {
    return(list(type = "formula", text = paste(deparse(value, 500L), collapse = " ")))
  }
  out <- list(type = if (is.list(value)) "list" else typeof(value))
  if (!is.null(names(value))) out$names <- as.list(names(value))
  if (!is.null(dim(value))) {
    out$dim <- json_numbers(dim(value))
    if (!is.null(dimnames(value))) out$dimnames <- lapply(dimnames(value), as.list)
  }
  out$values <- if (is.list(value)) {
    lapply(unname(value), encode_value, entry, settings)
  } else if (is.character(value)) {
    unname(as.list(value))
  } else {
    json_numbers(value)
  }
  out
}

encode_part <- function(value, entry, settings) {
  switch(value$kind,
    file = c(
      list(type = "file"),
      lapply(Filter(length, unclass(value)[c("roles", "patterns")]), function(names) {
        lapply(names, encode_value, entry, settings)
      })
    ),
    withheld = list(type = "withheld", why = value$why),
    result = list(
      type = "result", call = log_call(value$asked, entry, settings),
      file = log_marks(value$settings, entry, settings)
    ),
    hierarchies = list(
      type = "hierarchies", of = encode_hierarchies(value$of, entry, settings)
    )
  )
}

encode_hierarchies <- function(of, entry, settings) {
  lapply(of, function(h) {
    stated <- states_levels(h, settings)
    c(
      if (stated && !is.null(h$rule)) {
        rule <- lapply(h$rule, encode_value, entry, settings)
        list(rule = if (length(rule)) rule else empty_object())
      },
      if (stated && !is.null(h$table)) list(table = lapply(h$table, as.list)),
      list(fingerprint = cut_fingerprint(h$fingerprint, settings$digits))
    )
  })
}
