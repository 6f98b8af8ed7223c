#' Attack a released file
#'
#' Makes three attacks on every record and counts which succeed: an intruder finds a person
#' (identity), guesses a sensitive value (attribute), or describes exactly one person (singling
#' out). Use it for a file that is to be released: with suppressed, recoded, swapped or randomised
#' values, or synthetic. The result has the rate of success of each attack, with what a guess
#' without the release and a control group give.
#'
#' @details
#' The intruder knows the key variables of every target and has the released file. Records
#' *match* as in [attribute_risk()].
#' \describe{
#'   \item{`"identity"`}{Targets: all original records. Right if the target is the only original
#'     record with its key and exactly one released record matches it (a replicated unique).
#'     `baseline`: one over the number of original records, a draw at random}
#'   \item{`"attribute"`}{Targets: all original records with a value of the sensitive variable.
#'     The guess is the most frequent value among the matches in the released file, of all its
#'     records if no record matches; if several are equally frequent, the first in their
#'     order. `baseline`: the most
#'     frequent value of the original as the guess for everybody. One row per sensitive variable}
#'   \item{`"singling_out"`}{Targets: the released records that no other released record
#'     matches. Right if exactly one original record matches. It has no `baseline`}
#' }
#' `rate` is `n_right / n_targets`, with its Wilson interval at 95%: all targets are attacked, so
#' the interval speaks of other releases made in the same way.
#'
#' **Control group.** A released file that is useful lets anybody guess. `control` has records of
#' the same population that did not go into the release; `control_rate` is the success of the
#' same attacks on them. The excess was learnt from the people's presence in the
#' file (Giomi et al. 2023, who attack a sample of the records). A control record is identified
#' if no original record matches it and exactly one released one does.
#'
#' @section Cost:
#' Mostly that of [attribute_risk()]. With a million records in both files, eight key variables and
#' five sensitive ones 4 s of processor time at 2 threads.
#'
#' @inheritParams sdcRisk-params
#' @param original The original file.
#' @param released The released file, with the same variables.
#' @param sensitive Names of the sensitive variables; `NULL` for no attack on attributes.
#' @param control `NULL`, or records of the same population that are not in `original`.
#' @param missing `"wildcard"`, `"category"` or `"exclude"`, see [attribute_risk()].
#' @return An object of class `sdc_attack_release`, an [sdc_result] whose `records` are `NULL`,
#'   with `estimates`, one row per attack: `attack`, `sensitive` (`NA` but for attributes),
#'   `n_targets`, `n_right`, `rate`, `low`, `high`, `baseline`, `control_rate`.
#'
#'   Errors: `bad_argument`, `bad_data`. Warning `no_matches`: no original record has a match in
#'   the released file.
#' @references
#' Giomi, M., Boenisch, F., Wehmeyer, C. and Tasnadi, B. (2023). A unified framework for
#' quantifying privacy risk in synthetic data. Proceedings on Privacy Enhancing Technologies
#' 2023(2), 312-328. \doi{10.56553/popets-2023-0055}
#'
#' Raab, G. M., Nowok, B. and Dibben, C. (2025). Practical privacy metrics for synthetic data.
#' Vignette of the R package synthpop.
#' @family intruders
#' @concept synthetic data
#' @concept singling out
#' @export
#' @examples
#' keys <- c("CENREG", "DAGE3", "EDUC3", "GENDER")
#' set.seed(1)
#' synthetic <- nals_prison[sample(nrow(nals_prison), replace = TRUE), ]
#' attack_release(nals_prison, synthetic, keys, sensitive = "DRACE3")
attack_release <- function(original, released, key_vars = NULL, sensitive = NULL,
                           control = NULL, ..., missing = "wildcard") {
  ask <- enter("attack_release", "original")
  check_given("released")
  check_no_dots(...)
  check_choice(ask$missing, c("category", "exclude", "wildcard"), "missing")
  data <- ask$original
  sensitive <- if (length(ask$sensitive)) {
    names(data)[check_columns(ask$sensitive, data, "sensitive")]
  }
  keys <- attribute_keys(data, ask$key_vars, sensitive)
  released <- attribute_release(released, keys, sensitive, "released")
  control <- attribute_release(control, keys, sensitive, "control")
  with_progress("Attacks on a release", {
    table <- key_table(
      ask$file, keys, roles = role_columns(data, list(sensitive = sensitive))
    )
    data <- as.data.frame(data)
    attacks <- attack_rates(code_attacked(list(data, released), keys, sensitive), ask$missing)
    warn_unmatched(attacks$n_found)
    attacks$baseline <- c(1 / nrow(data), attacks$baseline, NA)
    estimates <- attacks_frame(attacks, sensitive)
    estimates$control_rate <- if (is.null(control)) {
      NA_real_
    } else {
      files <- list(control, released, data)
      theirs <- attack_rates(code_attacked(files, keys, sensitive), ask$missing)
      attacks_frame(theirs, sensitive)$rate
    }
    new_sdc_result(
      "sdc_attack_release",
      estimates = estimates, records = NULL,
      settings = file_settings(
        table, missing = ask$missing, sensitive = sensitive, n_released = nrow(released),
        n_control = NROW(control)
      ),
      diagnostics = list(n_keys = length(keys)), call = ask$call
    )
  })
}

