# Reading a result of copula_fit(): words, tables, a picture.

declare_measure(
  "copula_fit",
  reference = "rocher2019", terms = c("sample_uniqueness", "largest_correlation"),
  title = "Gaussian copula of the key variables",
  question = "how are the key variables distributed in the population the file is drawn from?",
  size = paste0(
    plural(x$n, "record"), if (!is.null(x$settings$weight_var)) {
      paste0(" (weighted, effective number ", format_count(x$diagnostics$n_effective), ")")
    },
    ", ", plural(n_keys, "key variable"), "; ",
    missing_clause_of(x), "."
  ),
  sample_uniqueness = figure(
    "Sample uniques, share", "share", scenario = "none",
    says = "%s of the records are unique in the sample"
  ),
  n_cells = figure("Different keys", "count", scenario = "none", board = FALSE),
  largest_correlation = figure(
    "Largest latent correlation", "number", scenario = "none", board = FALSE, direction = "none"
  ),
  table = pair_table(x$diagnostics$pairs), rest = "summary(x)", scenario = "journalist",
  notes = list(
    "Keeps the two-way tables of the sample: treat it like the data.", projection_line(x)
  ),
  next_step = "copula_uniqueness(x, pop_size = ...)",
  measured = paste0(
    "A Gaussian copula with ", x$settings$marginals, " margins was fitted to ",
    plural(x$n, "record"), " and ", plural(n_keys, "key variable"),
    " by matching the mutual information of every pair beyond chance"
  ),
  limits = paste0(
    "the model describes the population as far as the records are a random sample of it",
    if (!is.null(x$settings$weight_var)) " given their weights",
    ", and as far as pairs of key variables tell how all of them depend"
  ),
  source = "after Rocher and others 2019",
  assuming = missing_clause_of(x), frame = x$marginals,
  tables = list(marginals = x$marginals, pairs = {
    pairs <- x$diagnostics$pairs
    pairs$beyond_chance <- pmax(pairs$information - pairs$expected, 0)
    renumber(pairs[order(-pairs$beyond_chance), ])
  })
)

# The pairs that depend most, by their information in nats.
pair_table <- function(pairs) {
  pairs$beyond <- pmax(pairs$information - pairs$expected, 0)
  top <- pairs[utils::head(order(-pairs$beyond), 3), ]
  frame(
    "strongest pairs" = paste(top$first, "+", top$second),
    "information, nats" = format_risk(top$beyond),
    correlation = formatC(top$correlation, digits = 2, format = "f")
  )
}

projection_line <- function(x) {
  projection <- x$diagnostics$projection
  if (projection$steps != 0) paste0(
    "Not positive definite (least eigenvalue ", format(projection$least_eigenvalue, digits = 2),
    "): the nearest matrix differs by up to ", format(projection$largest_change, digits = 2), "."
  )
}

#' @importFrom stats coef
#' @export
coef.sdc_copula_fit <- function(object, ...) {
  object$correlation
}

#' Picture of a fitted copula
#'
#' The correlation matrix of a [copula_fit()], key variables ordered so that
#' strongly correlated ones stand together; `plot()` draws the same.
#'
#' @param object A result of [copula_fit()].
#' @param ... None.
#' @return A ggplot. The sign of a correlation with a nominal key variable depends
#'   on its latent order and means nothing by itself.
#' @exportS3Method ggplot2::autoplot
#' @name autoplot.sdc_copula_fit
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' plot(copula_fit(adult))
autoplot.sdc_copula_fit <- function(object, ...) {
  enter_picture(object)
  matrix <- object$correlation
  if (nrow(matrix) < 2) {
    stop_argument(
      "object", "have several key variables to draw their correlations", found = "It has one."
    )
  }
  if (!all(is.finite(matrix))) stop_not_whole("result")
  order <- stats::hclust(stats::as.dist(1 - abs(matrix)), "average")$order
  names <- rownames(matrix)[order]
  long <- frame(
    row = factor(rep(names, length(names)), rev(names)),
    column = factor(rep(names, each = length(names)), names),
    correlation = as.vector(matrix[order, order])
  )
  long <- long[as.integer(long$column) < length(names) + 1 - as.integer(long$row), ]
  ggplot2::ggplot(
    long, ggplot2::aes(x = .data$column, y = .data$row, fill = .data$correlation)
  ) +
    ggplot2::geom_tile(colour = "white", linewidth = 0.8) +
    ggplot2::geom_text(
      ggplot2::aes(
        label = formatC(.data$correlation, digits = 2, format = "f"),
        colour = abs(.data$correlation) > 0.75
      ),
      size = if (length(names) > 15) 2 else 3, show.legend = FALSE
    ) +
    ggplot2::scale_fill_gradient2(
      low = sdc_orange, mid = "white", high = sdc_blue, limits = c(-1, 1)
    ) +
    ggplot2::scale_colour_manual(values = c(`FALSE` = "grey20", `TRUE` = "white")) +
    ggplot2::coord_fixed() +
    sdc_labs(
      title = "How do the key variables depend on each other?",
      subtitle = "Latent correlations that reproduce the information of every pair",
      x = NULL, y = NULL, fill = "correlation",
      caption = "Signs with nominal variables depend on the latent order of their categories."
    ) +
    ggplot2::theme(
      panel.grid = ggplot2::element_blank(),
      axis.text.x = ggplot2::element_text(angle = 45, hjust = 1)
    )
}
