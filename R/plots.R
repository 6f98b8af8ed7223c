# What all pictures share. ggplot2 is suggested: methods of autoplot() are
# registered when it is loaded, and plot() loads it.

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
      panel.grid.minor = ggplot2::element_blank(),
      plot.title.position = "plot", plot.caption.position = "plot",
      plot.caption = ggplot2::element_text(colour = "grey40", hjust = 0),
      legend.position = "bottom"
    )
}

#' @importFrom rlang .data
NULL
