# Reading a result of copula_uniqueness(): words, one sentence, pictures.

# A small file is not calibrated and is still compared with a large one.
declare_measure(
  "copula_uniqueness",
  reference = "rocher2019", ids = c("pop_size", "method"), aligned = "pop_size",
  terms = c("population_uniqueness", "population_correctness"),
  each = paste(" among", format_count(pop_size), "people"),
  title = "Uniqueness in the population by a Gaussian copula",
  question = "how many people, and which records, are unique on the key variables?",
  size = paste0(
    if (nrow(e) == 1) paste0(format_count(pop_size), " people; "),
    "model from ", plural(x$fit$n, "record"), ", ",
    plural(x$fit$estimates$n_keys, "key variable"), "; ",
    format_percent(x$fit$sample_uniqueness), " unique in the sample; ",
    missing_clause(x$settings$missing, x$fit$diagnostics$n_excluded), "."
  ),
  population_uniqueness = figure(
    "Population uniqueness", "share", low = uniqueness_low, high = uniqueness_high,
    scenario = "journalist", key = "population_uniqueness", head = "unique",
    says = paste("an estimated %s of the", format_count(pop_size),
                 "people in the population are unique")
  ),
  population_correctness = figure(
    "Correctness of a match", "share", low = correctness_low, high = correctness_high,
    scenario = "journalist", attempt = TRUE, board = FALSE, head = "correctness",
    says = "a match is the right person in %s of the cases"
  ),
  pitman_yor = figure(
    "Population uniqueness by Pitman", "share", scenario = "journalist", board = FALSE
  ),
  expected_unique_records = figure(
    "Records expected to be unique", "count",
    if (x$settings$applied) sum_xi else expected_unique_records,
    low = if (x$settings$applied) NA else expected_unique_low,
    high = if (x$settings$applied) NA else expected_unique_high,
    scenario = "journalist", board = FALSE,
    says = "%s of the records are expected to be unique"
  ),
  prop_xi_80 = figure(
    paste("Records with xi above", format_number(0.8)), "share", scenario = "journalist",
    board = FALSE
  ),
  prop_xi_95 = figure(
    paste("Records with xi above", format_number(0.95)), "share", scenario = "journalist",
    board = FALSE
  ),
  spread = if (!is.null(judged_rows(x))) "Correctness kappa of a record",
  notes = list(
    if (!x$settings$applied && isTRUE(scores_differ(main))) {
      paste0(
        "The scores do not agree with the estimate: their xi add up to ",
        format_expected(main$sum_xi), " records."
      )
    },
    if (isTRUE(x$diagnostics$fall$faster)) {
      "Uniqueness falls faster in the sample than in its model: it is likely overstated."
    },
    paste0("Method: ", method_words(x), "; score: ", score_words[[x$settings$score]], "."),
    copula_household_line(x)
  ),
  next_step = if (is.null(judged_rows(x))) "predict(x$fit, newdata, pop_size)",
  measured = paste0(
    "The uniqueness of people was estimated for an intruder who knows ",
    plural(x$fit$estimates$n_keys, "key variable"), ", from ", plural(x$fit$n, "record")
  ),
  limits = paste(
    "this supposes a random sample and key variables recorded without error; the interval",
    "covers sampling and the usual error of such models"
  ),
  source = paste0(
    "Gaussian copula after Rocher and others 2019",
    if (main$method == "calibrated") ", calibrated on the sample's uniqueness"
  ),
  assuming = missing_clause(x$settings$missing, x$fit$diagnostics$n_excluded),
  risk = judged_rows(x)$kappa, frame = if (is.null(judged_rows(x))) x$estimates else judged_rows(x)
)

score_words <- c(
  tree = "tree of pairs, scaled to the population uniqueness (not the paper's equation 18)",
  copula = "rectangle of the copula (equation 18)",
  placement = "copula with random places of categories"
)

# Words for the calibration of the model to the sample.
method_words <- function(x) {
  calibration <- x$diagnostics$calibration
  if (calibration$kind == "none") {
    return("the model alone, not calibrated on the sample's uniqueness")
  }
  paste0(
    "the model, calibrated on the sample's uniqueness",
    if (leaves_much_open(x)) " (which says little here)"
  )
}

