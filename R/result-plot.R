# Shared parts of pictures. ggplot2 is suggested: methods of autoplot() are registered when it is
# loaded, and plot() loads it.

# Colours that remain apart for colour-blind readers and in grey print.
sdc_blue <- "#0072B2"
sdc_orange <- "#D55E00"
sdc_grey <- "grey60"

sdc_colours <- function(n) {
  rep_len(c(sdc_blue, sdc_orange, "#009E73", "#CC79A7", "black"), n)
}

sdc_theme <- function() {
  ggplot2::theme_minimal(base_size = 11) +
    ggplot2::theme(
      # A picture that is saved has no background of its own otherwise.
      plot.background = ggplot2::element_rect(fill = "white", colour = NA),
      panel.grid.minor = ggplot2::element_blank(),
      # Last and first number of neighbouring axes do not touch.
      panel.spacing.x = ggplot2::unit(1.2, "lines"),
      plot.title.position = "plot", plot.caption.position = "plot",
      plot.caption = ggplot2::element_text(colour = "grey40", hjust = 0),
      legend.position = "bottom"
    )
}

# The words of a picture, in the look of all pictures.
sdc_labs <- function(...) list(ggplot2::labs(...), sdc_theme())

# The first line of a picture of a result: what it shows, if there is a choice.
enter_picture <- function(object, ..., at = sys.parent()) {
  force(at)
  enter_verb("autoplot", object, at)
  check_no_dots()
  if (...length()) check_choice(..1, eval(formals(sys.function(at))$type), "type")
}

#' @importFrom rlang .data
NULL

# Numbers of an axis as people write them: 0.001 and not 1e-03.
plain_numbers <- function(x) {
  ifelse(is.na(x), "", format(x, scientific = FALSE, trim = TRUE, drop0trailing = TRUE))
}

# Names of variables on an axis, alone or in key sets: long ones keep both ends.
short_names <- function(x, most = 48) {
  vapply(strsplit(as.character(x), " + ", fixed = TRUE), function(names) {
    room <- max(8, floor((most + 3) / length(names)) - 3)
    long <- nchar(names) > room
    names[long] <- paste0(
      substr(names[long], 1, room - 4), "\u2026", substring(names[long], nchar(names[long]) - 2)
    )
    paste(names, collapse = " + ")
  }, "")
}

name_axis <- function(...) ggplot2::scale_y_discrete(labels = short_names, ...)

# Boxes cannot count a pattern as often as records have it.
check_of_records <- function(x) {
  if (!is.null(judged_times(x))) {
    stop_argument(
      "by", "be NULL for a result about a pattern table",
      advice = "summary(x, by) weighs every pattern by its records."
    )
  }
}

# Boxes of one number per record, by strata given to autoplot() as `by` and
# `data`. `values` defaults to the risk of the records.
plot_strata <- function(x, by, data, title, y, values = record_risk(x), log = FALSE) {
  if (is.null(by)) {
    stop_argument(
      "by", "be given for this picture",
      advice = "One value per record, or the name of a column of `data`."
    )
  }
  check_of_records(x)
  strata <- resolve_strata(x, by, data, length(values))
  levels(strata)[is.na(levels(strata))] <- "(missing)"
  shown <- frame(value = values, stratum = strata)
  shown <- shown[!is.na(shown$value) & (!log | shown$value > 0), ]
  picture <- ggplot2::ggplot(shown, ggplot2::aes(x = .data$value, y = .data$stratum)) +
    ggplot2::geom_boxplot(
      fill = "grey90", colour = sdc_blue, outlier.size = 0.6, outlier.colour = sdc_grey
    ) +
    name_axis(limits = rev(levels(droplevels(shown$stratum)))) +
    sdc_labs(title = title, x = y, y = if (is.character(by) && length(by) == 1) by)
  if (log) picture + ggplot2::scale_x_log10(labels = plain_numbers) else picture
}
