# Reading a log. It may come from anywhere: nothing in it is evaluated, and what is
# not as sdc_report() writes it is an error.

read_log <- function(log) {
  if (!is.character(log) || length(log) != 1 || is.na(log)) {
    stop_argument("log", "be the name of one file", given_words(log))
  }
  path <- sub("[.](html?|docx)$", ".json", path.expand(log), ignore.case = TRUE)
  if (!file.exists(path) || dir.exists(path)) {
    stop_argument("log", "name a log of `sdc_report()`", found = "No such file exists.")
  }
  parsed <- tryCatch(
    suppressWarnings(read_json(path)),
    error = function(e) stop_log("It is not JSON, or cut short.")
  )
  # Whatever stands where: a part that cannot even be looked at is a damaged one.
  damaged <- function(c) {
    if (inherits(c, "sdcRisk_error")) stop(c)
    stop_log("A part of it is not what it should be.")
  }
  tryCatch(check_log(parsed), error = damaged, warning = damaged)
  parsed
}

# jsonlite 1.8.4 takes the words of a fault, with the text around it, for a format: a
# percent sign in damaged JSON can end R. So the text it reads is valid, and has none.
read_json <- function(path) {
  bytes <- readBin(path, "raw", file.size(path))
  if (identical(utils::head(bytes, 3), as.raw(c(0xef, 0xbb, 0xbf)))) bytes <- bytes[-(1:3)]
  text <- rawToChar(bytes)
  Encoding(text) <- "UTF-8"
  stopifnot(validUTF8(text), jsonlite::validate(text))
  jsonlite::fromJSON(gsub("%", "\\u0025", text, fixed = TRUE), simplifyVector = FALSE)
}

stop_log <- function(found) {
  stop_argument(
    "log", "be a log as `sdc_report()` writes it", found = found,
    advice = "Use the .json file that was written with the report, unchanged."
  )
}

check_log <- function(log) {
  if (!is.list(log) || !identical(log$format, "sdcRisk report log")) {
    stop_log("It does not say that it is one.")
  }
  if (!identical(as.double(unlist(log$log_version)), as.double(log_version))) {
    stop_log("It has another version of the format.")
  }
  then <- log$versions$sdcRisk
  then <- if (is.character(then) && length(then) == 1) package_version(then, strict = FALSE)
  if (is.null(then) || is.na(then)) stop_log("It has no version of the package.")
  if (then > utils::packageVersion("sdcRisk")) {
    stop_argument(
      "log", "be of this version of sdcRisk or an earlier one",
      found = paste0("It was written with sdcRisk ", then, "."),
      advice = "Install that version."
    )
  }
  if (!is.list(log$results) || length(log$results) == 0) stop_log("It holds no results.")
  for (entry in log$results) check_log_entry(entry)
}

check_log_entry <- function(entry) {
  if (!is_log_entry(entry)) stop_log("A result in it is damaged.")
  for (table in entry$tables) {
    named <- length(names(table)) == length(table) && all(nzchar(names(table)))
    if (!is.list(table) || !all(vapply(table, is.list, NA)) || !named) {
      stop_log(paste0("The figures of ", quote_names(entry$id), " are damaged."))
    }
  }
  if (entry$call$known) check_log_call(entry$call)
}

is_log_entry <- function(entry) {
  is.list(entry) && all(vapply(c("id", "function", "stage"), function(name) {
    is_one_text(entry[[name]])
  }, NA)) && all(vapply(entry[c("call", "tables")], is.list, NA)) && is_log_file(entry$file) &&
    entry$stage %in% c("before", "after") && is.logical(entry$call$known)
}

is_log_file <- function(file) {
  is_print <- function(x) is.null(x) || is_one_text(x)
  is.list(file) && is.numeric(file$digits) && length(file$digits) == 1 &&
    file$digits %in% fingerprint_lengths &&
    is_print(file$fingerprint) &&
    (is.null(file$wave_fingerprints) || is.list(file$wave_fingerprints) &&
       all(vapply(file$wave_fingerprints, is_print, NA)))
}

# A function of this package that makes results, and arguments that it has.
check_log_call <- function(asked) {
  name <- asked[["function"]]
  if (!is_one_text(name) || !name %in% replayable()) {
    stop_log(
      paste0("It calls ", if (is.character(name)) quote_names(name) else "no function", ".")
    )
  }
  if (!is_log_call(asked)) stop_log(paste0("The call of ", name, "() is damaged."))
  taken <- names(formals(getExportedValue("sdcRisk", name)))
  if (!"..." %in% taken && !all(names(asked$arguments) %in% taken)) {
    stop_log(paste0("The call of ", name, "() has arguments that it does not take."))
  }
  for (a in asked$arguments) check_log_argument(a)
}

is_log_call <- function(asked) {
  arguments <- asked$arguments
  named <- is.list(arguments) && (length(arguments) == 0 || !is.null(names(arguments)))
  named && all(vapply(arguments, function(a) is.list(a) && is_one_text(a$type), NA)) &&
    is.list(asked$seeds) && is.numeric(asked$n_seeds) &&
    all(vapply(asked$seeds, is_figures, NA)) && is.logical(asked$repeatable)
}

check_log_argument <- function(a) {
  if (a$type == "result") {
    if (!is_log_file(a$file)) stop_log("The file of a result in it is damaged.")
    if (isTRUE(a$call$known)) check_log_call(a$call)
  } else if (a$type == "hierarchies") {
    check_log_hierarchies(a)
  } else if (a$type == "file") {
    for (part in a[c("roles", "patterns")]) lapply(part, decode_value)
  } else if (a$type != "withheld") {
    decode_value(a)
  }
}

