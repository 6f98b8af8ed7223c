# Declarations of attribute_risk(): figures, print and sentences.

declare_measure(
  "attribute_risk",
  reference = c("machanavajjhala2007", "raab2025"),
  ids = c("sensitive", "measure"), terms = c("value", "baseline"),
  lead = attribute_values(x, told_measure(x)) - attribute_values(x, told_measure(x), "baseline"),
  title = "Attribute disclosure: what a key reveals of a sensitive value",
  question = if (x$settings$released) {
    "what does the released file reveal of the people in the original?"
  } else {
    "for how many records does the key reveal a sensitive value?"
  },
  size = paste0(
    plural(x$diagnostics$n_used, "record"), ", ", plural(x$diagnostics$n_keys, "key variable"),
    ", ", plural(length(attribute_names(x)), "sensitive variable"), "; ",
    missing_clause_of(x), "."
  ),
  told = figure(
    paste("Value revealed by the key:", attribute_names(x)), "share", attribute_values(x, "dorig"),
    scenario = "prosecutor", note = attribute_note(x, "dorig"), print = FALSE,
    board = !x$settings$released, says = if (!x$settings$released) {
      paste(
        "the key reveals the value of", quote_names_each(attribute_names(x)),
        "for %s of the records"
      )
    }
  ),
  disco = figure(
    paste("Told rightly by the released file:", attribute_names(x)), "share",
    attribute_values(x, "disco"), scenario = "prosecutor", note = attribute_note(x, "disco"),
    print = FALSE, says = paste(
      "the released file reveals the value of", quote_names_each(attribute_names(x)),
      "rightly for %s of the records"
    )
  ),
  cap = figure(
    paste("Correct attribution (CAP):", attribute_names(x)), "share", attribute_values(x, "cap"),
    scenario = "prosecutor", note = attribute_note(x, "cap"), print = FALSE, board = FALSE,
    says = paste(
      "a guess from the matches is right for %s, one without a key for",
      format_percent(attribute_values(x, "cap", "baseline"))
    )
  ),
  l_distinct = figure(
    paste("Fewest sensitive values, l:", attribute_names(x)), "matches",
    attribute_values(x, "l_distinct"), scenario = "prosecutor", key = "l", print = FALSE
  ),
  t = figure(
    paste("Largest t-closeness:", attribute_names(x)), "share", attribute_values(x, "t"),
    scenario = "prosecutor", key = "t", print = FALSE, board = FALSE
  ),
  table = attribute_table(x), rest = "x$estimates",
  spread = "Share of the own value among the matches",
  notes = list(
    if (x$settings$released) {
      paste0(
        format_percent(x$diagnostics$n_found / x$diagnostics$n_used),
        " of the records have a match in the released file; ",
        format_percent(attribute_values(x, "repu")[[1]]),
        " are unique on the key variables in both (replicated uniques)."
      )
    },
    paste0(
      "Told: all matches share one value", if (x$settings$released) ", rightly",
      ". Guessed: mean share of the own value among the matches."
    ),
    missing_line(x$diagnostics$missing, x$settings$n), identifying_line(x$diagnostics$identifying)
  ),
  measured = paste0(
    "In the file of ", plural(x$diagnostics$n_used, "record"), " it was measured what ",
    plural(x$diagnostics$n_keys, "key variable"), " reveal of ",
    quote_names(attribute_names(x), 3), if (x$settings$released) " through a released file"
  ),
  limits = paste(
    "this takes the intruder's key values as those of the file, and does not tell what",
    "is known of the relation of key and value without the file"
  ),
  source = "Machanavajjhala and others 2007, Raab, Nowok and Dibben 2025",
  assuming = missing_clause_of(x)
)

attribute_names <- function(x) unique(x$estimates$sensitive)

# The measure of what is told: of the released file if there is one.
told_measure <- function(x) if (x$settings$released) "disco" else "dorig"

