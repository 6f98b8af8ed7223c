# Pictures of qar_risk().

#' Pictures of the extreme risk
#'
#' Four pictures of a [qar_risk()] result; `plot()` draws the same.
#'
#' @param object A result of [qar_risk()].
#' @param type `"distribution"`: the set risks with the threshold \eqn{u} and the
#'   extreme risk \eqn{T}; `"sets"`: the riskiest key sets with their shares of
#'   sample uniques; `"variables"`: each key variable's share in the riskiest
#'   5% of key sets, and \eqn{T} without it; `"threshold"`: \eqn{T} over
#'   `pi_u` from 0.02 to 0.20.
#' @param n Number of key sets shown by `"sets"`.
#' @param ... None.
#' @return A ggplot. A result made with `sets = FALSE` has nothing to draw, and
#'   one from which `theta_one = "exclude"` took all key sets no threshold: errors
#'   of class `sdcRisk_error_bad_argument`.
#' @exportS3Method ggplot2::autoplot
#' @name autoplot.sdc_qar_risk
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' risk <- qar_risk(adult, pi_u = 0.1)
#' plot(risk, "sets", n = 8)
autoplot.sdc_qar_risk <- function(object,
                                  type = c("distribution", "sets", "variables", "threshold"),
                                  ..., n = 15) {
  type <- enter_picture(object, type)
  n <- check_whole(n, "n")
  if (is.null(object$sets)) {
    stop_sdc(
      "bad_argument", "The result must hold its key sets, of which pictures are made.",
      x = "They were not kept.",
      i = "Run `qar_risk()` with `sets = TRUE`.",
      argument = "object"
    )
  }
  switch(type,
    distribution = plot_set_risks(object),
    sets = plot_riskiest_sets(object, n),
    variables = plot_key_variables(object),
    threshold = plot_threshold(object)
  )
}

size_label <- function(p) paste0("key sets of size ", p)

stop_undrawable <- function(found) {
  stop_argument("type", "be another one for this result", found = found)
}

risk_label <- function(alpha) {
  if (length(alpha)) paste0("extreme risk T, alpha = ", format_number(alpha)) else character()
}

plot_set_risks <- function(x) {
  sets <- x$sets
  sets$size <- size_label(sets$p)
  estimates <- x$estimates[!is.na(x$estimates$risk), ]
  lines <- rbind(
    frame(
      size = size_label(estimates$p), at = estimates$threshold,
      what = rep("threshold u", nrow(estimates))
    ),
    frame(
      size = size_label(estimates$p), at = estimates$risk,
      what = risk_label(estimates$alpha)
    )
  )
  lines <- unique(lines)
  lines$what <- factor(lines$what, unique(lines$what))
  ggplot2::ggplot(sets, ggplot2::aes(x = .data$set_risk)) +
    ggplot2::geom_histogram(bins = 40, fill = sdc_grey, boundary = 0) +
    ggplot2::geom_vline(
      ggplot2::aes(xintercept = .data$at, colour = .data$what, linetype = .data$what),
      data = lines, linewidth = 0.8
    ) +
    ggplot2::scale_colour_manual(values = sdc_colours(nlevels(lines$what))) +
    ggplot2::scale_linetype_manual(
      values = rep_len(c("dashed", "solid", "dotdash", "dotted", "longdash"), nlevels(lines$what))
    ) +
    ggplot2::facet_wrap(ggplot2::vars(.data$size), ncol = 1, scales = "free_y") +
    sdc_labs(
      title = "How risky are the key sets?",
      x = "set risk (distinct keys / records)", y = "key sets",
      colour = NULL, linetype = NULL,
      caption = if (any(estimates$risk > max(sets$set_risk))) {
        "T is an extrapolation here: it lies above the risk of every key set."
      }
    )
}

plot_riskiest_sets <- function(x, n) {
  top <- utils::head(x$sets, n)
  top$label <- factor(top$key_set, rev(unique(top$key_set)))
  long <- frame(
    label = rep(top$label, 2), share = c(top$n_unique / top$n, top$set_risk),
    what = rep(c("sample uniques", "set risk (distinct keys)"), each = nrow(top))
  )
  ggplot2::ggplot(long, ggplot2::aes(x = .data$share, y = .data$label)) +
    ggplot2::geom_line(ggplot2::aes(group = .data$label), colour = sdc_grey) +
    ggplot2::geom_point(ggplot2::aes(colour = .data$what, shape = .data$what), size = 2.5) +
    ggplot2::scale_colour_manual(values = c(sdc_orange, sdc_blue)) +
    ggplot2::expand_limits(x = 0) +
    name_axis() +
    sdc_labs(
      title = paste("The", nrow(top), "riskiest key sets"),
      x = "share of the records", y = NULL, colour = NULL, shape = NULL
    )
}

