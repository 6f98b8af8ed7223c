#' Compare risks before and after protection
#'
#' Compares two or more results of one function, such as [qar_risk()] before and after recoding.
#' Use it to see the effect of a protection or of leaving out a key variable.
#'
#' Results of one analysis each are compared as they are, whatever their key
#' sets: `compare_risk(n_matches(data, keys), n_matches(data, keys[-1]))`. If a
#' result holds several analyses, they are matched by the columns that identify
#' them, such as `p` and `alpha`; an analysis that only some results hold has `NA`
#' elsewhere. The print names key variables and settings that differ: a change
#' may be one of settings.
#'
#' Measures that count the records with a key, [n_matches()],
#' [individual_risk()], [loglinear_risk()], [exhaustive_tabulation()] and
#' [qar_risk()], take the file at its word. On a file perturbed by
#' [invariant_pram()] a record that looks unique need not be the person it seems
#' to be, and one that looks common may be unique: there they do not say what the
#' perturbation bought. Take `match_prob` of [invariant_pram()] and [pram_audit()]
#' for that.
#'
#' @param before,after Results of the same function, named in full or not at all:
#'   `a = ` would be short for `after`, and is an error. A protected file alone, such as
#'   `suppress_cells(file)`, is compared with the file before it by [file_check()] without
#'   models, as long as the session knows that file.
#' @param ... Further results, named; unnamed ones are called `result_3` and
#'   so on.
#' @param loss What the protections cost: a result of [utility_loss()] for `after`,
#'   or a list of such results named by the results they belong to. The picture shows
#'   the largest risk if a result holds several analyses.
#' @param labels Names of `before` and `after` in print, table and picture.
#' @return An object of class `sdc_comparison`. `print()` begins with a sentence about
#'   the first measure and the ratio of the last result to the first, uniques and
#'   records above a limit first, parameters of the method last.
#'   `as.data.frame()` and `tidy()` give a data frame with the columns that
#'   identify an analysis and `term`, `result` (the name of the result),
#'   `estimate`, `change` (the difference to `before`) and `ratio` (the quotient,
#'   `NA` if it is not finite); `glance()` one row; `plot()` and `autoplot()`
#'   draw the first three terms, and `autoplot(x, "risk_utility")`, if `loss` was
#'   given, risk against cost with a point per result. Results of different kinds are
#'   an error of class `sdcRisk_error_bad_argument`.
#' @export
#' @examples
#' before <- qar_risk(adult, pi_u = 0.1)
#' coarser <- transform(adult, age = age %/% 10)
#' after <- qar_risk(coarser, pi_u = 0.1)
#' compare_risk(before, after) # T falls from 0.2700 to 0.1862
compare_risk <- function(before, after, ..., loss = NULL, labels = c("before", "after")) {
  announce("compare_risk")
  check_whole_names(names(sys.call()))
  if (missing(after) && !missing(before) && has_history(before)) {
    after <- file_check(before)
    before <- file_check(file_before(before, "before"))
  }
  if (missing(before) || missing(after)) {
    stop_argument(
      "after", "be given", found = if (...length()) {
        paste(plural(...length(), "result"), "with other names were given.")
      } else {
        "Two results are needed at least."
      },
      advice = "compare_risk(before, after); do.call(compare_risk, x) for a list of results."
    )
  }
  more <- list(...)
  further <- if (is.null(names(more))) character(length(more)) else names(more)
  unnamed <- !nzchar(further)
  further[unnamed] <- paste0("result_", which(unnamed) + 2L)
  if (!is.character(labels) || length(labels) != 2 || anyNA(labels) || !all(nzchar(labels))) {
    stop_argument("labels", "be two names, of `before` and of `after`")
  }
  results <- rlang::set_names(c(list(before, after), more), c(labels, further))
  check_comparable(results)
  table <- comparison_table(results)
  structure(
    list(
      kind = class(before)[[1]], table = table,
      loss = comparison_loss(loss, names(results), table),
      results = lapply(results, comparison_part), made = lapply(results, without_records),
      differences = c(key_differences(results), setting_differences(results)),
      scenario = describe(before)$scenario
    ),
    class = c(paste0(class(before)[[1]], "_comparison"), "sdc_comparison")
  )
}