# One measure, by sensitive variable; NULL if the result does not have it.
attribute_values <- function(x, measure, column = "value") {
  at <- x$estimates$measure == measure
  if (any(at)) x$estimates[[column]][at]
}

attribute_note <- function(x, measure) {
  paste("without a key", format_percent(attribute_values(x, measure, "baseline")))
}

attribute_table <- function(x) {
  of <- function(measure, column = "value") attribute_values(x, measure, column)
  told <- told_measure(x)
  shares <- frame(
    sensitive = attribute_names(x), told = format_percent(of(told)),
    "without key" = format_percent(of(told, "baseline")),
    guessed = format_percent(of("cap")), "without key " = format_percent(of("cap", "baseline"))
  )
  if (x$settings$released) {
    cbind(shares, frame("revealed if found" = format_percent(of("tcap"))))
  } else {
    cbind(shares, frame(l = format_number(of("l_distinct")), t = format_risk(of("t"))))
  }
}

# Of several sensitive variables the largest.
#' @export
record_risk.sdc_attribute_risk <- function(x) {
  posteriors <- posteriors_of(judged_rows(x))
  if (length(posteriors)) do.call(pmax, c(posteriors, na.rm = TRUE))
}

# Per sensitive variable the share of each record's own value among its matches.
posteriors_of <- function(rows) unname(unclass(rows)[grep("^posterior", names(rows))])

# Pictures -----------------------------------------------------------------

#' Pictures of attribute disclosure
#'
#' Two pictures of an [attribute_risk()] result; `plot()` draws the same.
#'
#' @param object A result of [attribute_risk()].
#' @param type `"measures"`: shares of records whose value is told or guessed, with what is
#'   known without a key; `"records"`: how sure the matches are of the records' values.
#' @param ... None.
#' @return A ggplot.
#' @exportS3Method ggplot2::autoplot
#' @name autoplot.sdc_attribute_risk
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' keys <- c("CENREG", "DAGE3", "EDUC3", "GENDER")
#' plot(attribute_risk(nals_prison, keys, c("DRACE3", "BORNUSA")))
autoplot.sdc_attribute_risk <- function(object, type = c("measures", "records"), ...) {
  switch(enter_picture(object, type),
    measures = draw_attribute_measures(object), records = draw_attribute_records(object)
  )
}

draw_attribute_measures <- function(x) {
  shown <- x$estimates[x$estimates$measure %in% c("dorig", "cap", "disco"), ]
  words <- c(dorig = "revealed", disco = "revealed by the released file", cap = "guessed rightly")
  shown$measure <- factor(words[shown$measure], words)
  ggplot2::ggplot(shown, ggplot2::aes(x = .data$value, y = .data$sensitive)) +
    ggplot2::geom_col(fill = sdc_blue, width = 0.6) +
    ggplot2::geom_point(
      ggplot2::aes(x = .data$baseline), colour = sdc_orange, shape = 124, size = 8
    ) +
    ggplot2::facet_wrap(ggplot2::vars(.data$measure)) +
    ggplot2::scale_x_continuous(labels = format_percent, limits = c(0, 1)) +
    sdc_labs(
      title = "What does the key reveal of sensitive values?", x = "share of records", y = NULL,
      caption = "Orange: without a key, from the shares of the values alone."
    )
}

draw_attribute_records <- function(x) {
  shown <- do.call(rbind, Map(function(posterior, name) {
    frame(sensitive = rep(name, length(posterior)), posterior = posterior)
  }, posteriors_of(needed_rows(x)), attribute_names(x)))
  shown <- shown[!is.na(shown$posterior), ]
  ggplot2::ggplot(shown, ggplot2::aes(x = .data$posterior)) +
    ggplot2::geom_histogram(breaks = seq(0, 1, 0.05), fill = sdc_blue) +
    ggplot2::facet_wrap(ggplot2::vars(.data$sensitive)) +
    sdc_labs(
      title = "How sure are the matches of a record's value?",
      x = "share of the own value among the matches", y = "records"
    )
}
