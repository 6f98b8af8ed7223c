# Risk and cost side by side: what compare_risk() makes of utility_loss().

# One row per result: its first measure of risk, the largest where it holds several
# analyses, and what it cost. A result
# without a loss, such as the file before, has lost nothing.
comparison_loss <- function(loss, labels, table) {
  if (is.null(loss)) {
    return(NULL)
  }
  if (inherits(loss, "sdc_utility_loss")) loss <- list(after = loss)
  is_loss <- is.list(loss) && length(loss) > 0 && length(names(loss)) == length(loss) &&
    all(vapply(loss, inherits, NA, "sdc_utility_loss"))
  if (!is_loss || !all(names(loss) %in% labels)) {
    stop_argument(
      "loss", "be a result of utility_loss(), or a list of them named by result",
      found = if (is_loss) paste0("Results: ", quote_names(labels, 8), "."),
      advice = if (is_loss) nearest_names(setdiff(names(loss), labels), labels)
    )
  }
  term <- table$term[[1]]
  of <- function(column) {
    vapply(labels, function(label) {
      value <- loss[[label]]$estimates[[column]]
      if (is.null(value) || is.na(value)) 0 else value
    }, 0, USE.NAMES = FALSE)
  }
  frame(
    result = labels, term = rep(term, length(labels)),
    risk = vapply(labels, function(label) {
      found <- table$estimate[table$result == label & table$term == term]
      if (all(is.na(found))) NA_real_ else max(found, na.rm = TRUE)
    }, 0, USE.NAMES = FALSE),
    prop_bits_lost = of("prop_bits_lost"), prop_blank = of("prop_blank"),
    prop_exchanged = of("prop_exchanged"), tv_pairs = of("tv_pairs"), il1s = of("il1s")
  )
}

loss_lines <- function(loss) {
  if (is.null(loss)) {
    return(NULL)
  }
  paid <- loss[loss$prop_bits_lost + loss$prop_exchanged + loss$il1s > 0, , drop = FALSE]
  paste0(
    "Cost of `", paid$result, "`: ", format_percent(paid$prop_bits_lost),
    " of the bits lost (recoding, suppression), ", format_percent(paid$prop_exchanged),
    " of the values exchanged",
    ifelse(paid$il1s > 0, paste0(", numbers moved by IL1s ", format_risk(paid$il1s)), ""), ".",
    recycle0 = TRUE
  )
}

# A point per result; bits, exchanges and changes of numbers are different costs, a panel each.
plot_risk_utility <- function(x) {
  if (is.null(x$loss)) {
    stop_argument(
      "type", "be \"terms\" if `loss` was not given",
      advice = "compare_risk(before, after, loss = utility_loss(data, released))."
    )
  }
  loss <- x$loss
  panels <- c(
    "bits lost to recoding and suppression", "values exchanged", "change of numbers (IL1s)"
  )
  costs <- list(loss$prop_bits_lost, loss$prop_exchanged, loss$il1s)
  shown <- frame(
    result = rep(loss$result, 3), risk = rep(loss$risk, 3), share = unlist(costs),
    panel = factor(rep(panels, each = nrow(loss)), panels)
  )
  # A record with a cost of one kind only must not appear as free in the other.
  paid <- Reduce(`+`, costs) > 0
  shown <- shown[is.finite(shown$risk) & (shown$share > 0 | !rep(paid, 3)), ]
  used <- panels[vapply(costs, function(cost) any(cost > 0), NA)]
  if (length(used)) shown <- shown[shown$panel %in% used, ]
  term <- loss$term[[1]]
  ggplot2::ggplot(shown, ggplot2::aes(x = .data$share, y = .data$risk)) +
    ggplot2::geom_point(colour = sdc_blue, size = 2.8) +
    ggplot2::geom_text(
      ggplot2::aes(label = .data$result), vjust = -0.9, size = 3.2, check_overlap = TRUE
    ) +
    ggplot2::scale_x_continuous(
      labels = format_percent, limits = c(0, NA), expand = ggplot2::expansion(mult = c(0.15, 0.15))
    ) +
    ggplot2::scale_y_continuous(
      labels = plain_numbers, limits = c(0, NA), expand = ggplot2::expansion(mult = c(0.05, 0.15))
    ) +
    ggplot2::facet_wrap(ggplot2::vars(.data$panel), scales = "free_x") +
    sdc_labs(
      title = "What does less risk cost?", x = "share lost",
      y = term_label(term, x$kind)
    )
}
