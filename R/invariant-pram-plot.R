# Pictures of invariant_pram().

#' Pictures of a perturbed file
#'
#' @param object A result of [invariant_pram()].
#' @param type `"match_prob"`: the match probability of every key before and
#'   after, equal points drawn once with their number, and the bound;
#'   `"counts"`: the frequency of every key before against after, with the band
#'   that holds for about 95% of them (two standard deviations around the
#'   frequency before).
#' @param ... None.
#' @return A ggplot; `plot()` draws it.
#' @exportS3Method ggplot2::autoplot
#' @name autoplot.sdc_invariant_pram
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' keys <- c("CENREG", "DAGE3", "EDUC3", "GENDER", "BORNUSA", "DRACE3")
#' plot(invariant_pram(nals_prison[keys]))
autoplot.sdc_invariant_pram <- function(object, type = c("match_prob", "counts"), ...) {
  switch(enter_picture(object, type),
    match_prob = plot_match_prob(
      object$cells, object$estimates$max_match_prob, "Exact worst case of every key",
      before = "before: 1 / frequency of the key"
    ),
    counts = plot_pram_counts(object)
  )
}

# Cells that a picture shows at the same place, with their number.
stacked_points <- function(x, y) {
  place <- paste(signif(x, 6), signif(y, 6))
  once <- !duplicated(place)
  frame(x = x[once], y = y[once], n = as.vector(table(factor(place, place[once]))))
}

plot_match_prob <- function(cells, bound, what, before, unit = "cells") {
  points <- stacked_points(cells$match_prob_before, cells$match_prob)
  points$group <- factor(
    ifelse(points$x > bound + 1e-9, "above the bound before", "below it before"),
    c("above the bound before", "below it before")
  )
  ggplot2::ggplot(points, ggplot2::aes(x = .data$x, y = .data$y)) +
    ggplot2::geom_abline(intercept = 0, slope = 1, colour = sdc_grey, linewidth = 0.4) +
    ggplot2::geom_hline(yintercept = bound, colour = sdc_orange, linetype = "dashed") +
    ggplot2::geom_point(
      ggplot2::aes(size = .data$n, colour = .data$group), alpha = 0.8
    ) +
    ggplot2::scale_size_area(max_size = 7, labels = format_count) +
    ggplot2::scale_colour_manual(
      values = c("above the bound before" = sdc_orange, "below it before" = sdc_blue)
    ) +
    ggplot2::coord_cartesian(xlim = c(0, 1), ylim = c(0, 1)) +
    sdc_labs(
      title = "How likely is a correct match, before and after?",
      subtitle = paste0(what, "; the dashed line is the bound, ", format_number(bound), "."),
      x = before, y = "after: worst case over all a",
      size = unit, colour = NULL,
      caption = "On the grey line: unchanged."
    )
}

plot_pram_counts <- function(x) {
  cells <- x$cells
  points <- stacked_points(cells$count, x$diagnostics$new_counts)
  variance <- margin_inflation(
    pram_extra(x), list(seq_len(nrow(cells)))
  )[[1]]$variance
  band <- do.call(rbind, lapply(split(
    frame(count = cells$count, spread = 2 * sqrt(variance)), cells$count
  ), function(part) part[which.max(part$spread), ]))
  top <- max(points$x, points$y)
  ggplot2::ggplot(points, ggplot2::aes(x = .data$x, y = .data$y)) +
    ggplot2::geom_linerange(
      data = band, inherit.aes = FALSE, colour = "grey82", linewidth = 4,
      ggplot2::aes(
        x = .data$count, ymin = pmax(.data$count - .data$spread, 0),
        ymax = .data$count + .data$spread
      )
    ) +
    ggplot2::geom_abline(intercept = 0, slope = 1, colour = sdc_grey, linewidth = 0.4) +
    ggplot2::geom_point(ggplot2::aes(size = .data$n), colour = sdc_blue, alpha = 0.7) +
    ggplot2::scale_size_area(max_size = 6, labels = format_count) +
    ggplot2::scale_x_continuous(trans = "log1p", breaks = count_breaks(top)) +
    ggplot2::scale_y_continuous(trans = "log1p", breaks = count_breaks(top)) +
    sdc_labs(
      title = "What happened to the counts?",
      subtitle = "Expected counts are those of the original; grey: two standard deviations.",
      x = if (x$diagnostics$units == "households") "households before" else "records before",
      y = "after", size = "cells"
    )
}

count_breaks <- function(top) {
  breaks <- c(0, 1, 2, 5) * rep(10^(0:9), each = 4)
  unique(breaks[breaks <= max(top, 2)])
}

pram_extra <- function(x) {
  pram_design(x$cells, x$blocks$theta, x$settings$n)
}
