#' The file that a board gets
#'
#' What is the risk of this file, measured how, against which limits, and what does
#' a protection change? `sdc_report()` writes results of this package into one file
#' that is read without R and without a network, and beside it a log by which
#' [replay()] computes every figure again.
#'
#' The report begins with a page for the board: the questions asked, the key
#' variables, the scenarios, the limits and the verdicts, and what was not examined.
#' The file before and after a protection stands side by side with the cost. Then
#' come pictures (where ggplot2 is installed), a checklist whose items that are
#' numbers are filled in from the results while the others stand as questions, the
#' methods with references, settings and seeds, all tables, and the versions of the
#' package and of the crates in its core.
#'
#' @section Before and after:
#' Results whose names begin with `after` are those of the protected file, as are
#' the results but the first in [compare_risk()]. A result without such a name
#' belongs to the protected file where its fingerprint is that of the data which a
#' protection in the report released. All others must come from one file: a result
#' with another number of records, or with another fingerprint of the same key
#' variables, is an error of class `sdcRisk_error_mismatched_data`. Fingerprints
#' cover key variables, so two files of equal length and with different key variables
#' are told apart only where `data` is given: then every result is compared with it.
#'
#' Results about a [pattern_table()] stand beside results about its file. They have the
#' fingerprint of the table; where `data` is the file, the table is made of it to compare.
#'
#' @section Internal and external:
#' An internal report names the records of highest risk, repeats the prints of the
#' results, and its log keeps seeds, hierarchies and the whole fingerprint. The external one is
#' made of what may leave the agency, and says so: numbers and the names of
#' variables. It holds no record number, no category of any variable (so none that
#' fewer records than the limit hold), no result object, no seed, and of the
#' fingerprint 4 of 16 digits, too few to test guesses of what a protection
#' took away. Where fewer than 16 cells of the file were blanked or exchanged it has
#' no fingerprint, and where fewer than 100 were, no bits lost and no distances,
#' since these could tell single values. Names of results, the title and names of
#' columns are written as they are.
#'
#' @section Limits and verdicts:
#' A verdict is `"ok"` or `"above"` where a limit applies: `k`, the fewest records
#' that may share a key, and `journalist`, the largest probability that a record is
#' led back to the right person of the population. A promise of a protection, such as
#' `max_match_prob` of [invariant_pram()], is judged by itself. Limits and verdicts
#' of [file_check()] are taken as they are; its sample uniques, where it has no limit on them
#' but a `k` of 2 or more, have the limit 0, as those of [n_matches()] do. Everything else has
#' `"no limit"`.
#'
#' Figures that count records with equal keys, taken of a file that [invariant_pram()]
#' perturbed, are `"not judged"`: they take values at their word, and say nothing of what
#' the perturbation bought.
#'
#' With `prob_attempt` below 1 a column gives probabilities of a correct match and
#' expected numbers of them times this probability, that of an attempt. Verdicts are
#' of the risks conditional on an attempt. Shares of uniques are not multiplied: they
#' describe the file.
#'
#' @section Cost:
#' Less than a second without pictures, and about half a second per picture.
#'
#' @param ... Results of this package, comparisons by [compare_risk()], or lists of
#'   them; their names are used in the report.
#' @param file Where to write: a name that ends in `.html`, or in `.docx` for Word
#'   by pandoc. The log goes beside it, its name ending in `.json`.
#' @param internal `TRUE`: for the agency alone.
#' @param prob_attempt Probability that an attempt is made, above 0 and at most 1.
#' @param limit The limits as a list: `k`, `journalist`. Where it is not given, those of
#'   a result of [file_check()] in the report.
#' @param data The file the results were made from. Not needed; see above.
#' @param title Title of the report.
#' @param pictures `FALSE`: without pictures, which take most of the time.
#' @param overwrite `TRUE`: files that exist are replaced.
#' @return The name of the file, invisibly.
#'
#'   Errors, before anything is written: what is not a result, a file that exists, a
#'   folder that is missing or cannot be written (`bad_argument`), results of
#'   different files (`mismatched_data`), Word without pandoc (`missing_package`).
#'   Files are written under other names and renamed at the end.
#' @references
#' Interagency Confidentiality and Data Access Group (1999). *Checklist on Disclosure
#' Potential of Proposed Data Releases*. Federal Committee on Statistical Methodology,
#' Washington, DC. The items here are in our own words.
#' @family reports
#' @export
#' @examples
#' keys <- c("CENREG", "DAGE3", "EDUC3", "GENDER", "BORNUSA", "DRACE3")
#' before <- n_matches(nals_prison, keys)
#' protected <- suppress_cells(nals_prison, keys, k = 3)
#' released <- release_data(protected)
#' after <- n_matches(released, keys)
#' file <- tempfile(fileext = ".html")
#' sdc_report(
#'   before, protected, after, utility_loss(nals_prison, released, keys), file = file
#' )
#' found <- replay(sub("html$", "json", file), list(nals_prison, released))
#' all(found$equal) # TRUE
sdc_report <- function(..., file, internal = FALSE, prob_attempt = 1,
                       limit = list(k = 3, journalist = 0.05), data = NULL,
                       title = "Disclosure risk of a microdata file", pictures = TRUE,
                       overwrite = FALSE) {
  check_given("file")
  check_flag(internal, "internal")
  check_flag(overwrite, "overwrite")
  check_flag(pictures, "pictures")
  settings <- list(
    internal = internal, prob_attempt = check_attempt(prob_attempt),
    limit = check_report_limits(limit), title = check_title(title),
    pictures = pictures
  )
  given <- report_results(list(...))
  if (missing(limit)) {
    checked <- limits_of_check(given$results)
    if (!is.null(checked)) settings$limit <- checked
  }
  paths <- report_paths(file, overwrite)
  entries <- report_entries(given$results, data)
  content <- report_content(entries, given$comparisons, settings)
  log <- report_log(content, settings)
  write_report(content, log, paths)
  invisible(paths$report)
}