# R takes `a = x, b = y` for `after = x, before = y`, and every change of the
# comparison would have the wrong sign.
check_whole_names <- function(given) {
  own <- c("before", "after")
  short <- setdiff(given[nzchar(given)], own)
  taken <- lapply(short, function(name) own[startsWith(own, name)])
  short <- short[lengths(taken) > 0]
  if (length(short)) {
    stop_argument(
      "before", "be named in full, like `after`, or not at all",
      found = paste0("`", short, "` is short for `", unlist(taken), "`.", collapse = " "),
      advice = "The results in their order will do: compare_risk(x, y)."
    )
  }
}

check_comparable <- function(results) {
  wrong <- !vapply(results, inherits, NA, "sdc_result")
  if (any(wrong)) {
    of_results <- is.list(results[wrong][[1]]) && !is.data.frame(results[wrong][[1]])
    stop_sdc(
      "bad_argument", "Everything compared must be a result of sdcRisk.",
      x = paste0("`", names(results)[wrong][[1]], "` has class ", quote_names(
        class(results[wrong][[1]])
      ), "."),
      i = if (of_results) "do.call(compare_risk, x) compares the results in a list.",
      i = if (!of_results) "Give file_check() of both files, or a protection alone.",
      argument = "..."
    )
  }
  lapply(results, check_result)
  kinds <- vapply(results, function(x) class(x)[[1]], "")
  if (length(unique(kinds)) > 1) {
    stop_sdc(
      "bad_argument", "Results compared must come from one function.",
      x = paste0("Found: ", quote_names(unique(kinds)), "."),
      argument = "after"
    )
  }
  if (anyDuplicated(names(results))) {
    twice <- unique(names(results)[duplicated(names(results))])
    stop_sdc(
      "bad_argument", "Results compared must have different names.",
      x = paste0("Repeated: ", quote_names(twice), "."),
      i = "Give every further result a name of its own.",
      argument = "..."
    )
  }
}

comparison_table <- function(results) {
  # Columns that distinguish the analyses of one result and are equal in the others.
  ids <- declaration_of(results[[1]])$aligned
  parts <- lapply(names(results), function(label) {
    part <- comparison_rows(results[[label]])
    part$result <- rep(label, nrow(part))
    part[c(ids, "term", "result", "estimate")]
  })
  long <- do.call(rbind, parts)
  # With one analysis each there is no doubt which are compared.
  single <- all(vapply(results, function(x) nrow(x$estimates), 0) == 1)
  key <- do.call(paste, c(unname(long[c(if (!single) ids, "term")]), sep = "\r"))
  # Every analysis of any result gets a row for each of them.
  n <- length(results)
  rows <- rep(which(!duplicated(key)), each = n)
  result <- rep(names(results), length(rows) / n)
  own <- match(paste(key[rows], result, sep = "\r"), paste(key, long$result, sep = "\r"))
  whole <- long[ifelse(is.na(own), rows, own), c(ids, "term"), drop = FALSE]
  whole$result <- result
  whole$estimate <- long$estimate[own]
  base <- rep(whole$estimate[result == names(results)[[1]]], each = n)
  whole$change <- finite_or_na(whole$estimate - base)
  whole$ratio <- finite_or_na(whole$estimate / base)
  rownames(whole) <- NULL
  whole
}

# The estimates of a result in long form, one row per analysis and term.
comparison_rows <- function(x) {
  UseMethod("comparison_rows")
}

#' @export
comparison_rows.default <- function(x) as.data.frame(tidy.sdc_result(x))

# Differences --------------------------------------------------------------

key_differences <- function(results) {
  keys <- lapply(results, function(x) x$settings$key_vars)
  one <- keys[[1]]
  unlist(Map(function(label, other) {
    gone <- setdiff(one, other)
    added <- setdiff(other, one)
    if (length(gone) || length(added)) {
      paste0(
        "Key variables of `", label, "`: ", paste(c(
          if (length(gone)) paste("without", quote_names(gone)),
          if (length(added)) paste("with", quote_names(added))
        ), collapse = ", "), "."
      )
    }
  }, names(keys)[-1], keys[-1]), use.names = FALSE)
}

# Settings that belong to the data or the session and not to the question.
not_settings <- c(
  "key_vars", "key_sets", "named_sets", "key_groups", "candidates", "fingerprint",
  "wave_fingerprints", "version", "n",
  "n_sample", "seed", "applied", "patterns"
)

