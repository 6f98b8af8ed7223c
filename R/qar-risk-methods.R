# Reading a result of qar_risk(): words, tables, one sentence.

#' @export
format.sdc_qar_risk <- function(x, ...) {
  first <- x$estimates[1, ]
  c(
    "Extreme re-identification risk of a file (QaR)",
    paste0(
      "Question: how far do ", plural(first$p, "known key variable"),
      " single out the records, in the worst key sets?"
    ),
    qar_size_line(x),
    qar_estimate_lines(x$estimates),
    qar_meaning_line(first),
    qar_sampling_line(x),
    qar_identifying_line(x),
    qar_set_line(x),
    qar_variable_line(x),
    qar_threshold_line(x),
    paste(
      "Scenario: prosecutor (the target is known to be in the file);",
      "the risk is given an attempt."
    ),
    "T describes this file: no sampling error. More: summary(x), plot(x), interpret(x)."
  )
}

# An extreme risk by its name, such as T(3, 0.01).
name_of_t <- function(estimate) {
  paste0("T(", estimate$p, ", ", format(estimate$alpha), ")")
}

qar_size_line <- function(x) {
  settings <- x$settings
  excluded <- x$diagnostics$n_excluded
  keys <- length(x$diagnostics$n_distinct)
  paste0(
    plural(x$estimates$n_records[[1]], "record"), ", ", plural(keys, "key variable"), "; ",
    if (settings$missing == "category") {
      "missing is a value of its own."
    } else {
      paste0(plural(excluded, "incomplete record"), " excluded.")
    }
  )
}

qar_estimate_lines <- function(estimates, most = 3) {
  shown <- utils::head(estimates, most)
  rest <- nrow(estimates) - nrow(shown)
  table <- frame(
    p = shown$p, alpha = shown$alpha, "T" = format_risk(shown$risk),
    empirical = format_risk(shown$risk_empirical), u = format_risk(shown$threshold),
    exceedances = paste(shown$n_exceedances, "of", format_count(shown$n_sets)),
    status = shown$status
  )
  c(
    format_table(table),
    if (rest > 0) paste0("... and ", rest, " more in x$estimates")
  )
}

qar_meaning_line <- function(first) {
  if (is.na(first$risk)) {
    return("T is not determined: see the status and ?qar_risk.")
  }
  meaning <- switch(first$status,
    theta_one = "a key set identifies every record.",
    single = "the one key set has this share of distinct keys among the records.",
    no_exceedance = "hardly any key set has a larger share of distinct keys among the records.",
    paste(
      format_percent(first$alpha), "of the key sets have more than",
      format_percent(first$risk), "distinct keys among the records."
    )
  )
  paste0("Meaning of ", name_of_t(first), ": ", meaning)
}

qar_sampling_line <- function(x) {
  sampling <- x$diagnostics$sampling
  if (is.null(sampling)) {
    return(NULL)
  }
  first <- sampling[1, ]
  paste0(
    "Sampled: ", format_count(first$n_counted), " of ", format_count(first$n_sets),
    " key sets of size ", first$p, " counted; ", sampling_error(first), "."
  )
}

qar_identifying_line <- function(x) {
  sets <- x$diagnostics$identifying_sets
  without <- x$diagnostics$without_theta_one
  if (length(sets) == 0) {
    return(NULL)
  }
  known <- !is.na(without$risk)
  paste0(
    "Identify every record: ", quote_names(sets, 2),
    if (any(known)) {
      first <- without[known, ][1, ]
      paste0("; without such sets ", name_of_t(first), " = ", format_risk(first$risk))
    },
    "."
  )
}

qar_set_line <- function(x) {
  if (is.null(x$sets)) {
    return(NULL)
  }
  size <- x$estimates$p[[1]]
  top <- x$sets[x$sets$p == size, ][1, ]
  paste0(
    "Riskiest key set", if (length(unique(x$sets$p)) > 1) paste(" of", size), ": ",
    top$key_set, " (risk ", format_risk(top$set_risk), ", ",
    plural(top$n_unique, "sample unique"), ", ",
    format_percent(top$n_unique / top$n), " of the records)."
  )
}

qar_variable_line <- function(x) {
  first <- x$estimates[1, ]
  variables <- x$variables[x$variables$p == first$p & x$variables$alpha == first$alpha, ]
  if (is.null(variables) || nrow(variables) == 0) {
    return(NULL)
  }
  top <- variables[which.max(variables$share_top), ]
  paste0(
    "Strongest key variable: ", top$variable, ", in ", format_percent(top$share_top),
    " of the riskiest 5 % of key sets",
    if (!is.na(top$risk_without)) {
      paste0("; T without it ", format_risk(top$risk_without))
    },
    "."
  )
}