check_attempt <- function(x) {
  if (!are_distinct_numbers(x, FALSE) || x <= 0 || x > 1) {
    stop_argument(
      "prob_attempt", "be one number above 0 and at most 1", given_words(x), percent_advice(x)
    )
  }
  as.double(x)
}

# Of the limits that file_check() knows, those that other results are judged by.
check_report_limits <- function(limit) {
  limit <- check_limits(limit)
  unused <- setdiff(names(limit), c("k", "journalist"))
  if (length(unused)) {
    stop_argument(
      "limit", "be a list of `k`, `journalist` or both",
      found = paste0("There is more: ", quote_names(unused), "."),
      advice = "Give other limits to file_check(), whose verdicts the report takes."
    )
  }
  limit
}

# Limits that nobody gave are those of the file_check() in the report.
limits_of_check <- function(results) {
  checks <- Filter(function(x) inherits(x, "sdc_file_check"), results)
  if (length(checks)) {
    limit <- checks[[1]]$settings$limit
    limit[intersect(names(limit), c("k", "journalist"))]
  }
}

check_title <- function(title) {
  if (!is.character(title) || length(title) != 1 || is.na(title)) {
    stop_argument("title", "be one text", given_words(title))
  }
  title
}

# Results --------------------------------------------------------------------

# Results and comparisons in the order given, by name; lists of them taken apart.
report_results <- function(given) {
  flat <- flatten_results(given)
  if (length(flat) == 0) {
    stop_argument(
      "...", "hold a result", found = "No result was given.",
      advice = "sdc_report(n_matches(data, key_vars), file = \"report.html\")"
    )
  }
  compares <- vapply(flat, inherits, NA, "sdc_comparison")
  results <- list()
  for (i in seq_along(flat)) {
    one <- if (compares[[i]]) comparison_results(flat[[i]]) else flat[i]
    results <- c(results, one[!vapply(one, is_among, NA, results)])
  }
  list(results = results, comparisons = unname(flat[compares]))
}

flatten_results <- function(given) {
  names <- if (is.null(names(given))) character(length(given)) else names(given)
  out <- list()
  for (i in seq_along(given)) {
    x <- given[[i]]
    if (inherits(x, c("sdc_result", "sdc_comparison"))) {
      if (inherits(x, "sdc_result")) check_result(x)
      out <- c(out, rlang::set_names(list(x), names[[i]]))
    } else if (is.list(x) && !is.object(x) && length(x)) {
      out <- c(out, flatten_results(x))
    } else {
      stop_no_result(x, names[[i]])
    }
  }
  out
}

stop_no_result <- function(x, name) {
  stop_argument(
    "...", "hold results of sdcRisk",
    found = if (nzchar(name)) {
      paste0("`", name, "` has class ", quote_names(class(x)), ".")
    } else {
      paste0("An object of class ", quote_names(class(x)), " was given.")
    },
    advice = c(
      nearest_names(name[nzchar(name)], setdiff(argument_names(), "...")),
      if (is.data.frame(x)) "The file itself goes into `data`, results into `...`."
    )
  )
}

# The results of a comparison, as far as it kept them: the first is before.
comparison_results <- function(x) {
  made <- x$made
  names <- names(made)
  names[-1] <- ifelse(startsWith(names[-1], "after"), names[-1], paste("after:", names[-1]))
  rlang::set_names(made, names)
}

# Whether the same figures of the same file are there already.
is_among <- function(x, results) {
  same <- c("estimates", "settings")
  any(vapply(results, function(y) {
    identical(class(x), class(y)) && identical(unclass(x)[same], unclass(y)[same])
  }, NA))
}

