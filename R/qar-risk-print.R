# Reading a result of qar_risk(): words, tables, one sentence.

declare_measure(
  "qar_risk",
  reference = "bera2023", ids = c("p", "alpha"), lead = risk,
  terms = c("risk", "risk_empirical", "threshold", "shape", "scale"),
  each = if (nrow(e) > 1) paste0(" (p = ", p, ", alpha = ", format_number(alpha), ")"),
  risk = figure(
    "Extreme risk T", "risk", scenario = "prosecutor", key = "qar",
    question = "What risk do 1 % of the key sets exceed?", attempt = TRUE,
    note = with_status(paste("of", plural(n_sets, "key set")), status)
  ),
  set_risk = figure(
    "Riskiest key set", "risk", if (is.null(x$sets)) NA else max_set_risk(x),
    scenario = "prosecutor", key = "set_risk",
    question = "How risky is the riskiest key set?", attempt = TRUE,
    absent = if (is.null(x$sets)) "not computed: very many key sets; run qar_risk(file)",
    board = FALSE
  )
)

# The risk of the riskiest key set of each size.
max_set_risk <- function(x) {
  sets <- x$sets
  sets$set_risk[match(x$estimates$p, sets$p)]
}

#' @export
describe.sdc_qar_risk <- function(x) {
  main <- main_analysis(x)
  beyond <- is_beyond(x, main)
  description(
    title = "Extreme re-identification risk of a file (QaR)",
    question = paste0("how far ", sizes_in_words(x$settings$p), " single out records, at worst?"),
    size = qar_size_line(x, x$estimates$n_records[[1]], length(x$diagnostics$n_distinct)),
    answer = c(
      if (beyond) fact(qar_set_line(x, main)),
      qar_estimate_grid(x$estimates),
      fact(qar_meaning_line(x, main)),
      fact(qar_advice_line(x, main)),
      fact(qar_sampling_line(x)),
      fact(qar_identifying_line(x)),
      fact(qar_household_line(x, main)),
      # summary() and plot() say more.
      if (!beyond) fact(qar_set_line(x, main), keep = "aside"),
      fact(qar_threshold_line(x, main), keep = "aside"),
      fact(qar_variable_line(x, main), keep = "aside")
    ),
    scenario = scenario("prosecutor"),
    notes = fact("T describes this file: no sampling error.", keep = "detail"),
    more = "summary(x), plot(x), interpret(x)",
    sentence = qar_cited(x, main)
  )
}

# "does 1 known key variable", "do 2 to 4 known key variables"
sizes_in_words <- function(p) {
  if (length(p) > 1) {
    paste("do", min(p), "to", max(p), "known key variables")
  } else {
    paste(if (p == 1) "does" else "do", plural(p, "known key variable"))
  }
}

# The analysis that words are about: the largest T, the first of several.
main_analysis <- function(x) {
  x$estimates[c(which.max(x$estimates$risk), 1)[[1]], ]
}

# Whether a share alpha of the key sets is less than one of them, and whether T
# is above all of them then.
is_beyond <- function(x, estimate) isTRUE(qar_fit(x, estimate)$beyond)
exceeds_all <- function(x, estimate) estimate$risk > riskiest(x, estimate)

# An extreme risk by its name, such as T(3, 0.01).
name_of_t <- function(estimate) {
  paste0("T(", estimate$p, between_numbers(), format_number(estimate$alpha), ")")
}

# Size of the file in the prints of qar_risk() and of what is built on it.
qar_size_line <- function(x, n_records, n_keys) {
  paste0(
    plural(n_records, "record"), ", ", plural(n_keys, "key variable"), "; ",
    qar_missing_clause(x), "."
  )
}

qar_missing_clause <- function(x) missing_clause(x$settings$missing, x$diagnostics$n_excluded)

