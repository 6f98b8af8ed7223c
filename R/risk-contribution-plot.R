# Pictures of risk_contribution().

#' Pictures of contributions to the extreme risk
#'
#' Four pictures of a [risk_contribution()] result; `plot()` draws the same.
#'
#' @param object A result of [risk_contribution()].
#' @param type `"u_plus"`: contributions against \eqn{U^+}{U+}, coloured by
#'   uniqueness on the key set that sets the threshold, which explains the two
#'   clusters; `"boxplot"`: contributions of the `n` records of largest
#'   \eqn{U^+}{U+}, \eqn{U^*}{U*}, surprisal and (if computed) entropy
#'   against those of the rest; `"metrics"`: contributions against each of
#'   these metrics; `"uniqueness"`: \eqn{U^*}{U*} against \eqn{U^+}{U+} with their means, figure 2
#'   of the paper.
#' @param n Number of records that `"boxplot"` calls top.
#' @param ... None.
#' @return A ggplot. Points that fall on the same spot are drawn once.
#' @exportS3Method ggplot2::autoplot
#' @name autoplot.sdc_risk_contribution
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' risk <- qar_risk(adult, pi_u = 0.1)
#' plot(risk_contribution(risk, adult))
autoplot.sdc_risk_contribution <- function(object,
                                           type = c("u_plus", "boxplot", "metrics", "uniqueness"),
                                           ..., n = 250) {
  type <- enter_picture(object, type)
  n <- check_whole(n, "n")
  records <- object$records[!is.na(object$records$contribution), ]
  if (nrow(records) == 0) {
    stop_argument(
      "object", "hold contributions that are determined",
      found = paste0("Its status is ", object$estimates$status, ".")
    )
  }
  switch(type,
    u_plus = plot_contribution_u_plus(object, records),
    boxplot = plot_contribution_boxes(object, records, n),
    metrics = plot_contribution_metrics(object, records),
    uniqueness = plot_contribution_uniqueness(records)
  )
}

metric_labels <- c(u_plus = "U+", u_star = "U*", surprisal = "surprisal", entropy = "entropy")

# One of the points that a picture could not tell apart.
distinct_points <- function(x, y, group) {
  cell <- function(v) {
    width <- diff(range(v)) / 600
    if (width > 0) round((v - min(v)) / width) else rep(0, length(v))
  }
  !duplicated(data.frame(cell(x), cell(y), group))
}

contribution_title <- function(x) {
  paste0("contribution to ", name_of_t(x$estimates))
}

plot_contribution_u_plus <- function(x, records) {
  set <- x$diagnostics$threshold_sets
  name <- set$key_set[set$shown]
  shown <- records[distinct_points(
    records$u_plus, records$contribution, records$unique_at_threshold
  ), ]
  words <- paste(c("unique on", "not unique on"), name)
  shown$group <- factor(ifelse(shown$unique_at_threshold, words[[1]], words[[2]]), words)
  ggplot2::ggplot(
    shown, ggplot2::aes(x = .data$u_plus, y = .data$contribution, colour = .data$group)
  ) +
    ggplot2::geom_hline(yintercept = 0, colour = sdc_grey, linewidth = 0.4) +
    ggplot2::geom_point(size = 1, alpha = 0.6) +
    ggplot2::scale_colour_manual(
      values = rlang::set_names(c(sdc_orange, sdc_blue), words),
      guide = ggplot2::guide_legend(ncol = 1, override.aes = list(size = 2.5, alpha = 1))
    ) +
    sdc_labs(
      title = "Which records carry the risk?",
      subtitle = "The two clusters are made by the key set that sets the threshold u.",
      x = "U+ (sum of the risks of the key sets a record is unique on)",
      y = contribution_title(x), colour = NULL,
      caption = "Above the line: removing the record lowers the risk."
    )
}

plot_contribution_boxes <- function(x, records, n) {
  n <- min(n, nrow(records))
  metrics <- intersect(names(metric_labels), names(records))
  words <- c(paste("top", format_count(n)), "all others")
  long <- do.call(rbind, lapply(metrics, function(metric) {
    top <- rank(-records[[metric]], ties.method = "first") <= n
    frame(
      metric = rep(metric_labels[[metric]], nrow(records)),
      contribution = records$contribution,
      group = factor(ifelse(top, words[[1]], words[[2]]), words)
    )
  }))
  long$metric <- factor(long$metric, metric_labels[metrics])
  ggplot2::ggplot(
    long, ggplot2::aes(x = .data$metric, y = .data$contribution, fill = .data$group)
  ) +
    ggplot2::geom_hline(yintercept = 0, colour = sdc_grey, linewidth = 0.4) +
    ggplot2::geom_boxplot(outlier.size = 0.4, outlier.colour = sdc_grey, width = 0.6) +
    ggplot2::scale_fill_manual(values = c(sdc_orange, "grey85")) +
    sdc_labs(
      title = "Does a metric find the records that carry the risk?",
      x = paste0("top ", format_count(n), " records by ..."), y = contribution_title(x),
      fill = NULL
    )
}

plot_contribution_metrics <- function(x, records) {
  metrics <- intersect(names(metric_labels), names(records))
  long <- do.call(rbind, lapply(metrics, function(metric) {
    shown <- records[distinct_points(
      records[[metric]], records$contribution, records$unique_at_threshold
    ), ]
    frame(
      metric = rep(metric_labels[[metric]], nrow(shown)), value = shown[[metric]],
      contribution = shown$contribution
    )
  }))
  long$metric <- factor(long$metric, metric_labels[metrics])
  ggplot2::ggplot(long, ggplot2::aes(x = .data$value, y = .data$contribution)) +
    ggplot2::geom_hline(yintercept = 0, colour = sdc_grey, linewidth = 0.4) +
    ggplot2::geom_point(size = 0.6, alpha = 0.4, colour = sdc_blue) +
    ggplot2::facet_wrap(ggplot2::vars(.data$metric), scales = "free_x") +
    sdc_labs(
      title = "How do the metrics follow the exact contributions?",
      x = NULL, y = contribution_title(x)
    )
}

plot_contribution_uniqueness <- function(records) {
  shown <- records[distinct_points(records$u_plus, records$u_star, 1), ]
  alone <- mean(records$u_plus > 0)
  ggplot2::ggplot(shown, ggplot2::aes(x = .data$u_plus, y = .data$u_star)) +
    ggplot2::geom_vline(xintercept = mean(records$u_plus), colour = sdc_grey, linewidth = 0.4) +
    ggplot2::geom_hline(yintercept = mean(records$u_star), colour = sdc_grey, linewidth = 0.4) +
    ggplot2::geom_point(size = 1, alpha = 0.6, colour = sdc_blue) +
    sdc_labs(
      title = "How unique are the records on the key sets?",
      subtitle = paste(format_percent(alone), "of the records are unique on a key set."),
      x = "U+ (sum of the risks of the key sets a record is unique on)",
      y = "U* (the same, of one minus the risks)", caption = "The lines are the means."
    )
}
