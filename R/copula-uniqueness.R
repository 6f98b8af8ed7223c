#' Uniqueness in the population, from a sample
#'
#' How many people of the population are unique on the key variables, and how
#' likely is each record of the file to be unique, and to be the right person
#' when it matches? Estimated from a sample by a Gaussian copula, after Rocher,
#' Hendrickx and de Montjoye (2019).
#'
#' @details
#' **Population uniqueness** is the share of \eqn{N} people who are unique,
#' \deqn{\Xi_N = \sum_x q(x)\,(1 - q(x))^{N - 1},}{Xi_N = sum_x q(x) (1 - q(x))^(N - 1),}
#' **population correctness** the chance that a match on all key variables is the
#' right person, which is the share of distinct records among \eqn{N} people. Both
#' are estimated by drawing people from the model [copula_fit()] and counting;
#' one set of draws serves all population sizes.
#'
#' **Calibration.** From 1,000 records with equal weights on, the model is brought
#' to the uniqueness that the sample itself shows. With cell probabilities
#' \eqn{p = q g}, \eqn{g \sim \Gamma(\alpha, \alpha)}{g ~ Gamma(alpha, alpha)}, a person
#' drawn from the population is unique among \eqn{m} with probability
#' \eqn{(1 + (m - 1) q / \alpha)^{-(\alpha + 1)}}{(1 + (m - 1) q / alpha)^-(alpha + 1)}, and
#' \eqn{\alpha}{alpha} is such that the sample's uniqueness comes out at its size. Where the
#' sample shows more uniqueness than the model, \eqn{p = \lambda q}{p = lambda q} with
#' \eqn{\lambda < 1}{lambda < 1}. At `pop_size` equal to the number of records the
#' calibrated value is the sample's own uniqueness by construction: to judge the
#' model there, use `calibrate = FALSE`. This calibration is ours, not the
#' paper's; on samples of some thousand records of `adult` it halves the error.
#'
#' **Records.** With \eqn{p} the probability of a record's keys,
#' \deqn{\xi = (1 - p)^{N - 1}, \quad \kappa = \frac{1 - (1 - p)^N}{N p}}{%
#'   xi = (1 - p)^(N - 1), kappa = (1 - (1 - p)^N) / (N p)}
#' are the likelihood of uniqueness, and of correctness: the chance that whoever
#' matches is the right person. `score` says where \eqn{p} comes from:
#' \describe{
#'   \item{`"tree"`}{a tree of the pairs with most information, its pair tables
#'     shrunk towards independence, scaled so that the mean of \eqn{\xi}{xi} is the
#'     estimated population uniqueness. Not the paper's: it ranks records better,
#'     because a latent correlation says how much two nominal variables depend and
#'     not which cells are frequent.}
#'   \item{`"copula"`}{the paper's equation 18, the probability of a rectangle
#'     under the model.}
#'   \item{`"placement"`}{the mean over random places of the record's intervals,
#'     as the authors' program does.}
#' }
#' Do not average \eqn{\xi}{xi} over records to estimate population uniqueness with
#' `"copula"` or `"placement"`: the sample over-represents frequent cells.
#'
#' @section Uncertainty:
#' `uniqueness_mc_se` is the error of drawing alone. `uniqueness_low` and
#' `uniqueness_high` cover, in addition, estimation from a sample of this size:
#' `n_refits` samples are drawn from the model, each is fitted again and
#' calibrated, and the root mean square of the errors on the logit scale, bias
#' included, times a t quantile, is laid around the estimate. From fewer than
#' 1,000 records, with key variables of many rare values and a sampling fraction
#' below one in a hundred, even that is too narrow: the sample does not know the
#' values it missed. Neither covers that the population is no Gaussian copula. The
#' Pitman model, which looks at the sample's cell sizes and not at the variables,
#' is a check: a warning says when it differs by more than 0.05. In small sampling
#' fractions it is the rougher of the two.
#'
#' @section Cost:
#' Twice the largest `pop_size` draws (once from ten million on), each some ten
#' nanoseconds per key variable and thread; 8 bytes per draw, 16 where the
#' categories' product exceeds 64 bits. From 40 million draws on a share of the
#' cells is kept. At most 2e9 people. Refits cost a fit each, and draws of at most
#' 400,000 people.
#'
#' @param data A data frame, tibble or data.table with one row per record, or a
#'   result of [copula_fit()].
#' @param key_vars Names or positions of the key variables. `NULL`: all columns
#'   except the weight.
#' @param pop_size Number of people in the population: one or several numbers,
#'   none below the number of records.
#' @param ... Arguments of [copula_fit()], by their full names, where `data` is
#'   a data frame.
#' @param newdata A released file to judge by a model fitted on `data`, such as
#'   a file that is no random sample; `records` are then its records. A category
#'   that `data` did not show gets a small probability, with a message.
#' @param score Where a record's probability comes from, see details.
#' @param calibrate Whether to calibrate. `NULL`: from 1,000 records with equal
#'   weights on.
#' @param given_sample Whether to use that only records unique in the sample
#'   can be unique in the population: others get \eqn{\xi = 0}{xi = 0} and
#'   \eqn{\kappa}{kappa} at most 1/k. It supposes that the people in the file are
#'   those of the population.
#' @param records Whether to score records. `FALSE` gives estimates alone.
#' @param n_refits Number of refits behind the interval; 0 leaves it out.
#' @param level Level of the interval.
#'
#' @return An object of class `sdc_copula_uniqueness`, an [sdc_result] with
#' \describe{
#'   \item{`estimates`}{one row per `pop_size`: `pop_size`,
#'     `population_uniqueness`, `uniqueness_mc_se`, `uniqueness_low`,
#'     `uniqueness_high`, `population_correctness`, `correctness_mc_se`,
#'     `correctness_low`, `correctness_high`, `prop_xi_80` and `prop_xi_95` (share
#'     of records with \eqn{\xi}{xi} above 0.80 and 0.95; without records, of records
#'     drawn from the model), `method` (`"sampled"` or `"calibrated"`), `pitman_yor`
#'     (uniqueness by the Pitman model), `score`, `model_uniqueness` (before
#'     calibration)}
#'   \item{`records`}{for the first `pop_size`: `prob`, `xi`, `kappa`,
#'     `prob_error` (numerical error of `prob`, 0 where exact), `sample_unique`. `NULL`
#'     for a fit without `newdata`}
#'   \item{`curve`}{uniqueness and correctness with their intervals over 25
#'     population sizes}
#'   \item{`fit`}{the [copula_fit()]}
#'   \item{`diagnostics`}{`calibration` (`kind`, `parameter`), `n_draws`,
#'     `n_refits`}
#' }
#' Errors: `bad_argument` for a `pop_size` that is not finite or below the number of
#' records; `too_large`; those of [copula_fit()]. Warnings: `few_records` for fewer
#' than 1,000 records, `models_differ`. Messages: `not_calibrated` for unequal
#' weights, `unseen_categories`.
#' @inherit copula_fit references
#' @family copula
#' @seealso [uniqueness_by_size()], `predict()` and `simulate()` for a fit
#' @export
#' @examples
#' set.seed(1)
#' sample <- adult[sample(nrow(adult), 3000), ]
#' keys <- c("age", "sex", "education_num", "occupation", "hours_per_week")
#' risk <- copula_uniqueness(sample, keys, pop_size = nrow(adult))
#' risk
#' # The truth is known here.
#' cells <- table(do.call(paste, adult[keys]))
#' sum(cells == 1) / nrow(adult)
copula_uniqueness <- function(data, key_vars = NULL, pop_size, ..., newdata = NULL,
                              score = c("tree", "copula", "placement"), calibrate = NULL,
                              given_sample = FALSE, records = TRUE, n_refits = 20,
                              level = 0.95) {
  call <- rlang::current_env()
  check_given(c("data", "pop_size"), call)
  this_call <- call_without_data(match.call(), "copula_uniqueness")
  score <- check_choice(score, c("tree", "copula", "placement"), "score", call)
  if (!is.null(calibrate)) check_flag(calibrate, "calibrate", call)
  check_flag(given_sample, "given_sample", call)
  check_flag(records, "records", call)
  n_refits <- check_whole(n_refits, "n_refits", low = 0, call = call)
  level <- check_probability(level, "level", call = call)
  if (missing(pop_size)) {
    stop_argument("pop_size", "be given", call = call)
  }
  if (!is.null(newdata)) check_data_frame(newdata, "newdata", call)
  known <- fit_or_data(data, key_vars, ..., call = call)
  n_least <- known$n
  check_pop_size(pop_size, n_least, call)
  if (!is.null(newdata)) check_pop_size(pop_size, nrow(newdata), call, "of `newdata`")
  check_drawable(pop_size, call)
  if (!is.null(newdata) && is.null(known$data)) {
    check_columns(data$settings$key_vars, newdata, "key_vars", call)
  }
  fit <- known$fit()
  released <- if (!is.null(newdata)) newdata else known$data
  calibrated <- calibrates(fit, calibrate, call)
  signal_few_records(fit$n, call)
  with_progress("Drawing people from the model", function(tick) {
    sizes <- curve_sizes(fit$n, pop_size)
    found <- draw_population(fit, c(pop_size, sizes), calibrated, n_refits, tick, call)
    estimates <- population_estimates(found, c(pop_size, sizes), level, calibrated, fit$n)
    curve <- estimates[-seq_along(pop_size), ]
    estimates <- estimates[seq_along(pop_size), ]
    scored <- score_records(
      fit, if (records) released, estimates, score, given_sample, tick, call
    )
    estimates <- cbind(estimates, scored$shares)
    estimates$method <- if (calibrated) "calibrated" else "sampled"
    estimates$pitman_yor <- pitman_check(fit, pop_size)
    estimates$score <- score
    estimates$model_uniqueness <- found$model_uniqueness[seq_along(pop_size)]
    rownames(estimates) <- rownames(curve) <- NULL
    result <- new_sdc_result(
      "sdc_copula_uniqueness",
      estimates = estimates[copula_columns], records = scored$records,
      settings = list(
        key_vars = fit$settings$key_vars, pop_size = pop_size, score = score,
        calibrate = calibrated, given_sample = given_sample, level = level,
        missing = fit$settings$missing, n = scored$n, fingerprint = scored$fingerprint,
        applied = !is.null(newdata), version = fit$settings$version
      ),
      diagnostics = list(
        calibration = list(kind = found$calibration, parameter = found$parameter),
        n_draws = found$n_draws, n_refits = n_refits
      ),
      call = this_call, curve = curve[curve_columns], fit = fit
    )
    signal_copula_uniqueness(result, call)
    result
  })
}

