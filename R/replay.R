#' Recompute every figure of a report
#'
#' Recomputes the figures of a report from the file and the log that [sdc_report()] wrote, and
#' compares them: to the last bit with an internal log, rounded with an external one. Use it to
#' verify a report. Results do not depend on the number of threads.
#'
#' Nothing in a log is run as code: the names of functions must be those of this
#' package that make results, and arguments are values. Protected files need not be
#' given if their protection can be computed again, as by [suppress_cells()] and the ten
#' cheapest recodings of [recode_search()]; they must be for [invariant_pram()], which keeps
#' no seed on purpose. A file that was recoded before it was protected, as by [global_recode()], is
#' given together with the original: `data = list(original, recoded)`.
#'
#' Random results are computed with the seeds of the log. An external log has none,
#' so random figures cannot be computed again from it; nor can a result that draws from R's
#' generator besides. Their rows say so in `note` and have `NA` in `now` and `equal`.
#'
#' Hierarchies of [recode_search()] by a rule (`widths`, `digits`, `units`, `rare`, or as
#' proposed) are in every log and are made of `data` again. Tables of at most 10,000
#' entries, `breaks`, `top` and `bottom` name categories: they are in an internal log alone.
#' Give hierarchies that are not in the log by `hierarchies`. A fingerprint of the levels
#' tells whether they are those of the report.
#'
#' An external log of a file of which few values were changed has no fingerprint, and the person
#' of [uniqueness_profile()] never has one. Such data are known by their number of records, or
#' by their name alone: if figures differ, `note` says that it may be another file.
#'
#' @section Cost:
#' That of the functions themselves.
#'
#' @param log Name of the log (`.json`), or of the report written with it.
#' @param data The file the report is about: a data frame, an [sdc_file()] or an
#'   sdcMicroObj. Results about a [pattern_table()] are computed from the file as well as
#'   from the table. A list of files if a result needs several, such as the sample and the
#'   population of [validate_uniqueness()]: they are found by their fingerprints, and for two
#'   waves, linked files or a person by the names of arguments, as in
#'   `list(wave1 = , wave2 = )` or `list(file, record = )`.
#' @param ... Must be empty.
#' @param hierarchies Hierarchies that are not in the log, as [recode_search()] takes them.
#' @return A data frame of class `sdc_replay` with one row per figure: `figure` (result,
#'   table, row and column), `logged`, `now`, `equal`, `note`, `result`.
#'
#'   Errors: data or hierarchies that are not those of the report (`mismatched_data`: by
#'   the fingerprint, of which an external log has 4 of 16 digits or none, else by the
#'   number of records), a log that is damaged, of another version, or with calls of
#'   other functions (`bad_argument`).
#' @family reports
#' @export
#' @examples
#' keys <- c("CENREG", "DAGE3", "EDUC3", "GENDER", "BORNUSA", "DRACE3")
#' file <- tempfile(fileext = ".html")
#' sdc_report(n_matches(nals_prison, keys), file = file, internal = TRUE)
#' replay(sub("html$", "json", file), nals_prison)
replay <- function(log, data, ..., hierarchies = NULL) {
  announce("replay")
  check_no_dots(...)
  check_given(c("log", "data"))
  log <- read_log(log)
  given <- given_hierarchies(hierarchies, log)
  files <- replay_files(data)
  plans <- lapply(log$results, plan_entry, files)
  check_matched(plans, names(files))
  # Protections first: what they release may be the file of other results.
  funs <- vapply(log$results, `[[`, "", "function")
  open <- order(match(funs, protections, length(protections) + 1L))
  done <- vector("list", length(funs))
  repeat {
    n_files <- length(files)
    for (i in open) {
      plan <- plans[[i]]
      # A file that was absent at first may have been released since.
      if (length(plan$absent)) plan <- plan_entry(log$results[[i]], files)
      done[[i]] <- replay_entry(log$results[[i]], plan, given)
      files <- c(files, replayed_files(done[[i]], log$results[[i]], log))
    }
    # A file that was protected twice needs another look.
    open <- open[vapply(done[open], function(d) length(d$absent) > 0, NA)]
    if (length(open) == 0 || length(files) == n_files) break
  }
  # Hierarchies that no call named, or that have other levels, are not those of the report.
  unused <- setdiff(names(given$made), ls(given$used, all.names = TRUE))
  if (length(unused) && any(vapply(done, function(d) isTRUE(d$asked_hierarchies), NA))) {
    stop_sdc("mismatched_data", c(
      "`hierarchies` must be those that the results of the report were asked with.",
      x = paste0("Other levels, or of other values: ", quote_names(unused), "."),
      i = "Were they made from the same file, and were tables changed since?"
    ))
  }
  internal <- identical(log$variant, "internal")
  rows <- Map(compare_figures, log$results, done, MoreArgs = list(internal = internal))
  out <- do.call(rbind, unname(rows))
  if (is.null(out)) stop_log("It holds no figures.")
  rownames(out) <- NULL
  structure(
    out, class = c("sdc_replay", "data.frame"), version = log$versions$sdcRisk,
    internal = internal
  )
}

