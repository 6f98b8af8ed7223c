# Reading a result of removal_path(): words, tables, one sentence.

#' @export
format.sdc_removal_path <- function(x, ...) {
  estimates <- x$estimates
  c(
    "Removal of records and the extreme re-identification risk",
    paste0(
      "Question: what does removing ", plural(estimates$n_removed, "record"), " ",
      removal_orders[[estimates$by]],
      if (x$settings$block > 1) paste0(" in blocks of ", format_count(x$settings$block)),
      " buy?"
    ),
    analysis_size_line(x, estimates$n_records),
    path_table_lines(estimates),
    path_reduction_line(estimates),
    fit_moved_line(x),
    path_band_line(x),
    path_pls_line(x),
    paste(
      "Scenario: prosecutor (the target is known to be in the file);",
      "the risk is given an attempt."
    ),
    "T describes this file: no sampling error. More: plot(x), compare_risk(), interpret(x)."
  )
}

path_table_lines <- function(estimates) {
  terms <- c("risk", "threshold", "shape", "risk_empirical")
  of <- function(suffix) {
    vapply(paste0(terms, suffix), function(column) {
      format_risk(estimates[[column]])
    }, "", USE.NAMES = FALSE)
  }
  change <- vapply(terms, function(term) {
    after <- estimates[[term]]
    before <- estimates[[paste0(term, "_before")]]
    if (term == "shape") "" else format_change(after / before - 1)
  }, "", USE.NAMES = FALSE)
  table <- frame(
    " " = c(
      paste0(name_of_t(estimates)), "threshold u", "shape",
      paste0("empirical ", format(1 - estimates$alpha), " quantile")
    ),
    before = of("_before"), after = of(""), change = change
  )
  format_table(table)
}

format_change <- function(x) {
  ifelse(is.finite(x), paste(formatC(100 * x, digits = 1, format = "f", flag = "+"), "%"), "")
}

path_reduction_line <- function(estimates) {
  if (is.na(estimates$reduction)) {
    return("The reduction is not determined: see ?qar_risk for the status.")
  }
  ahead <- estimates$best_n < estimates$n_removed
  paste0(
    "T ", change_in_words(estimates$risk_before, estimates$risk), " with ",
    format_percent(estimates$prop_removed), " of the records removed",
    if (isTRUE(ahead) && estimates$best_reduction > 0) {
      paste0(
        "; it was lowest, by ", format_percent(estimates$best_reduction), ", after ",
        format_count(estimates$best_n)
      )
    },
    "."
  )
}

fit_moved_line <- function(x) {
  if (!x$diagnostics$fit_moved) {
    return(NULL)
  }
  estimates <- x$estimates
  paste0(
    "Careful: T fell by its fit, not by the tail. The empirical quantile ",
    change_in_words(estimates$risk_empirical_before, estimates$risk_empirical),
    ", the threshold ", change_in_words(estimates$threshold_before, estimates$threshold),
    if (!anyNA(c(estimates$shape_before, estimates$shape))) {
      paste0(
        " and the shape went from ", format_signed(estimates$shape_before), " to ",
        format_signed(estimates$shape)
      )
    },
    "."
  )
}

# "fell by 3 %", "rose by 3 %" or "stayed"
change_in_words <- function(before, after) {
  change <- after / before - 1
  if (!is.finite(change) || change == 0) {
    return("stayed")
  }
  paste(if (change < 0) "fell by" else "rose by", format_percent(abs(change)))
}

path_band_line <- function(x) {
  draws <- x$diagnostics$draws
  if (is.null(draws)) {
    return(NULL)
  }
  last <- draws[draws$step == max(draws$step), ]
  paste0(
    "The path shows the first of ", nrow(last), " random orders; over all, T ends between ",
    format_risk(min(last$risk)), " and ", format_risk(max(last$risk)), "."
  )
}

path_pls_line <- function(x) {
  quality <- x$diagnostics$pls
  if (is.null(quality)) {
    return(NULL)
  }
  paste0(
    "PLS: R2 ", paste(format_risk(quality$r_squared), collapse = " (train) and "),
    " (test); AUC for a positive contribution ",
    paste(format_risk(quality$auc), collapse = " and "), "."
  )
}

#' @export
as.data.frame.sdc_removal_path <- function(x, ...) {
  x$path
}

#' @export
summary.sdc_removal_path <- function(object, by = NULL, data = NULL, ...) {
  if (!is.null(by)) {
    stop_argument(
      "by", "be NULL for this result",
      found = "It has no risk per record.", call = rlang::current_env()
    )
  }
  structure(
    list(
      title = format(object)[2:3], estimates = object$estimates,
      on_the_way = path_milestones(object$path), pls = object$diagnostics$pls
    ),
    class = "sdc_summary"
  )
}

# Ten looks at a path, at ends of blocks.
path_milestones <- function(path) {
  ends <- which(!duplicated(path$step, fromLast = TRUE))
  shown <- unique(ends[round(seq(1, length(ends), length.out = min(10, length(ends))))])
  cbind(frame(n_removed = shown), path[shown, setdiff(names(path), c("step", "record"))])
}

#' @export
tidy_terms.sdc_removal_path <- function(x) {
  list(
    ids = c("p", "alpha"),
    terms = c("risk", "reduction", "best_reduction", "threshold", "shape", "risk_empirical")
  )
}

#' @rdname sdc_result
#' @export
glance.sdc_removal_path <- function(x, ...) {
  estimates <- x$estimates
  cbind(
    estimates[c(
      "n_records", "p", "alpha", "by", "n_removed", "prop_removed", "risk_before", "risk",
      "reduction", "best_reduction", "best_n"
    )],
    frame(
      block = x$settings$block, fit_moved = x$diagnostics$fit_moved,
      missing = x$settings$missing, n_excluded = x$diagnostics$n_excluded,
      pi_u = x$settings$pi_u, fingerprint = x$settings$fingerprint
    )
  )
}

#' @export
interpret.sdc_removal_path <- function(x, ...) {
  estimates <- x$estimates
  change <- if (is.na(estimates$reduction)) {
    "changes the extreme re-identification risk by an amount that cannot be determined"
  } else {
    paste0(
      if (estimates$reduction >= 0) "lowers" else "raises",
      " the extreme re-identification risk T(p = ", estimates$p, ", alpha = ",
      format(estimates$alpha), ") from ", format_risk(estimates$risk_before), " to ",
      format_risk(estimates$risk), " (by ", format_percent(abs(estimates$reduction)), ")"
    )
  }
  sentence <- paste0(
    "In the file of ", plural(estimates$n_records, "record"), " and ",
    plural(x$diagnostics$n_keys, "key variable"), ", removing ",
    plural(estimates$n_removed, "record"), " ", removal_orders[[estimates$by]], " (",
    format_percent(estimates$prop_removed), " of the file) ", change,
    " and its empirical quantile from ", format_risk(estimates$risk_empirical_before), " to ",
    format_risk(estimates$risk_empirical),
    if (x$diagnostics$fit_moved) {
      ", the former because the fitted tail moved rather than the risks of the riskiest key sets"
    },
    " (prosecutor scenario, given an attempt; ",
    if (x$settings$missing == "category") {
      "missing values a category of their own"
    } else {
      paste(plural(x$diagnostics$n_excluded, "incomplete record"), "excluded")
    },
    "; QaR method, Bera et al. 2023; sdcRisk ", x$settings$version,
    "); the figures describe this file, and what removal does to analyses is not measured."
  )
  structure(sentence, class = c("sdc_sentence", "character"))
}
