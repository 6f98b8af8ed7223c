# Pictures of removal_path(), one path or several.

#' Pictures of removal paths
#'
#' How the risk falls as records go: for one [removal_path()], or for several
#' that [compare_risk()] sets side by side. `plot()` draws the same.
#'
#' @param object A result of [removal_path()], or a comparison of several.
#' @param type `"reduction"`: share of the initial risk removed, with the range
#'   of the draws for a random order; `"fit"`: \eqn{T} with what it rests on, the
#'   threshold, the shape and the empirical quantile; `"roc"`, for one path by `"pls"` or
#'   `"filtered_entropy"`: how well positive contributions were predicted, the receiver operating
#'   characteristic of training and test records.
#' @param ... None.
#' @return A ggplot.
#' @exportS3Method ggplot2::autoplot
#' @name autoplot.sdc_removal_path
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' some <- adult[1:2000, ]
#' risk <- qar_risk(some, pi_u = 0.1)
#' top <- removal_path(risk, some, n = 200)
#' proper <- removal_path(risk, some, n = 200, by = "proper")
#' plot(compare_risk(top, proper))
autoplot.sdc_removal_path <- function(object, type = c("reduction", "fit", "roc"), ...) {
  type <- enter_picture(object, type)
  if (type == "roc") {
    return(draw_prediction(object))
  }
  draw_paths(list(comparison_part(object)), object$estimates, type)
}

#' @rdname autoplot.sdc_removal_path
#' @exportS3Method ggplot2::autoplot
autoplot.sdc_removal_path_comparison <- function(object, type = c("reduction", "fit"), ...) {
  announce("autoplot")
  check_no_dots(...)
  type <- check_choice(type, c("reduction", "fit"), "type")
  parts <- object$results
  labels <- vapply(parts, `[[`, "", "label")
  if (anyDuplicated(labels)) {
    # If the order is equal, the given names distinguish the paths.
    parts <- Map(function(part, name) {
      part$label <- paste0(name, ": ", part$label)
      part
    }, parts, names(parts))
  }
  draw_paths(parts, object$table, type)
}

# The curve of a path, one row per block and one before any removal.
#' @export
comparison_part.sdc_removal_path <- function(x) {
  estimates <- x$estimates
  path <- x$path
  ends <- which(!duplicated(path$step, fromLast = TRUE))
  columns <- c("risk", "threshold", "shape", "risk_empirical", "reduction")
  start <- c(
    vapply(columns[1:4], function(term) as.double(estimates[[paste0(term, "_before")]]), 0),
    reduction = 0
  )
  curve <- rbind(as.data.frame(as.list(start)), path[ends, columns])
  curve$n_removed <- c(0, ends)
  if (!is.null(path$risk_low)) {
    first <- estimates$risk_before
    curve$low <- c(0, 1 - path$risk_high[ends] / first)
    curve$high <- c(0, 1 - path$risk_low[ends] / first)
    # A random order is its mean.
    curve$reduction <- c(0, 1 - path$risk_mean[ends] / first)
  } else {
    curve$low <- curve$high <- curve$reduction
  }
  list(curve = curve, label = gsub("_", " ", estimates$by))
}

percent_labels <- function(x) paste(format(100 * x, trim = TRUE), "%")

