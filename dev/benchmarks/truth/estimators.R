# The estimators, as a user calls them, on one sample. Each returns rows of
# estimator, quantity, estimate, low, high; names of quantities are those of
# truth_of(). `sample` has data, keys, n_people and weights (NULL where all have
# the same probability).

level <- 0.95
# More time of a processor is a failure.
seconds_each <- 30

# One row from a row of estimates. A corrected value, where there is one, is what
# is to be reported, and what the interval belongs to.
take <- function(estimates, estimator, quantity, column, interval = column, unit = 1) {
  get <- function(name) if (name %in% names(estimates)) estimates[[name]][[1]] else NA_real_
  corrected <- get(paste0(column, "_corrected"))
  estimate <- if (is.finite(corrected)) corrected else get(column)
  answer_rows(
    estimator, quantity, estimate / unit, get(paste0(interval, "_low")) / unit,
    get(paste0(interval, "_high")) / unit
  )
}

answer_rows <- function(estimator, quantity, estimate = NA_real_, low = NA_real_,
                        high = NA_real_, failed_by = NA_character_) {
  data.frame(
    estimator = estimator, quantity = quantity, estimate = estimate, low = low, high = high,
    failed_by = failed_by
  )
}

# What says how the sample was drawn: the weights, or the size of the population.
design_of <- function(sample) {
  if (is.null(sample$weights)) list(pop_size = sample$n_people) else list(weight_var = ".weight")
}

run_theta <- function(sample) {
  found <- do.call(
    sdcRisk::n_matches, c(list(sample$data, sample$keys, level = level), design_of(sample))
  )
  take(found$estimates, "n_matches", "theta", "theta")
}

run_copula <- function(sample) {
  weights <- if (!is.null(sample$weights)) list(weight_var = ".weight")
  found <- do.call(sdcRisk::copula_uniqueness, c(
    list(sample$data, sample$keys, pop_size = sample$n_people, level = level), weights
  ))
  rows <- rbind(
    take(found$estimates, "copula", "uniqueness", "population_uniqueness", "uniqueness"),
    take(found$estimates, "copula", "correctness", "population_correctness", "correctness"),
    # A record that is unique in the population is a sample unique: tau1 counts it.
    take(
      found$estimates, "copula", "tau1", "expected_unique_records", "expected_unique",
      unit = nrow(sample$data)
    )
  )
  attr(rows, "xi") <- found$records$xi
  rows
}

run_classical <- function(sample) {
  methods <- c("pitman", "ewens", "zayatz", "snb", "dankar")
  found <- sdcRisk::population_uniqueness(
    sample$data, sample$keys, sample$n_people, methods
  )$estimates
  do.call(rbind, lapply(methods, function(method) {
    take(
      found[found$method == method, ], method, "uniqueness", "population_uniqueness", "uniqueness"
    )
  }))
}

run_loglinear <- function(sample, model, sampling = NULL) {
  found <- do.call(sdcRisk::loglinear_risk, c(
    list(sample$data, sample$keys, model = model, level = level, max_cells = 2e7),
    if (!is.null(sampling)) list(sampling = sampling),
    if (!is.null(sample$weights)) list(weight_var = ".weight"),
    list(pop_size = sample$n_people)
  ))$estimates
  label <- paste(c("loglinear", model, sampling), collapse = " ")
  rows <- rbind(
    take(found, label, "tau1", "tau1", unit = nrow(sample$data)),
    take(found, label, "tau2", "tau2", unit = nrow(sample$data))
  )
  attr(rows, "z2") <- found$z2
  rows
}

# What a user reports who fits all models and takes the one with z2 nearest to 0.
nearest_z2 <- function(found) {
  z2 <- unlist(lapply(found[paste("loglinear", loglinear_models)], attr, "z2"))
  z2 <- z2[!is.na(z2)]
  if (length(z2) == 0) {
    return(NULL)
  }
  rows <- found[[names(which.min(abs(z2)))]]
  rows$estimator <- "loglinear nearest z2"
  rows
}

run_individual <- function(sample) {
  data <- sample$data
  if (is.null(sample$weights)) data$.weight <- sample$n_people / nrow(data)
  found <- sdcRisk::individual_risk(data, sample$keys, ".weight")$estimates
  take(
    found, "individual_risk", "reidentification", "expected_reidentifications",
    unit = nrow(data)
  )
}

# The models of loglinear_risk(). Where weights are unequal, fractions that follow
# the keys stand beside the default.
loglinear_models <- c("independence", "two_way", "search")

estimators_for <- function(sample) {
  models <- lapply(loglinear_models, function(model) {
    function(sample) run_loglinear(sample, model)
  })
  names(models) <- paste("loglinear", loglinear_models)
  if (!is.null(sample$weights)) {
    more <- lapply(loglinear_models, function(model) {
      function(sample) run_loglinear(sample, model, "raked")
    })
    names(more) <- paste("loglinear", loglinear_models, "raked")
    models <- c(models, more)
  }
  c(
    list(
      n_matches = run_theta, copula = run_copula, classical = run_classical,
      individual_risk = run_individual
    ),
    models
  )
}

# The rows of a call that gave none, and the class of the condition that ended it.
no_answer <- function(name, condition) {
  rows <- function(...) answer_rows(..., failed_by = class(condition)[[1]])
  switch(name,
    n_matches = rows("n_matches", "theta"),
    copula = rows("copula", c("uniqueness", "correctness", "tau1")),
    classical = rows(c("pitman", "ewens", "zayatz", "snb", "dankar"), "uniqueness"),
    individual_risk = rows("individual_risk", "reidentification"),
    rows(name, c("tau1", "tau2"))
  )
}

# Runs one estimator; an error, or more than `seconds_each`, is no answer. A time
# limit may end a call as an interrupt.
answer <- function(name, run, sample) {
  on.exit(setTimeLimit())
  tryCatch(
    {
      setTimeLimit(cpu = seconds_each, transient = TRUE)
      suppressMessages(suppressWarnings(run(sample)))
    },
    error = function(e) no_answer(name, e), interrupt = function(i) no_answer(name, i)
  )
}
