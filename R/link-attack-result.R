# Result of link_attack() from the numbers of the core.

new_link_attack <- function(found, coded, settings, tolerance, this_call) {
  has_ids <- !is.null(coded$partners)
  linked <- if (has_ids) !is.na(coded$partners) else logical(coded$n[["wave2"]])
  records <- attack_records(found$found, coded$ids, linked, has_ids)
  judged <- by_wave_pattern(records, coded)
  result <- new_sdc_result(
    "sdc_link_attack",
    estimates = attack_estimates(found, linked, has_ids, coded$n[["wave1"]], settings),
    records = judged$records,
    settings = list(
      key_vars = coded$key_vars, id = coded$id, weights = settings$intruders,
      by_value = settings$by_value, tolerance = tolerance, prior_match = settings$prior_match,
      coverage = found$coverage, coverage_given = !is.null(settings$coverage),
      one_to_one = settings$one_to_one, missing = "wildcard", candidates = TRUE,
      n = coded$n[["wave2"]], fingerprint = coded$own_fingerprint,
      wave_fingerprints = coded$fingerprints,
      version = own_version()
    ),
    diagnostics = attack_diagnostics(found, coded),
    call = this_call,
    curve = attack_curve(found$found, settings$thresholds, has_ids),
    variables = attack_variables(found, coded$key_vars, has_ids),
    levels = attack_levels(found$found[[1]], coded$key_vars),
    distances = found$near$distances, margins = found$near$margins
  )
  result$patterns <- judged$patterns
  result
}

# One row per intruder, the one who counts first.
attack_estimates <- function(found, linked, has_ids, n_known, settings) {
  order <- union("count", names(found$found))
  each <- unname(found$found[order])
  n <- length(each)
  of <- function(name) vapply(each, function(one) one[[name]], 0)
  known <- function(x) if (has_ids) x else rep(x[NA_integer_], n)
  n_linked <- sum(linked)
  weighs <- !order %in% unweighed
  at_90 <- which.min(abs(settings$thresholds - 0.9))
  claims <- function(name) {
    out <- vapply(each, function(one) one[[name]][[at_90]], 0)
    out[!weighs] <- NA_real_
    out
  }
  # A sum of nothing is -0 in the core.
  expected <- of("expected") + 0
  single <- as.integer(of("n_single_best"))
  certain <- as.integer(of("n_certain"))
  out <- frame(
    intruder = order, n_known = rep(n_known, n), n_released = rep(length(linked), n),
    n_linked = known(rep(n_linked, n)), expected_correct = known(expected),
    prop_expected = known(if (n_linked > 0) expected / n_linked else rep(NA_real_, n)),
    n_certain = known(certain), n_single_best = single,
    n_single_best_wrong = known(single - certain),
    own_estimate = ifelse(weighs, of("own_estimate"), NA_real_),
    n_claims_90 = as.integer(claims("n_claimed")), n_right_90 = known(claims("n_right")),
    ceiling = known(rep(found$ceiling, n))
  )
  if (settings$one_to_one) out$expected_one_to_one <- of("one_to_one")
  out
}

attack_records <- function(found, ids, linked, has_ids) {
  prob <- function(one) {
    p <- ifelse(one$true_in_best, 1 / one$n_best, 0)
    p[!linked] <- NA_real_
    p
  }
  posterior <- function(one) {
    if (length(one$posterior)) one$posterior else rep(NA_real_, length(one$n_best))
  }
  main <- found[[1]]
  columns <- list(
    id = ids, match_prob = prob(main), posterior = posterior(main), n_best = main$n_best,
    true_in_best = if (has_ids) main$true_in_best else rep(NA, length(linked))
  )
  for (name in names(found)[-1]) {
    columns[[paste0("match_prob_", name)]] <- prob(found[[name]])
    if (length(found[[name]]$posterior)) {
      columns[[paste0("posterior_", name)]] <- found[[name]]$posterior
    }
  }
  do.call(frame, columns)
}

attack_curve <- function(found, thresholds, has_ids) {
  weighing <- found[!names(found) %in% unweighed]
  n <- length(thresholds)
  part <- function(name) as.double(unlist(lapply(weighing, `[[`, name), use.names = FALSE))
  right <- part("n_right")
  if (!has_ids) right[] <- NA_real_
  frame(
    intruder = as.character(rep(names(weighing), each = n)),
    posterior = rep(thresholds, length(weighing)), n_claimed = as.integer(part("n_claimed")),
    n_right = right, n_expected = part("n_expected")
  )
}

