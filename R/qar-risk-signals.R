# Conditions of qar_risk(), and their words.

# The error of a sampled estimate in words.
sampling_error <- function(row) {
  if (row$exact) {
    "the result is exact, since the others cannot reach the threshold"
  } else if (is.na(row$risk_se)) {
    "the sample is too small for a standard error"
  } else {
    paste0(
      "standard error of T by design ", formatC(row$risk_se, width = 1, digits = 2, format = "g")
    )
  }
}

# One condition per kind of trouble, whatever the number of analyses.
signal_qar <- function(x) {
  constant <- names(x$diagnostics$n_distinct)[x$diagnostics$n_distinct == 1]
  if (length(constant) && x$estimates$n_records[[1]] > 1) {
    warn_sdc(
      "constant_column", "A key variable with one value tells an intruder nothing.",
      x = paste0("Constant: ", quote_names(constant), "."),
      i = "Key sets that contain it have the risk of the smaller set: consider leaving it out.",
      columns = constant
    )
  }
  signal_sampled(x)
  signal_identifying(x)
  signal_exceedances(x)
  signal_equal(x)
  p <- sizes_with(x, "single")
  if (length(p)) {
    inform_sdc(
      "single_set",
      c(paste0(
        "There is one key set of size ", paste(p, collapse = ", "),
        ": the extreme risk is its risk."
      )),
      p = p
    )
  }
}

# The sizes of key sets whose estimates have a status, and sizes in words.
sizes_with <- function(x, status) unique(x$estimates$p[x$estimates$status == status])

in_sizes <- function(p) paste0("p = ", paste(p, collapse = ", "))

signal_sampled <- function(x) {
  sampling <- x$diagnostics$sampling
  if (is.null(sampling)) {
    return(invisible())
  }
  first <- sampling[1, ]
  signal <- if (all(sampling$exact)) inform_sdc else warn_sdc
  signal(
    "sampled_sets",
    c(
      paste0("Not all key sets were counted (", in_sizes(unique(sampling$p)), ")."),
      x = paste0(
        "Counted: ", format_count(first$n_counted), " of ", format_count(first$n_sets), "; ",
        sampling_error(first), "."
      ),
      i = "A larger `max_sets` counts more."
    ),
    n_counted = sampling$n_counted
  )
}

signal_identifying <- function(x) {
  p <- sizes_with(x, "theta_one")
  if (length(p) == 0) {
    return(invisible())
  }
  outcome <- if (x$settings$theta_one == "one") {
    ": the extreme risk is 1."
  } else {
    ": no key set is left to estimate from."
  }
  warn_sdc(
    "theta_one", paste0("A key set identifies every record (", in_sizes(p), ")", outcome),
    x = paste0("Identifying: ", identifying_words(x, p[[1]]), "."),
    i = identifying_advice(x, p[[1]]),
    p = p
  )
}

signal_exceedances <- function(x) {
  estimates <- x$estimates
  p <- sizes_with(x, "few")
  if (length(p)) {
    few <- which(estimates$status == "few")
    warn_sdc(
      "few_exceedances", paste0("The tail should rest on 10 key sets or more (", in_sizes(p), ")."),
      x = paste0(
        "Exceedances: ", paste(unique(estimates$n_exceedances[few]), collapse = ", "), "."
      ),
      i = tail_advice(x, lapply(estimates, `[[`, few[[1]])),
      p = p
    )
  }
  p <- sizes_with(x, "no_exceedance")
  if (length(p)) {
    none <- which(estimates$status == "no_exceedance")
    warn_sdc(
      "no_exceedance", paste0("No key set has a risk above the threshold (", in_sizes(p), ")."),
      x = "The largest risks are equal, or there are fewer key sets than 1 / pi_u.",
      i = paste0(
        "The extreme risk reported is the threshold. ",
        tail_advice(x, lapply(estimates, `[[`, none[[1]]))
      ),
      p = p
    )
  }
}

signal_equal <- function(x) {
  fit <- x$diagnostics$fit
  if (any(fit$equal)) {
    p <- unique(fit$p[fit$equal])
    inform_sdc(
      "equal_excesses",
      paste0("The key sets above the threshold have equal risks (", in_sizes(p), ")."),
      i = "Unbiased weights give no shape then: the extreme risk is their risk.",
      p = p
    )
  }
}

# Threshold shares that are proposed, in whole per cent: more than a quarter of the key sets is
# no longer a tail.
tail_shares <- seq(1, 25) / 100
# Exceedances a tail should rest on.
enough_exceedances <- 10

