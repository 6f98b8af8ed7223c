# The rows of file_check() from the results of its measures, and what each record and
# each key variable has of them.

# One row per measure: the catalogue with what the results say.
check_rows <- function(found, asked) {
  catalogue <- check_catalogue()
  values <- c(
    match_values(found$n_matches, asked), qar_values(found$qar_risk),
    individual_values(found$individual_risk, asked),
    loglinear_values(found$loglinear_risk), uniqueness_values(found),
    tabulation_values(found$exhaustive_tabulation)
  )
  # A limit on what has no row would be passed over in silence.
  absent <- setdiff(names(asked$limit), names(values))
  values <- c(values, unlist(lapply(absent, function(measure) {
    unmeasured(measure, why_absent(measure))
  }), recursive = FALSE))
  rows <- catalogue[catalogue$measure %in% names(values), ]
  of <- function(field) {
    vapply(values[rows$measure], function(v) as.double(v[[field]]), 0, USE.NAMES = FALSE)
  }
  rows$value <- of("value")
  rows$low <- of("low")
  rows$high <- of("high")
  rows$reason <- vapply(values[rows$measure], `[[`, "", "reason", USE.NAMES = FALSE)
  limits <- unlist(asked$limit)
  rows$limit <- unname(if (is.null(limits)) NA_real_ else limits[rows$measure])
  rows$verdict <- judge(rows$value, rows$limit, rows$unit)
  rows <- without_misfits(rows, found$loglinear_risk)
  rows <- without_other_people(rows, asked$facts)
  rows <- without_boundary(rows, found$population_uniqueness)
  rownames(rows) <- NULL
  rows
}

why_absent <- function(measure) {
  switch(measure,
    household = "no column of households was named: hh_id",
    n_homogeneous = "no sensitive variable was named: sensitive",
    "the model has no correction here: no interval"
  )
}

# A value with its interval, or the reason for none.
measured <- function(value, low = NA, high = NA) {
  missing <- is.na(value)
  list(
    value = value, low = low, high = high,
    reason = if (missing) "its value is not determined on this file" else ""
  )
}

unmeasured <- function(measures, reason) {
  out <- lapply(measures, function(m) list(value = NA, low = NA, high = NA, reason = reason))
  rlang::set_names(out, measures)
}

judge <- function(value, limit, unit) {
  beyond <- ifelse(unit == "matches", value < limit, value > limit)
  ifelse(
    is.na(value), "not applicable",
    ifelse(is.na(limit), "no limit", ifelse(beyond, "above", "ok"))
  )
}

# What a model that does not fit finds below a limit is no reason to call it kept.
without_misfits <- function(rows, model) {
  status <- if (!is.character(model)) model$estimates$status[[1]] else "ok"
  if (status == "ok") {
    return(rows)
  }
  kept <- rows$measure %in% c("tau1", "tau1_rate", "tau2") & rows$verdict == "ok"
  unclear(rows, kept, if (status == "underfits") {
    paste0("the model does not fit; run ", better_model)
  } else {
    "only the corrected value can be reported"
  })
}

# Weights are about one population, the size that was given about another: whether the
# risks by weights are above a limit is not known.
without_other_people <- function(rows, facts) {
  if (!populations_differ(facts)) {
    return(rows)
  }
  by_weights <- c("journalist", "expected_reidentifications", "reidentification_rate", "household")
  unclear(
    rows, rows$measure %in% by_weights & rows$verdict %in% c("ok", "above"),
    "weights and population disagree"
  )
}

populations_differ <- function(facts) {
  facts$from == "given" && !is.null(facts$sum_weights) &&
    abs(facts$sum_weights / facts$pop_size - 1) >= 0.05
}

without_boundary <- function(rows, pitman) {
  status <- if (!is.character(pitman)) pitman$estimates$status[[1]] else "ok"
  unclear(
    rows, status != "ok" & rows$measure == "pitman" & rows$verdict %in% c("ok", "above"),
    "its likelihood has no maximum inside its range"
  )
}

# A value that cannot be judged.
unclear <- function(rows, at, reason) {
  rows$verdict[at] <- "not applicable"
  rows$reason[at] <- reason
  rows
}

better_model <- "loglinear_risk(file, model = \"search\")"

match_values <- function(found, asked) {
  measures <- c("k", "n_unique", "prop_unique", if (!is.null(asked$sensitive)) "n_homogeneous")
  if (is.character(found)) {
    return(unmeasured(measures, found))
  }
  e <- found$estimates
  if (e$n == 0) {
    return(unmeasured(measures, "no record is complete"))
  }
  values <- list(
    k = measured(min(judged_rows(found)$n_matches, na.rm = TRUE)), n_unique = measured(e$n_unique),
    prop_unique = measured(e$prop_unique)
  )
  refused <- found$diagnostics$sensitive_refused
  c(values, if (!is.null(refused)) {
    unmeasured("n_homogeneous", refused)
  } else if (!is.null(asked$sensitive)) {
    list(n_homogeneous = measured(max(e$n_homogeneous)))
  })
}

