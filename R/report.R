#' Write a report for a disclosure review board
#'
#' Writes results of this package into one report: the risk of the file, the methods and
#' limits, and the effect of protection. Use it for a disclosure review board. The report
#' opens without R and without a network; a log is written next to it, from which [replay()]
#' computes every figure again.
#'
#' The report begins with a page for the board: the questions asked, the key
#' variables, the scenarios, the limits and the verdicts, and what was not examined.
#' The file before and after a protection is shown side by side with the loss. Then
#' come pictures (if ggplot2 is installed; their alternative texts state the figures), a
#' checklist whose items that are numbers are filled in from the results while the others stand
#' as questions, the methods with references, settings and seeds, all tables, and the versions
#' of the package and of the crates in its core.
#'
#' @section Before and after:
#' Every result is compared with the original file and with the files that protections in the
#' report released; its weights, households and other roles do not matter. A result of a
#' released file is a result after the protection, also if `release_data()` handed out the
#' records in another order. The original is the file before all steps: of
#' `suppress_cells(global_recode(file))` it is `file`. If a result fits neither file, the report is
#' refused with an error of class `sdcRisk_error_mismatched_data` that names the result. If it
#' shares no variable with the other results, its file is unknown: give the original file as
#' `data`, or name the result `before`.
#'
#' A result of variables that the protection did not change fits both files. If the protection
#' changed no value at all, it is about the original, and about the released file if the original
#' has the same result. Otherwise it must be named `before` or `after`; only a [file_check()] is
#' about the original without a name.
#'
#' A result whose name begins with `before` or `after` must fit that file, if the report knows
#' it. If no protection in the report holds released data, `after` is taken at its word, as are
#' the results but the first in [compare_risk()]. A [utility_loss()] must compare records in the
#' same order: give it the protection, not [release_data()], whose records may be shuffled.
#'
#' In one more case a name is needed. A released file in another order of records is recognised up
#' to two million values of key variables; the results of a larger one are named `after`.
#'
#' If a protection, or a result after it, was made on other key variables, households or
#' weights than the [file_check()] in the report, or than its other results, this is stated
#' in the first lines of the page. Its verdict is then `"not judged"`, unless only the
#' weights differ.
#'
#' If the order of the records reveals protected values, and a result after the protection is
#' about the records in that order, as `x$data` or `release_data(x, shuffle = FALSE)` have
#' it, the first lines of the page give the share of values that comes back.
#'
#' The data of a protection are known in both orders: that of `x$data`, and that in which
#' [release_data()] hands them out. [replay()] computes results about the second again only if
#' it is given that file.
#'
#' Results about a [pattern_table()] or a table of a database can be reported with results about
#' their file. They have the fingerprint of the patterns, whose order does not matter; if `data` is
#' the file, its patterns are counted to compare them, and so are those of a released table, as
#' long as its connection lives.
#'
#' @section Internal and external:
#' An internal report names the records of highest risk, repeats the prints of the
#' results, and its log keeps seeds, hierarchies and the whole fingerprint. The external one is
#' limited to information that may leave the agency: numbers and the names of
#' variables. It contains no record numbers, no categories, no result objects and no seeds. Only 4
#' of the 16 digits of the file's fingerprint are stored in its log, too few to test guesses of
#' protected values. If fewer than 16 values of the file were suppressed or exchanged it has
#' no fingerprint, and if fewer than 100 were, no distances, since these could reveal single
#' values. Names of results, the title and names of columns are written as they are.
#'
#' Figures of an external report that are not whole numbers have three significant digits, on
#' the page, in alternative texts of pictures and in the log. With more digits the largest risk
#' reveals the weight of the riskiest record, and so the record: such a figure is given with as many
#' digits, three or two, as at least five records (households) share, and is withheld otherwise.
#' Its verdict is that of the exact figure. Entropies, bits and shares of the largest category are
#' withheld, since the sizes of categories follow from them. Shares of the information lost have
#' two digits, and are withheld for fewer than three key variables.
#'
#' Counts are exact, except that a count of fewer than five records, households or values is
#' withheld. So is a count that tells fewer than five of them together with another one in the
#' report: the number of records, a part of it such as the records alone among those with few
#' matches, another key set, or the file before the protection; the values that were suppressed and
#' the records that have them. A share, a bound or a distance is withheld with its
#' count, and so are a sentence that has such a count and a picture that draws it. If fewer than
#' five incomplete records are left out, no share of the others is shown. The verdict
#' stays. An external report of a file of fewer than 100 records is a warning (`small_file`), since
#' such counts may follow from its other figures: write an internal one.
#'
#' If the number of sample uniques is withheld, sums over records, such as expected
#' re-identifications, are multiples of a round number that is at least five times the largest risk:
#' few sample uniques do not follow from them. A sum of fewer than two such steps is withheld.
#' Means and the number of equivalence classes are such sums. Large files keep three digits. If a
#' count is withheld, so is the risk of [qar_risk()] for a single key set: it is the number of
#' equivalence classes, divided by that of records.
#'
#' Sums that fewer than five records carry are withheld too, such as the expected
#' re-identifications among four sample uniques, and so is every sum that fewer than five records
#' tell from another one in the report: the total and a part, the file before and after, two key
#' sets. Of two such sums that of the file before and the larger one is kept. The page, the
#' checklist and the tables say `not shown: reveals fewer than 5 records`, the log has `null`, and
#' [replay()] leaves the figure out.
#'
#' @section Limits and verdicts:
#' A verdict is `"ok"` or `"above"` if a limit applies: `k`, the fewest records
#' that may share a key, and `journalist`, the largest probability that a record is
#' led back to the right person of the population. A promise of a protection, such as
#' `max_match_prob` of [invariant_pram()], is judged by itself if it is at least as strict as
#' `k`; else the protection has no verdict. These limits hold for every [file_check()] in the
#' report too; its other limits and verdicts are taken as they are. Everything else has
#' `"no limit"`.
#'
#' Figures of a log-linear model that does not fit the file are not written as numbers and are
#' `"not judged"`.
#'
#' Figures that count records with equal keys, taken of a file that [invariant_pram()]
#' perturbed, are `"not judged"`: they count values as true and ignore the perturbation.
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
#'   them; their names are used in the report. A protected file alone, such as
#'   `suppress_cells(file)`, is reported with a [file_check()] before and after and its
#'   [utility_loss()], as long as the session knows the file before.
#' @param file Where to write, by name or as the only text among the results: a name that ends
#'   in `.html`, or in `.docx` for Word by pandoc. The log gets the same name, ending in `.json`.
#' @param internal `TRUE`: for the agency alone.
#' @param prob_attempt Probability that an attempt is made, above 0 and at most 1. If it is not
#'   given, that of the [sdc_file()]s of the results, the largest if they differ.
#' @param limit The limits as a list: `k`, `journalist`. If it is not given, those of
#'   a result of [file_check()] in the report.
#' @param data The original file. Needed only if nothing else tells which file a result is
#'   about; see above.
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
#' after <- n_matches(protected$data, keys)
#' file <- tempfile(fileext = ".html")
#' sdc_report(
#'   before, protected, after, utility_loss(nals_prison, protected, keys), file = file
#' )
#' found <- replay(sub("html$", "json", file), nals_prison)
#' all(found$equal) # TRUE
sdc_report <- function(..., file = NULL, internal = FALSE, prob_attempt = 1,
                       limit = list(k = 3, journalist = 0.05), data = NULL,
                       title = "Disclosure risk of a microdata file", pictures = TRUE,
                       overwrite = FALSE) {
  announce("sdc_report")
  given <- named_file(list(...), file)
  file <- given$file
  check_flag(internal, "internal")
  check_flag(overwrite, "overwrite")
  check_flag(pictures, "pictures")
  settings <- list(
    internal = internal, prob_attempt = check_share(prob_attempt, "prob_attempt"),
    limit = check_report_limits(limit), title = check_title(title),
    pictures = pictures
  )
  given <- report_results(with_histories(given$results))
  if (missing(prob_attempt)) settings$prob_attempt <- attempt_of(given$results)
  if (missing(limit)) {
    checked <- limits_of_check(given$results)
    if (!is.null(checked)) settings$limit <- checked
  }
  paths <- report_paths(file, overwrite)
  entries <- report_entries(given, if (is_sdcmicro(data)) file_data(data) else data)
  if (!internal) warn_small_file(entries)
  content <- report_content(entries, given$comparisons, settings)
  log <- report_log(content, settings)
  write_report(content, log, paths)
  invisible(paths$report)
}

