# The receiver operating characteristic of a score for what is `positive`.

# The probability that a positive has a higher score than a negative; NA if there are none of one
# kind.
area_under_curve <- function(positive, score) {
  n_1 <- as.double(sum(positive))
  n_0 <- as.double(sum(!positive))
  if (n_1 == 0 || n_0 == 0) {
    return(NA_real_)
  }
  (sum(rank(score)[positive]) - n_1 * (n_1 + 1) / 2) / (n_1 * n_0)
}

# Shares of negatives and of positives above every threshold, thinned to 500.
roc_curve <- function(positive, score) {
  order <- order(score, decreasing = TRUE)
  last <- which(!duplicated(score[order], fromLast = TRUE))
  true <- c(0, cumsum(positive[order])[last] / max(sum(positive), 1))
  false <- c(0, cumsum(!positive[order])[last] / max(sum(!positive), 1))
  keep <- unique(round(seq(1, length(true), length.out = min(500, length(true)))))
  frame(false_positive = false[keep], true_positive = true[keep])
}

roc_layers <- function() {
  list(
    ggplot2::geom_abline(colour = sdc_grey, linetype = "dashed"),
    ggplot2::scale_x_continuous(labels = format_percent),
    ggplot2::scale_y_continuous(labels = format_percent),
    ggplot2::coord_fixed()
  )
}
