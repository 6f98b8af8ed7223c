# Declarations of exhaustive_tabulation(): figures, print and sentences.

declare_measure(
  "exhaustive_tabulation",
  reference = "hundepool2012",
  ids = c("dims", "threshold", "weight_threshold", "combine"),
  terms = c(
    "n_records_violating", "prop_records", "n_cell_violations", "prop_cells", "violations_sum",
    "violations_mean", "violations_median", "violations_q95", "violations_q99", "violations_max",
    "n_cells"
  ),
  title = "Exhaustive tabulation",
  question = "which records and categories are in small cells of tables?",
  size = paste0(
    plural(n, "record"), ", ", plural(x$diagnostics$n_keys, "key variable"), ": ",
    plural(n_tables, "table"), " of ", words_of_sizes(x$settings$dims), "; ",
    tabulation_missing_clause(x), ". Violation: a cell with ", violation_words(x$settings), "."
  ),
  n_records_violating = figure(
    "Records in a small cell of at least one table", "count", scenario = "tables",
    of = n_in_tables, note = paste0(
      plural(n_tables, "table"), ", ", format_percent(prop_records), " of the records in them"
    ),
    says = "%s of the records are in at least one such cell"
  ),
  prop_cells = figure(
    "Cells below 3", "share", scenario = "tables", key = "small_cells",
    question = "What share of the cells of tables is small?", board = FALSE, print = FALSE,
    says = paste("%s of the", format_count(n_cells), "cells hold", violation_words(x$settings)),
    absent = if (n_cells == 0) "every record is incomplete in every table" else ""
  ),
  n_cell_violations = figure(
    "Small cells", "count", scenario = "tables", of = n_cells, board = FALSE
  ),
  prop_records = figure(
    "Records in such cells", "share", scenario = "tables", key = "small_cell_records",
    question = "What share of the records is in one?", board = FALSE, print = FALSE,
    absent = if (n_cells == 0) "every record is incomplete in every table" else ""
  ),
  violations_max = figure(
    "Violations of a record, most", "count", scenario = "tables", of = n_tables, board = FALSE,
    print = FALSE,
    says = "the most exposed record is in one in %s of the tables"
  ),
  table = worst_categories(x), rest = "summary(x)", scenario = "prosecutor",
  spread = "Violations of a record", risk = as.double(judged_rows(x)$n_violations),
  notes = list(
    missing_line(x$diagnostics$missing, n), rare_categories(x),
    identifying_line(x$diagnostics$identifying)
  ),
  measured = paste0(
    "In the file of ", plural(n, "record"), " on ", plural(x$diagnostics$n_keys, "key variable"),
    ", the cells of all ", plural(n_tables, "table"), " of ", words_of_sizes(x$settings$dims),
    " were counted"
  ),
  found = if (n_cells == 0) "every record is incomplete in every table: there are no cells",
  limits = paste(
    "the counts rank records and categories of this file and are not probabilities of",
    "re-identification"
  ),
  source = "exhaustive tabulation", assuming = tabulation_missing_clause(x)
)

tabulation_missing_clause <- function(x) {
  incomplete <- x$diagnostics$n_incomplete
  if (x$settings$missing == "category") {
    return(missing_clause("category"))
  }
  paste0(
    "a record is left out of tables it is incomplete in",
    if (incomplete > 0) {
      paste0(
        " (", plural(incomplete, "incomplete record"), ", ",
        format_percent(incomplete / x$estimates$n), ")"
      )
    }
  )
}

# "2 or 3 key variables"
words_of_sizes <- function(dims) {
  last <- length(dims)
  paste0(
    if (last > 1) paste0(paste(dims[-last], collapse = ", "), " or "), dims[[last]],
    " key variable", if (!identical(dims, 1L)) "s"
  )
}

violation_words <- function(settings) {
  few <- if (!is.null(settings$threshold)) {
    paste("fewer than", plural(settings$threshold, "record"))
  }
  light <- if (!is.null(settings$weight_threshold)) {
    paste("weights that sum to less than", format_amount(settings$weight_threshold))
  }
  paste(c(few, light), collapse = paste0(" ", settings$combine, " "))
}

# The fewest records of a category that is named where people read: a rarer one
# can be one person's value.
fewest_named <- function(x) {
  max(3L, x$settings$threshold)
}

# Rows of a table of categories whose category may be named.
may_be_named <- function(x, table) {
  common <- x$categories[x$categories$n_records >= fewest_named(x), ]
  id <- function(t) paste(match(t$variable, x$settings$key_vars), t$category, sep = "\r")
  id(table) %in% id(common)
}

# The three categories with the largest shares of small cells.
worst_categories <- function(x) {
  cells <- x$cells[!is.na(x$cells$pct_cells) & x$cells$pct_cells > 0, ]
  cells <- cells[may_be_named(x, cells), ]
  top <- utils::head(cells[order(-cells$pct_cells), ], 3)
  if (nrow(top) > 0) frame(
    "most small cells" = category_names(top), "key variables" = top$dim,
    "small cells" = format_percent(top$pct_cells / 100)
  )
}

