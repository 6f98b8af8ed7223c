# Results of a log-linear fit, and the conditions it signals.

new_loglinear_risk <- function(found, settings, equal_weights, this_call) {
  fits <- lapply(found, loglinear_fit)
  new_sdc_result(
    "sdc_loglinear_risk",
    estimates = do.call(rbind, lapply(found, loglinear_estimates)),
    records = fits[[1]]$records, settings = settings,
    diagnostics = list(
      models = do.call(rbind, lapply(found, loglinear_models)),
      n_excluded = vapply(found, function(f) f$n_all - f$n, 0),
      population = vapply(found, `[[`, 0, "population"),
      n_small_weights = vapply(found, `[[`, 0, "n_below"),
      n_occupied = vapply(found, `[[`, 0, "n_occupied"), equal_weights = equal_weights
    ),
    call = this_call, fits = fits
  )
}

loglinear_estimates <- function(found) {
  m <- found$measures
  about <- loglinear_status(found)
  ends <- if (about$has_interval) found$spread else lapply(found$spread, `is.na<-`, 1:2)
  frame(
    key_set = found$key_set, model = found$model, sampling = found$sampling,
    n = found$n, n_cells = found$n_cells, n_unique = found$n_unique,
    tau1 = m$tau1, tau2 = m$tau2, tau1_rate = m$tau1 / found$n, tau2_rate = m$tau2 / found$n,
    tau1_se = ends$se[[1]], tau1_low = ends$low[[1]], tau1_high = ends$high[[1]],
    tau2_se = ends$se[[2]], tau2_low = ends$low[[2]], tau2_high = ends$high[[2]],
    b1 = m$b1, z1 = m$z1, z1_robust = m$z1_robust,
    b2 = m$b2, z2 = m$z2, z2_robust = m$z2_robust,
    sampling_fraction = found$fraction, n_zero_margins = found$n_zero_margins,
    interval = if (about$has_interval) "corrected" else "none",
    tau1_corrected = ends$corrected[[1]], tau1_bias = m$tau1 - ends$corrected[[1]],
    tau1_corrected_se = ends$corrected_se[[1]],
    tau2_corrected = ends$corrected[[2]], tau2_bias = m$tau2 - ends$corrected[[2]],
    tau2_corrected_se = ends$corrected_se[[2]],
    status = about$status
  )
}

# Largest criterion for which the expansion behind it holds.
widest_z <- 3

# The largest deviation of a margin of a fit that has converged, as a share of itself. Others
# creep towards the boundary of their model.
converged <- 1e-9

# TRUE if a fit can be reported, and whether it has an interval.
loglinear_status <- function(found) {
  spread <- found$spread
  known <- !is.na(spread$se[[1]])
  z <- if (known) spread$z[[2]] else found$measures$z2
  underfits <- !is.na(z) && z > widest_z
  bias <- c(found$measures$tau1, found$measures$tau2) - spread$corrected
  tau <- spread$corrected + bias
  # A share of a person is no bias.
  off <- abs(bias) > pmax(spread$corrected_se, 0.005) |
    tau < spread$low - 0.005 | tau > spread$high + 0.005
  list(
    status = if (found$deviation > converged) {
      "boundary"
    } else if (underfits) {
      "underfits"
    } else if (!is.na(z) && z < -widest_z) {
      "overfits"
    } else if (known && any(off)) {
      "biased"
    } else {
      "ok"
    },
    has_interval = known && !underfits && found$interval != "none"
  )
}

# The part of one fit that is kept with its row of estimates.
loglinear_fit <- function(found) {
  term <- function(v) paste(found$keys[v], collapse = ":")
  list(
    key_vars = found$keys, terms = vapply(found$terms, term, ""),
    method = found$method, n_parameters = found$n_parameters,
    n_zero_margins = found$n_zero_margins, n_unique_alone = found$n_alone,
    passes = found$passes, deviation = found$deviation,
    expected_unique = found$measures$expected_uniques,
    path = if (length(found$path$tau1)) search_path(found),
    tried = if (length(found$path$tau1)) search_tried(found),
    n_too_large = found$n_too_large,
    records = frame(
      sample_unique = spread_records(found$sample_unique, found$rows, found$n_rows),
      tau1 = spread_records(found$tau1, found$rows, found$n_rows),
      tau2 = spread_records(found$tau2, found$rows, found$n_rows),
      lambda = spread_records(found$lambda, found$rows, found$n_rows)
    )
  )
}

interaction_names <- function(found, first, second) {
  if (length(first) == 0) {
    return(character())
  }
  # In the order of the key variables.
  one <- pmax(pmin(first, second), 1)
  two <- pmax(first, second, 1)
  ifelse(first == 0, "(independence)", paste(found$keys[one], found$keys[two], sep = ":"))
}

search_path <- function(found) {
  path <- found$path
  frame(
    step = seq_along(path$tau1) - 1L,
    added = interaction_names(found, found$path_first, found$path_second),
    kept = found$path_kept, n_terms = found$path_n_terms,
    tau1 = path$tau1, tau2 = path$tau2,
    b1 = path$b1, z1 = path$z1, b2 = path$b2, z2 = path$z2
  )
}

