# Reading a result of qar_risk(): words, tables, one sentence.

declare_measure(
  "qar_risk",
  reference = "bera2023", ids = c("p", "alpha"), lead = risk,
  terms = c("risk", "risk_empirical", "threshold", "shape", "scale"),
  each = if (nrow(e) > 1) paste0(" (p = ", p, ", alpha = ", format_number(alpha), ")"),
  title = "Extreme re-identification risk of a file (QaR)",
  question = paste0(
    "how far do ", paste(unique(range(x$settings$p)), collapse = " to "),
    " known key variables single out records, at worst?"
  ),
  size = c(
    qar_size_line(x, n_records[[1]], length(x$diagnostics$n_distinct)),
    paste0(
      name_of_t(main), " of ", plural(main$n_sets, "key set"), ", ",
      format_count(main$n_exceedances), " above u."
    )
  ),
  risk = figure(
    "Extreme risk T", "risk", scenario = "prosecutor", key = "qar", head = "T",
    question = "What risk do 1% of the key sets exceed?", attempt = TRUE,
    note = with_status(paste("of", plural(n_sets, "key set")), status),
    says = qar_reading(x, main)
  ),
  set_risk = figure(
    "Riskiest key set", "risk", if (is.null(x$sets)) NA * p else max_set_risk(x),
    scenario = "prosecutor", key = "set_risk", head = "riskiest set",
    question = "How risky is the riskiest key set?", attempt = TRUE,
    absent = if (is.null(x$sets)) "not computed: very many key sets; run qar_risk(file)",
    board = FALSE, says = paste0(
      "the riskiest of the ", sets_in_words(x, main),
      " gives an average chance of %s to pick the right record"
    )
  ),
  risk_empirical = figure(
    "Empirical quantile of the key sets", "risk", scenario = "prosecutor", attempt = TRUE,
    board = FALSE, head = "empirical"
  ),
  threshold = figure(
    "Threshold u of the tail", "risk", scenario = "prosecutor", attempt = TRUE, board = FALSE,
    head = "u"
  ),
  household_risk = figure(
    "T of households known by all members", "risk", scenario = "prosecutor", attempt = TRUE,
    board = FALSE, head = "T of households"
  ),
  notes = list(
    qar_sampling_line(x), qar_caution(x, main), qar_identifying_line(x), qar_set_line(x, main),
    qar_threshold_line(x, main)
  ),
  measured = paste0(
    "In the file of ", plural(main$n_records, "record"), " and ",
    plural(length(x$diagnostics$n_distinct), "key variable"), ", ", long_name_of_t(main),
    if (nrow(e) > 1) paste0(", the largest of ", nrow(e), " analyses,"), " was estimated"
  ),
  # One key set has a risk, which an external report may withhold.
  found = if (is.na(main$risk)) {
    if (main$n_sets == 1) {
      "T is not shown, as it reveals how many keys are different"
    } else {
      "T could not be determined"
    }
  },
  limits = paste(
    "T describes this file and these key variables: an intruder who knows other key variables,",
    "or more of them, faces another risk"
  ),
  source = qar_source, assuming = missing_clause_of(x),
  tables = list(
    key_variables = x$variables, riskiest_key_sets = utils::head(x$sets, 10),
    set_risk = set_risk_summary(x)
  )
)

qar_source <- "QaR method, Bera and others 2023"

# The risk of the riskiest key set of each size.
max_set_risk <- function(x) {
  sets <- x$sets
  if (x$settings$theta_one == "exclude") sets <- sets[sets$n_distinct < sets$n, ]
  sets$set_risk[match(x$estimates$p, sets$p)]
}

# TRUE if a share alpha of the key sets is less than one of them, and whether T
# is above all of them then.
is_beyond <- function(x, estimate) isTRUE(qar_fit(x, estimate)$beyond)
# An extreme risk by its name, such as T(3, 0.01).
name_of_t <- function(estimate) {
  paste0("T(", estimate$p, between_numbers(), format_number(estimate$alpha), ")")
}

# Size of the file in the prints of qar_risk() and of what is built on it.
qar_size_line <- function(x, n_records, n_keys) {
  paste0(
    plural(n_records, "record"), ", ", plural(n_keys, "key variable"), "; ",
    missing_clause_of(x), "."
  )
}