# Number of categories by variable that are too rare to be named.
rare_categories <- function(x) {
  held <- x$categories[x$categories$n_records > 0, ]
  rare <- held$variable[held$n_records < fewest_named(x)]
  if (length(rare) == 0) {
    return(NULL)
  }
  times <- sort(table(rare), decreasing = TRUE)
  shown <- utils::head(times, 4)
  paste0(
    "Not named, held by fewer than ", fewest_named(x), " records each: ",
    paste0(format_count(as.vector(shown)), " of ", names(shown), collapse = ", "),
    if (length(times) > 4) paste0(" and more of ", plural(length(times) - 4, "other variable")),
    "."
  )
}

category_names <- function(table) {
  paste(table$variable, "=", ifelse(is.na(table$category), "(missing)", table$category))
}

#' @export
summary.sdc_exhaustive_tabulation <- function(object, by = NULL, data = NULL, ...) {
  enter_verb("summary", object)
  cells <- object$cells[may_be_named(object, object$cells), ]
  categories <- object$categories[may_be_named(object, object$categories), ]
  new_summary(object, list(
    estimates = object$estimates,
    cells = utils::head(cells[order(-cells$pct_cells), ], 15),
    categories = utils::head(categories[order(-categories$pct_records), ], 15),
    tables = utils::head(object$tables[order(-object$tables$n_records), ], 10),
    violations_by_strata = risk_by_strata(object, by, data)
  ), c(
    paste0("Violation: a cell with ", violation_words(object$settings), "."),
    rare_categories(object)
  ))
}

# Pictures -----------------------------------------------------------------

#' Pictures of exhaustive tabulation
#'
#' Three pictures of an [exhaustive_tabulation()] result; `plot()` draws the same.
#'
#' @param object A result of [exhaustive_tabulation()].
#' @param type `"categories"`: the categories with the largest shares of violations among
#'   their cells, by size of table; `"records"`: how many violations the records are in;
#'   `"strata"`: the same by a variable.
#' @param by,data For `"strata"`: a vector with one value per record, or the
#'   name of a column of `data`, the data the result was made from.
#' @param n Number of categories shown.
#' @param ... None.
#' @return A ggplot.
#' @exportS3Method ggplot2::autoplot
#' @name autoplot.sdc_exhaustive_tabulation
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' keys <- c("BORNUSA", "CENREG", "DAGE3", "DRACE3", "EDUC3", "GENDER")
#' plot(exhaustive_tabulation(nals_prison, keys, dims = 2:3))
autoplot.sdc_exhaustive_tabulation <- function(object,
                                               type = c("categories", "records", "strata"), ...,
                                               by = NULL, data = NULL, n = 15) {
  type <- enter_picture(object, type)
  n <- check_whole(n, "n")
  switch(type,
    categories = plot_violating_categories(object, n),
    records = plot_violations(object),
    strata = plot_strata(
      object, by, data, "Violations by stratum", "tables in which the record is in a violation"
    )
  )
}

plot_violating_categories <- function(x, n) {
  cells <- x$cells[!is.na(x$cells$pct_cells), ]
  if (nrow(cells) == 0) {
    stop_argument(
      "object", "have cells", found = "Every record is incomplete in every table."
    )
  }
  cells <- cells[may_be_named(x, cells), ]
  if (nrow(cells) == 0) {
    stop_argument(
      "object", paste0("have categories that ", fewest_named(x), " records or more hold"),
      found = "Rarer ones can be one person's value and are not drawn."
    )
  }
  cells$name <- category_names(cells)
  worst <- vapply(split(cells$pct_cells, cells$name), max, 0)
  top <- utils::head(names(sort(worst, decreasing = TRUE)), n)
  shown <- cells[cells$name %in% top, ]
  shown$name <- factor(shown$name, rev(top))
  sizes <- x$settings$dims
  shown$size <- factor(shown$dim, sizes)
  ggplot2::ggplot(
    shown, ggplot2::aes(x = .data$pct_cells, y = .data$name, colour = .data$size)
  ) +
    (if (length(sizes) > 1) {
      ggplot2::geom_line(ggplot2::aes(group = .data$name), colour = sdc_grey)
    }) +
    ggplot2::geom_point(ggplot2::aes(shape = .data$size), size = 2.5) +
    ggplot2::scale_colour_manual(values = sdc_colours(length(sizes))) +
    ggplot2::scale_shape_manual(values = rep_len(c(16, 17, 15, 18), length(sizes))) +
    ggplot2::expand_limits(x = 0) +
    sdc_labs(
      title = "Which categories are in small cells?",
      subtitle = paste0("Violation: ", violation_words(x$settings), "."),
      x = "violations among the cells with the category, %", y = NULL,
      colour = "key variables in the table", shape = "key variables in the table",
      caption = rare_categories(x)
    )
}

plot_violations <- function(x) {
  e <- x$estimates
  shown <- frame(n_violations = judged_rows(x)$n_violations, times = picture_times(x))
  ggplot2::ggplot(shown, ggplot2::aes(x = .data$n_violations, weight = .data$times)) +
    ggplot2::geom_histogram(
      binwidth = max(1, ceiling(e$violations_max / 40)), boundary = -0.5, fill = sdc_blue
    ) +
    ggplot2::geom_vline(xintercept = e$violations_q95, linetype = "dashed") +
    sdc_labs(
      title = "How many violations is a record in?",
      subtitle = paste0("Violation: ", violation_words(x$settings), "."),
      x = paste0("tables, of ", format_count(e$n_tables)), y = "records",
      caption = "Dashed: 95% of the records have at most that many."
    )
}