search_tried <- function(found) {
  tried <- found$tried
  frame(
    step = found$tried_step,
    added = interaction_names(found, found$tried_first, found$tried_second),
    tau1 = tried$tau1, tau2 = tried$tau2, z1 = tried$z1, z2 = tried$z2
  )
}

# All models fitted on the way to one row of estimates.
loglinear_models <- function(found) {
  row <- function(label, m) {
    n <- length(label)
    frame(
      key_set = rep(found$key_set, n), model = rep(found$model, n), fitted = label,
      tau1 = m$tau1, tau2 = m$tau2, z1 = m$z1, z2 = m$z2,
      acceptable = !is.na(m$z2) & abs(m$z2) < 1.96
    )
  }
  reportable <- loglinear_status(found)$status == "ok"
  if (length(found$path$tau1) == 0) {
    only <- row(found$model, found$measures)
    only$acceptable <- only$acceptable & reportable
    return(only)
  }
  path <- search_path(found)
  tried <- search_tried(found)
  taken <- row(sprintf("step %d: %s", path$step, path$added), path)
  last <- max(which(path$kept))
  taken$acceptable[[last]] <- taken$acceptable[[last]] && reportable
  rbind(taken, row(sprintf("step %d: %s", tried$step, tried$added), tried))
}

signal_loglinear <- function(x) {
  signal_margins(x)
  signal_bias(x$estimates, x$estimates$model)
  small <- x$diagnostics$n_small_weights
  if (any(small > 0)) {
    at <- which.max(small)
    warn_small_weights(
      small[[at]], x$diagnostics$n_occupied[[at]], "nobody else is expected to have such a key"
    )
  }
  signal_fits(x)
}

signal_margins <- function(x) {
  estimates <- x$estimates
  alone <- vapply(x$fits, `[[`, 0, "n_unique_alone")
  zero <- estimates$n_zero_margins > 0 & alone > 0
  if (any(zero)) {
    at <- which(zero)[[1]]
    warn_sdc(
      "zero_margins",
      "Sample uniques should not be alone on margins of a model that has zero margins.",
      x = paste0(
        shorten(estimates$model[[at]], 60),
        if (length(unique(estimates$key_set)) > 1) {
          paste0(", ", shorten(estimates$key_set[[at]], 40))
        }, ": ",
        plural(estimates$n_zero_margins[[at]], "cell"), " of the margins without a record, ",
        plural(alone[[at]], "sample unique"), " of ",
        format_count(estimates$n_unique[[at]]), " alone on a margin",
        if (sum(zero) > 1) paste0("; likewise in ", plural(sum(zero) - 1, "more model")), "."
      ),
      i = "There a record's own weight decides its risk: fewer interactions or coarser keys help.",
      models = estimates$model[zero]
    )
  }
}

signal_fits <- function(x) {
  estimates <- x$estimates
  deviation <- vapply(x$fits, `[[`, 0, "deviation")
  if (any(deviation > 1.01e-5)) {
    warn_sdc(
      "rough_fit", "The margins of the fit should equal those of the data to five digits.",
      x = paste0("They differ by up to ", format_short(max(deviation)), " of themselves."),
      i = "The fit lies on the boundary of its model: fewer interactions or coarser keys help.",
      models = estimates$model[deviation > 1.01e-5]
    )
  }
  skipped <- vapply(x$fits, `[[`, 0, "n_too_large")
  if (any(skipped > 0)) {
    warn_sdc(
      "search_limited", "A search should be able to fit every two-way interaction.",
      x = paste0(
        plural(max(skipped), "interaction"), " could not be tried: beyond `max_cells` cells."
      )
    )
  }
  if (any(estimates$n_unique == 0)) {
    inform_sdc(
      "no_sample_unique", "No record is unique in the sample: tau1 and tau2 are zero.",
      i = paste0(
        "Key sets: ",
        quote_names(shorten(unique(estimates$key_set[estimates$n_unique == 0]), 60)), "."
      )
    )
  }
}

# Says which estimates lie off what corrects them; `label` names them.
signal_bias <- function(estimates, label) {
  off <- estimates$status %in% c("biased", "overfits")
  single <- estimates$sampling == "cell"
  found <- function(rows) {
    at <- which(rows)[[1]]
    e <- estimates[at, ]
    pair <- function(i) {
      corrected <- e[[paste0("tau", i, "_corrected")]]
      paste0(
        "tau", i, " ", format_short(e[[paste0("tau", i)]]),
        if (!is.na(corrected)) paste0(" (corrected ", format_short(corrected), ")")
      )
    }
    paste0(
      shorten(label[[at]], 60), ": ", pair(1L), ", ", pair(2L),
      if (sum(rows) > 1) paste0("; likewise ", sum(rows) - 1, " more"), "."
    )
  }
  if (any(off & !single)) {
    warn_sdc(
      "biased_estimate", "An estimate to report should agree with what corrects its bias.",
      x = found(off & !single),
      i = "Report the corrected values, which the intervals belong to.",
      i = "A search, fewer interactions or coarser categories leave less to correct.",
      models = label[off & !single]
    )
  }
  if (any(off & single)) {
    warn_sdc(
      "cell_fractions", "With `sampling = \"cell\"` weights must depend on the key variables.",
      x = found(off & single),
      i = "Weights that differ within cells make it biased: `sampling = \"raked\"` is not.",
      models = label[off & single]
    )
  }
}