qar_values <- function(found) {
  if (is.character(found)) {
    return(unmeasured(c("qar", "set_risk"), found))
  }
  c(
    list(qar = measured(found$estimates$risk[[1]])),
    if (is.null(found$sets)) {
      unmeasured("set_risk", "not computed: very many key sets; run qar_risk(file)")
    } else {
      list(set_risk = measured(found$sets$set_risk[[1]]))
    }
  )
}

individual_values <- function(found, asked) {
  measures <- c(
    "journalist", "expected_reidentifications", "reidentification_rate",
    if (!is.null(asked$hh_id)) "household"
  )
  if (is.character(found)) {
    return(unmeasured(measures, found))
  }
  e <- found$estimates
  values <- list(
    journalist = measured(e$journalist_max),
    expected_reidentifications = measured(e$expected_reidentifications),
    reidentification_rate = measured(e$reidentification_rate)
  )
  c(values, if (!is.null(e$household_max)) {
    list(household = measured(e$household_max))
  } else if (!is.null(asked$hh_id)) {
    unmeasured("household", found$diagnostics$household_refused)
  })
}

# Intervals belong to the corrected values.
loglinear_values <- function(found) {
  if (is.character(found)) {
    return(unmeasured(c("tau1", "tau1_rate", "tau2"), found))
  }
  e <- found$estimates[1, ]
  values <- list(
    tau1 = measured(e$tau1), tau1_rate = measured(e$tau1_rate), tau2 = measured(e$tau2)
  )
  if (is.na(e$tau1_corrected)) {
    return(values)
  }
  c(values, list(
    tau1_corrected = measured(e$tau1_corrected, e$tau1_low, e$tau1_high),
    tau2_corrected = measured(e$tau2_corrected, e$tau2_low, e$tau2_high)
  ))
}

uniqueness_values <- function(found) {
  copula <- found$copula_uniqueness
  pitman <- found$population_uniqueness
  c(
    if (is.character(copula)) {
      unmeasured("population_uniqueness", copula)
    } else {
      e <- copula$estimates[1, ]
      list(population_uniqueness = measured(
        e$population_uniqueness, e$uniqueness_low, e$uniqueness_high
      ))
    },
    if (is.character(pitman)) {
      unmeasured("pitman", pitman)
    } else {
      list(pitman = measured(pitman$estimates$population_uniqueness[[1]]))
    }
  )
}

tabulation_values <- function(found) {
  if (is.character(found)) {
    return(unmeasured(c("small_cells", "small_cell_records"), found))
  }
  list(
    small_cells = measured(found$estimates$prop_cells),
    small_cell_records = measured(found$estimates$prop_records)
  )
}

# Records ------------------------------------------------------------------------

# What every record has of the measures that judge records, and how many of them are
# above each limit.
check_records_of <- function(found, table, asked) {
  matches <- found$n_matches
  individual <- found$individual_risk
  tables <- found$exhaustive_tabulation
  columns <- list(
    n_matches = if (!is.character(matches)) judged_rows(matches)$n_matches,
    journalist_risk = if (!is.character(individual)) judged_rows(individual)$risk,
    household_risk = if (!is.character(individual)) judged_rows(individual)$household_risk,
    n_violations = if (!is.character(tables)) judged_rows(tables)$n_violations
  )
  columns <- columns[!vapply(columns, is.null, NA)]
  beyond <- list(
    k = compared(columns$n_matches, `<`, asked$limit$k),
    journalist = compared(columns$journalist_risk, `>`, asked$limit$journalist),
    household = compared(columns$household_risk, `>`, asked$limit$household)
  )
  beyond <- beyond[!vapply(beyond, is.null, NA)]
  columns$above <- if (length(beyond)) Reduce(`|`, beyond) else rep(NA, table$n_rows)
  n_above <- vapply(beyond, function(b) as.double(sum_over(b, table$times)), 0)
  list(records = do.call(frame, columns), n_above = n_above)
}

# Whether each record is beyond a limit; one without a value is not.
compared <- function(values, is_beyond, limit) {
  if (!is.null(values) && !is.null(limit)) {
    beyond <- is_beyond(values, limit)
    beyond & !is.na(beyond)
  }
}

# Variables by what dropping each of them would buy.
check_drivers <- function(found, keys) {
  overview <- found$key_overview
  tail <- found$qar_risk
  if (!is.character(tail)) tail <- tail$variables
  if (is.character(tail)) tail <- NULL
  if (is.character(overview) && is.null(tail)) {
    return(NULL)
  }
  counted <- !is.character(overview)
  names <- if (counted) overview$estimates$variable else tail$variable
  of <- function(table, column) {
    if (is.null(table)) {
      return(rep(NA_real_, length(names)))
    }
    table[[column]][match(names, table$variable)]
  }
  table <- if (counted) overview$estimates
  drivers <- frame(
    variable = names, n_unique_without = as_count(of(table, "n_unique_without")),
    unique_change = as_count(of(table, "unique_change")), risk_without = of(tail, "risk_without"),
    share_top = of(tail, "share_top")
  )
  drivers <- drivers[order(drivers$unique_change, drivers$risk_without, -drivers$share_top), ]
  rownames(drivers) <- NULL
  drivers
}
