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
  said <- describe(x)
  sentence <- if (!is.null(said$sentence)) {
    unclass(description_sentence(said, x$settings$version))
  }
  said$above <- if (inherits(x, "sdc_result")) limit_line(x)
  slots <- description_slots(said)
  knit_text(x, c(
    paste0("**", escape_markdown(slots[[1]]$text), "**"), escape_markdown(sentence),
    unlist(lapply(slots[-1], markdown_of))
  ))
}

knit_text <- function(x, paragraphs) {
  if (identical(knitr::opts_knit$get("out.format"), "markdown")) {
    knitr::asis_output(paste0("\n", paste(paragraphs, collapse = "\n\n"), "\n"))
  } else {
    knitr::normal_print(x)
  }
}

# A slot of a description: a paragraph, or a table and how many rows it does not show.
markdown_of <- function(slot) {
  if (!is_grid(slot)) {
    return(escape_markdown(slot$text))
  }
  table <- slot$table
  right <- vapply(table, is.numeric, NA)
  cells <- lapply(table, function(column) escape_markdown(trimws(cell_text(column))))
  rows <- do.call(paste, c(unname(cells), sep = " | "))
  heads <- c(
    paste(escape_markdown(names(table)), collapse = " | "),
    paste(ifelse(right, "---:", ":---"), collapse = " | ")
  )
  rest <- slot$n - nrow(table)
  c(
    paste0("| ", c(heads, rows), " |", collapse = "\n"),
    if (rest > 0) escape_markdown(paste("... and", format_count(rest), slot$rest))
  )
}

# What Markdown would take for its own.
escape_markdown <- function(text) {
  gsub("([\\\\`*_{}\\[\\]<>#|$~^])", "\\\\\\1", text, perl = TRUE)
}