copula_columns <- c(
  "pop_size", "population_uniqueness", "uniqueness_mc_se", "uniqueness_low",
  "uniqueness_high", "population_correctness", "correctness_mc_se", "correctness_low",
  "correctness_high", "prop_xi_80", "prop_xi_95", "method", "pitman_yor", "score",
  "model_uniqueness"
)
curve_columns <- c(
  "pop_size", "population_uniqueness", "uniqueness_low", "uniqueness_high",
  "population_correctness", "correctness_low", "correctness_high"
)
# Records from which the interval of a sample's uniqueness is worth having, and
# from which the model is calibrated on it.
enough_to_calibrate <- 1000

# A fit, or data to fit: `n` records, and `fit()` to get it.
fit_or_data <- function(data, key_vars, ..., call) {
  if (inherits(data, "sdc_copula_fit")) {
    if (!is.null(key_vars)) {
      stop_argument(
        "key_vars", "be NULL where `data` is a fit", advice = "A fit has its key variables.",
        call = call
      )
    }
    check_no_dots(..., call = call)
    return(list(n = data$n, fit = function() data, data = NULL))
  }
  given <- rlang::list2(...)
  allowed <- setdiff(names(formals(copula_fit)), c("data", "key_vars", "..."))
  names <- if (is.null(names(given))) character(length(given)) else names(given)
  if (length(given) && !all(names %in% allowed)) {
    unknown <- names[!names %in% allowed]
    unknown[!nzchar(unknown)] <- "(unnamed)"
    stop_sdc(
      "bad_argument",
      c(
        "All arguments must be arguments of this function or of `copula_fit()`.",
        x = paste0("Unknown: ", quote_names(unknown), "."),
        i = "Arguments after the first ones are given by their full names."
      ),
      argument = unknown, call = call
    )
  }
  n <- if (is.data.frame(data)) nrow(data) else 1
  list(
    n = n, data = data,
    fit = function() {
      rlang::try_fetch(
        do.call(copula_fit, c(list(data, key_vars), given)),
        sdcRisk_error = function(e) {
          e$call <- bare_call(call)
          rlang::cnd_signal(e)
        }
      )
    }
  )
}

