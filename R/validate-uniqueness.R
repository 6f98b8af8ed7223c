#' Validate the likelihood of uniqueness
#'
#' Compares the likelihoods of uniqueness from a sample with the truth. Use it if the whole
#' population is known, such as a census from which a sample is to be released. The result has the
#' measures and pictures of figure 2 of the source.
#'
#' @details
#' With \eqn{t_i = 1} if person \eqn{i} is unique in the population and
#' \eqn{\xi_i}{xi_i} the likelihood from the sample:
#' \describe{
#'   \item{AUC}{the share of pairs of a unique and a not unique person in which the
#'     unique one has the larger \eqn{\xi}{xi}, ties counting half}
#'   \item{false discovery rate}{the share of people who are not unique among those with
#'     \eqn{\xi}{xi} above 0.90, 0.95, 0.99}
#'   \item{Brier score}{\eqn{\frac{1}{n} \sum (t_i - \xi_i)^2}{mean((t - xi)^2)}. References are
#'     the best constant, the true population uniqueness \eqn{\Xi}{Xi}, with the score
#'     \eqn{\Xi (1 - \Xi)}{Xi (1 - Xi)}, and a random guess, with 1/3. `skill` is one
#'     less the ratio to the best constant; `NA` if nobody or everybody is unique}
#'   \item{calibration}{by tenths of \eqn{\xi}{xi} what it says, on average, and how many
#'     are unique. The print shows the lowest class: a low likelihood does not certify safety}
#' }
#' All people are judged, those of the sample included: the values of a person in the
#' sample entered the estimate. Give as `rows` those that are not in the sample to judge as
#' the source does.
#'
#' @section Cost:
#' Grouping the population and scoring the rows that are judged: 29,305 rows of 32,561 and
#' five key variables take 0.1 seconds of one processor.
#'
#' @section Memory:
#' Beyond `population`, with five key variables and two threads: at most 350 bytes a
#' record.
#'
#' @param x A result of [copula_fit()] or [copula_uniqueness()] on a sample of
#'   the population.
#' @param population A data frame with one row per person of the population.
#' @inheritParams sdcRisk-params
#' @param rows Row numbers of the people to judge. `NULL`: all.
#' @param score,calibrate As in [predict.sdc_copula_fit()].
#'
#' @return An object of class `sdc_uniqueness_validation`, an [sdc_result] with
#' \describe{
#'   \item{`estimates`}{one row: `n`, `prop_unique` (of those judged),
#'     `population_uniqueness` (true), `estimated_uniqueness` (from the sample), `auc`,
#'     `fdr_90`, `fdr_95`, `fdr_99` with `n_90`, `n_95`, `n_99` people above,
#'     `brier`, `brier_constant`, `brier_random`, `skill`, `score`}
#'   \item{`records`}{one row per person of `population`: `xi`, `unique`; `NA` for
#'     those who were not judged}
#'   \item{`calibration`}{people by tenths of \eqn{\xi}{xi}: `xi_low`, `xi_high`, `n`,
#'     `mean_xi`, `prop_unique`}
#'   \item{`roc`}{`false_positive`, `true_positive`}
#' }
#'
#'   Errors: a `population` with fewer rows than the sample, `rows` beyond it
#'   (`bad_argument`), or without one of the key variables (`unknown_key_var`).
#' @inherit predict.sdc_copula_fit references
#' @family copula
#' @export
#' @examples
#' set.seed(1)
#' keys <- c("age", "sex", "education_num", "occupation", "hours_per_week")
#' sampled <- sample(nrow(adult), 3256)
#' fit <- copula_fit(adult[sampled, ], keys)
#' validate_uniqueness(fit, adult, rows = setdiff(seq_len(nrow(adult)), sampled))
validate_uniqueness <- function(x, population, ..., rows = NULL, score = NULL,
                                calibrate = NULL) {
  ask <- announce("validate_uniqueness")
  check_given(c("x", "population"))
  population <- bare_data(population)
  remember(ask)
  check_no_dots(...)
  fit <- fit_of(x)
  if (missing(population)) stop_argument("population", "be given")
  check_data_frame(population, "population")
  score <- score_of(x, score)
  if (!is.null(calibrate)) check_flag(calibrate, "calibrate")
  positions <- check_columns(fit$settings$key_vars, population, "key_vars")
  check_records(population, "population")
  n <- nrow(population)
  if (n < fit$n) {
    stop_argument(
      "population", "have at least as many rows as the sample",
      found = paste0("It has ", format_count(n), ", the sample ", format_count(fit$n), ".")
    )
  }
  rows <- if (is.null(rows)) {
    seq_len(n)
  } else {
    check_whole(rows, "rows", high = n, several = TRUE)
  }
  with_progress("Judging the scores", {
    estimated <- if (inherits(x, "sdc_copula_uniqueness")) {
      known_uniqueness(x, n, calibrate)
    } else {
      model_uniqueness(fit, n, calibrate)
    }
    # Columns by name: a data.table is indexed by rows here too.
    judged <- rows_of(population, positions, rows)
    coded <- code_released(fit, judged, counted = population)
    found <- score_coded(fit, coded, score, n, estimated)
    scored <- found$first
    unique <- found$counts == 1
    known <- !is.na(scored$xi)
    measures <- judge_scores(scored$xi[known], unique[rows][known])
    records <- frame(xi = rep(NA_real_, n), unique = rep(NA, n))
    records$xi[rows] <- scored$xi
    records$unique[rows] <- unique[rows]
    xi_true <- mean(unique)
    constant <- xi_true * (1 - xi_true)
    estimates <- cbind(
      frame(
        n = sum(known), prop_unique = measures$prop_unique, population_uniqueness = xi_true,
        estimated_uniqueness = estimated, auc = measures$auc
      ),
      measures$fdr,
      frame(
        brier = measures$brier, brier_constant = constant, brier_random = 1 / 3,
        skill = if (constant > 0) 1 - measures$brier / constant else NA_real_, score = score
      )
    )
    new_sdc_result(
      "sdc_uniqueness_validation",
      estimates = estimates, records = records,
      settings = list(
        key_vars = fit$settings$key_vars, score = score, missing = fit$settings$missing,
        n = n, n_sample = fit$n, fingerprint = coded$fingerprint,
        version = fit$settings$version
      ),
      diagnostics = list(n_unknown = sum(!known)),
      call = ask$call, calibration = measures$calibration, roc = measures$roc
    )
  })
}