# All levels of agreement together.
agreeing <- function(levels) vapply(levels, function(p) sum(p[-length(p)]), 0)
differing <- function(levels) vapply(levels, function(p) p[[length(p)]], 0)

attack_variables <- function(found, key_vars, has_ids) {
  main <- c(Filter(function(one) length(one$m) > 0, found$found), found$found)[[1]]
  none <- rep(NA_real_, length(key_vars))
  weighs <- length(main$m) > 0
  m <- if (weighs) agreeing(main$m) else none
  u <- if (weighs) agreeing(main$u) else none
  without <- if (weighs && has_ids) main$without else none
  out <- frame(
    variable = key_vars, m = m, u = u, weight = log(m / u),
    weight_differ = if (weighs) log(differing(main$m) / differing(main$u)) else none,
    entropy = found$entropy, without = without, loss = main$expected - without
  )
  for (name in setdiff(names(found$found)[-1], unweighed)) {
    out[[paste0("m_", name)]] <- agreeing(found$found[[name]]$m)
  }
  out
}

# The levels of keys that have more than two.
attack_levels <- function(main, key_vars) {
  several <- which(lengths(main$m) > 2)
  if (length(several) == 0) {
    return(NULL)
  }
  words <- c("equal", "within tolerance", "beyond")
  frame(
    variable = rep(key_vars[several], each = 3), level = rep(words, length(several)),
    m = unlist(main$m[several]), u = unlist(main$u[several])
  )
}

attack_diagnostics <- function(found, coded) {
  each <- found$found
  weighing <- each[!names(each) %in% unweighed]
  learned <- each[["em"]]
  of <- function(name, type) vapply(weighing, `[[`, type, name)
  list(
    n_keys = length(coded$key_vars), n_patterns = found$n_patterns,
    n_missing_id = coded$n_missing_id, coverage = found$coverage,
    phi = found$phi, dependent_keys = coded$key_vars[found$dependent_keys],
    continuous = found$near$continuous, metric = found$near$metric,
    engine = of("engine", ""), work = of("work", 0),
    log_likelihood = of("log_likelihood", 0),
    em = if (!is.null(learned)) {
      list(
        n_steps = learned$n_steps, converged = learned$converged, n_records = learned$n_learned
      )
    },
    m_at_one = if (!is.null(learned)) coded$key_vars[agreeing(learned$m) >= 0.9999],
    m_near_u = if (!is.null(learned)) coded$key_vars[agreeing(learned$m) <= agreeing(learned$u)]
  )
}

# Why learned weights are not to be trusted, in words; none where they are.
doubts <- function(x) {
  d <- x$diagnostics
  if (is.null(d$em)) {
    return(character())
  }
  c(
    if (isTRUE(d$phi > 0.5)) {
      paste0(
        "Agreements on ", quote_names(d$dependent_keys), " go together (phi ",
        format_risk(d$phi), "): weights count the same evidence twice, and a learned figure is ",
        "too low."
      )
    },
    if (length(d$m_at_one)) {
      paste0("They take ", quote_names(d$m_at_one), " as never changing.")
    },
    if (length(d$m_near_u)) {
      paste0(
        "They take ", quote_names(d$m_near_u),
        " as agreeing no more often for one person than for two."
      )
    },
    if (isTRUE(d$log_likelihood["em"] < d$log_likelihood["prior"])) {
      "The learned weights explain the records worse than the prior ones."
    },
    if (!d$em$converged) {
      paste0("Learning stopped after ", format_count(d$em$n_steps), " steps, still changing.")
    }
  )
}

warn_not_learned <- function(x) {
  found <- doubts(x)
  if (length(found)) {
    warn_sdc(
      "not_learned", "Weights learned from the files should be those of persons.",
      rlang::set_names(found, rep("x", length(found))),
      i = "Leave out keys that repeat others, or report \"calibrated\" weights.",
      phi = x$diagnostics$phi, columns = x$diagnostics$dependent_keys
    )
  }
}
