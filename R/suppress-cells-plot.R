# Picture of suppress_cells().

#' Picture of a suppression
#'
#' Per key variable the share of its known values that was suppressed, with the number.
#'
#' @param object A result of [suppress_cells()].
#' @param ... None.
#' @return A ggplot.
#' @exportS3Method ggplot2::autoplot
#' @name autoplot.sdc_suppress_cells
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' plot(suppress_cells(nals_prison, c("CENREG", "DAGE3", "EDUC3", "GENDER")))
autoplot.sdc_suppress_cells <- function(object, ...) {
  enter_picture(object)
  variables <- object$variables
  shown <- frame(
    variable = factor(variables$variable, rev(variables$variable)),
    share = variables$prop_suppressed, label = format_count(variables$n_suppressed)
  )
  most <- variables[which.max(variables$prop_suppressed), ]
  ggplot2::ggplot(shown, ggplot2::aes(x = .data$share, y = .data$variable)) +
    ggplot2::geom_col(fill = sdc_blue, width = 0.7) +
    ggplot2::geom_text(ggplot2::aes(label = .data$label), hjust = -0.15, size = 3.3) +
    ggplot2::scale_x_continuous(
      labels = format_percent, limits = c(0, NA), expand = ggplot2::expansion(c(0, 0.12))
    ) +
    name_axis() +
    sdc_labs(
      title = "How many values of each variable were suppressed?",
      subtitle = if (object$estimates$n_suppressed == 0) {
        "None"
      } else {
        paste0(
          plural(object$estimates$n_suppressed, "value"), " in all; most in ", most$variable, ": ",
          format_percent(most$prop_suppressed)
        )
      },
      x = "share of the known values", y = NULL
    )
}