# Discrimination of `unique` records by likelihoods `xi`.
judge_scores <- function(xi, unique) {
  above <- c(0.90, 0.95, 0.99)
  n_above <- vapply(above, function(level) sum(xi > level), 0L)
  false <- vapply(above, function(level) mean(!unique[xi > level]), 0)
  false[n_above == 0] <- NA_real_
  bin <- pmin(floor(xi * 10), 9)
  bins <- sort(unique(bin))
  of <- function(x) vapply(bins, function(b) mean(x[bin == b]), 0)
  list(
    prop_unique = mean(unique), auc = area_under_curve(unique, xi),
    brier = mean((xi - unique)^2),
    fdr = frame(
      fdr_90 = false[[1]], fdr_95 = false[[2]], fdr_99 = false[[3]],
      n_90 = n_above[[1]], n_95 = n_above[[2]], n_99 = n_above[[3]]
    ),
    calibration = frame(
      xi_low = bins / 10, xi_high = (bins + 1) / 10,
      n = vapply(bins, function(b) sum(bin == b), 0L), mean_xi = of(xi),
      prop_unique = of(unique)
    ),
    roc = roc_curve(unique, xi)
  )
}

#' Pictures of a validation
#'
#' @param object A result of [validate_uniqueness()].
#' @param type `"roc"`: the receiver operating characteristic; `"fdr"`: false
#'   discovery rates; `"brier"`: the Brier score between its references;
#'   `"calibration"`: share unique by tenths of \eqn{\xi}{xi}.
#' @param ... None.
#' @return A ggplot.
#' @exportS3Method ggplot2::autoplot
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' set.seed(1)
#' keys <- c("age", "sex", "education_num", "occupation")
#' fit <- copula_fit(adult[sample(nrow(adult), 3256), ], keys)
#' plot(validate_uniqueness(fit, adult), "calibration")
autoplot.sdc_uniqueness_validation <- function(object,
                                               type = c("roc", "fdr", "brier", "calibration"),
                                               ...) {
  switch(enter_picture(object, type),
    roc = plot_roc(object),
    fdr = plot_fdr(object),
    brier = plot_brier(object),
    calibration = plot_reliability(object)
  )
}

validation_caption <- function(x) {
  paste0(
    format_count(x$estimates$n), " people judged by a sample of ",
    format_count(x$settings$n_sample), "; score: ", x$estimates$score, "."
  )
}

plot_roc <- function(x) {
  ggplot2::ggplot(
    x$roc, ggplot2::aes(x = .data$false_positive, y = .data$true_positive)
  ) +
    roc_layers() +
    ggplot2::geom_line(colour = sdc_blue, linewidth = 0.8) +
    ggplot2::annotate(
      "text", x = 0.98, y = 0.04, hjust = 1,
      label = paste("AUC =", format_risk(x$estimates$auc))
    ) +
    sdc_labs(
      title = "Does the likelihood of uniqueness rank people?",
      x = "people not unique above the threshold", y = "unique people above the threshold",
      caption = validation_caption(x)
    )
}