# Eleven orders: six colours, then again with dashes.
path_colours <- c("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "black")

draw_paths <- function(parts, analysis, type) {
  long <- do.call(rbind, lapply(parts, function(part) {
    cbind(part$curve, order = rep(part$label, nrow(part$curve)))
  }))
  labels <- unique(long$order)
  # In the legend as the curves end, from top to bottom.
  end <- vapply(labels, function(label) {
    utils::tail(long$reduction[long$order == label], 1)
  }, 0)
  labels <- labels[order(-end)]
  long$order <- factor(long$order, labels)
  name <- name_of_t(analysis[1, ])
  picture <- if (type == "reduction") draw_reduction(long, name) else draw_fit(long, name)
  n <- length(labels)
  picture <- picture +
    ggplot2::scale_colour_manual(values = rep_len(path_colours, n)) +
    ggplot2::scale_linetype_manual(
      values = rep(c("solid", "22", "12"), each = length(path_colours), length.out = n)
    ) +
    sdc_labs(x = "records removed", colour = NULL, linetype = NULL)
  if (n == 1) {
    return(picture + ggplot2::theme(legend.position = "none"))
  }
  picture + ggplot2::theme(
    legend.position = "right", legend.key.width = ggplot2::unit(1.8, "lines")
  )
}

draw_reduction <- function(long, name) {
  band <- long[long$low < long$high & !is.na(long$low), ]
  ggplot2::ggplot(long, ggplot2::aes(
    x = .data$n_removed, y = .data$reduction, colour = .data$order, linetype = .data$order
  )) +
    ggplot2::geom_hline(yintercept = 0, colour = sdc_grey, linewidth = 0.4) +
    ggplot2::geom_ribbon(
      ggplot2::aes(x = .data$n_removed, ymin = .data$low, ymax = .data$high, group = .data$order),
      data = band, inherit.aes = FALSE, fill = "grey80", alpha = 0.6
    ) +
    ggplot2::geom_line(linewidth = 0.7, na.rm = TRUE) +
    ggplot2::scale_y_continuous(labels = percent_labels) +
    ggplot2::labs(
      title = paste0("What does removing records buy?"),
      subtitle = if (nlevels(long$order) == 1) paste("Order:", levels(long$order)),
      y = paste("reduction of", name),
      caption = if (nrow(band) > 0) "Band: range of the random orders; line: their mean."
    )
}

draw_fit <- function(long, name) {
  terms <- c(
    risk = name, risk_empirical = "empirical quantile", threshold = "threshold u",
    shape = "shape of the tail"
  )
  panels <- do.call(rbind, lapply(names(terms), function(term) {
    frame(
      n_removed = long$n_removed, value = long[[term]], order = long$order,
      panel = factor(rep(terms[[term]], nrow(long)), terms)
    )
  }))
  ggplot2::ggplot(panels, ggplot2::aes(
    x = .data$n_removed, y = .data$value, colour = .data$order, linetype = .data$order
  )) +
    ggplot2::geom_line(linewidth = 0.6, na.rm = TRUE) +
    ggplot2::facet_wrap(ggplot2::vars(.data$panel), scales = "free_y") +
    ggplot2::labs(
      title = paste0("Does ", name, " fall by its tail or by its fit?"),
      subtitle = if (nlevels(long$order) == 1) paste("Order:", levels(long$order)),
      y = NULL,
      caption = "If T falls and the empirical quantile does not, only the fit has moved."
    )
}

draw_prediction <- function(x) {
  curve <- x$diagnostics$roc
  if (is.null(curve)) {
    stop_argument(
      "type", "be another picture for a path without PLS",
      advice = "removal_path(by = \"pls\") predicts contributions."
    )
  }
  quality <- x$diagnostics$pls
  labels <- paste0(
    c(train = "training", test = "test")[quality$sample], ": AUC = ", format_risk(quality$auc)
  )
  curve$sample <- factor(labels[match(curve$sample, quality$sample)], labels)
  ggplot2::ggplot(curve, ggplot2::aes(
    x = .data$false_positive, y = .data$true_positive, colour = .data$sample
  )) +
    roc_layers() +
    ggplot2::geom_line(linewidth = 0.8) +
    ggplot2::scale_colour_manual(values = c(sdc_blue, sdc_orange)) +
    sdc_labs(
      title = "Do values predict what removal buys?",
      x = "others above the threshold", y = "records with a positive contribution",
      colour = NULL, caption = paste0(
        format_count(quality$n[[1]]), " training and ", format_count(quality$n[[2]]),
        " test records; partial least squares."
      )
    ) +
    ggplot2::theme(legend.position = "bottom")
}
