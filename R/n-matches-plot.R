# Pictures of n_matches().

#' Pictures of numbers of matches
#'
#' Three pictures of an [n_matches()] result; `plot()` draws the same.
#'
#' @param object A result of [n_matches()].
#' @param type `"matches"`: the share of records with at most that many matches, per key
#'   set; `"unique"`: the share of records that match only themselves, per key set, and the
#'   share of all records that listwise deletion would call unique; `"strata"`: the record
#'   risks 1/m by a variable, of several key sets that with the fewest matches of the
#'   record.
#' @param by,data For `"strata"`: a vector with one value per record, or the
#'   name of a column of `data`, the data the result was made from.
#' @param n Number of key sets that are drawn, those with most uniques.
#' @param ... None.
#' @return A ggplot. A result without a record left has nothing to draw: an error
#'   of class `sdcRisk_error_bad_argument`.
#' @exportS3Method ggplot2::autoplot
#' @name autoplot.sdc_n_matches
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' people <- nals_prison[c("DAGE3", "EDUC3", "GENDER", "DRACE3")]
#' sets <- list("age, education" = 1:2, "and gender" = 1:3, "and origin" = 1:4)
#' plot(n_matches(people, sets))
autoplot.sdc_n_matches <- function(object, type = c("matches", "unique", "strata"), ...,
                                   n = 8, by = NULL, data = NULL) {
  type <- enter_picture(object, type)
  n <- check_whole(n, "n")
  if (all(object$estimates$n == 0)) {
    stop_argument("object", "hold records", "No record is complete.")
  }
  drawable <- object$estimates[object$estimates$n > 0, ]
  shown <- drawable[utils::head(order(-drawable$prop_unique_all), n), ]
  left_out <- if (nrow(shown) < nrow(drawable)) {
    sprintf("The %d of %d key sets with most uniques.", nrow(shown), nrow(drawable))
  }
  switch(type,
    matches = plot_match_shares(object, shown, left_out),
    unique = plot_unique_shares(object, shown, left_out),
    strata = plot_strata(
      object, by, data, "Record risk by stratum", "record risk 1/m, log scale",
      log = TRUE
    )
  )
}

plot_match_shares <- function(x, shown, left_out) {
  columns <- match_columns(x)
  names(columns) <- x$estimates$key_set
  parts <- lapply(shown$key_set, function(set) {
    known <- !is.na(columns[[set]])
    times <- picture_times(x)[known]
    matches <- columns[[set]][known]
    # The step to the smallest number begins at the share of those without a match.
    n_known <- sum(times)
    none <- sum(times[matches == 0]) / n_known
    times <- times[matches > 0]
    matches <- matches[matches > 0]
    values <- sort(unique(matches))
    share <- none + cumsum(as.vector(rowsum(times, match(matches, values)))) / n_known
    # As many points as a picture can tell apart.
    kept <- unique(round(seq(1, length(values), length.out = min(length(values), 400))))
    first <- utils::head(values, 1)
    frame(
      set = rep(set, length(kept) + length(first)),
      matches = as.double(c(first, values[kept])), share = c(rep(none, length(first)), share[kept])
    )
  })
  long <- do.call(rbind, parts)
  long$set <- factor(long$set, shown$key_set)
  several <- nrow(shown) > 1
  picture <- ggplot2::ggplot(long, ggplot2::aes(x = .data$matches, y = .data$share)) +
    ggplot2::geom_vline(
      xintercept = x$settings$below, colour = sdc_grey, linetype = "dashed", linewidth = 0.4
    ) +
    ggplot2::scale_x_log10() +
    ggplot2::scale_y_continuous(labels = function(y) paste(100 * y, "%")) +
    ggplot2::expand_limits(y = 0) +
    sdc_labs(
      title = "How many records have few matches?",
      x = paste0(
        "number of matches", if (!is.null(x$settings$hh_id)) " (households)", " or fewer"
      ),
      y = if (x$settings$patterns) "share of patterns" else "share of records",
      colour = NULL, linetype = NULL,
      caption = paste(c(
        "At 1: records that match only themselves. Dashed:",
        paste(x$settings$below, collapse = " and "), "matches.",
        left_out
      ), collapse = " ")
    )
  if (several) {
    lines <- rep_len(c("solid", "dashed", "dotdash", "dotted"), nrow(shown))
    picture + ggplot2::geom_step(
      ggplot2::aes(colour = .data$set, linetype = .data$set), linewidth = 0.7
    ) +
      ggplot2::scale_colour_manual(values = sdc_colours(nrow(shown))) +
      ggplot2::scale_linetype_manual(values = lines) +
      ggplot2::guides(colour = ggplot2::guide_legend(ncol = 2))
  } else {
    picture + ggplot2::geom_step(colour = sdc_blue, linewidth = 0.7)
  }
}

plot_unique_shares <- function(x, shown, left_out) {
  beside <- "wildcard" %in% x$settings$missing && !x$settings$patterns &&
    is.null(x$settings$hh_id) && length(x$diagnostics$candidate_columns) == 0
  what <- c(
    match_missing_clause(x$settings$missing),
    if (beside) "incomplete records deleted"
  )
  shares <- c(shown$prop_unique_all, if (beside) shown$n_unique_complete / x$settings$n)
  long <- frame(
    set = factor(rep(shown$key_set, length(what)), rev(shown$key_set)), share = shares,
    what = factor(rep(what, each = nrow(shown)), what)
  )
  colours <- c(sdc_blue, sdc_orange)
  picture <- ggplot2::ggplot(long, ggplot2::aes(x = .data$share, y = .data$set))
  # One key set has no others to be compared with: bars, which begin at 0.
  picture <- if (nrow(shown) == 1) {
    picture +
      ggplot2::geom_col(
        ggplot2::aes(fill = .data$what),
        width = 0.6, position = ggplot2::position_dodge2(reverse = TRUE)
      ) +
      ggplot2::scale_fill_manual(values = colours)
  } else {
    picture +
      ggplot2::geom_line(ggplot2::aes(group = .data$set), colour = sdc_grey) +
      ggplot2::geom_point(ggplot2::aes(colour = .data$what, shape = .data$what), size = 2.5) +
      ggplot2::scale_colour_manual(values = colours)
  }
  picture +
    ggplot2::scale_x_continuous(labels = function(x) paste(100 * x, "%")) +
    ggplot2::expand_limits(x = 0) +
    name_axis() +
    sdc_labs(
      title = if (x$settings$patterns) {
        "Which patterns have exactly one match?"
      } else {
        "How many records are unique?"
      },
      x = if (x$settings$patterns) "share of the patterns" else "share of all records",
      y = NULL, colour = NULL, shape = NULL, fill = NULL, caption = left_out
    )
}
