# Reading a result of risk_contribution(): words, tables, one sentence.

declare_measure(
  "risk_contribution",
  reference = "bera2023", ids = c("p", "alpha"),
  terms = c(
    "risk", "contribution_max", "contribution_q99", "contribution_q95", "prop_positive",
    "prop_never_unique"
  ),
  title = "Contributions of records to the extreme re-identification risk",
  question = paste0("how does ", name_of_t(e), " change when one record is removed?"),
  size = analysis_size_line(x, n_records),
  risk = figure(
    "Extreme risk T", "risk", scenario = "prosecutor", attempt = TRUE, note = paste(
      "removing one record lowers it by at most", format_risk(pmax(contribution_max, 0))
    )
  ),
  contribution_max = figure(
    "Largest contribution of a record", "number", scenario = "prosecutor", board = FALSE,
    says = "no single removal lowers T by more than %s"
  ),
  prop_positive = figure(
    "Records that lower T when removed", "share", scenario = "prosecutor", board = FALSE,
    says = "removing a record lowers it for %s of the records"
  ),
  prop_never_unique = figure(
    "Records unique on no key set", "share", scenario = "prosecutor", direction = "less",
    board = FALSE, says = "%s are not unique on any key set"
  ),
  spread = "Contribution DT", risk = x$records$contribution,
  notes = list(
    if (is.na(contribution_max)) {
      "Contributions are not determined: see the status and ?qar_risk."
    },
    threshold_set_line(x), "Contributions of several records do not add up: see removal_path()."
  ),
  measured = paste0(
    "In the file of ", plural(n_records, "record"), " and ",
    plural(x$diagnostics$n_keys, "key variable"),
    ", it was computed how much every single record contributes to ", long_name_of_t(e), " = ",
    format_t(risk)
  ),
  limits = "contributions describe this file, and those of several records do not add up",
  source = paste("exact, after the", qar_source), assuming = analysis_clauses(x),
  tables = list(
    correlations = metric_correlations(x), clusters = threshold_groups(x),
    explained_by = explained_by(x)
  ), strata = "contribution_by_strata"
)

# Records and keys of an analysis made from a qar_risk() result.
analysis_size_line <- function(x, n_records) {
  paste0(
    qar_size_line(x, n_records, x$diagnostics$n_keys),
    if (!is.null(words <- theta_one_words(x))) paste0(" Key sets", words, ".")
  )
}

# Missing values and key sets left out, in the words of clauses.
analysis_clauses <- function(x) {
  words <- theta_one_words(x)
  c(missing_clause_of(x), if (!is.null(words)) paste0("key sets", words))
}

# Words after "key sets" for those that identify every record.
theta_one_words <- function(x) {
  known <- x$diagnostics$identifying
  if (NROW(known) == 0 || known$n_identifying == 0 || x$settings$theta_one == "one") {
    return(NULL)
  }
  paste0(
    " that identify every record ",
    if (x$settings$theta_one == "exclude") "are left out" else "count half a key less",
    " (", if (!known$all_known) "at least ", format_count(known$n_identifying), " of ",
    format_count(known$n_counted), ")"
  )
}

format_signed <- function(x) {
  ifelse(is.na(x), "NA", formatC(x, digits = 3, format = "g"))
}

threshold_set_line <- function(x) {
  groups <- threshold_groups(x)
  if (nrow(groups) < 2 || anyNA(groups$mean_contribution)) {
    return(NULL)
  }
  set <- x$diagnostics$threshold_sets
  paste0(
    "The threshold is set by ", set$key_set[set$shown], ": records unique on it contribute ",
    format_signed(groups$mean_contribution[groups$unique_at_threshold]),
    " on average, others ",
    format_signed(groups$mean_contribution[!groups$unique_at_threshold]), "."
  )
}

# The two clusters of contributions.
threshold_groups <- function(x) {
  records <- x$records[!is.na(x$records$contribution), ]
  parts <- split(records, records$unique_at_threshold)
  frame(
    unique_at_threshold = as.logical(names(parts)),
    n = vapply(parts, nrow, 0L, USE.NAMES = FALSE),
    mean_contribution = vapply(parts, function(r) mean(r$contribution), 0, USE.NAMES = FALSE),
    cor_u_plus = vapply(parts, function(r) {
      correlation(r$contribution, r$u_plus)
    }, 0, USE.NAMES = FALSE)
  )
}

# Pearson's correlation, NA without variation and without a warning.
correlation <- function(x, y) {
  varies <- function(v) length(v) > 1 && isTRUE(stats::var(v) > 0)
  if (varies(x) && varies(y)) stats::cor(x, y) else NA_real_
}

# Correlations of the metrics, one row per pair.
metric_correlations <- function(x) {
  metrics <- intersect(
    c("contribution", "u_plus", "u_star", "entropy", "surprisal"), names(x$records)
  )
  records <- x$records[!is.na(x$records$contribution), metrics]
  pairs <- utils::combn(metrics, 2)
  # Ranks of contributions must not tell rounding from rounding.
  ranked <- records
  ranked$contribution <- -rank_falling(records$contribution)
  frame(
    metric_1 = pairs[1, ], metric_2 = pairs[2, ],
    pearson = apply(pairs, 2, function(m) correlation(records[[m[[1]]]], records[[m[[2]]]])),
    kendall = unwrap(rs_kendall(apply(pairs, 2, function(m) {
      lapply(unname(ranked[m]), as.double)
    }, simplify = FALSE)))
  )
}

# Share of the variance of the contributions that U+ explains, without and
# with the uniqueness on the threshold key set.
explained_by <- function(x) {
  records <- x$records[!is.na(x$records$contribution), ]
  y <- records$contribution
  share <- function(...) {
    total <- sum((y - mean(y))^2)
    if (length(y) < 4 || total <= 0) {
      return(NA_real_)
    }
    1 - sum(stats::lm.fit(cbind(1, ...), y)$residuals^2) / total
  }
  frame(
    model = c("U+", "U+ and uniqueness on the threshold key set"),
    r_squared = c(share(records$u_plus), share(records$u_plus, records$unique_at_threshold))
  )
}