setting_differences <- function(results) {
  settings <- lapply(results, `[[`, "settings")
  names <- setdiff(unique(unlist(lapply(settings, names))), not_settings)
  differ <- vapply(names, function(name) {
    length(unique(lapply(settings, function(s) as_bare(s[[name]])))) > 1
  }, NA)
  if (!any(differ)) {
    return(NULL)
  }
  words <- vapply(names[differ], function(name) {
    values <- unique(lapply(settings, `[[`, name))
    if (all(vapply(values, function(v) is.null(v) || is.atomic(v) && length(v) == 1, NA))) {
      paste0(name, " (", paste(vapply(values, function(v) {
        if (is.null(v)) "none" else if (is.numeric(v)) format_short(v) else as.character(v)
      }, ""), collapse = between_numbers()), ")")
    } else {
      name
    }
  }, "")
  paste0("Settings differ: ", paste(words, collapse = ", "), ".")
}

# The first term of a kind, which a comparison is about ---------------------

comparison_sentence <- function(table, kind) {
  term <- table$term[[1]]
  last <- utils::tail(unique(table$result), 1)
  shown <- table[table$term == term & table$result == last, ]
  # The first analysis that both results hold.
  shown <- utils::head(shown[order(is.na(shown$change)), ], 1)
  ids <- setdiff(names(shown), c("term", "result", "estimate", "change", "ratio"))
  which <- if (sum(table$term == term & table$result == last) > 1 && length(ids)) {
    paste0(" (", paste(ids, "=", vapply(shown[ids], value_names, ""), collapse = ", "), ")")
  }
  label <- paste0(lower_first(term_label(term, kind)), which)
  if (is.na(shown$change)) {
    return(paste(label, "not determined in both results"))
  }
  from <- shown$estimate - shown$change
  paste0(
    label, if (shown$change == 0) {
      paste0(" unchanged at ", format_amount(from), " (`", last, "`)")
    } else {
      paste0(
        if (shown$change < 0) " down from " else " up from ", format_amount(from), " to ",
        format_amount(shown$estimate), " (`", last, "`)",
        if (!is.na(shown$ratio)) paste0(", ", format_risk(shown$ratio), " times the former value")
      )
    }
  )
}

# Label of a figure.
term_label <- function(term, kind) {
  of <- if (kind == "sdc_file_check") {
    about <- page_figures()
    about$label[match(term, about$measure)]
  } else {
    declared[[sub("^sdc_", "", kind)]]$figures[[term]]$label
  }
  if (is.character(of) && !is.na(of)) of else gsub("_", " ", term)
}

# Verbs --------------------------------------------------------------------

# The part of a result that a comparison keeps: its main table, if one can be drawn.
comparison_part <- function(x) {
  UseMethod("comparison_part")
}

#' @export
comparison_part.default <- function(x) NULL

# The part of a result that a report needs: figures, their meaning, and how they were made.
without_records <- function(x) {
  kept <- c("estimates", "settings", "diagnostics", "call")
  parts <- c(unclass(x)[kept], list(said = said_of(x), sums = sums_of(x)))
  kept <- structure(parts, class = class(x), asked = attr(x, "asked"))
  attr(kept, "fields") <- fields_of(kept)
  kept
}

#' @export
as.data.frame.sdc_comparison <- function(x, ...) {
  x$table
}

#' @export
tidy.sdc_comparison <- function(x, ...) {
  as_tidy(x$table)
}

#' @export
glance.sdc_comparison <- function(x, ...) {
  term <- x$table$term[[1]]
  last <- utils::tail(unique(x$table$result), 1)
  shown <- utils::head(x$table[x$table$term == term & x$table$result == last, ], 1)
  as_tidy(frame(
    kind = sub("^sdc_", "", x$kind), n_results = length(unique(x$table$result)),
    n_rows = nrow(x$table) / length(unique(x$table$result)), term = term,
    before = shown$estimate - shown$change, last = shown$estimate, change = shown$change,
    ratio = shown$ratio
  ))
}