plot_fdr <- function(x) {
  rates <- frame(
    level = c("xi > 0.90", "xi > 0.95", "xi > 0.99"),
    fdr = unlist(x$estimates[c("fdr_90", "fdr_95", "fdr_99")], use.names = FALSE),
    n = unlist(x$estimates[c("n_90", "n_95", "n_99")], use.names = FALSE)
  )
  rates$label <- paste0(format_percent(rates$fdr), "\nof ", format_count(rates$n))
  rates <- rates[!is.na(rates$fdr), ]
  ggplot2::ggplot(rates, ggplot2::aes(x = .data$level, y = .data$fdr)) +
    ggplot2::geom_col(width = 0.5, fill = sdc_orange) +
    ggplot2::geom_text(ggplot2::aes(label = .data$label), vjust = -0.3, size = 3.4) +
    ggplot2::scale_y_continuous(
      labels = format_percent, limits = c(0, NA),
      expand = ggplot2::expansion(mult = c(0, 0.25))
    ) +
    sdc_labs(
      title = "How often is someone who looks unique not unique?",
      x = "likelihood of uniqueness", y = "false discovery rate",
      caption = validation_caption(x)
    )
}

plot_brier <- function(x) {
  whose <- c("random guess", "best constant", "this score")
  scores <- frame(
    whose = factor(whose, whose),
    brier = unlist(
      x$estimates[c("brier_random", "brier_constant", "brier")],
      use.names = FALSE
    )
  )
  ggplot2::ggplot(scores, ggplot2::aes(x = .data$brier, y = .data$whose)) +
    ggplot2::geom_segment(
      ggplot2::aes(xend = 0, yend = .data$whose),
      colour = sdc_grey
    ) +
    ggplot2::geom_point(
      ggplot2::aes(colour = .data$whose == "this score"),
      size = 4, show.legend = FALSE
    ) +
    ggplot2::geom_text(
      ggplot2::aes(label = format_risk(.data$brier)),
      vjust = -1.1, size = 3.4
    ) +
    ggplot2::scale_colour_manual(values = c(`FALSE` = sdc_grey, `TRUE` = sdc_blue)) +
    ggplot2::scale_x_continuous(limits = c(0, 0.36)) +
    sdc_labs(
      title = "How far are likelihoods from the truth?",
      x = "Brier score (0 is perfect)", y = NULL, caption = validation_caption(x)
    )
}

plot_reliability <- function(x) {
  ggplot2::ggplot(
    x$calibration, ggplot2::aes(x = .data$mean_xi, y = .data$prop_unique)
  ) +
    ggplot2::geom_abline(colour = sdc_grey, linetype = "dashed") +
    ggplot2::geom_line(colour = sdc_blue) +
    ggplot2::geom_point(ggplot2::aes(size = .data$n), colour = sdc_blue) +
    ggplot2::scale_size_area(max_size = 6, labels = format_count) +
    ggplot2::scale_x_continuous(labels = format_percent, limits = c(0, 1)) +
    ggplot2::scale_y_continuous(labels = format_percent, limits = c(0, 1)) +
    ggplot2::coord_fixed() +
    sdc_labs(
      title = "Are likelihoods of 90% right nine times in ten?",
      x = "mean likelihood of uniqueness, by tenths", y = "share of people who are unique",
      size = "people", caption = validation_caption(x)
    )
}

# Scores are compared with each other.
declare_measure(
  "uniqueness_validation",
  reference = "rocher2019", ids = "score", aligned = character(),
  terms = c("auc", "fdr_90", "fdr_95", "fdr_99", "brier", "skill"),
  title = "Likelihoods of uniqueness against the truth",
  question = paste0(
    "is a person who looks unique from a sample of ", plural(x$settings$n_sample, "record"),
    " unique in the population?"
  ),
  size = paste0(
    "Population: ", format_count(x$settings$n), " people, ",
    plural(length(x$settings$key_vars), "key variable"), "; judged: ", format_count(n),
    "; score: ", score, "."
  ),
  population_uniqueness = figure(
    "People unique in the population", "share", scenario = "none"
  ),
  estimated_uniqueness = figure("Expected by the model", "share", scenario = "none"),
  auc = figure(
    "AUC (1: perfect ranking)", "number", scenario = "none", direction = "none", board = FALSE,
    says = "they rank people with an AUC of %s", absent = if (is.na(auc)) {
      paste(if (prop_unique > 0) "everybody" else "nobody", "judged is unique")
    }
  ),
  fdr_90 = figure(
    paste("Not unique among those with xi >", format_number(0.9)), "share", scenario = "none",
    direction = "none",
    board = FALSE
  ),
  fdr_95 = figure(
    paste("Not unique among those with xi >", format_number(0.95)), "share", scenario = "none",
    direction = "none",
    board = FALSE,
    says = "%s of those whose likelihood is above 0.95 are not unique"
  ),
  brier = figure(
    "Brier score", "number", scenario = "none", direction = "none", board = FALSE,
    says = paste0("their Brier score is %s (best constant ", format_risk(brier_constant), ")")
  ),
  skill = figure(
    "Skill against the best constant", "share", scenario = "none", direction = "none",
    board = FALSE
  ),
  scenario = "journalist",
  measured = paste0(
    "On ", format_count(n), " of ", format_count(x$settings$n),
    " people of a known population, likelihoods of uniqueness from a sample of ",
    plural(x$settings$n_sample, "record"), " were compared with the truth"
  ),
  limits = "another population may be harder",
  source = "Gaussian copula after Rocher and others 2019",
  assuming = paste0("score \"", score, "\""),
  risk = x$records$xi
)