qar_threshold_line <- function(x) {
  threshold <- x$diagnostics$threshold
  first <- x$estimates[1, ]
  if (is.null(threshold) || first$n_sets < 2) {
    return(NULL)
  }
  risk <- threshold$risk[threshold$p == first$p & threshold$alpha == first$alpha]
  if (all(is.na(risk))) {
    return(NULL)
  }
  paste0(
    name_of_t(first), " over pi_u from 0.02 to 0.20: ",
    format_risk(min(risk, na.rm = TRUE)), " to ", format_risk(max(risk, na.rm = TRUE)), "."
  )
}

#' @export
summary.sdc_qar_risk <- function(object, by = NULL, data = NULL, ...) {
  base <- summary.sdc_result(object, by, data)
  structure(
    list(
      title = format(object)[c(1, 3)], estimates = base$estimates,
      key_variables = object$variables,
      riskiest_key_sets = if (!is.null(object$sets)) utils::head(object$sets, 10),
      set_risk = if (!is.null(object$sets)) set_risk_summary(object)
    ),
    class = "sdc_summary"
  )
}

# Where the risks of the key sets lie, per p; a sample of them leans to the top.
set_risk_summary <- function(x) {
  sets <- x$sets[!x$sets$p %in% x$diagnostics$sampling$p, ]
  if (nrow(sets) == 0) {
    return(NULL)
  }
  parts <- split(sets$set_risk, sets$p)
  at <- function(probability) {
    vapply(parts, stats::quantile, 0, probability, names = FALSE, type = 8)
  }
  frame(
    p = as.integer(names(parts)), n_sets = lengths(parts, use.names = FALSE),
    min = unname(at(0)), median = unname(at(0.5)), mean = unname(vapply(parts, mean, 0)),
    q95 = unname(at(0.95)), q99 = unname(at(0.99)), max = unname(at(1))
  )
}

#' @export
as.data.frame.sdc_qar_risk <- function(x, ...) {
  if (is.null(x$sets)) {
    stop_sdc(
      "bad_argument",
      c(
        "This result must hold its key sets.",
        x = "They were not kept.", i = "Run `qar_risk()` with `sets = TRUE`."
      ),
      argument = "x", call = rlang::current_env()
    )
  }
  x$sets
}

#' @export
tidy_terms.sdc_qar_risk <- function(x) {
  list(
    ids = c("p", "alpha"),
    terms = c("risk", "risk_empirical", "threshold", "shape", "scale")
  )
}

#' @rdname sdc_result
#' @export
glance.sdc_qar_risk <- function(x, ...) {
  worst <- x$estimates[which.max(x$estimates$risk), ]
  if (nrow(worst) == 0) {
    worst <- x$estimates[1, ]
  }
  frame(
    n_records = worst$n_records, n_keys = length(x$diagnostics$n_distinct),
    n_analyses = nrow(x$estimates), p = worst$p, alpha = worst$alpha,
    n_sets = worst$n_sets, risk = worst$risk, status = worst$status,
    missing = x$settings$missing, n_excluded = x$diagnostics$n_excluded,
    pi_u = x$settings$pi_u, pwm = x$settings$pwm, theta_one = x$settings$theta_one,
    fingerprint = x$settings$fingerprint
  )
}

#' @export
interpret.sdc_qar_risk <- function(x, ...) {
  first <- x$estimates[1, ]
  settings <- x$settings
  number <- if (is.na(first$risk)) {
    "could not be determined"
  } else {
    paste0("is ", format_risk(first$risk))
  }
  sentence <- paste0(
    "In the file of ", plural(first$n_records, "record"), " and ",
    plural(length(x$diagnostics$n_distinct), "key variable"), ", the extreme ",
    "re-identification risk T(p = ", first$p, ", alpha = ", format(first$alpha), ") ", number,
    " (prosecutor scenario, given an attempt; ",
    if (settings$missing == "category") {
      "missing values a category of their own"
    } else {
      paste(plural(x$diagnostics$n_excluded, "incomplete record"), "excluded")
    },
    ")", if (!is.na(first$risk)) paste0(": ", qar_reading(first, settings)),
    " (QaR method, Bera et al. 2023; sdcRisk ", settings$version, "); it describes ",
    "this file and these key variables, and an intruder who knows other variables, ",
    "or more of them, faces another risk."
  )
  structure(sentence, class = c("sdc_sentence", "character"))
}

qar_reading <- function(first, settings) {
  switch(first$status,
    theta_one = "at least one such set of key variables identifies every record",
    single = "this is the average chance to pick the right record by all key variables together",
    no_exceedance = paste0(
      "the risks of the ", format_count(first$n_sets),
      " key sets do not exceed this threshold, and no tail could be fitted"
    ),
    paste0(
      "a share of ", format_percent(first$alpha), " of the ", format_count(first$n_sets),
      " sets of ", first$p, " key variables has a larger average chance to pick the right ",
      "record, as extrapolated from the ", first$n_exceedances,
      " riskiest sets by a generalised Pareto tail (pi_u = ", format(settings$pi_u), ")",
      if (first$status == "few") ", too few to rely on"
    )
  )
}

#' @export
print.sdc_sentence <- function(x, ...) {
  cat(strwrap(x), sep = "\n")
  invisible(x)
}
