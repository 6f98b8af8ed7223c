# Reading a result of risk_contribution(): words, tables, one sentence.

#' @export
format.sdc_risk_contribution <- function(x, ...) {
  estimates <- x$estimates
  name <- name_of_t(estimates)
  c(
    "Contributions of records to the extreme re-identification risk",
    paste0("Question: how does ", name, " change when one record is removed?"),
    analysis_size_line(x, estimates$n_records),
    paste0(
      name, " = ", format_t(estimates$risk), ", threshold u = ",
      format_t(x$diagnostics$threshold), ", status ", estimates$status, "."
    ),
    if (is.na(estimates$contribution_max)) {
      "Contributions are not determined: see the status and ?qar_risk."
    } else {
      c(
        paste0(
          "Contribution DT: ", format_spread(
            estimates$contribution_max, estimates$contribution_q99,
            estimates$contribution_q95, format_signed
          ), "."
        ),
        paste0(
          "Removing one of ", format_percent(estimates$prop_positive),
          " of the records lowers the risk; removing another one raises it or leaves it."
        )
      )
    },
    paste0(
      "Unique on no key set: ", format_percent(estimates$prop_never_unique),
      " of the records."
    ),
    threshold_set_line(x),
    paste(
      "Scenario: prosecutor (the target is known to be in the file);",
      "the risk is given an attempt."
    ),
    "Contributions of several records do not add up: see removal_path().",
    "More: summary(x), plot(x), interpret(x)."
  )
}

# Records and keys of an analysis made from a qar_risk() result.
analysis_size_line <- function(x, n_records) {
  paste0(
    plural(n_records, "record"), ", ", plural(x$diagnostics$n_keys, "key variable"), "; ",
    if (x$settings$missing == "category") {
      "missing is a value of its own."
    } else {
      paste0(plural(x$diagnostics$n_excluded, "incomplete record"), " excluded.")
    },
    if (!is.null(words <- theta_one_words(x))) paste0(" Key sets", words, ".")
  )
}

# The same in a sentence.
theta_one_clause <- function(x) {
  words <- theta_one_words(x)
  if (!is.null(words)) paste0("; key sets", words)
}

# What became of key sets that identify every record, after "key sets".
theta_one_words <- function(x) {
  known <- x$diagnostics$identifying
  if (NROW(known) == 0 || known$n_identifying == 0 || x$settings$theta_one == "one") {
    return(NULL)
  }
  paste0(
    " that identify every record ",
    if (x$settings$theta_one == "exclude") "are left out" else "count half a class less",
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
  varies <- function(v) length(v) > 1 && stats::var(v) > 0
  if (varies(x) && varies(y)) stats::cor(x, y) else NA_real_
}

#' @export
summary.sdc_risk_contribution <- function(object, by = NULL, data = NULL, ...) {
  base <- summary.sdc_result(object, by, data)
  structure(
    list(
      title = format(object)[c(1, 3)], estimates = base$estimates,
      correlations = metric_correlations(object),
      clusters = threshold_groups(object),
      explained_by = explained_by(object),
      contribution_by_strata = base$strata
    ),
    class = "sdc_summary"
  )
}

#' @export
record_risk.sdc_risk_contribution <- function(x) {
  x$records$contribution
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
    r_squared = c(
      share(records$u_plus), share(records$u_plus, records$unique_at_threshold)
    )
  )
}

#' @export
tidy_terms.sdc_risk_contribution <- function(x) {
  list(
    ids = c("p", "alpha"),
    terms = c(
      "risk", "contribution_max", "contribution_q99", "contribution_q95",
      "prop_positive", "prop_never_unique"
    )
  )
}

#' @rdname sdc_result
#' @usage NULL
#' @export
glance.sdc_risk_contribution <- function(x, ...) {
  frame(
    n_records = x$estimates$n_records, n_keys = x$diagnostics$n_keys,
    p = x$estimates$p, alpha = x$estimates$alpha, risk = x$estimates$risk,
    status = x$estimates$status, contribution_max = x$estimates$contribution_max,
    prop_positive = x$estimates$prop_positive,
    prop_never_unique = x$estimates$prop_never_unique,
    missing = x$settings$missing, n_excluded = x$diagnostics$n_excluded,
    pi_u = x$settings$pi_u, fingerprint = x$settings$fingerprint
  )
}

#' @export
interpret.sdc_risk_contribution <- function(x, ...) {
  estimates <- x$estimates
  name <- paste0(
    "extreme re-identification risk T(p = ", estimates$p, ", alpha = ",
    format_number(estimates$alpha), ")"
  )
  known <- !is.na(estimates$contribution_max)
  sentence <- paste0(
    "In the file of ", plural(estimates$n_records, "record"), " and ",
    plural(x$diagnostics$n_keys, "key variable"), ", ",
    if (known) {
      paste0(
        "no single record moves the ", name, " = ", format_t(estimates$risk),
        " down by more than ", format_signed(max(estimates$contribution_max, 0))
      )
    } else {
      paste("what a single record contributes to the", name, "could not be determined")
    },
    " (", qar_scenario_words(x), theta_one_clause(x), "); ",
    if (known) {
      paste0(
        "removing a record lowers it for ", format_percent(estimates$prop_positive),
        " of the records, and "
      )
    },
    format_percent(estimates$prop_never_unique), if (!known) " of the records", " are ",
    if (estimates$n_sets == 1) {
      "not unique on the one set"
    } else {
      paste("unique on none of the", plural(estimates$n_sets, "set"))
    },
    " of ", plural(estimates$p, "key variable"), " (exact contributions after the QaR method, ",
    "Bera et al. 2023; sdcRisk ", x$settings$version, "); they describe this file, and ",
    "contributions of several records do not add up."
  )
  structure(sentence, class = c("sdc_sentence", "character"))
}