# The path may come last among the results: file |> suppress_cells(k = 3) |> sdc_report("x.html").
named_file <- function(given, file) {
  texts <- vapply(given, is_one_text, NA)
  misspelt <- texts & nzchar(rlang::names2(given))
  if (any(misspelt)) stop_unknown_arguments(names(given)[misspelt], argument_names())
  if (is.null(file) && sum(texts) == 1) {
    file <- given[[which(texts)]]
    given <- given[!texts]
  }
  if (is.null(file)) {
    stop_argument("file", "be given", found = "It has no default.",
                  advice = "Name the file to write: file = \"report.html\".")
  }
  list(results = given, file = file)
}

# Of the limits that file_check() knows, those that other results are judged by.
check_report_limits <- function(limit) {
  limit <- check_limits(limit)
  unused <- setdiff(names(limit), c("k", "journalist"))
  refuse_names(
    unused, "limit", "be a list of `k`, `journalist` or both",
    "There is more", "Give other limits to file_check(), whose verdicts the report takes."
  )
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
  words <- character()
  for (i in seq_along(flat)) {
    one <- if (compares[[i]]) comparison_results(flat[[i]]) else flat[i]
    new <- !vapply(one, is_among, NA, results)
    results <- c(results, one[new])
    words <- c(words, vapply(one[new], result_words, "", names(flat)[[i]], i))
  }
  list(results = results, words = unname(words), comparisons = unname(flat[compares]))
}