qar_estimate_grid <- function(estimates, most = 3) {
  shown <- utils::head(estimates, most)
  grid(frame(
    p = shown$p, alpha = format_number(shown$alpha), "T" = format_t(shown$risk),
    empirical = format_t(shown$risk_empirical), u = format_t(shown$threshold),
    exceedances = paste(shown$n_exceedances, "of", format_count(shown$n_sets)),
    status = shown$status
  ), nrow(estimates))
}

qar_meaning_line <- function(x, main) {
  if (is.na(main$risk)) {
    return("T is not determined: see the status and ?qar_risk.")
  }
  meaning <- if (isTRUE(qar_fit(x, main)$equal)) {
    "the risk that the key sets above u share; equal excesses have no tail."
  } else {
    switch(main$status,
      theta_one = "a key set identifies every record.",
      single = "the one key set has this share of distinct keys among the records.",
      no_exceedance = paste(
        if (x$settings$theta_one == "one" && !is_sampled(x, main$p)) "no" else "hardly any",
        "key set has a larger share of distinct keys among the records."
      ),
      qar_tail_words(x, main)
    )
  }
  paste0("Meaning of ", name_of_t(main), ": ", meaning)
}

qar_tail_words <- function(x, main) {
  if (is_beyond(x, main)) {
    return(paste0(
      if (exceeds_all(x, main)) "beyond the data: ",
      format_percent(main$alpha), " of ", plural(main$n_sets, "key set"),
      " is less than one. Report the riskiest key set."
    ))
  }
  paste0(
    format_percent(main$alpha), " of the key sets", sets_left_words(x),
    " have more than ", format_percent(main$risk), " distinct keys among the records",
    if (!is.null(x$sets) && !is_sampled(x, main$p)) {
      paste0(" (", sum(sets_in_use(x, main$p)$set_risk > main$risk), " of ",
             format_count(main$n_sets), " here)")
    },
    "."
  )
}

# " left" where key sets that identify every record are left out.
sets_left_words <- function(x) {
  if (x$settings$theta_one == "exclude" && any(x$diagnostics$identifying$n_identifying > 0)) {
    " left"
  }
}

qar_advice_line <- function(x, main) {
  few <- main$status %in% c("few", "no_exceedance")
  # What lies beyond the data has said what to report.
  if (!few || (is_beyond(x, main) && is.na(enough_at(x, main)))) {
    return(NULL)
  }
  paste0("Few exceedances: ", tail_advice(x, main, with_risk = FALSE))
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
  sizes <- x$diagnostics$identifying$p[x$diagnostics$identifying$n_identifying > 0]
  if (length(sizes) == 0) {
    return(NULL)
  }
  size <- sizes[[1]]
  treatment <- switch(x$settings$theta_one,
    one = "Identify every record: ", clamp = "Identify every record, clamped: ",
    exclude = "Left out, as they identify every record: "
  )
  without <- x$diagnostics$without_theta_one
  without <- without[without$p == size & !is.na(without$risk), ]
  paste0(
    treatment, identifying_words(x, size),
    if (x$settings$theta_one == "one" && nrow(without) > 0) {
      paste0("; without such sets ", name_of_t(without[1, ]), " = ", format_t(without$risk[[1]]))
    },
    "."
  )
}

qar_set_line <- function(x, main) {
  sets <- if (!is.null(x$sets)) sets_in_use(x, main$p)
  if (is.null(sets) || nrow(sets) == 0) {
    largest <- qar_fit(x, main)$largest
    return(if (!is.na(largest)) paste0("Risk of the riskiest key set: ", format_t(largest), "."))
  }
  top <- sets[1, ]
  paste0(
    "Riskiest key set", if (length(unique(x$sets$p)) > 1) paste(" of", main$p),
    sets_left_words(x), ": ", top$key_set, " (risk ", format_t(top$set_risk), ", ",
    plural(top$n_unique, "sample unique"), ", ",
    format_percent(top$n_unique / top$n), " of the records)."
  )
}