protections <- c("recode_search", "suppress_cells", "invariant_pram")

# The files that a protection released, the cheapest recodings among them. A file is
# known by its fingerprint, without which there must be one of its size.
replayed_files <- function(done, entry, log) {
  result <- done$result
  if (is.null(result)) {
    return(NULL)
  }
  released <- released_data(result)
  if (!is.null(released)) {
    return(list(released))
  }
  after <- any(vapply(log$results, function(e) {
    e$stage == "after" || "after" %in% names(e$file$wave_fingerprints)
  }, NA))
  if (inherits(result, "sdc_recode_search") && after && entry$file$digits > 0) {
    which <- seq_len(min(nrow(result$best), most_recodings))
    lapply(which, function(i) suppressMessages(apply_recoding(result, done$files$data, i)))
  }
}

# The recodings of a search that are tried as a released file.
most_recodings <- 10

replay_files <- function(data) {
  several <- is.list(data) && !is.data.frame(data) && !is_file(data) && !is_pattern_table(data)
  files <- if (several) data else list(data)
  good <- length(files) > 0 && all(vapply(files, function(f) {
    is.data.frame(f) || is_file(f) || is_pattern_table(f) || is_sdcmicro(f) ||
      is_list_of(f, is.data.frame)
  }, NA))
  if (!good) {
    stop_argument(
      "data",
      "be a data frame, an sdc_file(), a pattern_table() or an sdcMicroObj, or a list of them",
      given_words(data), if (is_lazy_table(data)) {
        "For a table of a database give its file: sdc_file(data, key_vars, weight_var = ...)."
      }
    )
  }
  if (is.null(names(files))) names(files) <- character(length(files))
  lapply(files, replay_file)
}

# What was protected before is compared with the values before that.
replay_file <- function(f) {
  if (is_file_table(f)) {
    as_file(f, "data")$data
  } else if (is.data.frame(f) && has_history(f)) {
    f
  } else {
    file_data(f)
  }
}

# One result -----------------------------------------------------------------

# Files from which a result is computed; NULL if the request is not known.
plan_entry <- function(entry, files) {
  if (isTRUE(entry$call$known)) plan_call(entry$call, entry$file, files, entry$stage)
}

# The result computed again and its files, or why it was not; `absent` are the arguments
# whose file was not given.
replay_entry <- function(entry, plan, given) {
  asked <- entry$call
  if (is.null(plan)) {
    return(list(note = "what was asked is not known"))
  }
  if (length(plan$absent)) {
    return(absent_files(entry, plan))
  }
  out <- list(files = plan$files, unsure = plan$unsure)
  note <- why_not(asked)
  if (is.null(note) && identical(asked$arguments$hierarchies$type, "hierarchies")) {
    out$asked_hierarchies <- TRUE
    found <- find_logged_hierarchies(
      asked$arguments$hierarchies$of, plan$files$data, given, entry$file$digits
    )
    note <- found$note
    plan$values$hierarchies <- found$hierarchies
  }
  if (!is.null(note)) {
    return(c(out, note = note))
  }
  result <- tryCatch(ask_again(asked, entry$file, plan), sdcRisk_error = function(e) e)
  if (inherits(result, c("sdcRisk_error_mismatched_data", "sdcRisk_error_unknown_key_var"))) {
    if (isTRUE(result$says_which)) stop(result) else stop_other_data()
  }
  if (inherits(result, "sdcRisk_error")) {
    return(c(out, note = paste("it stops now:", conditionMessage(result))))
  }
  c(out, list(result = result))
}

