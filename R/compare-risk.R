#' Results side by side
#'
#' What did a measure of protection change? Sets two or more results of one
#' kind side by side, such as [qar_risk()] before and after recoding.
#'
#' Analyses are matched by the columns that identify them, such as `p` and
#' `alpha`; an analysis that only some results hold has `NA` elsewhere.
#'
#' @param before,after Results of the same function.
#' @param ... Further results, named; unnamed ones are called `result_3` and
#'   so on.
#' @return An object of class `sdc_comparison` with a print method.
#'   `as.data.frame()` gives a data frame with the columns that identify an
#'   analysis and `term`, `result` (the name of the result), `estimate`,
#'   `change` (the difference to `before`) and `ratio` (the quotient);
#'   `plot()` and `autoplot()` draw it. Results of different kinds are an
#'   error of class `sdcRisk_error_bad_argument`.
#' @export
#' @examples
#' before <- qar_risk(adult, pi_u = 0.1)
#' coarser <- transform(adult, age = age %/% 10)
#' after <- qar_risk(coarser, pi_u = 0.1)
#' compare_risk(before, after)
compare_risk <- function(before, after, ...) {
  call <- rlang::current_env()
  more <- list(...)
  labels <- if (is.null(names(more))) character(length(more)) else names(more)
  unnamed <- !nzchar(labels)
  labels[unnamed] <- paste0("result_", which(unnamed) + 2L)
  results <- rlang::set_names(
    c(list(before, after), more), c("before", "after", labels)
  )
  check_comparable(results, call)
  structure(
    list(
      kind = class(before)[[1]], table = comparison_table(results),
      results = lapply(results, comparison_part)
    ),
    class = c(paste0(class(before)[[1]], "_comparison"), "sdc_comparison")
  )
}

check_comparable <- function(results, call) {
  if (!all(vapply(results, inherits, NA, "sdc_result"))) {
    stop_sdc(
      "bad_argument", "Everything compared must be a result of sdcRisk.",
      argument = "...", call = call
    )
  }
  kinds <- vapply(results, function(x) class(x)[[1]], "")
  if (length(unique(kinds)) > 1) {
    stop_sdc(
      "bad_argument",
      c(
        "Results compared must come from one function.",
        x = paste0("Found: ", quote_names(unique(kinds)), ".")
      ),
      argument = "after", call = call
    )
  }
  if (anyDuplicated(names(results))) {
    stop_sdc(
      "bad_argument", "Results compared must have different names.",
      argument = "...", call = call
    )
  }
}

comparison_table <- function(results) {
  spec <- tidy_terms(results[[1]])
  # What tells the analyses of one result apart, and the same in the others.
  ids <- if (is.null(spec$aligned)) spec$ids else spec$aligned
  parts <- lapply(names(results), function(label) {
    part <- tidy.sdc_result(results[[label]])
    part$result <- label
    part[c(ids, "term", "result", "estimate")]
  })
  long <- do.call(rbind, parts)
  key <- do.call(paste, c(unname(long[c(ids, "term")]), sep = "\r"))
  # Every analysis of any result gets a row for each of them.
  analyses <- long[!duplicated(key), c(ids, "term"), drop = FALSE]
  whole <- analyses[rep(seq_len(nrow(analyses)), each = length(results)), , drop = FALSE]
  whole$result <- rep(names(results), nrow(analyses))
  whole_key <- paste(rep(unique(key), each = length(results)), whole$result, sep = "\r")
  whole$estimate <- long$estimate[match(whole_key, paste(key, long$result, sep = "\r"))]
  base <- rep(whole$estimate[whole$result == "before"], each = length(results))
  whole$change <- whole$estimate - base
  whole$ratio <- whole$estimate / base
  rownames(whole) <- NULL
  whole
}

# What a comparison keeps of a result: its main table, where it has one that
# can be drawn.
comparison_part <- function(x) {
  UseMethod("comparison_part")
}

#' @export
comparison_part.default <- function(x) NULL

#' @export
as.data.frame.sdc_comparison <- function(x, ...) {
  x$table
}

#' @export
format.sdc_comparison <- function(x, ...) {
  table <- x$table
  results <- unique(table$result)
  wide <- table[table$result == "before", setdiff(
    names(table), c("result", "estimate", "change", "ratio")
  ), drop = FALSE]
  for (result in results) {
    wide[[result]] <- table$estimate[table$result == result]
  }
  # A title and a header above: 16 lines at most.
  most_rows <- 13
  last <- results[[length(results)]]
  wide[[paste("change to", last)]] <- table$change[table$result == last]
  c(
    paste0("Comparison of ", length(results), " results of ", sub("^sdc_", "", x$kind), "()"),
    format_table(utils::head(wide, most_rows)),
    if (nrow(wide) > most_rows) {
      paste0("... and ", plural(nrow(wide) - most_rows, "row"), ": as.data.frame(x).")
    }
  )
}

#' @export
print.sdc_comparison <- function(x, ...) {
  cat(format(x, ...), sep = "\n")
  invisible(x)
}

#' @export
plot.sdc_comparison <- function(x, ...) {
  check_installed("ggplot2", "draw results", rlang::current_env())
  picture <- ggplot2::autoplot(x, ...)
  print(picture)
  invisible(picture)
}

#' @exportS3Method ggplot2::autoplot
autoplot.sdc_comparison <- function(object, ...) {
  check_no_dots(..., call = rlang::current_env())
  table <- object$table
  table <- table[!is.na(table$estimate), ]
  ids <- setdiff(names(table), c("term", "result", "estimate", "change", "ratio"))
  # What is the same everywhere tells nothing apart.
  differ <- vapply(ids, function(id) length(unique(table[[id]])) > 1, NA)
  if (any(differ)) ids <- ids[differ]
  name_analysis <- function(id) paste(id, "=", trimws(format(table[[id]], trim = TRUE)))
  # A method with one analysis has nothing that identifies it.
  table$analysis <- if (length(ids)) {
    do.call(paste, c(lapply(ids, name_analysis), sep = ", "))
  } else {
    "all"
  }
  n_analyses <- length(unique(table$analysis))
  table$result <- factor(table$result, rev(unique(table$result)))
  table$term <- factor(table$term, unique(table$term))
  ggplot2::ggplot(
    table, ggplot2::aes(x = .data$estimate, y = .data$result, colour = .data$analysis)
  ) +
    ggplot2::geom_point(
      size = 2.8, position = ggplot2::position_dodge(width = if (n_analyses > 1) 0.5 else 0)
    ) +
    ggplot2::scale_colour_manual(values = sdc_colours(n_analyses)) +
    ggplot2::facet_wrap(ggplot2::vars(.data$term), scales = "free_x") +
    ggplot2::labs(title = "Results side by side", x = NULL, y = NULL, colour = NULL) +
    sdc_theme()
}