qar_variable_line <- function(x, main) {
  variables <- x$variables[x$variables$p == main$p & x$variables$alpha == main$alpha, ]
  # Of one key set every variable is in all of it.
  if (is.null(variables) || nrow(variables) == 0 || main$n_sets < 2) {
    return(NULL)
  }
  top <- variables[variables$share_top >= max(variables$share_top), ]
  if (nrow(top) > 1) {
    return(paste0(
      "Strongest key variables: ", qar_listed_names(top$variable), ", each in ",
      format_percent(top$share_top[[1]]), " of the riskiest 5 % of key sets."
    ))
  }
  paste0(
    "Strongest key variable: ", top$variable, ", in ", format_percent(top$share_top),
    " of the riskiest 5 % of key sets",
    if (!is.na(top$risk_without)) {
      paste0("; T without it ", format_t(top$risk_without))
    },
    if (isTRUE(top$risk_without > main$risk)) ", as its other key sets were less risky",
    "."
  )
}

# Households by who lives together.
qar_household_line <- function(x, main) {
  if (is.null(main$household_risk) || is.na(main$n_households)) {
    return(NULL)
  }
  top <- if (!is.null(x$sets)) x$sets[x$sets$p == main$p, ]
  top <- top[which.max(top$household_set_risk), ]
  paste0(
    plural(main$n_households, "household"), ", known by the keys of all members: ",
    name_of_t(main), " = ", format_t(main$household_risk),
    if (length(top) && nrow(top)) {
      paste0(
        "; riskiest ", top$key_set, " (", format_t(top$household_set_risk), ", ",
        format_count(top$n_unique_households), " unique)"
      )
    },
    "."
  )
}

# "a, b, c and 2 more"
qar_listed_names <- function(x, most = 3) {
  rest <- length(x) - most
  paste0(
    paste(utils::head(x, most), collapse = ", "), if (rest > 0) paste0(" and ", rest, " more")
  )
}

qar_threshold_line <- function(x, main) {
  threshold <- x$diagnostics$threshold
  if (is.null(threshold) || main$n_sets < 2) {
    return(NULL)
  }
  risk <- threshold$risk[threshold$p == main$p & threshold$alpha == main$alpha]
  if (all(is.na(risk))) {
    return(NULL)
  }
  paste0(
    name_of_t(main), " over pi_u from ", formatC(0.02, digits = 2, format = "f"), " to ",
    formatC(0.2, digits = 2, format = "f"), ": ",
    format_t(min(risk, na.rm = TRUE)), " to ", format_t(max(risk, na.rm = TRUE)), "."
  )
}

