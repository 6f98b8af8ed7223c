# What attribute_risk() results say of themselves.

declare_measure(
  "attribute_risk",
  reference = c("machanavajjhala2007", "raab2025"),
  ids = c("sensitive", "measure"), terms = c("value", "baseline"),
  told = figure(
    paste("Value told by the key:", attribute_names(x)), "share", attribute_values(x, "dorig"),
    scenario = "prosecutor", note = attribute_note(x, "dorig")
  ),
  l_distinct = figure(
    paste("Least sensitive values per key, l:", attribute_names(x)), "matches",
    attribute_values(x, "l_distinct"), scenario = "prosecutor", limit = limit$l
  ),
  t = figure(
    paste("Distance from the file, t:", attribute_names(x)), "share", attribute_values(x, "t"),
    scenario = "prosecutor", limit = limit$t
  ),
  cap = figure(
    paste("Correct attribution (CAP):", attribute_names(x)), "share", attribute_values(x, "cap"),
    scenario = "prosecutor", note = attribute_note(x, "cap")
  ),
  disco = figure(
    paste("Told rightly by the released file:", attribute_names(x)), "share",
    attribute_values(x, "disco"), scenario = "prosecutor", note = attribute_note(x, "disco")
  )
)

attribute_names <- function(x) unique(x$estimates$sensitive)

# One measure, by sensitive variable; NULL if the result does not have it.
attribute_values <- function(x, measure, column = "value") {
  at <- x$estimates$measure == measure
  if (any(at)) x$estimates[[column]][at]
}

attribute_note <- function(x, measure) {
  paste("without a key", format_percent(attribute_values(x, measure, "baseline")))
}

#' @export
describe.sdc_attribute_risk <- function(x) {
  released <- x$settings$released
  names <- attribute_names(x)
  of <- function(measure, column = "value") attribute_values(x, measure, column)
  shares <- if (released) c(told = "disco", cap = "cap") else c(told = "dorig", cap = "cap")
  description(
    title = "Attribute disclosure: what a key tells of a sensitive value",
    question = if (released) {
      "what does the released file tell of the people in the original?"
    } else {
      "for how many records does the key tell a sensitive value?"
    },
    size = paste0(
      plural(x$diagnostics$n_used, "record"), ", ", plural(x$diagnostics$n_keys, "key variable"),
      ", ", plural(length(names), "sensitive variable"), "; ",
      missing_clause(x$settings$missing, x$diagnostics$n_excluded), "."
    ),
    answer = c(
      fact(missing_line(x$diagnostics$missing, x$settings$n), keep = "detail"),
      fact(identifying_line(x$diagnostics$identifying), keep = "detail"),
      grid(frame(
        sensitive = names, told = format_percent(of(shares[["told"]])),
        "without key" = format_percent(of(shares[["told"]], "baseline")),
        guessed = format_percent(of("cap")), "without key " = format_percent(of("cap", "baseline")),
        l = format_number(of("l_distinct")), t = format_risk(of("t"))
      )),
      fact(
        "Told: all matches ", if (released) "in the released file ",
        "share one value", if (released) ", and it is right", ". Guessed: mean share of the own ",
        "value among the matches. l and t: fewest values, and greatest distance of their ",
        "distribution from the file's, among the matches of an original record.",
        keep = "detail"
      ),
      fact(
        "Share of a record's own value among its matches: largest ",
        record_spread(record_risk(x)), ".",
        keep = "always"
      ),
      if (released) {
        fact(
          format_percent(x$diagnostics$n_found / x$diagnostics$n_used),
          " of the records have a match in the released file; ", format_percent(of("repu")[[1]]),
          " are unique on the key variables in both (replicated uniques)."
        )
      }
    ),
    scenario = scenario("prosecutor"),
    more = "x$estimates, records_at_risk(x, limit), plot(x)",
    sentence = attribute_cited(x, shares[["told"]])
  )
}

attribute_cited <- function(x, told) {
  names <- attribute_names(x)
  of <- function(measure, column = "value") attribute_values(x, measure, column)
  worst <- which.max(of(told) - of(told, "baseline"))
  if (length(worst) == 0) worst <- 1
  released <- x$settings$released
  cited(
    measured = paste0(
      "In the file of ", plural(x$diagnostics$n_used, "record"), " it was measured what ",
      plural(x$diagnostics$n_keys, "key variable"), " tell of ", quote_names(names, 3),
      if (released) " through a released file"
    ),
    found = paste0(
      "the key tells the value of ", quote_names(names[worst]), " for ",
      format_percent(of(told)[[worst]]), " of the records",
      if (released) ", rightly", ", and a guess from the matches is right for ",
      format_percent(of("cap")[[worst]]), ", where one without a key is right for ",
      format_percent(of("cap", "baseline")[[worst]])
    ),
    limits = paste(
      "this takes the intruder's key values as those of the file, and does not tell what",
      "is known of the relation of key and value without the file"
    ),
    source = "Machanavajjhala and others 2007, Raab, Nowok and Dibben 2025",
    assuming = missing_clause(x$settings$missing, x$diagnostics$n_excluded)
  )
}

# Of several sensitive variables the largest.
#' @export
record_risk.sdc_attribute_risk <- function(x) {
  rows <- judged_rows(x)
  posteriors <- unclass(rows)[grepl("^posterior", names(rows))]
  do.call(pmax, c(unname(posteriors), na.rm = TRUE))
}

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
  enter_verb("autoplot", object)
  check_no_dots(...)
  type <- check_choice(type, c("measures", "records"), "type")
  if (type == "measures") draw_attribute_measures(object) else draw_attribute_records(object)
}

draw_attribute_measures <- function(x) {
  shown <- x$estimates[x$estimates$measure %in% c("dorig", "cap", "disco"), ]
  words <- c(dorig = "told", disco = "told by the released file", cap = "guessed rightly")
  shown$measure <- factor(words[shown$measure], words)
  ggplot2::ggplot(shown, ggplot2::aes(x = .data$value, y = .data$sensitive)) +
    ggplot2::geom_col(fill = sdc_blue, width = 0.6) +
    ggplot2::geom_point(
      ggplot2::aes(x = .data$baseline), colour = sdc_orange, shape = 124, size = 8
    ) +
    ggplot2::facet_wrap(ggplot2::vars(.data$measure)) +
    ggplot2::scale_x_continuous(labels = format_percent, limits = c(0, 1)) +
    ggplot2::labs(
      title = "What does the key tell of sensitive values?", x = "share of records", y = NULL,
      caption = "Orange: without a key, from the shares of the values alone."
    ) +
    sdc_theme()
}

draw_attribute_records <- function(x) {
  names <- attribute_names(x)
  columns <- if (length(names) > 1) paste0("posterior_", names) else "posterior"
  rows <- needed_rows(x)
  shown <- do.call(rbind, Map(function(column, name) {
    frame(sensitive = rep(name, nrow(rows)), posterior = rows[[column]])
  }, columns, names))
  shown <- shown[!is.na(shown$posterior), ]
  ggplot2::ggplot(shown, ggplot2::aes(x = .data$posterior)) +
    ggplot2::geom_histogram(breaks = seq(0, 1, 0.05), fill = sdc_blue) +
    ggplot2::facet_wrap(ggplot2::vars(.data$sensitive)) +
    ggplot2::labs(
      title = "How sure are the matches of a record's value?",
      x = "share of the own value among the matches", y = "records"
    ) +
    sdc_theme()
}