copula_household_line <- function(x) {
  homes <- x$diagnostics$households
  if (!is.null(homes)) {
    paste0(
      "Households: ", format_expected(homes$expected_unique), " of ",
      format_count(homes$n_households), " expected to have a member who is unique."
    )
  }
}

#' @rdname sdc_result
#' @export
tidy.sdc_copula_uniqueness <- function(x, ...) {
  enter_verb("tidy", x)
  for (measure in c("uniqueness", "correctness")) {
    # The standard error of a normal interval as wide as this one.
    width <- x$estimates[[paste0(measure, "_high")]] - x$estimates[[paste0(measure, "_low")]]
    x$estimates[[paste0("population_", measure, "_se")]] <-
      width / (2 * stats::qnorm(1 - (1 - x$settings$level) / 2))
  }
  tidy.sdc_result(x)
}

#' @export
comparison_part.sdc_copula_uniqueness <- function(x) x$curve

#' Pictures of uniqueness in the population
#'
#' Three pictures of a [copula_uniqueness()] result; `plot()` draws the same.
#'
#' @param object A result of [copula_uniqueness()].
#' @param type `"size"`: uniqueness and correctness against population size, with
#'   the interval; `"records"`: the distribution of the records' likelihood of
#'   uniqueness \eqn{\xi}{xi}, with the correctness \eqn{\kappa}{kappa} that follows
#'   from it inset (Figure 3a of Rocher and others 2019).
#' @param by Strata for `"records"`: a vector with one value per record, or the
#'   name of a column of `data`; each has a panel.
#' @param data The data the records come from, if `by` names a column.
#' @param ... None.
#' @return A ggplot.
#' @exportS3Method ggplot2::autoplot
#' @name autoplot.sdc_copula_uniqueness
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' set.seed(1)
#' sample <- adult[sample(nrow(adult), 2000), ]
#' risk <- copula_uniqueness(sample, c("age", "sex", "occupation"), pop_size = 1e5)
#' plot(risk)
#' plot(risk, "records")
autoplot.sdc_copula_uniqueness <- function(object, type = c("size", "records"), ...,
                                           by = NULL, data = NULL) {
  type <- enter_picture(object, type)
  if (type == "size") {
    if (!is.null(by)) stop_argument("by", "be NULL for the picture of sizes")
    return(plot_uniqueness_sizes(object))
  }
  if (is.null(judged_rows(object))) {
    stop_argument(
      "object", "have records for this picture", found = "It has none.",
      advice = "Give `newdata` with a fit, or data instead of it."
    )
  }
  strata <- if (!is.null(by)) resolve_strata(object, by, data, nrow(judged_rows(object)))
  plot_xi(object, strata)
}

plot_uniqueness_sizes <- function(x) {
  words <- c(uniqueness = "unique", correctness = "correct when matched")
  long <- function(table) {
    do.call(rbind, lapply(names(words), function(measure) {
      frame(
        pop_size = table$pop_size, estimate = table[[paste0("population_", measure)]],
        low = table[[paste0(measure, "_low")]], high = table[[paste0(measure, "_high")]],
        measure = rep(words[[measure]], nrow(table))
      )
    }))
  }
  curve <- long(x$curve)
  points <- long(x$estimates)
  pitman <- x$estimates[!is.na(x$estimates$pitman_yor), ]
  ggplot2::ggplot(
    curve, ggplot2::aes(x = .data$pop_size, y = .data$estimate, colour = .data$measure)
  ) +
    ggplot2::geom_ribbon(
      ggplot2::aes(ymin = .data$low, ymax = .data$high, fill = .data$measure),
      alpha = 0.2, colour = NA, show.legend = FALSE
    ) +
    ggplot2::geom_vline(
      xintercept = x$fit$n, linetype = "dotted", colour = sdc_grey
    ) +
    ggplot2::geom_line(linewidth = 0.8) +
    ggplot2::geom_point(data = points, size = 2.4) +
    (if (nrow(pitman)) {
      ggplot2::geom_point(
        data = pitman, ggplot2::aes(x = .data$pop_size, y = .data$pitman_yor),
        shape = 4, size = 2.6, colour = "black", inherit.aes = FALSE
      )
    }) +
    # Room for the last number of people.
    ggplot2::scale_x_log10(
      labels = format_count, expand = ggplot2::expansion(mult = c(0.05, 0.1))
    ) +
    ggplot2::scale_y_continuous(limits = c(0, 1), labels = function(v) paste0(100 * v, "%")) +
    ggplot2::scale_colour_manual(values = rlang::set_names(c(sdc_blue, sdc_orange), words)) +
    ggplot2::scale_fill_manual(values = rlang::set_names(c(sdc_blue, sdc_orange), words)) +
    sdc_labs(
      title = "How unique are people in populations of growing size?",
      subtitle = paste0(
        "Bands: ", format_percent(x$settings$level), " intervals, the model's error included"
      ),
      x = "people in the population", y = "share of people", colour = NULL,
      caption = paste0(
        "Dotted: size of the sample.",
        if (nrow(pitman)) " Crosses: uniqueness by the Pitman model."
      )
    )
}