# Targets and successes of the attacks, and what a guess without the release would be right
# about. Files are the targets, the release, and the original if the targets are a control group.
attack_rates <- function(coded, missing) {
  values <- function(at) lapply(coded$values, `[[`, at)
  matches <- function(file, targets) {
    targets <- if (targets != file) coded$keys[[targets]]
    find_told(coded$keys[[file]], targets, list(), list(), missing)$matches
  }
  found <- find_told(coded$keys[[2]], coded$keys[[1]], values(2), values(1), missing)
  alone <- if (length(coded$keys) == 2) matches(1, 1) == 1 else matches(3, 1) == 0
  single <- matches(2, 2) == 1
  numbers <- function(name) vapply(found$sensitive, `[[`, 0, name)
  list(
    n_found = sum(found$matches > 0),
    n_targets = c(length(found$matches), numbers("n_known"), sum(single)),
    n_right = c(
      sum(alone & found$matches == 1), numbers("n_guessed"), sum(single & matches(1, 2) == 1)
    ),
    baseline = vapply(values(1), function(table) {
      counts <- tabulate(all_codes(list(table))[[1]][[1]])
      max(counts, 0) / max(sum(counts), 1)
    }, 0)
  )
}

attacks_frame <- function(attacks, sensitive) {
  rate <- attacks$n_right / attacks$n_targets
  wilson <- wilson_interval(attacks$n_right, attacks$n_targets)
  frame(
    attack = c("identity", rep("attribute", length(sensitive)), "singling_out"),
    sensitive = c(NA, sensitive, NA), n_targets = as_count(attacks$n_targets),
    n_right = as_count(attacks$n_right), rate = ifelse(attacks$n_targets > 0, rate, NA),
    low = wilson$low, high = wilson$high,
    baseline = rep_len(attacks$baseline, length(rate))
  )
}

# Wilson's interval at 95% of a share.
wilson_interval <- function(n_right, n) {
  z <- stats::qnorm(0.975)
  p <- n_right / n
  middle <- (p + z^2 / (2 * n)) / (1 + z^2 / n)
  half <- z * sqrt(p * (1 - p) / n + z^2 / (4 * n^2)) / (1 + z^2 / n)
  none <- n == 0
  list(
    low = ifelse(none, NA, pmax(0, middle - half)), high = ifelse(none, NA, pmin(1, middle + half))
  )
}