# Every result with its name, stage and what it says, file_check() first.
report_entries <- function(results, data) {
  results <- results[order(!vapply(results, inherits, NA, "sdc_file_check"))]
  stages <- stages_of(results, data)
  fun <- vapply(results, function(x) sub("^sdc_", "", class(x)[[1]]), "")
  plain <- names(results) %in% c("", "before", "after")
  labels <- ifelse(plain, fun, names(results))
  twice <- stats::ave(seq_along(labels), paste(labels, stages), FUN = seq_along)
  labels <- ifelse(twice > 1, paste(labels, twice), labels)
  Map(function(x, fun, label, stage) {
    list(
      id = if (stage == "after" && !startsWith(label, "after")) paste("after:", label) else label,
      fun = fun, label = label, stage = stage, result = x, asked = attr(x, "asked"),
      said = if (is.null(unclass(x)$said)) said_of(x) else unclass(x)$said
    )
  }, unname(results), unname(fun), unname(labels), stages)
}

# What a result says of itself, without its tables.
said_of <- function(x) {
  said <- describe(x)
  list(
    title = said$title, question = said$question, scenario = said$scenario,
    sentence = if (!is.null(said$sentence)) unclass(interpret(x))
  )
}

# Stages ---------------------------------------------------------------------

# "before" or "after" for every result; an error where they come from different files.
stages_of <- function(results, data) {
  named <- startsWith(names(results), "after")
  released <- lapply(results, released_data)
  released <- released[!vapply(released, is.null, NA)]
  stages <- ifelse(named, "after", "before")
  first <- list()
  for (i in which(!named)) {
    x <- results[[i]]
    marks <- file_identity(x)
    known <- first[[marks$keys]]
    differs <- if (!is.null(data)) {
      !is_made_from(x, data)
    } else {
      length(first) && (!is.null(known) && known != marks$fingerprint)
    }
    if (differs && any(vapply(released, function(d) is_made_from(x, d), NA))) {
      stages[[i]] <- "after"
    } else if (differs || is_of_other_length(x, results[!named], data)) {
      stop_different_files(x, results[!named])
    } else if (is.null(known)) {
      first[[marks$keys]] <- marks$fingerprint
    }
  }
  unname(stages)
}

released_data <- function(x) {
  fields <- unclass(x)
  is_release <- inherits(x, c("sdc_suppress_cells", "sdc_invariant_pram"))
  # A table of a database stays where it is.
  if (is_release && !is_lazy_table(fields$data)) fields$data
}

# Results with equal `keys` have the fingerprints of one file or of different ones.
file_identity <- function(x) {
  settings <- x$settings
  roles <- c("weight_var", "hh_id", "hh_vars", "sensitive", "within", "strata_var")
  of <- c(settings["key_vars"], settings["key_groups"], settings[intersect(roles, names(settings))])
  of <- of[lengths(of) > 0]
  # What is compared with another file has fingerprints of its own kind.
  kind <- c(
    if (!is.null(settings$wave_fingerprints)) "waves", if (isTRUE(settings$patterns)) "patterns",
    if (!is.null(asked_patterns(x))) "pattern table"
  )
  list(
    keys = paste(c(kind, deparse(of, width.cutoff = 500L)), collapse = ""),
    fingerprint = paste(c(settings$fingerprint, ""), collapse = " ")
  )
}

is_made_from <- function(x, data) {
  roles <- asked_patterns(x)
  if (!is.null(roles)) data <- as_patterns(file_data(data), roles)
  identical(fingerprint_of(data, x$settings), x$settings$fingerprint)
}

# Numbers of records differ; of two waves only the second is compared.
is_of_other_length <- function(x, results, data) {
  n <- x$settings$n
  if (is.null(n) || !is.null(x$settings$wave_fingerprints) || isTRUE(x$settings$patterns)) {
    return(FALSE)
  }
  sizes <- unlist(lapply(results, function(r) {
    if (is.null(r$settings$wave_fingerprints)) r$settings$n
  }))
  n != c(sizes, if (!is.null(data)) n_records(file_data(data)))[[1]]
}

stop_different_files <- function(x, results) {
  n <- unique(unlist(lapply(results, function(r) r$settings$n)))
  stop_sdc(
    "mismatched_data",
    c(
      "The results of a report must come from one file, before or after its protection.",
      x = if (length(n) > 1) {
        paste0("Numbers of records: ", paste(format_count(n), collapse = between_numbers()), ".")
      } else {
        paste0(
          "A result of ", sub("^sdc_", "", class(x)[[1]]), "() has another fingerprint of its ",
          "key variables."
        )
      },
      i = "Give results of the protected file names that begin with `after`."
    )
  )
}