plot_key_variables <- function(x) {
  first <- x$estimates[1, ]
  variables <- x$variables[x$variables$p == first$p & x$variables$alpha == first$alpha, ]
  if (is.null(variables) || nrow(variables) == 0) {
    stop_undrawable("key sets were sampled, which says too little of key variables.")
  }
  order <- variables$variable[order(variables$share_top, -variables$risk_without)]
  panels <- c(
    "share of the riskiest 5% of key sets that contain it",
    paste0("extreme risk T without it (line: T with all)")
  )
  long <- frame(
    variable = factor(rep(variables$variable, 2), order),
    value = c(variables$share_top, variables$risk_without),
    panel = factor(rep(panels, each = nrow(variables)), panels)
  )
  reference <- frame(
    value = c(first$p / nrow(variables), first$risk), panel = factor(panels, panels)
  )
  ggplot2::ggplot(long, ggplot2::aes(x = .data$value, y = .data$variable)) +
    ggplot2::geom_col(data = long[!is.na(long$value), ], width = 0.7, fill = sdc_blue) +
    name_axis(drop = FALSE) +
    ggplot2::geom_vline(
      ggplot2::aes(xintercept = .data$value),
      data = reference[!is.na(reference$value), ], colour = sdc_orange, linetype = "dashed"
    ) +
    ggplot2::facet_wrap(
      ggplot2::vars(.data$panel),
      scales = "free_x", labeller = ggplot2::label_wrap_gen(30)
    ) +
    sdc_labs(
      title = paste0("Which key variables drive ", name_of_t(first), "?"),
      x = NULL, y = NULL,
      caption = paste0(
        "Left line: the share a variable would have if all key sets were alike.",
        if (any(variables$risk_without > first$risk, na.rm = TRUE)) {
          "\nT without a variable is larger if the key sets with it are the less risky ones."
        }
      )
    )
}

plot_threshold <- function(x) {
  threshold <- x$diagnostics$threshold
  threshold <- threshold[!is.na(threshold$threshold), ]
  if (is.null(threshold) || nrow(threshold) == 0) {
    stop_undrawable("T is not known over thresholds: key sets were sampled or left out.")
  }
  threshold$size <- size_label(threshold$p)
  long <- rbind(
    frame(
      size = threshold$size, pi_u = threshold$pi_u, value = threshold$risk,
      what = risk_label(threshold$alpha),
      status = threshold$status
    ),
    frame(
      size = threshold$size, pi_u = threshold$pi_u, value = threshold$threshold,
      what = rep("threshold u", nrow(threshold)), status = threshold$status
    )
  )
  # The threshold has the colour it has among the set risks.
  long$what <- factor(long$what, rev(unique(long$what)))
  long <- long[!is.na(long$value), ]
  long$few <- ifelse(long$status %in% c("few", "no_exceedance"), "fewer than 10", "10 or more")
  ggplot2::ggplot(long, ggplot2::aes(x = .data$pi_u, y = .data$value, colour = .data$what)) +
    ggplot2::geom_vline(xintercept = x$settings$pi_u, colour = sdc_grey, linetype = "dashed") +
    ggplot2::geom_line() +
    ggplot2::geom_point(ggplot2::aes(shape = .data$few), size = 2.2) +
    ggplot2::scale_shape_manual(values = c("fewer than 10" = 1, "10 or more" = 19)) +
    ggplot2::scale_colour_manual(values = sdc_colours(length(unique(long$what)))) +
    ggplot2::facet_wrap(ggplot2::vars(.data$size), ncol = 1, scales = "free_y") +
    sdc_labs(
      title = "Does T depend on where the tail begins?",
      x = expression(pi[u] ~ "(share of key sets above the threshold; dashed: the one in use)"),
      y = "risk", colour = NULL, shape = "exceedances"
    )
}
