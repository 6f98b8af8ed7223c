# Pictures of population_uniqueness().

#' @rdname population_uniqueness
#' @param object For `autoplot()`, which `plot()` draws: the estimates by population
#'   size, or for one size by method.
#' @exportS3Method ggplot2::autoplot
autoplot.sdc_population_uniqueness <- function(object, ...) {
  enter_picture(object)
  estimates <- object$estimates[!is.na(object$estimates$population_uniqueness), ]
  methods <- unique(object$estimates$method)
  estimates$method <- factor(estimates$method, methods)
  picture <- if (length(unique(object$estimates$pop_size)) == 1) {
    plot_by_method(estimates, object$estimates$pop_size[[1]], methods)
  } else {
    plot_by_size(estimates, methods)
  }
  picture +
    sdc_labs(
      title = "How many people are unique, by the sample's counts alone?",
      subtitle = paste0(
        "Unique in the sample: ", format_percent(object$diagnostics$sample_uniqueness), " of ",
        plural(object$diagnostics$n, "record"), "."
      )
    )
}

# One population: a dot per method, from the top down as given.
plot_by_method <- function(estimates, pop_size, methods) {
  ggplot2::ggplot(estimates, ggplot2::aes(x = .data$population_uniqueness, y = .data$method)) +
    ggplot2::geom_point(size = 3, colour = sdc_blue) +
    ggplot2::scale_y_discrete(limits = rev(methods)) +
    ggplot2::scale_x_continuous(limits = c(0, 1), labels = format_percent) +
    ggplot2::labs(x = paste0("unique among ", format_count(pop_size), " people"), y = NULL)
}

plot_by_size <- function(estimates, methods) {
  drawn <- ggplot2::aes(
    x = .data$pop_size, y = .data$population_uniqueness, colour = .data$method
  )
  several <- names(which(table(estimates$method) > 1))
  ggplot2::ggplot(estimates, drawn) +
    ggplot2::geom_line(
      data = estimates[estimates$method %in% several, ], ggplot2::aes(group = .data$method)
    ) +
    # Methods that agree are seen beside each other.
    ggplot2::geom_point(
      ggplot2::aes(shape = .data$method), size = 3,
      position = ggplot2::position_dodge(width = 0.05)
    ) +
    ggplot2::scale_colour_manual(values = sdc_colours(length(methods)), drop = FALSE) +
    ggplot2::scale_shape_manual(values = seq_along(methods) + 14L, drop = FALSE) +
    # Room for the last number of people.
    ggplot2::scale_x_log10(
      labels = format_count, expand = ggplot2::expansion(mult = c(0.05, 0.1))
    ) +
    ggplot2::scale_y_continuous(limits = c(0, 1), labels = format_percent) +
    ggplot2::labs(
      x = "people in the population", y = "unique people", colour = NULL, shape = NULL
    )
}