# A result in an error: its name or its place, and its function.
result_words <- function(x, name, place) {
  paste0(
    if (nzchar(name)) paste0("`", name, "`") else paste("result", place), ", of ",
    sub("^sdc_", "", class(x)[[1]]), "(),"
  )
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
      if (has_history(x)) {
        "Its steps are in the report if file_check() of it is: leave the file out."
      } else if (is.data.frame(x) || is_file(x) || inherits(x, "sdcMicroObj")) {
        "The file itself goes into `data`, results into `...`: file_check(x) is one."
      }
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

# TRUE if the same figures of the same file are there already, and as much is known of its columns.
is_among <- function(x, results) {
  same <- c("estimates", "settings")
  told <- c("told_missing", "told_before", "told_others")
  any(vapply(results, function(y) {
    identical(class(x), class(y)) && identical(unclass(x)[same], unclass(y)[same]) &&
      identical(x$diagnostics[told], y$diagnostics[told])
  }, NA))
}

# Every result with its name, stage and what it says, file_check() first.
report_entries <- function(given, data) {
  order <- order(!vapply(given$results, inherits, NA, "sdc_file_check"))
  results <- given$results[order]
  stages <- stages_of(results, data, given$words[order])
  fun <- vapply(results, function(x) sub("^sdc_", "", class(x)[[1]]), "")
  labels <- ifelse(names(results) %in% c("", "before", "after"), fun, names(results))
  twice <- stats::ave(seq_along(labels), paste(labels, stages), FUN = seq_along)
  labels <- ifelse(twice > 1, paste(labels, twice), labels)
  Map(function(x, fun, label, stage) {
    list(
      id = if (stage == "after" && !startsWith(label, "after")) paste("after:", label) else label,
      fun = fun, label = label, stage = stage, result = x, asked = attr(x, "asked"),
      said = unclass(x)$said
    )
  }, unname(results), unname(fun), unname(labels), stages)
}
