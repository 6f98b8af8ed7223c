#' Stability of key variables between two waves
#'
#' Counts, among people known to be in both waves, how often each variable changed, and how many
#' correct links the most stable ones give as they are added one after the other. Use it to choose
#' the variables of [longitudinal_link()].
#'
#' @details
#' A pair counts for a variable if both records observe it; `prop_changed`
#' is the share of these pairs whose values differ. Variables are ranked by it,
#' those that tell more (larger entropy) first among equals. Values are
#' compared as in [longitudinal_link()].
#'
#' `expected_correct` in the row of a variable is the expected number of
#' correct matches of [longitudinal_link()] on this variable and all with a
#' smaller `step`. If it rises no more, further keys do not help the
#' intruder; if it falls, they change too often. `steps = "greedy"` adds at
#' every step the variable that brings most; that path is an answer to "how few
#' variables suffice", and no proof that no other set does better.
#'
#' The paper takes the variables that fewer than 200 of 63,654 respondents
#' changed (0.3%), and age.
#'
#' @section Cost:
#' One linkage per key, or `k (k + 1) / 2` with `steps = "greedy"`.
#'
#' @section Memory:
#' Beyond the waves, with five key variables and two threads: at most 320 bytes a record of
#' a wave.
#'
#' @inheritParams longitudinal_link
#' @param key_vars Names of variables in both waves; `NULL` for all but `id`.
#' @param steps How keys are added: `"stability"`, the least changed first;
#'   `"greedy"`; or `"none"`, which leaves the columns `step` to
#'   `n_single_best` out.
#' @param max_keys At most `max_keys` key variables are added, the most stable
#'   ones; the rest have `NA`.
#' @return An object of class `sdc_key_stability`, an [sdc_result] without records, whose
#' `estimates` have one row per variable by
#'   rising `prop_changed`: `variable`, `n_compared`, `n_changed`,
#'   `prop_changed`, `n_levels` (values in either wave), `n_missing` (pairs with
#'   a missing value), `entropy` (of wave 1, natural logarithm, without missing
#'   values), `step`, `expected_correct`, `prop_expected` (of the linked
#'   records), `n_certain`, `n_single_best`. `plot()` and `autoplot()` draw the
#'   curve. Errors and warnings are those of [longitudinal_link()].
#' @references
#' Li, J., Li, L., Krenzke, T. and Chang, W.-Y. (2021). An approach to estimate
#' the re-identification risk in longitudinal survey microdata. Joint Statistical
#' Meetings 2021. Section 3.2, Table 3.
#' @export
#' @examples
#' set.seed(1)
#' wave1 <- cbind(id = 1:3000, adult[1:3000, c("age", "race", "sex", "education_num")])
#' wave2 <- transform(wave1, age = age + rbinom(3000, 1, 0.5))
#' key_stability(wave1, wave2, id = "id")
#' # sex, race and education never change and link few people; age links more
key_stability <- function(wave1, wave2, key_vars = NULL, id, ..., tolerance = NULL,
                          steps = c("stability", "greedy", "none"), max_keys = 20) {
  ask <- enter_waves("key_stability")
  check_given("id")
  check_no_dots(...)
  if (missing(id) || is.null(id)) stop_argument("id", "name one column of both waves")
  steps <- check_choice(steps, c("stability", "greedy", "none"), "steps")
  max_keys <- check_whole(max_keys, "max_keys", high = 64)
  with_progress("Stability of keys", {
    coded <- code_waves(ask$wave1, ask$wave2, ask$key_vars, id, "key_vars")
    agreements <- code_agreements(coded, list(wave1 = ask$wave1, wave2 = ask$wave2), tolerance)
    waves <- core_waves(coded, agreements)
    found <- core(rs_key_changes, waves)
    changes <- found$changes
    broken_rules(changes, coded, tolerance)
    n_linked <- sum(!is.na(coded$partners))
    table <- frame(
      variable = coded$key_vars, n_compared = changes$n_compared, n_changed = changes$n_changed,
      prop_changed = ifelse(
        changes$n_compared > 0, changes$n_changed / changes$n_compared, NA_real_
      ),
      n_levels = as.integer(coded$tables[[1]]$n_values),
      n_missing = n_linked - changes$n_compared, entropy = found$entropy
    )
    # Equal entropies differ in the last digits: the order must not hang on them.
    order <- order(table$prop_changed, -round(table$entropy, 9), seq_len(nrow(table)))
    if (steps != "none") {
      path <- core(
        rs_key_steps, waves, list(order = utils::head(order, max_keys), greedy = steps == "greedy")
      )
      place <- match(seq_len(nrow(table)), path$key)
      table$step <- place
      # A sum of nothing is -0 in the core.
      table$expected_correct <- path$score$expected[place] + 0
      table$prop_expected <- if (n_linked > 0) table$expected_correct / n_linked else NA_real_
      table$n_certain <- as.integer(path$score$n_certain[place])
      table$n_single_best <- as.integer(path$score$n_single_best[place])
    }
    table <- table[order, ]
    rownames(table) <- NULL
    new_variables_result(
      "sdc_key_stability", table,
      settings = list(
        key_vars = coded$key_vars, id = coded$id, tolerance = tolerance, steps = steps,
        wave_fingerprints = coded$fingerprints,
        version = own_version()
      ),
      diagnostics = list(n_linked = n_linked), call = ask$call
    )
  })
}

