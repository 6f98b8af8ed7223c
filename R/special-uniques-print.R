# Declarations of special_uniques(): figures, print and sentences.

declare_measure(
  "special_uniques",
  reference = c("elliot2002", "skinner2002"), ids = "size", lead = size,
  terms = c("n_records", "n_msu", "n_smallest"),
  title = "Special uniques: minimal sample uniques",
  question = "by which few values is a record alone in the file?",
  size = paste0(
    plural(x$diagnostics$n_used, "record"), ", ", plural(x$diagnostics$n_keys, "key variable"),
    "; ", missing_clause_of(x), "."
  ),
  n_alone = figure(
    paste("Records alone by at most", plural(size, "value")), "count", cumsum(n_smallest),
    scenario = "prosecutor", of = x$diagnostics$n_used, head = "alone by so few",
    says = paste0(
      "%s of the records are alone in the file by the values of at most ",
      plural(size, "key variable")
    )
  ),
  n_records = figure(
    paste("Records with a minimal sample unique of", plural(size, "variable")), "count",
    scenario = "prosecutor", board = FALSE, head = "with a minimal set"
  ),
  n_msu = figure(
    paste("Minimal sample uniques of", plural(size, "variable")), "count",
    scenario = "prosecutor", board = FALSE, head = "minimal sets"
  ),
  n_kept = figure(
    paste("Records alone by at most", plural(size, "value"), "in the released file as well"),
    "count", if (x$settings$released) cumsum(n_smallest_replicated),
    scenario = "prosecutor", of = x$diagnostics$n_used, head = "released, too",
    says = if (x$settings$released) {
      "%s are so in the released file as well, by the same values"
    }
  ),
  n_special = figure(
    "Alone by one or two values", "count",
    if (max(size) >= min(2, x$diagnostics$n_keys)) sum(n_smallest[size <= 2]),
    scenario = "prosecutor", key = "n_special", of = x$diagnostics$n_used, board = FALSE,
    question = "How many records are alone by one or two values?", print = FALSE,
    absent = if (x$diagnostics$n_used == 0) "no record is complete"
  ),
  spread = if (is.na(x$diagnostics$dis)) "SUDA score (Elliot)" else "DIS-SUDA",
  notes = list(
    special_driver(x),
    if (!is.na(x$diagnostics$dis)) {
      paste0(
        "A match with a record unique on all key variables is right with probability ",
        format_risk(x$diagnostics$dis), " (DIS)."
      )
    },
    missing_line(x$diagnostics$missing, x$settings$n), identifying_line(x$diagnostics$identifying)
  ),
  scenario = c("prosecutor", if (!is.na(x$diagnostics$dis)) "journalist"),
  next_step = if (any(n_smallest > 0) && is.null(judged_times(x))) {
    top <- which.max(record_risk(x))
    if (length(top)) paste0("interpret(x, record = ", top, ")")
  },
  measured = paste0(
    "In the file of ", plural(x$diagnostics$n_used, "record"),
    " the minimal sample uniques of up to ", plural(x$settings$max_size, "variable"),
    " were found among ", plural(x$diagnostics$n_keys, "key variable")
  ),
  limits = paste(
    "a record that is alone in the file need not be alone in the population, and scores rank",
    "records without being probabilities"
  ),
  source = "Elliot, Manning and Ford 2002", assuming = missing_clause_of(x)
)

# The variables that contribute most.
special_driver <- function(x) {
  v <- x$variables[order(-x$variables$contribution), ]
  v <- utils::head(v[v$contribution > 0, ], 3)
  if (nrow(v)) {
    paste0(
      "Share of the scores with the variable: ",
      paste(v$variable, format_percent(v$contribution), collapse = ", "), "."
    )
  }
}

# Without a sampling fraction the risk of a record is its score.
#' @export
record_risk.sdc_special_uniques <- function(x) {
  rows <- judged_rows(x)
  if (is.na(x$diagnostics$dis)) rows$score_elliot else rows$dis
}

#' @rdname interpret
#' @param record For [special_uniques()]: the number of a record. The sentence then says by
#'   which variables the record is alone.
#' @param data For `record`: the data the result was made from. The sentence then holds the
#'   values of the record and must stay confidential.
#' @export
interpret.sdc_special_uniques <- function(x, ..., record = NULL, data = NULL) {
  if (is.null(record)) {
    return(NextMethod())
  }
  enter_verb("interpret", x)
  check_no_dots(...)
  rows <- needed_rows(x)
  record <- check_whole(record, "record", high = nrow(rows))
  variables <- if (!is.na(rows$smallest[[record]])) {
    x$diagnostics$sets[[match(rows$variables[[record]], names(x$diagnostics$sets))]]
  }
  words <- variables
  if (!is.null(data)) {
    check_same_data(x, data)
    words <- record_values(bare_data(data), record, variables)
  }
  structure(special_sentence(x, record, rows, words), class = c("sdc_sentence", "character"))
}

