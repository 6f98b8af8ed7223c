# Results in knitted documents: paragraphs and tables of Markdown in place of the lines of a
# console, from the same description (R/result-print.R). Nothing is left out for want of room.

#' @exportS3Method knitr::knit_print
knit_print.sdc_result <- function(x, ...) knit_description(x)

#' @exportS3Method knitr::knit_print
knit_print.sdc_comparison <- function(x, ...) knit_description(x)

#' @exportS3Method knitr::knit_print
knit_print.sdc_pattern_table <- function(x, ...) knit_description(x)

#' @exportS3Method knitr::knit_print
knit_print.sdc_sentence <- function(x, ...) knit_text(x, escape_markdown(x))

# Title, sentence and all else, or the lines of the console in a document without Markdown.
knit_description <- function(x) {
  said <- if (inherits(x, "sdc_file_check")) check_page(x) else describe(x)
  sentence <- if (!is.null(said$sentence)) {
    unclass(description_sentence(said, x$settings$version))
  }
  figures <- if (is.null(said$several) && NROW(said$figures)) {
    frame(
      figure = said$figures$label, value = figure_cells(said$figures),
      limit = verdict_cells(said$figures)
    )
  }
  knit_text(x, c(
    paste0("**", escape_markdown(said$title), "**"),
    escape_markdown(c(
      sentence, if (!is.null(said$question)) paste("Question:", said$question), said$size
    )),
    markdown_table(figures, said, Inf), markdown_table(said$several, said),
    markdown_table(said$table, said),
    escape_markdown(c(
      said$spread, if (!is.null(said$scenario)) scenario_line(said$scenario), said$attempt,
      said$notes,
      if (!is.null(said$next_step)) paste("Next:", said$next_step), said$above
    ))
  ))
}

knit_text <- function(x, paragraphs) {
  if (identical(knitr::opts_knit$get("out.format"), "markdown")) {
    knitr::asis_output(paste0("\n", paste(paragraphs, collapse = "\n\n"), "\n"))
  } else {
    knitr::normal_print(x)
  }
}

# The first rows of a table, and how many it does not show.
markdown_table <- function(table, said, most = said$most) {
  if (NROW(table) == 0) {
    return(NULL)
  }
  rest <- nrow(table) - most
  table <- utils::head(table, most)
  right <- vapply(table, is.numeric, NA)
  cells <- lapply(table, function(column) escape_markdown(trimws(cell_text(column))))
  rows <- do.call(paste, c(unname(cells), sep = " | "))
  heads <- c(
    paste(escape_markdown(names(table)), collapse = " | "),
    paste(ifelse(right, "---:", ":---"), collapse = " | ")
  )
  c(
    paste0("| ", c(heads, rows), " |", collapse = "\n"),
    if (rest > 0) escape_markdown(paste("... and", format_count(rest), "more in", said$rest))
  )
}

# Characters with a meaning in Markdown.
escape_markdown <- function(text) {
  gsub("([\\\\`*_{}\\[\\]<>#|$~^])", "\\\\\\1", text, perl = TRUE)
}
