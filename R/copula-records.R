# Records in copula_uniqueness(): their scores, how many of them are expected to be unique, and
# whether the two agree.

# Records of a model that stand for people where there are no records, always
# the same ones.
n_drawn_records <- 2000L
fixed_draws <- as.double(1:8)

# Scores of records for the first population size, and one row per size: the shares
# of records above 0.80 and 0.95, how many are expected to be unique, and what
# their likelihoods add up to. `own`: `released` is the file of the fit.
score_records <- function(fit, released, estimates, score, given_sample, own) {
  if (is.null(released)) {
    return(list(
      n = fit$n, fingerprint = fit$settings$fingerprint, own = TRUE,
      shares = shares_without_records(fit, estimates, score)
    ))
  }
  coded <- if (own) code_as_sample(fit, released) else code_released(fit, released)
  data <- if (own) file_data(released) else bare_data(released)
  own <- own || identical(coded$fingerprint, fit$settings$fingerprint)
  weights <- if (own) weights_of_file(fit, data)
  rows <- coded$table$rows
  scored <- score_coded(
    fit, coded, score, estimates$pop_size, estimates$population_uniqueness,
    own = own, weights = if (is.null(rows)) weights else weights[rows],
    given_sample = given_sample
  )
  first <- scored$first
  known <- !is.na(first$prob)
  times <- times_of(data)[known]
  of <- function(f) vapply(scored$xi, function(xi) as.double(f(xi[known], times)), 0)
  records <- first[c("prob", "xi", "kappa", "prob_error")]
  records$sample_unique <- ifelse(known, scored$counts == 1, NA)
  records$prob_shape <- first$prob_shape
  list(
    records = records, n = n_records(data), fingerprint = coded$fingerprint, own = own,
    shares = record_columns(
      estimates, sum_over(rep(1, sum(known)), times), own,
      prop_xi_80 = of(function(xi, n) mean_over(xi > 0.80, n)),
      prop_xi_95 = of(function(xi, n) mean_over(xi > 0.95, n)), sum_xi = of(sum_over)
    )
  )
}

# The weights of the records of a fit's own file, where it was fitted with weights.
weights_of_file <- function(fit, data) {
  name <- fit$settings$weight_var
  known <- is.null(name) || is.numeric(name) || name %in% names(data)
  if (is.null(name) || fit$settings$equal_weights || !known) {
    return(NULL)
  }
  check_weights(data, name)
}

# Of a random sample, uniqueness times records is expected; what is said of the
# records of another file adds up to what it does.
record_columns <- function(estimates, n, own, prop_xi_80, prop_xi_95, sum_xi) {
  of <- function(column) if (own) n * estimates[[column]] else rep(NA_real_, nrow(estimates))
  frame(
    prop_xi_80 = prop_xi_80, prop_xi_95 = prop_xi_95,
    expected_unique_records = if (own) of("population_uniqueness") else sum_xi,
    expected_unique_low = of("uniqueness_low"), expected_unique_high = of("uniqueness_high"),
    sum_xi = sum_xi
  )
}

# Without records: by the tree where the sample's records lie is kept in the fit,
# otherwise people drawn from the model stand for them.
shares_without_records <- function(fit, estimates, score) {
  found <- if (score == "tree") {
    settings <- score_settings(
      fit, NULL, score, estimates$pop_size, estimates$population_uniqueness
    )
    list(xi = core(rs_scores, NULL, settings)$xi, n = fit$tree$anchor$n)
  } else {
    coded <- code_by_fit(fit, draw_records(fit, n_drawn_records, fixed_draws))
    list(xi = score_coded(fit, coded, score, estimates$pop_size)$xi, n = rep(1, n_drawn_records))
  }
  share <- function(limit) {
    vapply(found$xi, function(xi) sum(found$n[xi > limit]) / sum(found$n), 0)
  }
  record_columns(
    estimates, fit$n, TRUE,
    prop_xi_80 = share(0.80), prop_xi_95 = share(0.95),
    sum_xi = rep(NA_real_, nrow(estimates))
  )
}

# TRUE if what the records' likelihoods add up to differs from what is expected by
# more than a third; a difference of less than one record is none.
scores_differ <- function(estimates) {
  says <- estimates$sum_xi
  expected <- estimates$expected_unique_records
  differ <- abs(says - expected) > pmin(says, expected) / 3 & pmax(says, expected) > 1
  !is.na(differ) & differ
}

signal_scores_differ <- function(x) {
  far <- which(scores_differ(x$estimates) & x$fit$settings$equal_weights)
  if (length(far) == 0 || x$settings$applied) {
    return(invisible())
  }
  first <- x$estimates[far[[1]], ]
  warn_sdc(
    "scores_differ",
    "The likelihoods of the records should add up to the records expected to be unique.",
    x = paste0(
      "In a population of ", format_count(first$pop_size), " they add up to ",
      format_expected(first$sum_xi), ", expected are ",
      format_expected(first$expected_unique_records), "."
    ),
    i = if (first$score == "tree") {
      "The model misses which records are unique in the sample: `given_sample = FALSE`."
    } else {
      "Report the latter. The likelihoods of score = \"tree\" add up to it."
    },
    pop_size = first$pop_size
  )
}

# A number of records expected, to three digits.
format_expected <- function(x) {
  ifelse(
    is.na(x), "-",
    ifelse(
      x < 0.01, ifelse(x > 0, paste("below", format_rounded(0.01, 1)), "0"),
      ifelse(x < 100, format_rounded(x, 3), format_count(round(pmin(x, 1e9))))
    )
  )
}

format_rounded <- function(x, digits) {
  formatC(signif(x, digits), width = 1, digits = digits, format = "fg")
}
