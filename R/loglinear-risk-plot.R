# Pictures of loglinear_risk().

#' Pictures of log-linear risk
#'
#' Pictures of a [loglinear_risk()] result; `plot()` draws the same.
#'
#' @param object A result of [loglinear_risk()].
#' @param type `"intervals"`: \eqn{\tau_1}{tau1} and \eqn{\tau_2}{tau2} of every
#'   analysis as estimated and corrected, with their intervals; `"records"` or
#'   `"strata"`: the risks \eqn{E(1/F)} of the
#'   sample uniques by a variable, with the sum per value (above 3,000 uniques as
#'   boxes without points); `"uniques"`: how many sample uniques have which risk;
#'   `"search"`: the path of
#'   a search, with \eqn{z_2}{z2}, \eqn{\tau_1}{tau1} and \eqn{\tau_2}{tau2}.
#'   Without `type`: `"intervals"`, for one analysis without an interval
#'   `"uniques"`.
#' @param ... None.
#' @param by For `"records"` and `"strata"`: a vector with one value per record, or the name of a
#'   column of `data`.
#' @param data The data the result was made from.
#' @param which Which row of `estimates` to draw, for all types but
#'   `"intervals"`. `NULL`: the first, for `"search"` the first search.
#' @return A ggplot.
#' @exportS3Method ggplot2::autoplot
#' @name autoplot.sdc_loglinear_risk
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' keys <- c("BORNUSA", "CENREG", "DAGE3", "DRACE3", "EDUC3", "GENDER")
#' risk <- loglinear_risk(nals_prison, keys, weight_var = "WEIGHT")
#' plot(risk, "records", by = "DRACE3", data = nals_prison)
autoplot.sdc_loglinear_risk <- function(object, type = NULL, ..., by = NULL, data = NULL,
                                        which = NULL) {
  enter_picture(object)
  types <- c("intervals", "records", "strata", "uniques", "search")
  # One analysis without an interval would be one dot.
  alone <- nrow(object$estimates) == 1 && is.na(object$estimates$tau1_low) &&
    object$estimates$n_unique > 0
  type <- check_choice(
    if (is.null(type)) if (alone) "uniques" else "intervals" else type, types, "type"
  )
  if (!is.null(which)) which <- check_whole(which, "which", high = nrow(object$estimates))
  switch(type,
    intervals = plot_tau_intervals(object$estimates, object$settings$level),
    records = ,
    strata = plot_tau_records(object, by, data, if (is.null(which)) 1L else which),
    uniques = plot_uniques(object, if (is.null(which)) 1L else which),
    search = plot_search(object, which)
  )
}

# Both measures of every row of `estimates`, one line each; `label` names them.
plot_tau_intervals <- function(estimates, level, label = analysis_labels(estimates)) {
  long <- frame(
    analysis = factor(rep(label, 2), rev(unique(label))),
    measure = factor(rep(tau_words, each = nrow(estimates)), tau_words),
    estimate = c(estimates$tau1, estimates$tau2),
    corrected = c(estimates$tau1_corrected, estimates$tau2_corrected),
    low = c(estimates$tau1_low, estimates$tau2_low),
    high = c(estimates$tau1_high, estimates$tau2_high)
  )
  known <- long[!is.na(long$low), ]
  words <- c("as estimated", "corrected for bias")
  ggplot2::ggplot(long, ggplot2::aes(y = .data$analysis)) +
    ggplot2::geom_errorbarh(
      data = known, ggplot2::aes(xmin = .data$low, xmax = .data$high),
      height = 0.15, colour = sdc_grey
    ) +
    ggplot2::geom_point(
      ggplot2::aes(x = .data$estimate, shape = words[[1]]),
      size = 2.6, colour = sdc_blue
    ) +
    (if (nrow(known)) {
      ggplot2::geom_point(
        data = known, ggplot2::aes(x = .data$corrected, shape = words[[2]]),
        size = 2.6, colour = sdc_blue
      )
    }) +
    ggplot2::scale_shape_manual(
      values = rlang::set_names(c(1, 19), words),
      guide = if (nrow(known)) ggplot2::guide_legend() else "none"
    ) +
    ggplot2::facet_wrap(ggplot2::vars(.data$measure), scales = "free_x") +
    sdc_labs(
      title = "How many sample uniques are at risk?", x = "records", y = NULL, shape = NULL,
      caption = if (nrow(known)) {
        paste0(
          format_percent(level), " intervals of the corrected values; with the bias that B ",
          "measures, not that of a wrong model."
        )
      }
    )
}

# Number of sample uniques by risk.
plot_uniques <- function(x, which) {
  records <- x$fits[[which]]$records
  risk <- records$tau2[!is.na(records$sample_unique) & records$sample_unique]
  if (length(risk) == 0) {
    stop_argument(
      "object", "have sample uniques", found = "No record is unique in the sample."
    )
  }
  ggplot2::ggplot(frame(risk = risk), ggplot2::aes(x = .data$risk)) +
    ggplot2::geom_histogram(
      breaks = seq(0, 1, 0.05), fill = sdc_blue, colour = "white", linewidth = 0.2
    ) +
    sdc_labs(
      title = "How large are the risks of the sample uniques?",
      subtitle = paste0(
        plural(length(risk), "sample unique"), ", tau2 = ", format_short(sum(risk)), "."
      ),
      x = "risk of a sample unique, E(1/F)", y = "sample uniques",
      caption = "Model averages, not a list of population uniques."
    )
}