record_values <- function(data, record, variables) {
  paste(variables, "=", vapply(variables, function(v) {
    source_text(column_source(data[[v]][record], 1L), v)
  }, "", USE.NAMES = FALSE))
}

special_sentence <- function(x, record, rows, words) {
  row <- rows[record, ]
  name <- paste(if (is.null(judged_times(x))) "Record" else "Pattern", record)
  if (is.na(row$n_msu)) {
    return(paste0(name, " was left out: it misses a value of a key variable."))
  }
  if (is.null(words)) {
    return(paste0(
      name, " is not alone in the file by ", x$settings$max_size, " or fewer key variables."
    ))
  }
  listed <- if (length(words) == 1) {
    words
  } else {
    paste(paste(utils::head(words, -1), collapse = ", "), "and", utils::tail(words, 1))
  }
  paste0(
    name, " is alone in the file by ", listed, ". ",
    if (row$n_msu == 1) {
      paste0("It has no other minimal sample unique of up to ", x$settings$max_size, " variables")
    } else {
      paste0(
        "It has ", format_count(row$n_msu), " minimal sample uniques of up to ",
        x$settings$max_size, " variables"
      )
    },
    ", and a score of ", format_number(row$score_elliot), ", the ",
    special_rank(rows$score_elliot, record), "."
  )
}

# "3rd highest of the file" without the ending: "highest", or "number 3 of 182".
special_rank <- function(scores, record) {
  rank <- sum(scores > scores[[record]], na.rm = TRUE) + 1
  if (rank == 1) {
    "highest of the file"
  } else {
    paste0("number ", format_count(rank), " of the ", format_count(sum(!is.na(scores))), " records")
  }
}

# Pictures -----------------------------------------------------------------

#' Pictures of special uniques
#'
#' Three pictures of a [special_uniques()] result; `plot()` draws the same.
#'
#' @param object A result of [special_uniques()].
#' @param type `"records"`: a heat map of what each variable contributes to the riskiest
#'   records, which are named by their row number; `"variables"`: the contribution of each
#'   variable to the file's scores; `"sizes"`: how many records are alone by how few values.
#' @param n Number of records of the heat map, at most 50.
#' @param ... None.
#' @return A ggplot.
#' @exportS3Method ggplot2::autoplot
#' @name autoplot.sdc_special_uniques
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' keys <- c("BORNUSA", "CENREG", "DAGE3", "DRACE3", "EDUC3", "GENDER")
#' plot(special_uniques(nals_prison, keys))
autoplot.sdc_special_uniques <- function(object, type = c("records", "variables", "sizes"), ...,
                                         n = 20) {
  type <- enter_picture(object, type)
  n <- check_whole(n, "n", high = 50)
  switch(type,
    records = draw_special_records(object, n),
    variables = draw_special_variables(object),
    sizes = draw_special_sizes(object)
  )
}

draw_special_records <- function(x, n) {
  shown <- x$riskiest
  records <- utils::head(unique(shown$record), n)
  shown <- shown[shown$record %in% records, ]
  shown$record <- factor(shown$record, rev(records))
  shown$variable <- factor(
    shown$variable, x$variables$variable[order(-x$variables$contribution)]
  )
  ggplot2::ggplot(
    shown, ggplot2::aes(x = .data$variable, y = .data$record, fill = .data$contribution)
  ) +
    ggplot2::geom_tile(colour = "white") +
    ggplot2::scale_fill_gradient(
      low = "grey95", high = sdc_orange, limits = c(0, 1), breaks = c(0, 0.5, 1),
      labels = format_percent
    ) +
    sdc_labs(
      title = "Which variables single out the riskiest records?",
      subtitle = "Share of a record's score in minimal sample uniques with the variable",
      x = NULL, y = "record, highest score first", fill = "share"
    ) +
    ggplot2::theme(axis.text.x = ggplot2::element_text(angle = 45, hjust = 1))
}

draw_special_variables <- function(x) {
  shown <- x$variables
  shown$variable <- factor(shown$variable, shown$variable[order(shown$contribution)])
  ggplot2::ggplot(shown, ggplot2::aes(x = .data$contribution, y = .data$variable)) +
    ggplot2::geom_col(fill = sdc_blue, width = 0.6) +
    ggplot2::scale_x_continuous(
      labels = format_percent, limits = c(0, 1), expand = ggplot2::expansion(c(0, 0.02))
    ) +
    sdc_labs(
      title = "Which variables make records unique?",
      x = "share of all scores in minimal sample uniques with the variable", y = NULL
    )
}

draw_special_sizes <- function(x) {
  ggplot2::ggplot(x$estimates, ggplot2::aes(x = factor(.data$size), y = .data$n_smallest)) +
    ggplot2::geom_col(fill = sdc_blue, width = 0.6) +
    ggplot2::scale_y_continuous(labels = format_count) +
    sdc_labs(
      title = "By how few values are records alone?",
      x = "variables of the smallest minimal sample unique", y = "records"
    )
}