check_pop_size <- function(pop_size, n, call, whose = "of the sample") {
  if (!are_distinct_numbers(pop_size, TRUE) || any(!is.finite(pop_size) | pop_size < n)) {
    stop_argument(
      "pop_size",
      paste0(
        "be finite numbers without repetition, each at least the number of records ", whose,
        ", ", format_count(n)
      ),
      call = call
    )
  }
}

# People drawn at most, a limit of the core.
most_people <- 2e9

check_drawable <- function(pop_size, call) {
  if (any(pop_size > most_people)) {
    stop_sdc(
      "too_large",
      c(
        paste0("`pop_size` must be at most ", format_count(most_people), " people."),
        x = paste0("It is ", format(max(pop_size), big.mark = big_mark(), digits = 6), "."),
        i = "predict() with score = \"copula\" takes any size."
      ),
      call = call
    )
  }
}

calibrates <- function(fit, calibrate, call) {
  if (!is.null(calibrate)) {
    return(calibrate)
  }
  if (fit$n < enough_to_calibrate) {
    return(FALSE)
  }
  if (!fit$settings$equal_weights) {
    inform_sdc(
      "not_calibrated",
      c(
        "The model is not calibrated on the sample's uniqueness, as weights are unequal.",
        i = "`calibrate = TRUE` does it all the same."
      ),
      call = call
    )
  }
  fit$settings$equal_weights
}