plot_xi <- function(x, strata) {
  records <- judged_rows(x)
  known <- !is.na(records$xi)
  size <- x$settings$pop_size[[1]]
  shown <- frame(xi = records$xi[known], times = picture_times(x)[known])
  if (!is.null(strata)) shown$stratum <- strata[known]
  shares <- paste0(
    format_percent(mean_over(shown$xi > 0.80, shown$times)), " of the records above ",
    format_number(0.8), ", ",
    format_percent(mean_over(shown$xi > 0.95, shown$times)), " above ", format_number(0.95)
  )
  picture <- ggplot2::ggplot(shown, ggplot2::aes(x = .data$xi, weight = .data$times)) +
    ggplot2::geom_histogram(
      ggplot2::aes(y = ggplot2::after_stat(.data$density) / 40),
      breaks = seq(0, 1, length.out = 41), fill = sdc_blue
    ) +
    ggplot2::geom_vline(xintercept = c(0.80, 0.95), linetype = "dashed", colour = sdc_orange) +
    ggplot2::scale_y_continuous(labels = function(v) paste0(100 * v, "%")) +
    sdc_labs(
      title = "How likely are records to be unique in the population?",
      subtitle = shares,
      x = paste0("likelihood of uniqueness xi among ", format_count(size), " people"),
      y = "share of records",
      caption = paste0("Score: ", score_words[[x$settings$score]], ".")
    )
  if (!is.null(strata)) {
    return(picture + ggplot2::facet_wrap(ggplot2::vars(.data$stratum)))
  }
  bars <- ggplot2::ggplot_build(picture)$data[[1]]
  height <- max(bars$y)
  # The inset goes where the bars are lowest.
  middle <- (bars$xmin + bars$xmax) / 2
  starts <- seq(0.05, 0.62, by = 0.01)
  room <- vapply(starts, function(s) max(bars$y[middle > s - 0.03 & middle < s + 0.36]), 0)
  left <- starts[[which.min(room)]]
  bottom <- max(min(room) + 0.06 * height, 0.35 * height)
  picture + ggplot2::annotation_custom(
    ggplot2::ggplotGrob(kappa_inset(size)),
    xmin = left, xmax = left + 0.33, ymin = bottom, ymax = bottom + 0.65 * height
  ) + ggplot2::expand_limits(y = bottom + 0.65 * height)
}

# Correctness against likelihood of uniqueness, equation 29.
kappa_inset <- function(size) {
  xi <- seq(0, 1, length.out = 101)
  ggplot2::ggplot(
    frame(xi = xi, kappa = uniqueness_to_correctness(xi, size)),
    ggplot2::aes(x = .data$xi, y = .data$kappa)
  ) +
    ggplot2::geom_abline(linetype = "dotted", colour = sdc_grey) +
    ggplot2::geom_line(colour = sdc_orange, linewidth = 0.8) +
    ggplot2::coord_fixed(xlim = c(0, 1), ylim = c(0, 1)) +
    ggplot2::scale_x_continuous(breaks = c(0, 0.5, 1)) +
    ggplot2::scale_y_continuous(breaks = c(0, 0.5, 1)) +
    ggplot2::labs(x = "xi", y = "kappa", title = "correctness") +
    ggplot2::theme_minimal(base_size = 8) +
    ggplot2::theme(
      panel.grid.minor = ggplot2::element_blank(),
      plot.background = ggplot2::element_rect(fill = "white", colour = "grey80")
    )
}