# Why T is not to be taken as it is.
qar_caution <- function(x, main) {
  few <- main$status %in% c("few", "no_exceedance")
  beyond <- is_beyond(x, main)
  c(
    if (is.na(main$risk)) {
      "T is not determined: see the status and ?qar_risk."
    } else if (isTRUE(qar_fit(x, main)$equal)) {
      "Equal excesses have no tail: T is the risk that the key sets above u share."
    } else if (beyond) {
      paste0(
        name_of_t(main), if (main$risk > riskiest(x, main)) " lies beyond the data", ": ",
        format_percent(main$alpha), " of ", plural(main$n_sets, "key set"),
        " is less than one. Report the riskiest key set."
      )
    },
    # The note on extrapolation already names the figure to report.
    if (few && !(beyond && is.na(enough_at(x, main)))) {
      paste0("Few exceedances: ", tail_advice(x, main, with_risk = FALSE))
    }
  )
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
  if (NROW(sets) > 0) {
    paste0(
      "Riskiest key set", if (length(unique(x$sets$p)) > 1) paste0(" of ", main$p), ": ",
      sets$key_set[[1]], " (",
      plural(sets$n_unique[[1]], "sample unique"), ", ",
      format_percent(sets$n_unique[[1]] / sets$n[[1]]), " of the records)."
    )
  }
}

# Distribution of the risks of the key sets, per p; a sample of them favours the largest.
set_risk_summary <- function(x) {
  sets <- x$sets[!x$sets$p %in% x$diagnostics$sampling$p, ]
  if (NROW(sets) == 0) {
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
      "bad_argument", "This result must hold its key sets.",
      x = "They were not kept.", i = "Run `qar_risk()` with `sets = TRUE`.",
      argument = "x"
    )
  }
  x$sets
}

qar_threshold_line <- function(x, main) {
  threshold <- x$diagnostics$threshold
  risk <- threshold$risk[threshold$p == main$p & threshold$alpha == main$alpha]
  if (main$n_sets > 1 && any(!is.na(risk))) {
    ends <- formatC(c(0.02, 0.2), digits = 2, format = "f")
    paste0(
      name_of_t(main), " over pi_u from ", ends[[1]], " to ", ends[[2]], ": ",
      paste(format_t(range(risk, na.rm = TRUE)), collapse = " to "), "."
    )
  }
}

# T by its name in a sentence.
long_name_of_t <- function(estimate) {
  paste0(
    "the extreme re-identification risk T(p = ", estimate$p, between_numbers(), "alpha = ",
    format_number(estimate$alpha), ")"
  )
}

# "165 sets of 3 key variables", and those that identify every record.
sets_in_words <- function(x, main) {
  paste0(
    plural(main$n_sets, "set"), " of ", plural(main$p, "key variable"),
    if (x$settings$theta_one != "one") {
      n <- identifying_of(x, main$p)$n_identifying
      if (n > 0) {
        paste0(
          " (", format_count(n), " that identify every record ",
          if (x$settings$theta_one == "exclude") "left out)" else "count half a key less)"
        )
      }
    }
  )
}

qar_reading <- function(x, main) {
  if (isTRUE(qar_fit(x, main)$equal)) {
    return("T is %s: the risk that the riskiest key sets share, as equal excesses have no tail")
  }
  paste0("T is %s", switch(main$status,
    theta_one = ": at least one key set identifies every record",
    single = ": the average chance to pick the right record by all key variables together",
    no_exceedance = ": the risks of the key sets do not exceed it, and no tail could be fitted"
  ), if (!main$status %in% c("theta_one", "single", "no_exceedance")) {
    paste0(
      if (is_beyond(x, main)) {
        ", beyond what so few key sets can show"
      } else {
        paste0(
          ": a share of ", format_percent(main$alpha),
          " of the key sets has a larger average chance to pick the right record"
        )
      },
      ", extrapolated from the ",
      if (main$n_exceedances == 1) "riskiest key set" else paste(main$n_exceedances, "riskiest"),
      " by a generalised Pareto tail (pi_u = ", format_number(x$settings$pi_u), ")",
      if (main$status == "few") ", too few to rely on",
      if (is_sampled(x, main$p)) " and sampled"
    )
  })
}
