# Pictures of household_risk().

#' Pictures of household risk
#'
#' Three pictures of a [household_risk()] result; `plot()` draws the same.
#'
#' @param object A result of [household_risk()].
#' @param type `"sizes"`: of the households of each size, the share that is unique;
#'   `"matches"`: the share of households that so many households fit, or
#'   fewer; `"strata"`: the record risks 1/m by a variable.
#' @param by,data For `"strata"`: a vector with one value per record, or the
#'   name of a column of `data`, the data the result was made from.
#' @param ... None.
#' @return A ggplot.
#' @exportS3Method ggplot2::autoplot
#' @name autoplot.sdc_household_risk
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' people <- data.frame(
#'   home = rep(1:60, rep(1:3, 20)), age = rep(c(30, 40, 30, 10, 20), 24),
#'   sex = rep(c("f", "m"), 60)
#' )
#' plot(household_risk(people, c("age", "sex"), "home"))
autoplot.sdc_household_risk <- function(object, type = c("sizes", "matches", "strata"), ...,
                                        by = NULL, data = NULL) {
  switch(enter_picture(object, type),
    sizes = plot_household_sizes(object),
    matches = plot_household_matches(object),
    strata = plot_strata(
      object, by, data, "Record risk by stratum", "record risk 1/m, log scale",
      log = TRUE
    )
  )
}

plot_household_sizes <- function(x, most = 12) {
  sizes <- utils::head(x$sizes, most)
  sizes$label <- factor(sizes$household_size)
  ggplot2::ggplot(sizes, ggplot2::aes(x = .data$label, y = .data$prop_unique)) +
    ggplot2::geom_col(fill = sdc_blue, width = 0.7) +
    ggplot2::geom_text(
      ggplot2::aes(label = format_count(.data$n_unique)), vjust = -0.4, size = 3,
      colour = "grey30"
    ) +
    ggplot2::scale_y_continuous(
      labels = format_percent, expand = ggplot2::expansion(c(0, 0.08))
    ) +
    sdc_labs(
      title = "Which households are unique?",
      x = "members", y = "share of the households of this size",
      caption = paste0(
        "Known: ", household_known_words(x), ". Above the bars: households that are unique.",
        if (nrow(x$sizes) > most) paste(" The", most, "smallest sizes.")
      )
    )
}

plot_household_matches <- function(x) {
  # Households count once: their records weigh 1 / size.
  known <- x$records[!is.na(x$records$n_matches), ]
  matches <- sort(unique(known$n_matches))
  weight <- as.vector(rowsum(1 / known$household_size, match(known$n_matches, matches)))
  shown <- frame(matches = as.double(matches), share = cumsum(weight) / sum(weight))
  ggplot2::ggplot(shown, ggplot2::aes(x = .data$matches, y = .data$share)) +
    ggplot2::geom_step(colour = sdc_blue, linewidth = 0.7) +
    ggplot2::geom_point(colour = sdc_blue, size = 1) +
    ggplot2::scale_x_log10(labels = plain_numbers) +
    ggplot2::scale_y_continuous(labels = format_percent) +
    ggplot2::expand_limits(y = 0) +
    sdc_labs(
      title = "How many households fit a household?",
      x = "households that fit, or fewer; log scale", y = "share of households",
      caption = paste0("Known: ", household_known_words(x), ". At 1: households like no other.")
    )
}