why_not <- function(asked) {
  arguments <- asked$arguments
  withheld <- names(arguments)[vapply(arguments, function(a) identical(a$type, "withheld"), NA)]
  inner <- unlist(lapply(nested_results(asked), function(a) {
    if (isTRUE(a$call$known)) why_not(a$call) else "what was asked is not known"
  }))
  if (identical(asked[["function"]], "invariant_pram")) {
    "invariant_pram() keeps no seed on purpose: it would undo the release"
  } else if (asked[["function"]] %in% protections && length(arguments$data$patterns)) {
    "protected in its database, where replay() writes nothing"
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
ask_again <- function(asked, marks, plan) {
  arguments <- asked$arguments
  values <- lapply(rlang::set_names(as.character(names(arguments))), function(name) {
    value <- arguments[[name]]
    switch(value$type,
      file = file_with_roles(plan$files[[name]], value$roles),
      result = ask_again(value$call, value$file, plan$nested[[name]]),
      hierarchies = plan$values[[name]],
      decode_value(value)
    )
  })
  running$seeds <- lapply(asked$seeds, log_numbers)
  on.exit(running$seeds <- list(), add = TRUE)
  f <- getExportedValue("sdcRisk", asked[["function"]])
  result <- suppressWarnings(suppressMessages(do.call(f, values, quote = TRUE)))
  check_same_files(marks, result)
  result
}

file_with_roles <- function(file, roles) {
  if (length(roles) == 0) {
    return(file)
  }
  # Patterns have no columns but those that are counted.
  known <- c(role_names, if (is.null(times_of(file))) file_roles)
  roles <- lapply(roles[names(roles) %in% known], decode_value)
  do.call(sdc_file, c(list(file), roles))
}

# Assigns files to arguments, by name or by fingerprint, here and in the results that are arguments:
# `files`, `nested`, and the places `used`; `absent` are arguments without a file, `unsure` those
# whose file the log has no fingerprint of.
plan_call <- function(asked, marks, files, stage) {
  places <- argument_of_type(asked, "file")
  plan <- list(
    files = list(), nested = list(), used = integer(), absent = character(), unsure = character()
  )
  for (place in places) {
    roles <- asked$arguments[[place]]$patterns
    like <- if (length(roles)) lapply(files, as_patterns, lapply(roles, decode_value)) else files
    at <- match(place, names(files))
    if (is.na(at)) {
      released <- place == "after" || stage == "after" && place != "before"
      at <- file_by_print(like, marks, place_print(place, places, marks), released)
    }
    if (is.na(at[[1]])) {
      plan$absent <- c(plan$absent, place)
    } else {
      plan$files[[place]] <- like[[at[[1]]]]
      plan$used <- c(plan$used, at)
      if (is_without_print(place_print(place, places, marks), marks)) {
        plan$unsure <- c(plan$unsure, place)
      }
    }
  }
  nested <- Filter(function(a) isTRUE(a$call$known), nested_results(asked))
  for (name in names(nested)) {
    inner <- plan_call(nested[[name]]$call, nested[[name]]$file, files, stage)
    plan$nested[[name]] <- inner
    plan$used <- c(plan$used, inner$used)
    plan$absent <- c(plan$absent, inner$absent)
    plan$unsure <- c(plan$unsure, inner$unsure)
  }
  plan$absent <- unique(plan$absent)
  plan$unsure <- unique(plan$unsure)
  plan
}

# TRUE if the log cannot tell a file from another of its size.
is_without_print <- function(print, marks) marks$digits == 0 || is.null(print) || is.na(print)

argument_of_type <- function(asked, type) {
  arguments <- asked$arguments
  names(arguments)[vapply(arguments, function(a) identical(a$type, type), NA)]
}

nested_results <- function(asked) asked$arguments[argument_of_type(asked, "result")]

# The fingerprint by which the file of an argument is known: its own, or that of the
# result where this is the file the result speaks of. NULL where it goes by name alone.
place_print <- function(place, places, marks) {
  own <- utils::head(intersect(c("newdata", "population", "data"), places), 1)
  if (place %in% names(marks$wave_fingerprints)) {
    marks$wave_fingerprints[[place]]
  } else if (identical(place, own)) {
    if (is.null(marks$fingerprint)) NA_character_ else marks$fingerprint
  }
}

# All files with the fingerprint: the same may be given twice.
file_by_print <- function(files, marks, print, released) {
  digits <- marks$digits
  # Files that are compared are known by their key variables, whatever their weights.
  if ("before" %in% names(marks$wave_fingerprints)) marks$weight_var <- NULL
  marks <- lapply(marks, decode_mark)
  frames <- which(vapply(files, is.data.frame, NA))
  if (is.null(print)) {
    return(NA_integer_)
  }
  if (is_without_print(print, list(digits = digits))) {
    # Without a fingerprint number of records and order must do: before, after.
    same <- frames[vapply(files[frames], function(f) {
      is.null(marks$n) || n_records(f) == marks$n
    }, NA)]
    return(if (!released) same[1] else if (length(same) > 1) max(same) else NA_integer_)
  }
  same <- vapply(files[frames], function(f) {
    now <- fingerprint_of(f, marks)
    !is.na(now) && identical(cut_fingerprint(now, digits), print)
  }, NA)
  if (any(same)) frames[same] else NA_integer_
}

# A released file may be missing, or one that was recoded before it was protected; the file of the
# report may not.
absent_files <- function(entry, plan) {
  several <- length(c(plan$files, plan$absent, unlist(lapply(plan$nested, `[[`, "files")))) > 1
  recoded <- entry[["function"]] %in% protections
  if (entry$stage == "before" && !several && !recoded) {
    stop_other_data(paste0("It is not that of ", quote_names(entry$id), "."))
  }
  list(
    note = if (recoded) {
      paste(
        "the file that was protected is not among the files. If it was recoded first, give",
        "data = list(original, recoded)"
      )
    } else if (several) {
      paste0(
        "not among the files: ", paste(plan$absent, collapse = ", "), "; give ",
        list_words(plan$absent)
      )
    } else {
      "the released file is not among the files; give data = list(before, after)"
    },
    absent = plan$absent
  )
}

list_words <- function(names) paste0("data = list(", paste0(names, " = ", collapse = ", "), ")")

# Fingerprints of files as stated by the result; those of waves need it.
check_same_files <- function(marks, result) {
  digits <- marks$digits
  if (digits == 0) {
    return(invisible())
  }
  now <- result$settings
  same <- function(then, now) {
    is.null(then) || is.null(now) || identical(cut_fingerprint(now, digits), then)
  }
  waves <- names(marks$wave_fingerprints)
  others <- waves[!vapply(waves, function(wave) {
    same(marks$wave_fingerprints[[wave]], as.list(now$wave_fingerprints)[[wave]])
  }, NA)]
  if (length(others)) stop_other_data(paste0("It differs in ", quote_names(others), "."))
  if (!same(marks$fingerprint, now$fingerprint)) stop_other_data()
}

# Every file given must be that of some result; those with names are argued about by
# the functions themselves.
check_matched <- function(plans, names) {
  known <- !vapply(plans, is.null, NA)
  at <- setdiff(which(!nzchar(names)), unlist(lapply(plans, `[[`, "used")))
  if (any(known) && length(at)) {
    stop_other_data(
      if (length(names) > 1) {
        paste(
          if (length(at) > 1) "Elements" else "Element",
          paste(at, collapse = between_numbers()), "of the list",
          if (length(at) > 1) "fit" else "fits", "none of its results."
        )
      },
      setdiff(unique(unlist(lapply(plans, `[[`, "absent"))), "data")
    )
  }
}

# `found` says which; `absent` are arguments for which no file was found.
stop_other_data <- function(found = NULL, absent = NULL) {
  stop_sdc(
    "mismatched_data", "`data` must be the file that the report is about.",
    x = found,
    x = "Its key variables, weights or other columns used, or their values, differ.",
    i = "Was it sorted, filtered, weighted anew or recoded since?",
    i = if (length(absent)) {
      paste0("Other files than `data` are given by name: ", list_words(absent), ".")
    },
    says_which = !is.null(found)
  )
}

# Figures --------------------------------------------------------------------

compare_figures <- function(entry, done, internal) {
  again <- if (!is.null(done$result)) unclass(stated_result(done$result, internal))
  rows <- lapply(names(entry$tables), function(name) {
    columns <- entry$tables[[name]]
    columns <- columns[vapply(columns, is_figures, NA)]
    now <- if (!is.null(again)) as.data.frame(again[[name]])
    do.call(rbind, lapply(names(columns), function(column) {
      logged <- log_numbers(columns[[column]])
      found <- rep(NA_real_, length(logged))
      n <- min(length(logged), NROW(now))
      is_figure <- is.numeric(now[[column]]) || is.logical(now[[column]])
      if (is_figure) found[seq_len(n)] <- as.double(now[[column]])[seq_len(n)]
      equal <- equal_bits(logged, found, done, NROW(now))
      rows <- frame(
        figure = paste0(
          entry$id, ": ", if (name != "estimates") paste0(name, " "), column,
          if (length(logged) > 1) paste0(" [", seq_along(logged), "]") else ""
        ),
        logged = logged, now = found, equal = equal,
        note = if (is.null(done$note)) {
          ifelse(equal %in% FALSE, unsure_words(done$unsure), "")
        } else {
          rep(done$note, length(logged))
        },
        result = rep(entry$id, length(logged))
      )
      # An external report withholds what few records carry.
      rows[internal | !is.na(logged) | is.na(found), , drop = FALSE]
    }))
  })
  do.call(rbind, rows)
}

# Words for results that may differ because of another file or another package.
unsure_words <- function(unsure) {
  if (length(unsure) == 0) {
    return("")
  }
  paste0(
    "no fingerprint in the log, so it may be another file: ", paste(unsure, collapse = ", ")
  )
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
  unsure <- unique(differ[nzchar(differ$note), c("result", "note")])
  now <- own_version()
  then <- attr(x, "version")
  c(
    paste0(
      "Replay of a report: ", format_count(equal), " of ", plural(n, "figure"), " equal",
      if (isFALSE(attr(x, "internal"))) ", rounded as in the log." else " to the last bit."
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
        format_table(utils::head(as.data.frame(differ)[c("figure", "logged", "now")], rows)),
        if (nrow(unsure)) paste0("Of ", unsure$result, ": ", unsure$note, ".")
      )
    }
  )
}

#' @export
print.sdc_replay <- print_wrapped