# Columns that tell the analyses apart, where they do.
telling_ids <- function(table) {
  ids <- setdiff(names(table), c("term", "result", "estimate", "change", "ratio"))
  of_one <- table[table$result == table$result[[1]] & table$term == table$term[[1]], ids,
                  drop = FALSE]
  ids[vapply(of_one, function(id) length(unique(id)) > 1, NA)]
}

# Measures that count the records of a cell mean nothing on perturbed files.
counting_kinds <- c(
  "sdc_n_matches", "sdc_individual_risk", "sdc_loglinear_risk", "sdc_exhaustive_tabulation",
  "sdc_qar_risk", "sdc_household_risk"
)

declare_measure(
  "comparison",
  title = paste0(
    "Comparison of ", length(unique(x$table$result)), " results of ", compared_function(x), ": ",
    comparison_sentence(x$table, x$kind), "."
  ),
  table = comparison_columns(x$table), rest = "as.data.frame(x)", most = 8,
  notes = list(
    paste(x$differences, collapse = " "), paste(loss_lines(x$loss), collapse = " "),
    if (x$kind %in% counting_kinds) capitalised(perturbed_line(x))
  ),
  scenario = x$scenario$who, knows = x$scenario$beside,
  measured = paste0(
    length(unique(x$table$result)), " results of ", compared_function(x), " were compared"
  ),
  found = comparison_sentence(x$table, x$kind),
  limits = paste(c(
    "a change can be one of key variables or settings as well as of the data", perturbed_line(x)
  ), collapse = "; ")
)

compared_function <- function(x) paste0(sub("^sdc_", "", x$kind), "()")

perturbed_line <- function(x) {
  if (x$kind %in% counting_kinds) {
    "if invariant_pram() changed a file, these counts do not show its protection: see pram_audit()"
  }
}

comparison_columns <- function(table) {
  results <- unique(table$result)
  last <- results[[length(results)]]
  wide <- table[table$result == table$result[[1]], c(telling_ids(table), "term"), drop = FALSE]
  for (result in results) {
    wide[[result]] <- table$estimate[table$result == result]
  }
  # If columns do not fit, the ratio stays.
  wide[["ratio"]] <- table$ratio[table$result == last]
  wide[["change"]] <- table$change[table$result == last]
  # The measure of all analyses first.
  wide[order(match(wide$term, unique(wide$term))), ]
}

#' @export
interpret.sdc_comparison <- function(x, ...) {
  description_sentence(describe(x), own_version())
}

#' @export
print.sdc_comparison <- print_lines

#' @exportS3Method ggplot2::autoplot
autoplot.sdc_comparison <- function(object, type = c("terms", "risk_utility"), ...) {
  announce("autoplot")
  check_no_dots(...)
  if (check_choice(type, c("terms", "risk_utility"), "type") == "risk_utility") {
    return(plot_risk_utility(object))
  }
  table <- object$table
  table <- table[is.finite(table$estimate), ]
  # Three pictures that can be read; the rest is in the table.
  terms <- utils::head(unique(table$term), 3)
  table <- table[table$term %in% terms, ]
  ids <- telling_ids(object$table)
  name_analysis <- function(id) paste(id, "=", trimws(format(table[[id]], trim = TRUE)))
  # A method with one analysis has nothing that identifies it.
  table$analysis <- if (length(ids)) {
    do.call(paste, c(lapply(ids, name_analysis), sep = ", "))
  } else {
    rep("all", nrow(table))
  }
  n_analyses <- length(unique(table$analysis))
  table$result <- factor(table$result, rev(unique(table$result)))
  table$term <- factor(table$term, terms)
  ggplot2::ggplot(
    table, ggplot2::aes(x = .data$estimate, y = .data$result, colour = .data$analysis)
  ) +
    ggplot2::geom_point(
      size = 2.8, position = ggplot2::position_dodge(width = if (n_analyses > 1) 0.5 else 0)
    ) +
    ggplot2::scale_colour_manual(
      values = sdc_colours(n_analyses), guide = if (n_analyses > 1) "legend" else "none"
    ) +
    ggplot2::scale_x_continuous(
      labels = plain_numbers, n.breaks = 3, limits = function(r) c(min(0, r[1]), max(0, r[2]))
    ) +
    ggplot2::facet_wrap(ggplot2::vars(.data$term), scales = "free_x") +
    sdc_labs(title = "Results side by side", x = NULL, y = NULL, colour = NULL)
}