tau_words <- c("tau1: expected population uniques", "tau2: expected correct matches")

# Labels that distinguish the rows of `estimates`.
analysis_labels <- function(estimates) {
  parts <- estimates[c("key_set", "model", "sampling")]
  differ <- vapply(parts, function(p) length(unique(p)) > 1, NA)
  if (!any(differ)) differ[["model"]] <- TRUE
  # Each part on its own, so that a long key set does not hide the model; what
  # is the same then gets the number of its row.
  parts <- lapply(parts[differ], shorten, width = if (sum(differ) > 1) 24 else 40)
  label <- do.call(paste, c(unname(parts), sep = ", "))
  ifelse(label %in% label[duplicated(label)], paste0(label, " (", seq_along(label), ")"), label)
}

plot_tau_records <- function(x, by, data, which) {
  records <- x$fits[[which]]$records
  if (is.null(by)) {
    stop_argument(
      "by", "be a vector with one value per record, or the name of a column of `data`"
    )
  }
  check_of_records(x)
  strata <- resolve_strata(x, by, data, nrow(records))
  unique <- !is.na(records$sample_unique) & records$sample_unique
  if (!any(unique)) {
    stop_argument(
      "object", "have sample uniques", found = "No record is unique in the sample."
    )
  }
  levels <- levels(droplevels(strata[unique]))
  levels[is.na(levels)] <- "missing"
  group <- droplevels(strata[unique])
  levels(group) <- levels
  if (length(levels) > 40) {
    stop_argument(
      "by", "have at most 40 values among the sample uniques",
      found = paste0("It has ", length(levels), ".")
    )
  }
  shown <- frame(group = group, risk = records$tau2[unique])
  total <- tapply(shown$risk, shown$group, sum)
  words <- paste0(levels, " (sum ", format_short(as.vector(total)), ")")
  shown$group <- factor(words[as.integer(shown$group)], rev(words))
  positive <- all(shown$risk > 0)
  few <- nrow(shown) <= 3000
  name <- if (is.character(by) && length(by) == 1) by else "value"
  picture <- ggplot2::ggplot(shown, ggplot2::aes(x = .data$risk, y = .data$group)) +
    ggplot2::geom_boxplot(
      outlier.shape = if (few) NA else 19, outlier.size = 0.4, outlier.colour = sdc_grey,
      colour = if (few) sdc_grey else sdc_blue, width = 0.5
    ) +
    (if (few) {
      ggplot2::geom_point(
        position = ggplot2::position_jitter(width = 0, height = 0.12, seed = 1),
        size = 1, alpha = 0.5, colour = sdc_blue
      )
    }) +
    sdc_labs(
      title = "Where are the sample uniques at risk?",
      subtitle = paste0("Sum per value of ", name, ": its share of tau2."),
      x = "risk of a sample unique, E(1/F)", y = name,
      caption = "Model averages, not a list of population uniques."
    )
  if (positive) picture + ggplot2::scale_x_log10() else picture
}

plot_search <- function(x, which) {
  searched <- !vapply(x$fits, function(f) is.null(f$path), NA)
  if (is.null(which)) which <- base::which(searched)[1]
  if (is.na(which) || !searched[[which]]) {
    stop_argument(
      "object", "hold a search", found = "It has none.",
      advice = "Use `model = \"search\"`."
    )
  }
  path <- x$fits[[which]]$path
  words <- c("z2", tau_words)
  long <- frame(
    step = rep(path$step, 3), kept = rep(path$kept, 3),
    value = c(path$z2, path$tau1, path$tau2),
    measure = factor(rep(words, each = nrow(path)), words)
  )
  long$state <- factor(
    ifelse(long$kept, "kept", "best further step, not taken"),
    c("kept", "best further step, not taken")
  )
  ggplot2::ggplot(long, ggplot2::aes(x = .data$step, y = .data$value)) +
    ggplot2::geom_rect(
      data = frame(measure = factor("z2", words), low = -1.96, high = 1.96), inherit.aes = FALSE,
      ggplot2::aes(xmin = -Inf, xmax = Inf, ymin = .data$low, ymax = .data$high),
      fill = "grey92"
    ) +
    ggplot2::geom_line(colour = sdc_grey) +
    ggplot2::geom_point(ggplot2::aes(shape = .data$state), size = 2.4, colour = sdc_blue) +
    ggplot2::scale_shape_manual(values = c(19, 1), drop = FALSE) +
    (if (nrow(path) <= 25) {
      ggplot2::scale_x_continuous(
        breaks = path$step, labels = shorten(path$added, 28), expand = ggplot2::expansion(0.06)
      )
    }) +
    ggplot2::facet_wrap(ggplot2::vars(.data$measure), scales = "free_y", ncol = 1) +
    sdc_labs(
      title = "Which interactions does the search add?",
      subtitle = "Grey: |z2| < 1.96, the range of acceptable models.",
      x = if (nrow(path) > 25) "interactions added", y = NULL, shape = NULL
    ) +
    (if (nrow(path) <= 25) {
      ggplot2::theme(axis.text.x = ggplot2::element_text(angle = 40, hjust = 1))
    })
}