# Functions that take data or results and give results, and do nothing else.
replayable <- function() {
  intersect(getNamespaceExports("sdcRisk"), c(
    "qar_risk", "risk_contribution", "removal_path", "removal_bound", "n_matches",
    "household_risk", "key_overview", "copula_fit", "copula_uniqueness", "uniqueness_profile",
    "uniqueness_by_size", "validate_uniqueness", "population_uniqueness", "invariant_pram",
    "pram_audit", "longitudinal_link", "key_stability", "loglinear_risk", "longitudinal_risk",
    "exhaustive_tabulation", "individual_risk", "suppress_cells", "recode_search", "link_attack",
    "utility_loss", "file_check", "interval_disclosure", "population_risk", "special_uniques",
    "attribute_risk", "attack_release", "perturbation_risk"
  ))
}

# Values ---------------------------------------------------------------------

log_numbers <- function(x) {
  vapply(x, function(v) {
    if (is.null(v)) {
      NA_real_
    } else if (is.character(v)) {
      c("NaN" = NaN, "Inf" = Inf, "-Inf" = -Inf)[[v]]
    } else {
      as.double(v)
    }
  }, 0, USE.NAMES = FALSE)
}

decode_value <- function(x) {
  types <- c("null", "formula", "list", "double", "integer", "logical", "character")
  if (!is.list(x) || !is.character(x$type) || !isTRUE(x$type %in% types)) {
    stop_log("A value in it is of no type that logs have.")
  }
  if (x$type == "null") {
    return(NULL)
  }
  if (x$type == "formula") {
    return(decode_formula(x$text))
  }
  damaged <- function(c) stop_log("A value in it is damaged.")
  tryCatch(decoded(x), error = function(e) {
    if (inherits(e, "sdcRisk_error")) stop(e)
    damaged(e)
  }, warning = damaged)
}

decoded <- function(x) {
  values <- x$values
  out <- switch(x$type,
    list = lapply(values, decode_value),
    character = vapply(values, function(v) if (is.null(v)) NA_character_ else v, ""),
    double = log_numbers(values), integer = as.integer(log_numbers(values)),
    logical = as.logical(vapply(values, function(v) if (is.null(v)) NA else as.logical(v), NA))
  )
  if (length(x$dim)) {
    dim <- log_numbers(x$dim)
    # array() would fill what is not there, gigabytes of it.
    if (!all(dim >= 0 & dim == floor(dim)) || prod(dim) != length(out)) {
      stop_log("A value in it is damaged.")
    }
    out <- array(out, dim, lapply(x$dimnames, function(d) {
      if (length(d)) unlist(d)
    })[seq_along(x$dimnames)])
    if (length(x$dimnames) == 0) dimnames(out) <- NULL
  } else if (length(x$names)) {
    names(out) <- vapply(x$names, as.character, "")
  }
  out
}

decode_mark <- function(x) {
  if (is.list(x) && is.character(x$type)) decode_value(x) else x
}

decode_formula <- function(text) {
  found <- tryCatch(str2lang(text), error = function(e) NULL)
  if (!is.call(found) || !identical(found[[1]], as.name("~")) || !is_model_formula(found)) {
    stop_log("A formula in it is not a model formula.")
  }
  rlang::new_formula(
    if (length(found) == 3) found[[2]], found[[length(found)]], env = baseenv()
  )
}

check_log_hierarchies <- function(x) {
  good <- is.list(x$of) && length(x$of) && !is.null(names(x$of)) && all(vapply(x$of, function(h) {
    is.list(h) && is_one_text(h$fingerprint) && (is.null(h$rule) || is.list(h$rule)) &&
      all(names(h$rule) %in% hierarchy_rules) && (is.null(h$table) || is_log_table(h$table))
  }, NA))
  if (!good) stop_log("Hierarchies in it are damaged.")
  for (h in x$of) lapply(h$rule, decode_value)
}

# The hierarchies of a call: those given, else by the log; or why there are none.
find_logged_hierarchies <- function(logged, data, given, digits) {
  found <- Map(function(h, name) {
    same <- function(x) {
      digits == 0 || identical(cut_fingerprint(hierarchy_fingerprint(x), digits), h$fingerprint)
    }
    own <- given$made[[name]]
    if (!is.null(own) && same(own)) {
      assign(name, TRUE, envir = given$used)
      return(own)
    }
    made <- tryCatch(
      suppressMessages(logged_hierarchy(h, data[[name]], name)), sdcRisk_error = function(e) NULL
    )
    if (!is.null(made) && same(made)) made
  }, logged, names(logged))
  missing <- names(found)[vapply(found, is.null, NA)]
  if (length(missing)) {
    return(list(note = paste0(
      "not in the log: the hierarchy of ", paste(missing, collapse = ", "),
      "; give hierarchies = list(", paste0(missing, " = ", collapse = ", "), ")"
    )))
  }
  list(hierarchies = found)
}

# By its rule or its table, NULL where the log has neither.
logged_hierarchy <- function(h, column, name) {
  if (!is.null(h$rule)) {
    rule <- lapply(h$rule, decode_value)
    do.call(hierarchy, c(list(column, name = name), rule), quote = TRUE)
  } else if (!is.null(h$table)) {
    columns <- lapply(h$table, function(column) {
      vapply(column, function(v) if (is.null(v)) NA_character_ else v, "")
    })
    names(columns) <- paste0("level_", seq_along(columns) - 1L)
    table_hierarchy(do.call(frame, columns), NULL, FALSE, list(name = name))
  }
}

is_figures <- function(column) {
  is.list(column) && length(column) > 0 && all(vapply(column, function(v) {
    is.null(v) || length(v) == 1 && (is.numeric(v) || is.logical(v) || is_number_word(v))
  }, NA))
}

is_number_word <- function(x) isTRUE(x %in% c("NaN", "Inf", "-Inf"))