#' @export
summary.sdc_qar_risk <- function(object, by = NULL, data = NULL, ...) {
  enter_verb("summary", object)
  # A risk of key sets has no strata.
  risk_by_strata(object, by, data)
  new_summary(
    object,
    estimates = object$estimates, key_variables = object$variables,
    riskiest_key_sets = if (!is.null(object$sets)) utils::head(object$sets, 10),
    set_risk = if (!is.null(object$sets)) set_risk_summary(object)
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
  enter_verb("as.data.frame", x)
  if (is.null(x$sets)) {
    stop_sdc(
      "bad_argument",
      c(
        "This result must hold its key sets.",
        x = "They were not kept.", i = "Run `qar_risk()` with `sets = TRUE`."
      ),
      argument = "x"
    )
  }
  x$sets
}

# T by its name in a sentence.
long_name_of_t <- function(estimate) {
  paste0(
    "the extreme re-identification risk T(p = ", estimate$p, between_numbers(), "alpha = ",
    format_number(estimate$alpha), ")"
  )
}

qar_source <- "QaR method, Bera and others 2023"

qar_cited <- function(x, main) {
  n <- nrow(x$estimates)
  cited(
    measured = paste0(
      "In the file of ", plural(main$n_records, "record"), " and ",
      plural(length(x$diagnostics$n_distinct), "key variable"), ", ", long_name_of_t(main),
      if (n > 1) paste0(", the largest of ", n, " analyses,"), " was estimated"
    ),
    found = paste0(
      qar_lead(x, main), "T ",
      if (is.na(main$risk)) {
        "could not be determined"
      } else {
        paste0("is ", format_t(main$risk), ": ", qar_reading(x, main))
      }
    ),
    limits = paste(
      "T describes this file and these key variables: an intruder who knows other key variables,",
      "or more of them, faces another risk"
    ),
    source = qar_source, assuming = qar_missing_clause(x)
  )
}

# Where T lies beyond all key sets, the riskiest of them comes first.
qar_lead <- function(x, main) {
  if (!is_beyond(x, main)) {
    return(NULL)
  }
  paste0(
    "the riskiest of the ", sets_in_words(x, main), " gives an average chance of ",
    format_t(riskiest(x, main)), " to pick the right record, and "
  )
}

# "165 sets of 3 key variables", and those that identify every record.
sets_in_words <- function(x, main) {
  of_size <- identifying_of(x, main$p)
  sets <- paste0(
    plural(main$n_sets, "set"), " of ", plural(main$p, "key variable")
  )
  if (of_size$n_identifying == 0 || x$settings$theta_one == "one") {
    return(sets)
  }
  n <- paste0(if (!of_size$all_known) "at least ", format_count(of_size$n_identifying))
  if (x$settings$theta_one == "exclude") {
    paste0(
      sets, " that ", if (main$n_sets == 1) "does" else "do", " not identify every record (", n,
      " that ", if (of_size$n_identifying == 1) "does is" else "do are", " left out)"
    )
  } else {
    paste0(
      sets, " (", n, " that ", if (of_size$n_identifying == 1) "identifies" else "identify",
      " every record counted half a cell less)"
    )
  }
}

qar_reading <- function(x, main) {
  if (isTRUE(qar_fit(x, main)$equal)) {
    return(paste0(
      "the risk that the ", plural(main$n_exceedances, "riskiest set"), " share, of ",
      sets_in_words(x, main), "; equal excesses have no tail to extrapolate"
    ))
  }
  switch(main$status,
    theta_one = paste0(
      "at least one such set of key variables identifies every record (",
      format_count(identifying_of(x, main$p)$n_identifying), " of ",
      format_count(identifying_of(x, main$p)$n_counted), " counted)"
    ),
    single = "this is the average chance to pick the right record by all key variables together",
    no_exceedance = paste0(
      "the risks of the ", sets_in_words(x, main),
      " do not exceed this threshold, and no tail could be fitted"
    ),
    paste0(qar_tail_reading(x, main), qar_sample_reading(x, main))
  )
}

qar_tail_reading <- function(x, main) {
  fit <- paste0(
    "extrapolated from the ",
    if (main$n_exceedances == 1) "riskiest set" else paste(main$n_exceedances, "riskiest sets"),
    " by a generalised Pareto tail (pi_u = ", format_number(x$settings$pi_u), ")",
    if (main$status == "few") ", too few to rely on"
  )
  if (is_beyond(x, main)) {
    paste0(
      fit, if (exceeds_all(x, main)) ", beyond all sets, as " else ", where ",
      format_percent(main$alpha), " of the sets is less than one"
    )
  } else {
    paste0(
      "a share of ", format_percent(main$alpha), " of the ", sets_in_words(x, main),
      " has a larger average chance to pick the right record, as ", fit
    )
  }
}

qar_sample_reading <- function(x, main) {
  sampling <- x$diagnostics$sampling
  sampling <- sampling[sampling$p == main$p & sampling$alpha == main$alpha, ]
  if (is.null(sampling) || nrow(sampling) == 0) {
    return(NULL)
  }
  paste0(
    ", from a sample of ", format_count(sampling$n_counted), " of the ",
    format_count(sampling$n_sets), " sets (", sampling_error(sampling), ")"
  )
}