declare_measure(
  "attack_release",
  reference = c("giomi2023", "raab2025"), ids = c("attack", "sensitive"),
  terms = c("rate", "n_right", "n_targets"),
  each = ifelse(is.na(sensitive), "", paste0(" (", sensitive, ")")),
  title = "Attacks on a released file",
  question = "how much does the released file give away of the people in the original?",
  size = paste0(
    plural(x$settings$n, "original record"), ", ", format_count(x$settings$n_released),
    " released, ", plural(x$diagnostics$n_keys, "key variable"), "; ",
    missing_clause(x$settings$missing), "."
  ),
  rate = figure(
    paste("Success of the attack:", gsub("_", " ", attack)), "share", low = low, high = high,
    scenario = "prosecutor", note = ifelse(
      is.na(control_rate), "", paste("on a control group", format_percent(control_rate))
    ),
    absent = ifelse(n_targets == 0, "there are no targets", ""), print = FALSE
  ),
  table = attack_table(x),
  notes = list(if (all(is.na(control_rate))) {
    "Without a control group it is not known how much of this any useful release would give."
  }),
  measured = paste0(
    "A released file of ", plural(x$settings$n_released, "record"),
    " was attacked with ", plural(x$diagnostics$n_keys, "key variable"), " known of the ",
    plural(x$settings$n, "record"), " of the original"
  ),
  found = attacks_in_words(e),
  limits = paste(
    "other intruders may know more, know values with errors, or combine the release with",
    "other files"
  ),
  source = "Giomi and others 2023, Raab, Nowok and Dibben 2025",
  assuming = missing_clause(x$settings$missing)
)

attacks_in_words <- function(e) {
  rates <- paste0(
    format_percent(e$rate), " of ", format_count(e$n_targets), " (",
    gsub("_", " ", e$attack),
    ifelse(is.na(e$sensitive), "", paste(" of", quote_names_each(e$sensitive))),
    ifelse(is.na(e$control_rate), "", paste0("; control group ", format_percent(e$control_rate))),
    ")"
  )
  paste("the attacks succeeded for", paste(rates[e$n_targets > 0], collapse = ", "))
}

attack_table <- function(x) {
  e <- x$estimates
  share <- function(value) ifelse(is.na(value), "", format_percent(value))
  columns <- frame(
    attack = paste0(
      gsub("_", " ", e$attack), ifelse(is.na(e$sensitive), "", paste0(": ", e$sensitive))
    ),
    right = format_count(e$n_right), of = format_count(e$n_targets), rate = share(e$rate),
    "without release" = share(e$baseline)
  )
  if (any(!is.na(e$control_rate))) columns$control <- share(e$control_rate)
  columns
}

#' @rdname attack_release
#' @param object A result of `attack_release()`.
#' @param ... None.
#' @exportS3Method ggplot2::autoplot
autoplot.sdc_attack_release <- function(object, ...) {
  enter_picture(object)
  shown <- object$estimates
  shown$name <- paste0(
    gsub("_", " ", shown$attack), ifelse(is.na(shown$sensitive), "", paste0(": ", shown$sensitive))
  )
  shown$name <- factor(shown$name, rev(shown$name))
  ggplot2::ggplot(shown, ggplot2::aes(x = .data$rate, y = .data$name)) +
    ggplot2::geom_pointrange(
      ggplot2::aes(xmin = .data$low, xmax = .data$high), colour = sdc_blue, na.rm = TRUE
    ) +
    ggplot2::geom_point(
      ggplot2::aes(x = .data$control_rate), colour = sdc_orange, shape = 124, size = 6,
      na.rm = TRUE
    ) +
    ggplot2::geom_point(
      ggplot2::aes(x = .data$baseline), colour = sdc_grey, shape = 124, size = 6, na.rm = TRUE
    ) +
    ggplot2::scale_x_continuous(labels = format_percent, limits = c(0, 1)) +
    sdc_labs(
      title = "How often do attacks on the release succeed?", x = "share of the targets", y = NULL,
      caption = "Orange: on the control group. Grey: without the release."
    )
}
