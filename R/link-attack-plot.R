# Pictures of link_attack().

#' Pictures of an attack by linkage
#'
#' Three pictures of a [link_attack()] result; `plot()` draws the same.
#'
#' @param object A result of [link_attack()].
#' @param type `"claims"`: how many matches each intruder who weighs would claim at every
#'   degree of sureness, and how many of them are right, the default if somebody weighs;
#'   `"intruders"`: expected correct matches of all intruders, and the ceiling of rules that look
#'   at agreement alone;
#'   `"keys"`: what leaving out each key would buy.
#' @param ... None.
#' @return A ggplot.
#' @exportS3Method ggplot2::autoplot
#' @name autoplot.sdc_link_attack
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' keys <- c("gender", "born_abroad", "education", "degree_year", "degree_field")
#' plot(link_attack(panel_waves$wave1, panel_waves$wave2, keys, "id"))
autoplot.sdc_link_attack <- function(object, type = c("claims", "intruders", "keys"), ...) {
  enter_picture(object)
  if (missing(type) && identical(object$settings$weights, c("distance", "count")) &&
        has_links(object)) {
    type <- "intruders"
  }
  type <- check_choice(type, c("claims", "intruders", "keys"), "type")
  if (type != "claims" && !has_links(object)) {
    stop_argument("type", "be \"claims\" if no true link is known")
  }
  if (type == "claims" && nrow(object$curve) == 0) {
    stop_argument("type", "be another one if nobody weighs the key variables")
  }
  switch(type,
    claims = plot_claims(object),
    intruders = plot_intruders(object),
    keys = plot_attack_keys(object)
  )
}

# Intruders in the words of a legend.
intruder_names <- c(
  calibrated = "knows how often keys change", prior = "believes that keys seldom change",
  em = "learns it from the files (EM)", count = "counts differences",
  distance = "takes the nearest record"
)

plot_claims <- function(x) {
  curve <- x$curve[x$curve$posterior >= 0.3, ]
  known <- has_links(x)
  words <- c("matches claimed", "of them right")
  long <- frame(
    intruder = rep(unname(intruder_names[curve$intruder]), if (known) 2 else 1),
    posterior = rep(curve$posterior, if (known) 2 else 1),
    n = c(curve$n_claimed, if (known) curve$n_right),
    what = factor(rep(words[seq_len(1 + known)], each = nrow(curve)), words)
  )
  ggplot2::ggplot(
    long, ggplot2::aes(
      x = .data$posterior, y = .data$n, colour = .data$intruder, linetype = .data$what
    )
  ) +
    ggplot2::geom_line(linewidth = 0.8) +
    ggplot2::scale_colour_manual(values = sdc_colours(length(unique(long$intruder)))) +
    ggplot2::scale_x_continuous(labels = format_percent) +
    ggplot2::scale_y_continuous(labels = format_count, limits = c(0, NA)) +
    sdc_labs(
      title = "What can the intruder claim?",
      subtitle = paste0(
        "Best matches by what the intruder thinks of them; ",
        format_count(x$estimates$n_released[[1]]), " released records"
      ),
      x = "sure at least to", y = "matches", colour = NULL, linetype = NULL,
      caption = paste0("Coverage ", format_risk(x$settings$coverage), ".")
    )
}

plot_intruders <- function(x) {
  e <- x$estimates
  e$intruder <- unname(intruder_names[e$intruder])
  e$intruder <- factor(e$intruder, e$intruder[order(e$expected_correct)])
  ceiling <- e$ceiling[[1]]
  picture <- ggplot2::ggplot(
    e, ggplot2::aes(x = .data$expected_correct, y = .data$intruder)
  ) +
    ggplot2::geom_col(width = 0.6, fill = sdc_blue) +
    ggplot2::scale_x_continuous(labels = format_count, limits = c(0, e$n_linked[[1]])) +
    sdc_labs(
      title = "How many persons does each intruder find?",
      subtitle = paste0("Expected correct matches of ", format_count(e$n_linked[[1]]), " persons"),
      x = "expected correct matches", y = NULL,
      caption = if (!is.na(ceiling)) {
        "Dashed: no rule that looks at agreement alone gets further; rules that use values can."
      }
    )
  if (is.na(ceiling)) {
    return(picture)
  }
  picture + ggplot2::geom_vline(xintercept = ceiling, colour = sdc_orange, linetype = "dashed")
}

plot_attack_keys <- function(x) {
  table <- x$variables[!is.na(x$variables$loss), ]
  if (nrow(table) == 0) {
    stop_argument(
      "object", "hold the attacks without each key",
      advice = "link_attack(..., sensitivity = TRUE) computes them."
    )
  }
  table$variable <- factor(table$variable, table$variable[order(table$loss)])
  ggplot2::ggplot(table, ggplot2::aes(x = .data$loss, y = .data$variable)) +
    ggplot2::geom_col(width = 0.6, fill = sdc_blue) +
    ggplot2::scale_x_continuous(labels = format_count) +
    name_axis() +
    sdc_labs(
      title = "What would leaving out a key buy?",
      subtitle = paste0(
        "Expected correct matches (", x$settings$weights[[1]], ") that are lost without it"
      ),
      x = "expected correct matches less", y = NULL
    )
}
