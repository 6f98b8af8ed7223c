# Reading a result of removal_path(): words, tables, one sentence.

declare_measure(
  "removal_path",
  reference = "bera2023", ids = c("p", "alpha"),
  terms = c("risk", "reduction", "best_reduction", "threshold", "shape", "risk_empirical"),
  title = "Removal of records and the extreme re-identification risk",
  question = paste0(
    "how much does removing ", plural(n_removed, "record"), " ", removal_orders[[by]],
    if (x$settings$block > 1) paste0(" in blocks of ", format_count(x$settings$block)),
    " reduce the risk?"
  ),
  size = analysis_size_line(x, n_records),
  risk = figure(
    paste("Extreme risk T without", plural(n_removed, "record")), "risk",
    scenario = "prosecutor", attempt = TRUE, note = paste("before:", format_risk(risk_before)),
    says = paste("without them the extreme re-identification risk T is %s, compared with",
                 format_t(risk_before))
  ),
  risk_before = figure("T before", "risk", scenario = "prosecutor", attempt = TRUE, board = FALSE),
  reduction = figure(
    "Reduction of T", "share", scenario = "prosecutor", direction = "less", board = FALSE,
    says = "the reduction is %s"
  ),
  risk_empirical = figure(
    "Empirical quantile after", "risk", scenario = "prosecutor", attempt = TRUE, board = FALSE,
    says = paste("the empirical quantile of the risks of key sets is %s, compared with",
                 format_t(risk_empirical_before))
  ),
  risk_empirical_before = figure(
    "Empirical quantile before", "risk", scenario = "prosecutor", attempt = TRUE, board = FALSE
  ),
  threshold = figure(
    "Threshold u after", "risk", scenario = "prosecutor", attempt = TRUE, board = FALSE
  ),
  threshold_before = figure(
    "Threshold u before", "risk", scenario = "prosecutor", attempt = TRUE, board = FALSE
  ),
  notes = list(
    if (x$diagnostics$fit_moved) {
      paste(
        "Careful: T fell because the fitted tail moved rather than the risks of the riskiest key",
        "sets."
      )
    },
    path_band_line(x), path_pls_line(x), path_left_out_line(x)
  ),
  measured = paste0(
    "From the file of ", plural(n_records, "record"), " and ",
    plural(x$diagnostics$n_keys, "key variable"), ", ", plural(n_removed, "record"), ", ",
    format_percent(prop_removed), " of the file, ", if (n_removed == 1) "was" else "were",
    " removed ", removal_orders[[by]]
  ),
  limits = "these figures describe this file, and what removal does to analyses is not measured",
  source = qar_source, assuming = analysis_clauses(x), frame = x$path,
  tables = list(on_the_way = path_milestones(x$path), pls = x$diagnostics$pls)
)

path_left_out_line <- function(x) {
  left_out <- x$diagnostics$left_out
  if (!is.null(left_out) && left_out[["after"]] != left_out[["before"]]) {
    paste0(
      "Excluded key sets that identify every remaining record: ",
      format_count(left_out[["before"]]), " before, ", format_count(left_out[["after"]]), " after."
    )
  }
}

path_band_line <- function(x) {
  draws <- x$diagnostics$draws
  if (is.null(draws)) {
    return(NULL)
  }
  last <- draws[draws$step == max(draws$step), ]
  paste0(
    "The path shows the first of ", nrow(last), " random orders; over all, T ends between ",
    format_t(min(last$risk)), " and ", format_t(max(last$risk)), "."
  )
}

path_pls_line <- function(x) {
  quality <- x$diagnostics$pls
  if (!is.null(quality)) paste0(
    "PLS: R2 ", paste(format_risk(quality$r_squared), collapse = " (train) and "),
    " (test); AUC for a positive contribution ",
    paste(format_risk(quality$auc), collapse = " and "), "."
  )
}

# Ten looks at a path, at ends of blocks.
path_milestones <- function(path) {
  ends <- which(!duplicated(path$step, fromLast = TRUE))
  shown <- unique(ends[round(seq(1, length(ends), length.out = min(10, length(ends))))])
  cbind(frame(n_removed = shown), path[shown, setdiff(names(path), c("step", "record"))])
}
