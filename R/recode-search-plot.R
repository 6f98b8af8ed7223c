#' Picture of risk against cost
#'
#' Draws the frontier of a [recode_search()] result: the recodings that no other one
#' beats in both risk and cost, and the cheapest under the limit. `plot()` draws the
#' same.
#'
#' Of a small lattice the frontier is that of all recodings; of a large one, of those
#' looked at on the way, and the caption says so.
#'
#' @param object A result of [recode_search()].
#' @param ... None.
#' @return A ggplot.
#' @exportS3Method ggplot2::autoplot
#' @name autoplot.sdc_recode_search
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' plot(recode_search(adult, c("age", "sex"), constraint = list(k = 5)))
autoplot.sdc_recode_search <- function(object, ...) {
  enter_picture(object)
  of <- object$diagnostics$frontier_of
  limit <- object$settings$constraint[[of]]
  shown <- object$frontier
  shown$blanks <- factor(
    ifelse(shown$n_suppressed > 0, "with suppression", "without suppression"),
    c("without suppression", "with suppression")
  )
  axis <- c(
    k = "largest prosecutor risk, 1 / k", prop_unique = "share of sample uniques",
    qar = "extreme risk T"
  )[[of]]
  line <- if (!is.null(limit)) if (of == "k") 1 / limit else limit
  positive <- all(shown$risk > 0)
  best <- object$best
  # The measure of the frontier, where it is not the first constraint.
  best$shown <- if (of == object$diagnostics$measure) best$risk else best[[of]]
  picture <- ggplot2::ggplot(shown, ggplot2::aes(x = .data$cost, y = .data$risk)) +
    ggplot2::geom_step(colour = sdc_grey) +
    ggplot2::geom_point(ggplot2::aes(colour = .data$blanks), size = 2) +
    ggplot2::scale_colour_manual(
      values = c("without suppression" = sdc_blue, "with suppression" = "#009E73"), drop = FALSE
    ) +
    ggplot2::scale_x_continuous(labels = plain_numbers) +
    sdc_labs(
      title = "What does less risk cost?", x = cost_axis(object), y = axis, colour = NULL,
      caption = paste0(
        if (object$diagnostics$whole_frontier) {
          "All recodings that no other one beats in both."
        } else {
          "The best of the recodings looked at: the lattice is too large for all."
        },
        if (!is.null(line)) " Dashed: the limit. Cross: the cheapest within it."
      )
    )
  if (!is.null(best$shown) && any(is.finite(best$shown))) {
    picture <- picture + ggplot2::geom_point(
      ggplot2::aes(x = .data$cost, y = .data$shown), best[1, ], shape = 4, size = 4, stroke = 1.2,
      colour = sdc_orange
    )
  }
  if (positive) picture <- picture + ggplot2::scale_y_log10(labels = plain_numbers)
  if (!is.null(line) && (line > 0 || !positive)) {
    picture <- picture + ggplot2::geom_hline(yintercept = line, linetype = "dashed")
  }
  picture
}

cost_axis <- function(x) {
  c(entropy = "cost, bits", loss = "cost, loss", levels = "cost, levels")[[x$settings$cost]]
}
