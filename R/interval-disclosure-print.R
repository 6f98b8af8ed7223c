# Declarations of interval_disclosure(): figures, print and sentences.

declare_measure(
  "interval_disclosure",
  reference = c("domingo2001", "templ2008"),
  ids = "rule", lead = prop_within,
  terms = c("prop_within", setdiff(names(e), c("rule", "width", "n", "prop_within"))),
  each = paste0(" (", rule, ")"),
  title = "Interval disclosure of continuous variables",
  question = "how many released numbers reveal the originals?",
  size = paste0(
    plural(x$settings$n, "record"), ", ", plural(x$diagnostics$n_keys, "variable"), ": ",
    quote_names(x$settings$key_vars),
    if (nrow(e) == 1) paste0("; rule: ", rule, ", width ", format_number(width)), "."
  ),
  prop_within = figure(
    "Values disclosed", "share", scenario = "prosecutor", attempt = TRUE, head = "values",
    question = "Which share of the released numbers reveals the original ones?",
    says = paste0("%s of the released values reveal the original ones by the rule \"", rule, "\"")
  ),
  prop_any = figure(
    "Records with a disclosed value", "share", scenario = "prosecutor", attempt = TRUE,
    head = "any value of a record"
  ),
  prop_all = figure(
    "Records with all values disclosed", "share", scenario = "prosecutor", attempt = TRUE,
    head = "all values", board = FALSE
  ),
  spread = paste0("Share of the values of a record disclosed (", e$rule[[1]], ")"),
  table = {
    worst <- x$variables[x$variables$rule == e$rule[[max(1, which.max(e$prop_within))]], ]
    frame(
      variable = worst$variable, "values compared" = worst$n_values,
      disclosed = format_percent(worst$prop_within)
    )
  },
  rest = "x$variables",
  notes = list(
    paste0("Widths: ", paste(e$rule, format_number(e$width), collapse = ", "), ".")
  ),
  knows = "the record was found",
  measured = paste0(
    "The released values of ", plural(x$diagnostics$n_keys, "continuous variable"), " of ",
    plural(x$settings$n, "record"), " were compared with the original ones"
  ),
  limits = paste(
    "this takes the record to be found already, and depends on the widths of the intervals"
  ),
  source = "Domingo-Ferrer and Torra 2001; Templ and Meindl 2008",
  assuming = paste0("widths ", paste(e$rule, format_number(e$width), collapse = ", ")),
  tables = list(variables = x$variables), strata = "disclosed_by_strata"
)

# The share of the values of a record that are disclosed, by the first rule.
#' @export
record_risk.sdc_interval_disclosure <- function(x) {
  rule <- x$estimates$rule[[1]]
  rows <- judged_rows(x)
  compared <- rowSums(!is.na(as.matrix(rows[paste0(rule, ".", x$settings$key_vars)])))
  quotient(rows[[paste0("n_", rule)]], compared)
}

#' Picture of interval disclosure
#'
#' Per variable the share of values that are disclosed, by each rule; `plot()` draws the same.
#'
#' @param object A result of [interval_disclosure()].
#' @param ... None.
#' @return A ggplot.
#' @exportS3Method ggplot2::autoplot
#' @name autoplot.sdc_interval_disclosure
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' released <- transform(adult[1:500, ], age = age + rep(-2:2, 100))
#' plot(interval_disclosure(adult[1:500, ], released, c(age, education_num)))
autoplot.sdc_interval_disclosure <- function(object, ...) {
  enter_picture(object)
  shown <- object$variables
  shown$variable <- factor(shown$variable, rev(object$settings$key_vars))
  shown$rule <- factor(shown$rule, interval_rules)
  shown <- shown[!is.na(shown$prop_within), ]
  ggplot2::ggplot(shown, ggplot2::aes(x = .data$prop_within, y = .data$variable)) +
    ggplot2::geom_col(fill = sdc_blue, width = 0.7) +
    ggplot2::facet_wrap(ggplot2::vars(.data$rule)) +
    ggplot2::scale_x_continuous(labels = format_percent, limits = c(0, 1)) +
    name_axis() +
    sdc_labs(
      title = "Which released numbers reveal the original ones?",
      x = "values in the interval", y = NULL
    )
}
