# A report as a page: plain HTML from a small template in inst/report, its style and
# pictures within it, no script, nothing from a network. rmarkdown would need pandoc
# for the same, and offices have machines without it.

report_file <- function(name) {
  system.file("report", name, package = "sdcRisk", mustWork = TRUE)
}

read_text <- function(path) readLines(path, encoding = "UTF-8", warn = FALSE)

# The template is taken apart first, so that braces in a name are no place for a part.
fill_template <- function(parts) {
  template <- paste(read_text(report_file("template.html")), collapse = "\n")
  pieces <- strsplit(template, "{{", fixed = TRUE)[[1]]
  names <- sub("\\}\\}.*", "", pieces[-1])
  after <- substring(pieces[-1], nchar(names) + 3)
  paste0(pieces[[1]], paste0(unlist(parts[names]), after, collapse = ""))
}

# Text as HTML, in UTF-8.
html_text <- function(x) {
  x <- enc2utf8(as.character(x))
  x[is.na(x)] <- ""
  x <- gsub("&", "&amp;", x, fixed = TRUE)
  x <- gsub("<", "&lt;", x, fixed = TRUE)
  x <- gsub(">", "&gt;", x, fixed = TRUE)
  gsub("\"", "&quot;", x, fixed = TRUE)
}

html_tag <- function(tag, ..., class = NULL) {
  paste0(
    "<", tag, if (!is.null(class)) paste0(" class=\"", class, "\""), ">", ..., "</", tag, ">"
  )
}

html_p <- function(..., class = NULL) {
  text <- paste0(...)
  if (length(text)) html_tag("p", html_text(text), class = class)
}

html_list <- function(items) {
  if (length(items)) html_tag("ul", paste(html_tag("li", html_text(items)), collapse = "\n"))
}

# A table of texts; `right` says which columns hold numbers. Columns may have the
# full `values` beside what is shown, for machines that read the page.
html_table <- function(columns, right = rep(FALSE, length(columns)), classes = list(),
                       values = list()) {
  n <- length(columns[[1]])
  if (n == 0) {
    return(NULL)
  }
  cells <- Map(function(column, name, right) {
    given <- if (is.null(classes[[name]])) "" else classes[[name]]
    class <- trimws(rep_len(paste(if (right) "num" else "", given), n))
    value <- values[[name]]
    paste0(
      "<td", ifelse(nzchar(class), paste0(" class=\"", class, "\""), ""),
      if (!is.null(value)) {
        ifelse(is.na(value), "", paste0(" data-value=\"", exact_text(value), "\""))
      },
      ">", html_text(column), "</td>"
    )
  }, columns, names(columns), right)
  head <- paste0(
    "<th", ifelse(right, " class=\"num\"", ""), ">", html_text(names(columns)), "</th>",
    collapse = ""
  )
  rows <- paste0("<tr>", do.call(paste0, unname(cells)), "</tr>", collapse = "\n")
  paste0(
    "<div class=\"scroll\"><table>\n<thead><tr>", head, "</tr></thead>\n<tbody>\n", rows,
    "\n</tbody>\n</table></div>"
  )
}

# The page for the board -----------------------------------------------------

file_line <- function(content) {
  of <- Filter(function(entry) entry$stage == "before", content$entries)
  if (length(of) == 0) of <- content$entries
  n <- unlist(lapply(of, function(entry) entry$result$settings$n))
  keys <- unique(unlist(lapply(of, function(entry) key_names(entry$result))))
  paste0(
    if (length(n)) paste0("A file of ", plural(n[[1]], "record"), ". "),
    if (is.character(keys) && length(keys)) {
      paste0("Key variables examined: ", paste(keys, collapse = ", "), ". ")
    },
    "Written on ", content$made, " with sdcRisk ", content$versions$sdcRisk, "."
  )
}

perturbed_words <- paste(
  "Not judged: figures that count records with equal keys take values at their word. In a file",
  "perturbed by invariant PRAM they do not say what the perturbation bought: its own bound does."
)

# Contradictions between measures of file_check(), and the measure to report, with the check's own
# doubts; in two lists if there are two files.
html_differences <- function(entries) {
  checks <- Filter(function(entry) entry$fun == "file_check", entries)
  stages <- vapply(checks, `[[`, "", "stage")
  lists <- lapply(unique(stages), function(stage) {
    lines <- unique(unlist(lapply(checks[stages == stage], difference_lines)))
    if (length(lines)) {
      c(
        if (length(unique(stages)) > 1) html_p(paste0(stage_words[[stage]], ":")),
        html_list(lines)
      )
    }
  })
  if (length(unlist(lists))) c(html_tag("h3", "Differences between measures"), unlist(lists))
}

stage_words <- c(before = "Before the protection", after = "After the protection")

difference_lines <- function(entry) {
  check <- unclass(entry$result)
  d <- check$contradictions
  lines <- if (NROW(d)) {
    paste0(
      measures_in_words(d$measures), ": ", d$reason, ". To report: ",
      measures_in_words(d$report), "."
    )
  }
  # One measure may begin a line by its letter, which stays small.
  lines <- ifelse(startsWith(as.character(lines), "k "), lines, capitalised(lines))
  c(gsub("[.][.]", ".", lines), gsub(" \\(see the last step\\)", "", check$diagnostics$notes))
}

# The names of measures in a text as their labels.
measures_in_words <- function(text) {
  about <- page_figures()
  for (i in which(about$measure != "k")) {
    text <- gsub(paste0("\\b", about$measure[[i]], "\\b(?!_)"), about$label[[i]], text, perl = TRUE)
  }
  text
}

first_lines <- function(lines) {
  if (length(lines)) vapply(lines, function(line) html_p(line, class = "apart"), "")
}

# Two texts with what goes between them where both are there.
joined <- function(a, b, between) paste0(a, ifelse(nzchar(a) & nzchar(b), between, ""), b)

with_note <- function(measure, note) paste0(measure, ifelse(nzchar(note), paste0(": ", note), ""))

board_limits <- function(board) {
  ifelse(is.na(board$limit), "", paste0(
    ifelse(board$unit == "matches", "at least ", ""), format_number(signif(board$limit, 3))
  ))
}

verdict_class <- function(verdict) ifelse(verdict %in% c("ok", "above"), verdict, "plain")

# The rows of a table with a line before those of each question.
with_questions <- function(table, parts, n_columns) {
  lines <- strsplit(table, "\n", fixed = TRUE)[[1]]
  rows <- which(startsWith(lines, "<tr><td"))
  first <- rows[cumsum(c(1, utils::head(lengths(parts), -1)))]
  lines[first] <- paste0(
    "<tr class=\"question\"><td colspan=\"", n_columns, "\">", html_text(names(parts)),
    "</td></tr>\n", lines[first]
  )
  paste(lines, collapse = "\n")
}

reading_words <- function(settings) {
  paste0(
    "Prosecutor: ", what_is_known[["prosecutor"]], ". Journalist: ", what_is_known[["journalist"]],
    ". All risks are conditional on an attempt.",
    if (settings$prob_attempt < 1) {
      paste0(
        " The column \"with ", format_number(settings$prob_attempt), "\" is the value times ",
        format_number(settings$prob_attempt), ", the probability that an attempt is made; ",
        "verdicts do not use it. A dash: shares and counts that do not depend on attempts."
      )
    }
  )
}