# Advice for too few exceedances.
tail_advice <- function(x, estimate, with_risk = TRUE) {
  share <- enough_at(x, estimate)
  report <- paste0(
    "report the riskiest one", if (is_sampled(x, estimate$p)) " counted",
    if (with_risk) paste0(" (risk ", format_t(riskiest(x, estimate)), ")"), "."
  )
  if (!is.na(share)) {
    paste0("`pi_u = ", format_number(share), "` leaves ", enough_exceedances, " or more.")
  } else if (steps_from_top(estimate$n_sets, max(tail_shares)) < enough_exceedances) {
    paste0(plural(estimate$n_sets, "key set"), " are too few for a tail: ", report)
  } else {
    paste0("Equal risks leave no tail up to `pi_u = 0.25`: ", report)
  }
}

# Ranks between the largest of `n` values and the lower of the two around their
# quantile of definition 8 that a share of `share` exceeds.
steps_from_top <- function(n, share) {
  ceiling(((3 * n + 1) * share - 2) / 3 - 1e-9)
}

# The least share of key sets above the threshold that leaves enough of them.
enough_at <- function(x, estimate) {
  shares <- tail_shares[tail_shares > x$settings$pi_u]
  steps <- pmax(0, steps_from_top(estimate$n_sets, shares))
  above <- if (is.null(x$sets) || is_sampled(x, estimate$p)) {
    steps
  } else {
    # They fall.
    distinct <- sets_in_use(x, estimate$p)$n_distinct
    # Ties with the order statistic below the threshold stay below.
    match(distinct[pmin(steps + 1, length(distinct))], distinct) - 1
  }
  shares[above >= enough_exceedances][1]
}

is_sampled <- function(x, p) p %in% x$diagnostics$sampling$p

# The key sets of one size whose risks count.
sets_in_use <- function(x, p) {
  sets <- numbered_rows(x$sets, x$sets$p == p)
  if (x$settings$theta_one == "exclude") sets[sets$n_distinct < sets$n, ] else sets
}

# The risk of the riskiest key set in use, not clamped.
riskiest <- function(x, estimate) {
  clamped <- x$settings$theta_one == "clamp" && identifying_of(x, estimate$p)$n_identifying > 0
  if (clamped) 1 else qar_fit(x, estimate)$largest
}

# The row of `diagnostics$fit` of an analysis.
qar_fit <- function(x, estimate) {
  fit <- x$diagnostics$fit
  numbered_rows(fit, fit$p == estimate$p & fit$alpha == estimate$alpha)
}

# "351 of 3,276 key sets, all with "id", which does so alone"
identifying_words <- function(x, p) {
  of_size <- identifying_of(x, p)
  n <- of_size$n_identifying
  at_least <- if (!of_size$all_known) "at least "
  if (n == 1 || p == 1) {
    return(paste0(
      at_least, quote_names(of_size$key_set), if (n > 1) paste(" and", format_count(n - 1), "more")
    ))
  }
  top <- identifying_variable(x, p)
  paste0(
    at_least, format_count(n), " of ", plural(of_size$n_counted, "key set"),
    if (!of_size$all_known) " counted", ", ",
    if (top$n_identifying < n) paste0(format_count(top$n_identifying), " of them ") else "all ",
    "with ", quote_names(top$variable), if (top$alone) ", which does so alone"
  )
}

identifying_advice <- function(x, p) {
  of_size <- identifying_of(x, p)
  top <- identifying_variable(x, p)
  if (top$alone || top$n_identifying > of_size$n_identifying / 2) {
    paste0(
      "Should ", quote_names(top$variable), " be a key variable? Leave it out or make it ",
      "coarser, or see `theta_one`."
    )
  } else {
    "Is an identifier or a continuous variable among the key variables? See `theta_one`."
  }
}

identifying_of <- function(x, p) {
  x$diagnostics$identifying[x$diagnostics$identifying$p == p, ]
}

# The key variable most identifying key sets contain.
identifying_variable <- function(x, p) {
  variables <- x$diagnostics$identifying_variables
  top <- variables[variables$p == p, ][1, ]
  top$alone <- x$diagnostics$n_distinct[[top$variable]] == x$estimates$n_records[[1]]
  top
}

# A risk below one is not printed as one.
format_t <- function(x) {
  near <- !is.na(x) & x < 1 & x > 0.9995
  shown <- format_risk(x)
  shown[near] <- formatC(1 - signif(1 - x[near], 1), width = 1, digits = 15, format = "fg")
  shown
}
