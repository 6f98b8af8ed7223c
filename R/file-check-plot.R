# Measures against limits, all as shares of one.

#' Picture of a file check
#'
#' Draws every measure of a [file_check()] with its limit; `plot()` draws the same picture.
#' Counts are drawn as shares of the records, k as the risk 1/k of its records. A measure of
#' 0 is drawn at the left end.
#'
#' @param object A result of [file_check()].
#' @param ... None.
#' @return A ggplot.
#' @exportS3Method ggplot2::autoplot
#' @name autoplot.sdc_file_check
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' keys <- c("CENREG", "DAGE3", "EDUC3", "GENDER", "BORNUSA", "DRACE3")
#' plot(file_check(nals_prison[c(keys, "WEIGHT")], keys, weight_var = "WEIGHT"))
autoplot.sdc_file_check <- function(object, ...) {
  enter_picture(object)
  shown <- check_points(object)
  drawn <- unlist(shown[c("value", "low", "high", "limit")])
  least <- max(1e-7, 10^floor(log10(min(0.01, drawn[which(drawn > 0)]))))
  for (column in c("value", "low", "high", "limit")) {
    shown[[column]] <- pmax(shown[[column]], least)
  }
  verdicts <- c("above", "ok", "no limit", if (any(shown$verdict == "unclear")) "unclear")
  shown$verdict <- factor(shown$verdict, verdicts)
  ggplot2::ggplot(shown, ggplot2::aes(x = .data$value, y = .data$label)) +
    # All measures first, or layers of some of them put these in an order of their own.
    ggplot2::geom_blank() +
    ggplot2::geom_segment(
      ggplot2::aes(x = .data$low, xend = .data$high, yend = .data$label),
      data = shown[!is.na(shown$low), ], colour = sdc_grey, linewidth = 1.6
    ) +
    ggplot2::geom_point(
      ggplot2::aes(x = .data$limit), data = shown[!is.na(shown$limit), ],
      shape = 124, size = 7, colour = "black"
    ) +
    ggplot2::geom_point(ggplot2::aes(colour = .data$verdict), size = 3) +
    ggplot2::facet_grid(ggplot2::vars(.data$scenario), scales = "free_y", space = "free_y") +
    ggplot2::scale_x_log10(labels = plain_numbers, limits = c(least, 1)) +
    ggplot2::scale_colour_manual(
      values = c(above = sdc_orange, ok = sdc_blue, "no limit" = sdc_grey, unclear = "black"),
      drop = FALSE
    ) +
    sdc_labs(
      title = "Which measures are above their limit?",
      subtitle = paste(strwrap(capitalised(verdict_words(object)), 80), collapse = "\n"),
      x = "share of the records, or risk of one; log scale", y = NULL, colour = NULL,
      caption = paste(c(
        "| limit. Bars: intervals.",
        if (length(unmeasured_labels(object))) {
          strwrap(
            paste0("Not judged: ", paste(unmeasured_labels(object), collapse = ", "), "."), 90
          )
        }
      ), collapse = "\n")
    )
}

unmeasured_labels <- function(x) {
  x$estimates$measure[x$estimates$verdict == "not judged"]
}

# The measures that have a value, on the scale of shares.
check_points <- function(x) {
  e <- x$estimates
  e$label <- ifelse(e$measure == "k", "fewest matches, as risk 1/k", check_labels(x))
  unit <- measures(x)$unit
  keep <- !is.na(e$value) & !are_plain(e)
  for (column in c("value", "low", "high", "limit")) {
    e[[column]] <- ifelse(
      unit == "matches", 1 / e[[column]],
      ifelse(unit == "count", e[[column]] / n_judged(x), e[[column]])
    )
  }
  e$label <- factor(e$label, rev(unique(e$label)))
  e$scenario <- factor(e$scenario, c("prosecutor", "journalist", "tables"))
  e[keep, ]
}