# The step of the most expected correct matches, NULL without steps.
best_steps_line <- function(x) {
  if (!"expected_correct" %in% names(x$estimates) || all(is.na(x$expected_correct))) {
    return(NULL)
  }
  best <- x[which.max(x$expected_correct), ]
  paste0(
    "Most expected correct matches: ", format_one_digit(best$expected_correct), ", with the ",
    if (best$step == 1) {
      "first key variable"
    } else {
      paste("first", format_count(best$step), "key variables")
    },
    " (", if (identical(x$settings$steps, "greedy")) "added greedily" else "most stable first", ")."
  )
}

stability_words <- function(x) {
  best <- best_steps_line(x)
  known <- x[!is.na(x$prop_changed), ]
  if (nrow(known) == 0) {
    return("no pair is observed on any of them")
  }
  least <- known[1, ]
  last <- known[nrow(known), ]
  paste0(
    "of these, ", least$variable, " changed least (", format_percent(least$prop_changed),
    " of the pairs) and ", last$variable, " most (", format_percent(last$prop_changed), ")",
    if (!is.null(best)) {
      paste0("; ", tolower(substr(best, 1, 1)), sub("[.]$", "", substring(best, 2)))
    }
  )
}

#' Picture of correct matches as key variables are added
#'
#' Draws a [key_stability()] result: expected correct and certain matches as
#' keys are added, or, without steps, the shares of changed pairs.
#'
#' @param object A result of [key_stability()].
#' @param ... None.
#' @return A ggplot; `plot()` returns it invisibly.
#' @exportS3Method ggplot2::autoplot
#' @name autoplot.sdc_key_stability
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' wave1 <- cbind(id = 1:3000, adult[1:3000, c("age", "race", "sex", "education_num")])
#' plot(key_stability(wave1, transform(wave1, age = age + id %% 2), id = "id"))
autoplot.sdc_key_stability <- function(object, ...) {
  enter_picture(object)
  if (!"step" %in% names(object$estimates)) {
    return(plot_change_rates(as.data.frame(object)))
  }
  table <- as.data.frame(object)
  table <- table[!is.na(table$step), ]
  table <- table[order(table$step), ]
  rate <- ifelse(is.na(table$prop_changed), "", paste0(
    " (", format_percent(table$prop_changed), ")"
  ))
  table$label <- factor(seq_len(nrow(table)), labels = paste0("+ ", table$variable, rate))
  words <- c("expected correct", "certain")
  long <- frame(
    label = rep(table$label, 2), matches = c(table$expected_correct, table$n_certain),
    kind = factor(rep(words, each = nrow(table)), words)
  )
  ggplot2::ggplot(
    long, ggplot2::aes(
      x = .data$matches, y = .data$label, colour = .data$kind, group = .data$kind
    )
  ) +
    # One key has no way to go.
    (if (nrow(table) > 1) ggplot2::geom_path(linewidth = 0.6)) +
    ggplot2::geom_point(size = 2.2) +
    name_axis(limits = rev) +
    ggplot2::scale_x_continuous(labels = format_count, limits = c(0, NA)) +
    ggplot2::scale_colour_manual(values = rlang::set_names(c(sdc_blue, sdc_orange), words)) +
    sdc_labs(
      title = "How many respondents can be linked as keys are added?",
      subtitle = "In brackets: share of known pairs that changed the variable",
      x = "matches", y = NULL, colour = NULL
    )
}

plot_change_rates <- function(table) {
  table <- table[!is.na(table$prop_changed), ]
  table$variable <- factor(table$variable, rev(table$variable))
  ggplot2::ggplot(table, ggplot2::aes(x = .data$prop_changed, y = .data$variable)) +
    ggplot2::geom_col(width = 0.6, fill = sdc_blue) +
    ggplot2::scale_x_continuous(labels = format_percent) +
    sdc_labs(
      title = "Which variables stay the same?", x = "share of known pairs that changed", y = NULL
    )
}

declare_measure(
  "key_stability",
  reference = "li2021", ids = "variable",
  terms = c("expected_correct", setdiff(names(e)[vapply(e, is.numeric, NA)], "expected_correct")),
  title = "Stability of key variables between two survey waves",
  question = "which variables could an intruder link the waves by?",
  size = paste0(
    plural(x$diagnostics$n_linked, "known pair"), ", ", plural(nrow(e), "key variable"),
    "; pairs observed in both waves are compared."
  ),
  table = stability_table(e), rest = "as.data.frame(x)", notes = best_steps_line(x),
  scenario = "journalist", knows = "the intruder links by the nearest record",
  measured = paste0(
    "Over ", plural(x$diagnostics$n_linked, "known pair"),
    " of two waves it was counted how often each of ", plural(nrow(e), "key variable"), " changed"
  ),
  found = stability_words(x),
  limits = "variables that change seldom link two waves only if they also tell people apart",
  source = "after Li, Li, Krenzke and Chang 2021", assuming = "pairs observed in both waves"
)

stability_table <- function(e) {
  table <- frame(
    variable = e$variable, compared = e$n_compared, changed = e$n_changed,
    share = format_percent(e$prop_changed)
  )
  table$correct <- e$expected_correct
  table$certain <- e$n_certain
  table
}
