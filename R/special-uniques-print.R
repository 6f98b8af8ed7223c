# What special_uniques() results say of themselves.

declare_measure(
  "special_uniques",
  reference = c("elliot2002", "skinner2002"),
  ids = "size", terms = c("n_records", "n_msu", "n_smallest"),
  each = paste0(", ", plural(size, "variable")),
  n_records = figure(
    "Records alone by few values", "count", scenario = "prosecutor",
    note = paste(format_count(n_smallest), "by no fewer")
  ),
  n_msu = figure("Minimal sample uniques", "count", scenario = "prosecutor", board = FALSE)
)

#' @export
describe.sdc_special_uniques <- function(x) {
  e <- x$estimates
  n <- x$diagnostics$n_used
  alone <- sum(e$n_smallest)
  description(
    title = "Special uniques: minimal sample uniques",
    question = "by which few values is a record alone in the file?",
    size = paste0(
      plural(n, "record"), ", ", plural(x$diagnostics$n_keys, "key variable"), "; ",
      missing_clause(x$settings$missing, x$diagnostics$n_excluded), "."
    ),
    answer = c(
      fact(missing_line(x$diagnostics$missing, x$settings$n), keep = "detail"),
      fact(identifying_line(x$diagnostics$identifying), keep = "detail"),
      fact(
        plural(alone, "record"), " (", format_percent(alone / n), ") ",
        if (alone == 1) "is" else "are", " alone by ",
        if (x$settings$max_size > 1) "at most ", plural(x$settings$max_size, "value"), "."
      ),
      grid(frame(
        values = e$size, "records alone" = format_count(e$n_records),
        "by no fewer" = format_count(e$n_smallest), "minimal sets" = format_count(e$n_msu)
      )),
      special_driver(x), special_dis(x)
    ),
    scenario = scenario(c("prosecutor", if (!is.na(x$diagnostics$dis)) "journalist")),
    more = "records_at_risk(x, limit), interpret(x, record = ), plot(x)",
    sentence = special_cited(x, alone, n)
  )
}

# The variables that contribute most.
special_driver <- function(x) {
  v <- x$variables[order(-x$variables$contribution), ]
  v <- utils::head(v[v$contribution > 0, ], 3)
  if (nrow(v)) {
    fact(
      "Share of the scores with the variable: ",
      paste(v$variable, format_percent(v$contribution), collapse = ", "), "."
    )
  }
}

special_dis <- function(x) {
  dis <- x$diagnostics$dis
  if (!is.na(dis)) {
    fact(
      "A match with a record unique on all key variables is right with probability ",
      format_risk(dis), " (DIS); spread by score (DIS-SUDA), the largest is ",
      record_spread(judged_rows(x)$dis, times = judged_times(x)), "."
    )
  }
}

special_cited <- function(x, alone, n) {
  e <- x$estimates
  few <- sum(e$n_smallest[e$size <= 2])
  cited(
    measured = paste0(
      "In the file of ", plural(n, "record"), " the minimal sample uniques of up to ",
      plural(x$settings$max_size, "variable"), " were found among ",
      plural(x$diagnostics$n_keys, "key variable")
    ),
    found = paste0(
      plural(alone, "record"), " (", format_percent(alone / n), ") ",
      if (alone == 1) "is" else "are", " alone in the file by so few values",
      if (x$settings$max_size > 2) paste0(", ", format_count(few), " of them by one or two")
    ),
    limits = paste(
      "a record that is alone in the file need not be alone in the population, and scores rank",
      "records without being probabilities"
    ),
    source = "Elliot, Manning and Ford 2002", assuming = missing_clause(
      x$settings$missing, x$diagnostics$n_excluded
    )
  )
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
    value <- data[[v]][record]
    source_text(column_source(value, 1L), v)
  }, "", USE.NAMES = FALSE))
}

special_sentence <- function(x, record, rows, words) {
  row <- rows[record, ]
  name <- paste("Record", record)
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
  enter_verb("autoplot", object)
  check_no_dots(...)
  type <- check_choice(type, c("records", "variables", "sizes"), "type")
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
      low = "grey95", high = sdc_orange, limits = c(0, 1), labels = format_percent
    ) +
    ggplot2::labs(
      title = "Which variables single out the riskiest records?",
      subtitle = "Share of a record's score in minimal sample uniques with the variable",
      x = NULL, y = "record, highest score first", fill = "share"
    ) +
    sdc_theme() +
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
    ggplot2::labs(
      title = "Which variables make records unique?",
      x = "share of all scores in minimal sample uniques with the variable", y = NULL
    ) +
    sdc_theme()
}

draw_special_sizes <- function(x) {
  shown <- x$estimates
  ggplot2::ggplot(shown, ggplot2::aes(x = factor(.data$size), y = .data$n_smallest)) +
    ggplot2::geom_col(fill = sdc_blue, width = 0.6) +
    ggplot2::scale_y_continuous(labels = format_count) +
    ggplot2::labs(
      title = "By how few values are records alone?",
      x = "variables of the smallest minimal sample unique", y = "records"
    ) +
    sdc_theme()
}