signal_few_records <- function(n, call) {
  if (n < enough_to_calibrate) {
    warn_sdc(
      "few_records",
      c(
        "A sample should have at least 1,000 records.",
        x = paste0("It has ", format_count(n), "."),
        i = "Margins and correlations are rough then: mind the interval."
      ),
      n = n, call = call
    )
  }
}

# Population sizes at which the curve is drawn.
curve_sizes <- function(n, pop_size, length = 25) {
  from <- max(2, min(n, max(pop_size) / 10))
  round(exp(seq(log(from), log(max(pop_size)), length.out = length)))
}

# The settings of a fit as the core takes them.
refit_settings <- function(fit) {
  list(
    nominal = !fit$ordered, exogenous_shares = fit$exogenous$shares,
    exogenous_places = fit$exogenous$places, correlation = fit$exogenous$correlation,
    order = fit$settings$order, seed = if (fit$settings$order == "random") draw_seed(),
    marginals = fit$settings$marginals, signed = fit$settings$signed
  )
}

draw_population <- function(fit, sizes, calibrated, n_refits, tick, call) {
  unwrap(rs_copula_population(
    fit$shares, fit$orders, as.double(fit$correlation), refit_settings(fit),
    as.double(sizes), as.integer(max(2, round(fit$diagnostics$n_effective))),
    if (calibrated) fit$sample_uniqueness, n_refits, draw_seed(), sdc_threads(), tick
  ), call)
}

# Estimates with intervals, one row per population size.
population_estimates <- function(found, sizes, level, calibrated, n) {
  n_sizes <- length(sizes)
  interval <- function(estimate, refits, mc_se) {
    if (length(refits) == 0) {
      return(list(low = rep(NA_real_, n_sizes), high = rep(NA_real_, n_sizes)))
    }
    refits <- matrix(refits, n_sizes)
    # The mean square on the logit scale holds the bias, which is a matter of
    # ratios where uniqueness is small, and the noise of drawing.
    held <- function(x) pmin(pmax(x, 1e-12), 1 - 1e-12)
    slope <- held(estimate) * (1 - held(estimate))
    noise <- ifelse(mc_se > 0, mc_se / slope, 0)
    deviation <- stats::qlogis(held(refits)) - stats::qlogis(held(estimate))
    half <- stats::qt(1 - (1 - level) / 2, ncol(refits)) *
      sqrt(rowMeans(deviation^2) + pmin(noise, 1)^2)
    # 0 and 1 are not held by the logit scale.
    open <- function(x) ifelse(x <= 1.01e-12, 0, ifelse(x >= 1 - 1.01e-12, 1, x))
    list(
      low = pmin(open(stats::plogis(stats::qlogis(held(estimate)) - half)), estimate),
      high = pmax(open(stats::plogis(stats::qlogis(held(estimate)) + half)), estimate)
    )
  }
  uniqueness <- interval(found$uniqueness, found$refit_uniqueness, found$uniqueness_mc_se)
  correctness <- interval(found$correctness, found$refit_correctness, found$correctness_mc_se)
  frame(
    pop_size = sizes,
    population_uniqueness = found$uniqueness, uniqueness_mc_se = found$uniqueness_mc_se,
    uniqueness_low = uniqueness$low, uniqueness_high = uniqueness$high,
    population_correctness = found$correctness, correctness_mc_se = found$correctness_mc_se,
    correctness_low = correctness$low, correctness_high = correctness$high
  )
}

# Records of a model that stand for people where there are no records.
n_drawn_records <- 2000

