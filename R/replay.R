#' Every figure of a report, computed again
#'
#' Are the figures of a report still what the package computes from the file?
#' `replay()` reads the log that [sdc_report()] wrote, asks every function again what
#' it was asked then, and compares the figures to the last bit. They do not depend on
#' the number of threads.
#'
#' Nothing in a log is run as code: the names of functions must be those of this
#' package that make results, and arguments are values. Protected files need not be
#' given where their protection can be computed again, as by [suppress_cells()]; they
#' must be for [invariant_pram()], which keeps no seed on purpose, and after a
#' recoding.
#'
#' Random results are computed with the seeds of the log. An external log has none,
#' so random figures cannot be computed again from it; nor can a result whose
#' arguments are not in the log (such as hierarchies), or which draws from R's
#' generator besides. Their rows say so in `note` and have `NA` in `now` and `equal`.
#'
#' @section Cost:
#' That of the functions themselves.
#'
#' @param log Name of the log (`.json`), or of the report beside it.
#' @param data The file the report is about: a data frame, an [sdc_file()] or an
#'   sdcMicroObj. A list of files where a result needs several: they are found by their
#'   fingerprints, and for two waves or linked files by the names of arguments, as in
#'   `list(wave1 = , wave2 = )`.
#' @param ... Must be empty.
#' @return A data frame of class `sdc_replay` with one row per figure: `figure` (result,
#'   table, row and column), `logged`, `now`, `equal`, `note`, `result`.
#'
#'   Errors: data that are not those of the report (`mismatched_data`: by the
#'   fingerprint, of which an external log has 4 of 16 digits or none, else by the
#'   number of records), a log that is damaged, of another version, or with calls of
#'   other functions (`bad_argument`).
#' @family reports
#' @export
#' @examples
#' keys <- c("CENREG", "DAGE3", "EDUC3", "GENDER", "BORNUSA", "DRACE3")
#' file <- tempfile(fileext = ".html")
#' sdc_report(n_matches(nals_prison, keys), file = file, internal = TRUE)
#' replay(sub("html$", "json", file), nals_prison)
replay <- function(log, data, ...) {
  check_no_dots(...)
  check_given(c("log", "data"))
  log <- read_log(log)
  files <- replay_files(data)
  done <- list()
  # Protections first: what they release may be the file of other results.
  order <- order(!vapply(log$results, function(e) e[["function"]] %in% protections, NA))
  matched <- logical(length(files))
  for (i in order) {
    found <- replay_entry(log$results[[i]], files)
    done[[i]] <- found
    if (length(found$used)) matched[found$used[found$used <= length(matched)]] <- TRUE
    released <- if (!is.null(found$result)) released_data(found$result)
    if (!is.null(released)) files <- c(files, list(released))
  }
  check_matched(done, matched, names(files))
  rows <- Map(compare_figures, log$results, done)
  out <- do.call(rbind, unname(rows))
  rownames(out) <- NULL
  structure(out, class = c("sdc_replay", "data.frame"), version = log$versions$sdcRisk)
}

protections <- c("suppress_cells", "invariant_pram")

replay_files <- function(data) {
  if (is.list(data) && !is.data.frame(data) && !inherits(data, "sdc_file")) {
    files <- data
  } else {
    files <- list(data)
  }
  good <- length(files) > 0 && all(vapply(files, function(f) {
    is.data.frame(f) || inherits(f, "sdc_file") || is_sdcmicro(f) || is_list_of(f, is.data.frame)
  }, NA))
  if (!good) {
    stop_argument(
      "data", "be a data frame, an sdc_file() or an sdcMicroObj, or a list of them",
      given_words(data)
    )
  }
  if (is.null(names(files))) names(files) <- character(length(files))
  lapply(files, bare_data)
}

# One result -----------------------------------------------------------------

# The result computed again, or why it was not; `used` are the places of its files.
replay_entry <- function(entry, files) {
  asked <- entry$call
  if (!isTRUE(asked$known)) {
    return(list(note = "what was asked is not known", used = integer()))
  }
  slots <- find_files(entry, files)
  if (!is.null(slots$note)) {
    return(slots)
  }
  note <- why_not(asked)
  if (!is.null(note)) {
    return(list(note = note, used = slots$used))
  }
  result <- tryCatch(
    ask_again(asked, slots$files),
    sdcRisk_error_mismatched_data = function(e) stop_other_data(),
    sdcRisk_error_unknown_key_var = function(e) stop_other_data(),
    sdcRisk_error = function(e) e
  )
  if (inherits(result, "sdcRisk_error")) {
    return(list(note = paste("it stops now:", conditionMessage(result)), used = slots$used))
  }
  check_same_files(entry, result)
  list(result = result, used = slots$used)
}

