# Result of longitudinal_risk() from its three fits, and the conditions it signals.

signal_longitudinal <- function(x) {
  alone <- vapply(x$fits, function(f) f$fits[[1]]$n_unique_alone, 0)
  zero <- x$estimates$n_zero_margins > 0 & alone > 0
  if (any(zero)) {
    warn_sdc(
      "zero_margins",
      "Sample uniques should not be alone on margins of a model that has zero margins.",
      x = paste0(
        "Alone: ", paste0(
          format_count(alone[zero]), " of ", format_count(x$estimates$n_unique[zero]), " (",
          x$estimates$scenario[zero], ")",
          collapse = ", "
        ), "."
      ),
      i = "There a record's own weight decides its risk: fewer interactions or coarser keys help.",
      models = x$estimates$scenario[zero]
    )
  }
  signal_bias(x$estimates, x$estimates$scenario)
  small <- x$fits[[1]]$diagnostics
  if (small$n_small_weights > 0) {
    warn_small_weights(
      small$n_small_weights, small$n_occupied, "nobody else is expected to have such a key"
    )
  }
  if (all(x$estimates$n_unique == 0)) {
    inform_sdc(
      "no_sample_unique",
      "No record is unique in the sample, in any scenario: tau1 and tau2 are zero."
    )
  }
}

# Expected persons in the first scenario below which no ratio to it is given.
least_for_ratio <- 0.5

new_longitudinal_risk <- function(fits, found, wave2, columns, settings, this_call) {
  scenarios <- names(fits)
  estimates <- do.call(rbind, lapply(fits, `[[`, "estimates"))
  estimates$model <- settings$model
  # A quotient to a risk of nearly nobody says nothing.
  ratio <- function(x) if (x[[1]] >= least_for_ratio) x / x[[1]] else rep(NA_real_, length(x))
  estimates <- data.frame(
    scenario = scenarios, estimates, ratio = ratio(estimates$tau1),
    ratio_tau2 = ratio(estimates$tau2)
  )
  links <- lapply(found, `[[`, "link")
  any_link <- function(f) Reduce(`|`, lapply(links, f))
  records <- list(
    linked = any_link(function(l) !is.na(l$records$match_prob)),
    certain = any_link(function(l) l$records$certain)
  )
  for (scenario in scenarios) {
    for (measure in c("tau1", "tau2")) {
      records[[paste0(measure, "_", scenario)]] <- fits[[scenario]]$records[[measure]]
    }
  }
  settings <- c(
    list(key_vars = columns$keys, key_groups = NULL, change_vars = columns$change),
    settings, list(
      id = columns$id, n = nrow(wave2),
      fingerprint = fits[[1]]$settings$fingerprint,
      version = own_version()
    )
  )
  new_sdc_result(
    "sdc_longitudinal_risk",
    estimates = renumber(estimates), records = do.call(frame, records),
    settings = settings,
    diagnostics = list(
      n_excluded = fits[[1]]$diagnostics$n_excluded[[1]],
      population = fits[[1]]$diagnostics$population[[1]],
      models = do.call(rbind, Map(function(fit, scenario) {
        data.frame(scenario = scenario, fit$diagnostics$models)
      }, fits, scenarios))
    ),
    call = this_call,
    changes = change_counts(found, columns),
    link = if (length(links) == 1) links[[1]] else links, fits = fits
  )
}

change_counts <- function(found, columns) {
  parts <- lapply(names(found), function(release) {
    one <- found[[release]]
    n <- length(columns$change)
    frame(
      release = rep(release, n), variable = columns$change,
      n_linked = rep(one$link$estimates$n_linked, n), n_changed = one$all$n_changed,
      n_certain = rep(one$link$estimates$n_certain, n),
      n_changed_certain = one$certain$n_changed
    )
  })
  do.call(rbind, parts)
}
