# Pictures of longitudinal_link().

#' Pictures of a linkage without ids
#'
#' Three pictures of a [longitudinal_link()] result; `plot()` draws the same.
#'
#' @param object A result of [longitudinal_link()].
#' @param type `"differences"`: wave-2 records by their smallest number of
#'   differing key variables, and what a match there is worth; `"match_prob"`: records
#'   in both waves by matching probability; `"keys"`: expected correct matches
#'   when each key is left out, for a result with `sensitivity = TRUE`.
#' @param by,data Strata of wave-2 records for `"match_prob"`, as in
#'   [summary()][sdc_result]: one value per record, or a column name of `data`.
#' @param ... None.
#' @return A ggplot.
#' @exportS3Method ggplot2::autoplot
#' @name autoplot.sdc_longitudinal_link
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' wave2 <- transform(adult[1:2000, ], hours_per_week = rev(hours_per_week))
#' keys <- c("age", "education_num", "race", "sex", "hours_per_week")
#' adult$id <- seq_len(nrow(adult))
#' wave2$id <- 1:2000
#' plot(longitudinal_link(adult, wave2, keys, id = "id"))
autoplot.sdc_longitudinal_link <- function(object,
                                           type = c("differences", "match_prob", "keys"),
                                           ..., by = NULL, data = NULL) {
  type <- enter_picture(object, type)
  if (!is.null(by) && type != "match_prob") stop_argument("by", "be NULL for this picture")
  if (type != "differences" && !isTRUE(object$estimates$n_linked > 0)) {
    stop_argument("type", "be \"differences\" if no true partner is known")
  }
  switch(type,
    differences = plot_link_differences(object),
    match_prob = plot_link_prob(object, by, data),
    keys = plot_link_keys(object)
  )
}

plot_link_differences <- function(x) {
  table <- x$differences[!is.na(x$differences$n_diff), ]
  known <- !is.na(x$estimates$n_linked)
  words <- if (known) {
    c("several best matches", "single best match, wrong", "single best match, right")
  } else {
    c("several best matches", "single best match")
  }
  single <- table$n_single_best
  parts <- if (known) {
    list(table$n - single, single - table$n_certain, table$n_certain)
  } else {
    list(table$n - single, single)
  }
  long <- frame(
    n_diff = rep(factor(table$n_diff), length(words)),
    match = factor(rep(words, each = nrow(table)), words), n = unlist(parts)
  )
  ggplot2::ggplot(long, ggplot2::aes(x = .data$n_diff, y = .data$n, fill = .data$match)) +
    ggplot2::geom_col(width = 0.7) +
    ggplot2::scale_fill_manual(
      values = rlang::set_names(
        c("grey80", sdc_blue, sdc_orange)[if (known) 1:3 else c(1, 3)], words
      )
    ) +
    ggplot2::scale_y_continuous(labels = format_count) +
    sdc_labs(
      title = "How near is the nearest record of wave 1?",
      subtitle = paste0(
        "Wave-2 records by the smallest number of ", x$diagnostics$n_keys, " keys that differ"
      ),
      x = "smallest number of differing key variables", y = "wave-2 records", fill = NULL,
      caption = if (known) "The intruder cannot tell a right single best match from a wrong one."
    )
}

plot_link_prob <- function(x, by, data) {
  prob <- judged_rows(x)$match_prob
  linked <- !is.na(prob)
  labels <- c("0", "up to 0.1", "up to 0.2", "up to 1/3", "1/2", "1: certain")
  # 1 over a whole number: no value lies between 1/2 and 1.
  classes <- cut(prob[linked], c(-1, 0, 0.1, 0.2, 0.34, 0.6, 1), labels = labels)
  title <- "How surely can respondents of both waves be linked?"
  subtitle <- paste0(
    format_one_digit(x$estimates$expected_correct), " correct matches expected among ",
    format_count(x$estimates$n_linked), " records in both waves"
  )
  if (is.null(by)) {
    of <- split(picture_times(x)[linked], classes)
    counts <- frame(class = factor(names(of), names(of)), n = vapply(of, sum, 0))
    return(
      ggplot2::ggplot(counts, ggplot2::aes(x = .data$class, y = .data$n)) +
        ggplot2::geom_col(width = 0.7, fill = c(rep(sdc_blue, 5), sdc_orange)) +
        ggplot2::scale_y_continuous(labels = format_count) +
        sdc_labs(
          title = title, subtitle = subtitle, x = "matching probability",
          y = "records in both waves"
        )
    )
  }
  check_of_records(x)
  strata <- resolve_strata(x, by, data, length(prob))[linked]
  counts <- as.data.frame(
    table(stratum = strata, class = classes, useNA = "ifany"), responseName = "n"
  )
  counts$stratum <- factor(counts$stratum, rev(unique(counts$stratum)))
  counts$share <- counts$n / stats::ave(counts$n, counts$stratum, FUN = sum)
  counts <- counts[is.finite(counts$share), ]
  ggplot2::ggplot(
    counts, ggplot2::aes(x = .data$share, y = .data$stratum, fill = .data$class)
  ) +
    ggplot2::geom_col(
      width = 0.7, position = ggplot2::position_stack(reverse = TRUE)
    ) +
    ggplot2::scale_fill_manual(
      values = c("grey90", "#C6DBEF", "#9ECAE1", "#6BAED6", sdc_blue, sdc_orange), drop = FALSE
    ) +
    ggplot2::scale_x_continuous(labels = format_percent) +
    sdc_labs(
      title = title, subtitle = subtitle, x = "share of the records in both waves",
      y = NULL, fill = "matching probability"
    )
}

plot_link_keys <- function(x) {
  table <- x$sensitivity
  if (is.null(table)) {
    stop_argument(
      "object", "hold the sensitivity to each key variable", found = "It was not computed.",
      advice = "longitudinal_link(..., sensitivity = TRUE) computes it."
    )
  }
  table$variable <- factor(table$variable, table$variable[order(-table$expected_correct)])
  ggplot2::ggplot(
    table, ggplot2::aes(x = .data$expected_correct, y = .data$variable)
  ) +
    ggplot2::geom_vline(
      xintercept = x$estimates$expected_correct, colour = sdc_grey, linetype = "dashed"
    ) +
    ggplot2::geom_segment(
      ggplot2::aes(xend = x$estimates$expected_correct, yend = .data$variable),
      colour = sdc_grey
    ) +
    ggplot2::geom_point(size = 2.6, colour = sdc_orange) +
    ggplot2::scale_x_continuous(labels = format_count) +
    name_axis() +
    sdc_labs(
      title = "Which key helps the intruder most?",
      subtitle = "Expected correct matches without one key variable; dashed: with all of them",
      x = "expected correct matches", y = NULL
    )
}