why_not <- function(asked) {
  arguments <- asked$arguments
  withheld <- names(arguments)[vapply(arguments, function(a) identical(a$type, "withheld"), NA)]
  nested <- Filter(function(a) identical(a$type, "result"), arguments)
  inner <- unlist(lapply(nested, function(a) {
    if (isTRUE(a$call$known)) why_not(a$call) else "what was asked is not known"
  }))
  if (identical(asked[["function"]], "invariant_pram")) {
    "invariant_pram() keeps no seed on purpose: it would undo the release"
  } else if (length(withheld)) {
    paste0("not in the log: ", paste(withheld, collapse = ", "))
  } else if (length(inner)) {
    inner[[1]]
  } else if (!isTRUE(asked$repeatable)) {
    "random, and no seed was kept"
  } else if (length(asked$seeds) < asked$n_seeds) {
    "random, and the seed is in the internal log alone"
  }
}

# The call with its files, run with its seeds. Nothing is evaluated but a function of
# this package with values.
ask_again <- function(asked, files) {
  arguments <- asked$arguments
  values <- lapply(names(arguments), function(name) {
    value <- arguments[[name]]
    switch(value$type,
      file = file_with_roles(files[[name]], value$roles),
      result = ask_again(value$call, files),
      decode_value(value)
    )
  })
  names(values) <- names(arguments)
  running$seeds <- lapply(asked$seeds, log_numbers)
  on.exit(running$seeds <- list())
  f <- getExportedValue("sdcRisk", asked[["function"]])
  suppressWarnings(suppressMessages(do.call(f, values, quote = TRUE)))
}

file_with_roles <- function(file, roles) {
  if (length(roles) == 0) {
    return(file)
  }
  roles <- lapply(roles[names(roles) %in% role_names], decode_value)
  do.call(sdc_file, c(list(file), roles))
}

# Which file goes to which argument: by name, or by fingerprint.
find_files <- function(entry, files) {
  places <- file_places(entry$call)
  if (length(places) == 0) {
    return(list(files = list(), used = integer()))
  }
  marks <- lapply(entry$file, decode_mark)
  waves <- entry$file$wave_fingerprints
  found <- list()
  used <- integer()
  for (place in places) {
    at <- match(place, names(files))
    if (is.na(at)) {
      print <- if (!is.null(waves[[place]])) waves[[place]] else entry$file$fingerprint
      released <- place == "after" || entry$stage == "after" && place != "before"
      at <- file_by_print(files, marks, print, entry$file$digits, released)
    }
    if (is.na(at)) {
      return(absent_file(entry, place, files))
    }
    found[[place]] <- files[[at]]
    used <- c(used, at)
  }
  list(files = found, used = used)
}

# The arguments that are files, those of nested results included.
file_places <- function(asked) {
  arguments <- asked$arguments
  own <- names(arguments)[vapply(arguments, function(a) identical(a$type, "file"), NA)]
  inner <- lapply(arguments, function(a) {
    if (identical(a$type, "result") && isTRUE(a$call$known)) file_places(a$call)
  })
  unique(c(own, unlist(inner)))
}

file_by_print <- function(files, marks, print, digits, released) {
  frames <- which(vapply(files, is.data.frame, NA))
  if (digits == 0 || is.null(print) || is.na(print)) {
    # Without a fingerprint number of records and order must do: before, after.
    same <- frames[vapply(files[frames], function(f) is.null(marks$n) || nrow(f) == marks$n, NA)]
    return(if (!released) same[1] else if (length(same) > 1) max(same) else NA_integer_)
  }
  for (i in frames) {
    now <- fingerprint_of(files[[i]], marks)
    if (!is.na(now) && identical(substr(now, 1, digits), print)) {
      return(i)
    }
  }
  NA_integer_
}

# A released file may be missing, the file of the report may not.
absent_file <- function(entry, place, files) {
  several <- length(file_places(entry$call)) > 1
  if (entry$stage == "before" && !several) stop_other_data()
  list(
    note = if (several) {
      paste0("`", place, "` was not among the files: give data = list(", place, " = )")
    } else {
      "the released file was not given: data = list(before, after)"
    },
    used = integer()
  )
}