# Scores of records for the first population size, and per size the shares of
# them above 0.80 and 0.95. Without records to score, records drawn from the
# model stand for people.
score_records <- function(fit, released, estimates, score, given_sample, tick, call) {
  real <- !is.null(released)
  people <- if (real) released else simulate(fit, n_drawn_records)
  counts <- NULL
  fingerprint <- fit$settings$fingerprint
  if (real) {
    table <- key_table(people, fit$settings$key_vars, tick = tick, call = call)
    on.exit(release(table))
    fingerprint <- fingerprint(table, call)
    cells <- group_records(table, tick, call)
    counts <- cells$counts[cells$row_group]
    release(list(pointer = cells$table))
  }
  limited <- given_sample && real
  first <- NULL
  shares <- matrix(NA_real_, nrow(estimates), 2)
  for (i in seq_len(nrow(estimates))) {
    size <- estimates$pop_size[[i]]
    # Only the tree depends on the size; what there is to say is said once.
    scored <- if (is.null(first) || score == "tree") {
      withCallingHandlers(
        individual_scores(
          fit, people,
          pop_size = size, score = score,
          population_uniqueness = estimates$population_uniqueness[[i]], tick = tick, call = call
        ),
        sdcRisk_message = function(m) if (i > 1) rlang::cnd_muffle(m)
      )
    } else {
      frame(
        prob = first$prob, xi = likelihood_unique(first$prob, size),
        kappa = correctness_of(first$prob, size), prob_error = first$prob_error
      )
    }
    if (limited) scored <- limit_to_sample(scored, counts)
    shares[i, ] <- c(mean(scored$xi > 0.80, na.rm = TRUE), mean(scored$xi > 0.95, na.rm = TRUE))
    if (i == 1) first <- scored
  }
  records <- NULL
  if (real) {
    records <- first[c("prob", "xi", "kappa", "prob_error")]
    records$sample_unique <- ifelse(is.na(records$prob), NA, counts == 1)
  }
  list(
    records = records, n = if (real) nrow(people) else fit$n, fingerprint = fingerprint,
    shares = frame(prop_xi_80 = shares[, 1], prop_xi_95 = shares[, 2])
  )
}

# A record that occurs k times in the file is not unique, and a match is right
# at most once in k times.
limit_to_sample <- function(scored, counts) {
  scored$xi[counts > 1] <- 0
  scored$kappa <- pmin(scored$kappa, 1 / counts)
  scored
}

signal_copula_uniqueness <- function(x, call) {
  estimates <- x$estimates
  gap <- abs(estimates$population_uniqueness - estimates$pitman_yor)
  far <- which(gap > 0.05)
  if (length(far)) {
    first <- estimates[far[[1]], ]
    warn_sdc(
      "models_differ",
      c(
        "The copula and the Pitman model should agree to 0.05.",
        x = paste0(
          "In a population of ", format_count(first$pop_size), " the copula gives ",
          format_risk(first$population_uniqueness), ", the Pitman model ",
          format_risk(first$pitman_yor), "."
        ),
        i = "Small sampling fractions are hard for the Pitman model; report both."
      ),
      pop_size = first$pop_size, call = call
    )
  }
}

#' Records drawn from a fitted copula
#'
#' Synthetic records with the margins and pairwise dependence of the file, to
#' try out what an intruder or an estimator would see.
#'
#' A parametric margin's unseen categories have no values: their probability is
#' spread over the others here. Synthetic records are no anonymised data: they
#' keep the sample's values and two-way dependence.
#'
#' @param object A result of [copula_fit()].
#' @param nsim Number of records.
#' @param seed A seed for [set.seed()], or `NULL` to go on with the present
#'   state of the generator.
#' @param ... None.
#' @return A data frame of `nsim` rows with the key variables, in the classes of
#'   the data. Results do not depend on the number of threads.
#' @importFrom stats simulate
#' @export
#' @family copula
#' @examples
#' fit <- copula_fit(adult, c("age", "sex", "income"))
#' simulate(fit, 3, seed = 1)
simulate.sdc_copula_fit <- function(object, nsim = 1, seed = NULL, ...) {
  call <- rlang::current_env()
  check_no_dots(..., call = call)
  nsim <- check_whole(nsim, "nsim", call = call)
  if (!is.null(seed)) {
    set.seed(check_whole(seed, "seed", low = -.Machine$integer.max, call = call))
  }
  model <- observed_model(object)
  drawn <- with_progress("Drawing records", function(tick) {
    unwrap(rs_copula_simulate(
      model$shares, model$orders, as.double(object$correlation), nsim, draw_seed(),
      sdc_threads(), tick
    ), call)
  })
  columns <- Map(function(values, categories) values[categories], object$levels, drawn)
  do.call(frame, columns)
}

# The margins and orders of categories that have a value.
observed_model <- function(fit) {
  n_known <- lengths(fit$levels)
  list(
    shares = Map(
      function(shares, n) shares[seq_len(n)] / sum(shares[seq_len(n)]), fit$shares, n_known
    ),
    orders = Map(function(places, n) as.integer(rank(places[seq_len(n)])), fit$orders, n_known)
  )
}