# What the result says of its files, which fingerprints of waves need.
check_same_files <- function(entry, result) {
  then <- entry$file
  if (then$digits == 0) {
    return(invisible())
  }
  now <- result$settings
  cut <- function(x) substr(paste(unlist(x), collapse = " "), 1, then$digits)
  same <- is.null(then$fingerprint) || is.null(now$fingerprint) ||
    identical(cut(now$fingerprint), then$fingerprint)
  for (wave in names(then$wave_fingerprints)) {
    same <- same && identical(cut(now$wave_fingerprints[[wave]]), then$wave_fingerprints[[wave]])
  }
  if (!same) stop_other_data()
}

# Every file given must be that of some result; those with names are argued about by
# the functions themselves.
check_matched <- function(done, matched, names) {
  unknown <- vapply(done, function(d) identical(d$note, "what was asked is not known"), NA)
  if (any(!matched & !nzchar(names[seq_along(matched)])) && !all(unknown)) {
    stop_other_data()
  }
}

stop_other_data <- function() {
  stop_sdc(
    "mismatched_data",
    c(
      "`data` must be the file that the report is about.",
      x = "Its key variables, weights or other columns used, or their values, differ.",
      i = "Was it sorted, filtered, weighted anew or recoded since?"
    )
  )
}

# Figures --------------------------------------------------------------------

compare_figures <- function(entry, done) {
  rows <- lapply(names(entry$tables), function(name) {
    columns <- entry$tables[[name]]
    columns <- columns[vapply(columns, is_figures, NA)]
    now <- if (!is.null(done$result)) as.data.frame(unclass(done$result)[[name]])
    do.call(rbind, lapply(names(columns), function(column) {
      logged <- log_numbers(columns[[column]])
      again <- rep(NA_real_, length(logged))
      n <- min(length(logged), NROW(now))
      if (column %in% names(now)) again[seq_len(n)] <- as.double(now[[column]])[seq_len(n)]
      frame(
        figure = paste0(
          entry$id, ": ", if (name != "estimates") paste0(name, " "), column,
          if (length(logged) > 1) paste0(" [", seq_along(logged), "]") else ""
        ),
        logged = logged, now = again, equal = equal_bits(logged, again, done, NROW(now)),
        note = rep(if (is.null(done$note)) "" else done$note, length(logged)),
        result = rep(entry$id, length(logged))
      )
    }))
  })
  do.call(rbind, rows)
}

is_figures <- function(column) {
  texts <- vapply(column, is.character, NA)
  length(column) > 0 && all(vapply(column[texts], `%in%`, NA, c("NaN", "Inf", "-Inf")))
}

equal_bits <- function(logged, now, done, n_now) {
  if (is.null(done$result)) {
    return(rep(NA, length(logged)))
  }
  mapply(identical, logged, now) & seq_along(logged) <= n_now
}

#' @export
format.sdc_replay <- function(x, ..., rows = 12) {
  n <- nrow(x)
  equal <- sum(x$equal %in% TRUE)
  differ <- x[x$equal %in% FALSE, , drop = FALSE]
  open <- x[is.na(x$equal), , drop = FALSE]
  reasons <- unique(open[c("result", "note")])
  now <- own_version()
  then <- attr(x, "version")
  c(
    paste0(
      "Replay of a report: ", format_count(equal), " of ", plural(n, "figure"),
      " equal to the last bit."
    ),
    if (!is.null(then) && !identical(then, now)) {
      paste0("The log was written with sdcRisk ", then, ", this is ", now, ".")
    },
    if (nrow(open)) {
      c(
        paste0(
          "Not computed again, of ",
          vapply(reasons$result, function(r) plural(sum(open$result == r), "figure"), ""), " of ",
          reasons$result, ": ", reasons$note, "."
        )
      )
    },
    if (nrow(differ)) {
      c(
        paste0(format_count(nrow(differ)), " differ:"),
        format_table(utils::head(as.data.frame(differ)[c("figure", "logged", "now")], rows))
      )
    }
  )
}

#' @export
print.sdc_replay <- function(x, ...) {
  cat(wrap_lines(format(x, ...)), sep = "\n")
  invisible(x)
}
