#' Estimate the re-identification risk in the population
#'
#' How many records of a sample are unique in the population, and how many does an
#' intruder find who does not know who is in the file? One model of the key variables
#' answers for every record and for the file, with intervals.
#'
#' @details
#' A key occurs \eqn{f} times in the file and \eqn{F} times in the population of \eqn{N}
#' people. An intruder who looks for a record among the \eqn{F} people with its key finds it
#' with chance \eqn{1/F}. \eqn{F} is not known; three steps estimate it.
#'
#' **How likely is a key?** \eqn{p} is the product, over the key variables, of the probability
#' of a value given those of at most three others: a Bayesian network, learnt from the
#' file. If few records agree on these others, the probability is pulled towards the one
#' given fewer of them, and in the end towards equal shares of the values seen and those
#' unseen, whose number follows from the values seen once and twice (Chao 1984). The records
#' with the key itself are left out of all counts, so that
#' \eqn{p} of a sample unique is what the other records say. The network is mixed with a tree
#' and with independence, by weights that fit best.
#'
#' **How many others have it?** A record shares its key with \eqn{K} other people. \eqn{K} is
#' negative binomial, a Poisson number whose mean has a gamma distribution, with mean
#' \deqn{R = e^{A + (1 + b) y + e y |y|} (1 + v) + \theta, \quad y = \ln(N p)}{%
#'   R = exp(A + (1 + b) y + e y |y|) (1 + v) + theta, y = ln(N p)}
#' and shape \eqn{s = 1 + 1/v}, \eqn{\ln v = i + c y}{ln v = i + c y}. \eqn{v} is the variance
#' of what the model does not see, \eqn{A}, \eqn{b} and \eqn{e} correct its level, and
#' \eqn{\theta}{theta} counts people who are alike for other reasons, such as several rows of one
#' person. With the sampling fraction \eqn{\pi}{pi}, \eqn{f - 1} is negative binomial with mean
#' \eqn{\pi R}{pi R}. The likelihood of the frequencies, every key once, and a weak prior give
#' the posterior of the six numbers; 250 draws from it are used.
#'
#' **What follows?** Given \eqn{f}, the rest of the people with the key is negative binomial
#' with shape \eqn{s + f - 1} and \eqn{q = (s/R + \pi) / (s/R + 1)}{q = (s/R + pi) / (s/R + 1)}:
#' \deqn{P(F = 1 \mid f = 1) = q^s, \quad
#'   E(1/F \mid f) = q \int_0^1 z^{f-1} (q + (1 - q) z)^{s - 2} dz.}{%
#'   P(F = 1 | f = 1) = q^s, E(1/F | f) = q int_0^1 z^(f-1) (q + (1-q) z)^(s-2) dz.}
#'
#' * **tau1**, the expected number of sample uniques that are unique in the population, is the
#'   sum of the first over the sample uniques.
#' * **tau2**, the expected number of correct matches among sample uniques, is the sum of the
#'   second over the sample uniques.
#' * **Re-identifications** are the sum of the second over all records. So in every draw
#'   tau1 <= tau2 <= re-identifications.
#' * **Uniqueness** is the share of the population that is alone with its key, **correctness**
#'   the number of distinct keys per person: the share that an intruder finds who has a file of
#'   everybody. People outside the file are expected to be as the records are.
#' * **Largest** is the largest risk of a record, \eqn{E(1/F \mid f)}{E(1/F | f)}. Its interval
#'   is about the largest \eqn{1/F}, which is 1 if any record is unique in the population: in a
#'   file with many sample uniques there nearly always is such a record, and it is not known
#'   which.
#'
#' @section Uncertainty:
#' An interval at 95% holds the posterior, the chance of this one population, and a normal error of
#' the model in log-odds. Its variance is half that of the posterior and
#' \eqn{(c u \ln(N/n))^2}{(c u ln(N/n))^2}, \eqn{c} .04 for uniqueness and tau1 (correctness .022,
#' tau2 .034, re-identifications .027), \eqn{u = \exp(.3 d + .2 t + m)}{u = exp(.3 d + .2 t + m)}:
#' \eqn{d} is the distance of the six numbers from their prior mean in its standard deviations,
#' \eqn{t} that of \eqn{\ln\theta}{ln theta}, at least -1, \eqn{m} the size of the mean move of
#' ln p, at most 1.
#'
#' Results are the same at every call: the draws have fixed seeds.
#'
#' The file tests the fit. If every record is kept with chance 1/2, 1/4 or 1/10, some of those
#' that are then unique are unique in the file, and the law says how many. If it is wrong by more
#' than 0.2 in log-odds and by more than three standard errors, the step from the file to the
#' population cannot be relied on either. Nor can it if keys are, by the law and in the file, on
#' average more than \eqn{e^{0.6}}{exp(0.6)} times as frequent as the network says with their own
#' records counted. A variable then follows from all others together, and the few records that do
#' not follow, such as coding errors, may be unique among records with common keys. Upper ends are
#' then bounds that need no model: the sample uniques for tau1 and tau2, the distinct keys for
#' re-identifications, and the shares of both in the file for uniqueness and correctness.
#'
#' On 330 samples of 1, 5, 20 and 50% of known populations, none of which anything here was chosen
#' on, the mean absolute error of uniqueness by sampling fraction and the share of intervals that
#' held the truth (of uniqueness, tau1, tau2 and re-identifications alike) were
#'
#' | populations | samples | 1% | 5% | 20% | 50% | held |
#' |---|---|---|---|---|---|---|
#' | persons | 78 | .040 | .021 | .008 | .004 | .98 |
#' | repeated rows | 48 | .069 | .027 | .009 | .002 | 1 |
#' | households drawn whole, with `hh_id` | 48 | .012 | .004 | .004 | .001 | .99 |
#' | groups with figures of their group | 48 | .054 | .024 | .008 | .004 | 1 |
#' | made up | 60 | .046 | .022 | .005 | .002 | 1 |
#' | made to mislead | 48 | .132 | .026 | .009 | .002 | .96 |
#'
#' No interval lay below the truth, so no limit below the truth seemed to be met. On 975 samples of
#' 65 further populations at 1 to 50%, 35 of them real files, collected for this and judged once,
#' intervals held .96 to 1 in every kind, .81 (tau1) to .93 in those made to mislead; 1.8% of those
#' with status `"ok"` lay below the truth. Estimates are too low for few key variables of which one
#' has many values that a single person has: of 40 samples of players by state of birth and two
#' habits, the interval of uniqueness lay below the truth in 36. `vignette("trust")` has the rest.
#'
#' `status` is `"ok"` for such files. It is `"unclear"`, and `note` says why, if the sampling
#' fraction is below 0.5%, if neighbours in the order of the file share keys and no households are
#' named, if a release left their numbers out, if the file refutes the fit, if more than 1% of the
#' key values are missing, and for uniqueness and correctness if records are incomplete; it is
#' `"not judged"` after [invariant_pram()].
#'
#' The upper end of uniqueness is at least \eqn{1.7 (1 - \pi)/n}{1.7 (1 - pi)/n}: a sample does not
#' exclude people that are too few to be in it.
#'
#' The upper end of the largest risk leaves out \eqn{\theta}{theta}, which holds on average only, if
#' it is above 1, and is that of a key with two fifths fewer people: the least of 16
#' corrections with which, on 359 samples of 18 populations, at most 2.5% of the verdicts `"ok"`
#' that no number of matches in the file proves were false, at each of the limits 0.05, 0.09 and
#' 0.2. The rarest key may be unlike all others: with chance \eqn{1/(n + 1)}{1/(n + 1)} if \eqn{n}
#' keys have at most twice its records; then only these say how many people have it. On 1,098
#' samples of 20 populations of other kinds, made to judge it, of keys so coarse that the largest
#' risk varied, the risk was above these limits in 849, 800 and 665 samples; 87, 131 and 217
#' verdicts were `"ok"`, 53, 63 and 102 of them by the law alone, and none was false: at a
#' confidence of 95% at most 5.5, 4.6 and 2.9% of those by the law alone are. On 900 samples of
#' populations of 16 keys with a rare one, 53 were `"ok"`, and 1 falsely. The lower end, that of a
#' key with two thirds more people, lay above the truth in 1% of the 1,098 samples.
#'
#' [measures()] finds a limit kept if all of the interval keeps it and the status is `"ok"`,
#' exceeded if all of it exceeds it, and else `"unclear"`.
#'
#' @section Weights and households:
#' If weights vary, every key has its own sampling fraction, that of a model of the weights by
#' the main effects of the key variables, and people outside the file are counted by the
#' weights themselves. With `pop_size` the weights are multiplied to sum to it.
#'
#' Members of a household that was drawn whole share many keys and carry no information on other
#' people. With `hh_id` members who share a key count once in the fit. Without it, a sample of
#' households looks as if many people were alike: uniqueness is then underestimated.
#'
#' @section Missing values:
#' By `"wildcard"`, the default, a record with missing values is judged by the key variables
#' that it has, among all records that have these. The law is fitted to the complete records, or, if
#' there are few of them, to the records with the most common set of known variables.
#' Uniqueness and correctness are about these key variables, and their `status` says so.
#' [suppress_cells()] takes the rarest keys away, and those that are left look common: of 94
#' releases of 9 populations the re-identifications lay above their interval in 0 of 24 with at
#' most 1% of the key values missing, in 1 of 17 with up to 3%, 4 of 19 with up to 10% and 12 of 34
#' with more. So `status` is `"unclear"` above 1%; judge the file before the suppression.
#' `"category"` treats missing as a value of its own: after local suppression every pattern of
#' suppressed values is a key then. `"exclude"` leaves incomplete records out, as if they were
#' not in the file; `records` has `NA` for them.
#'
#' @section Cost:
#' The network takes most of the time: it counts all pairs of key variables, and for each
#' variable further ones. Every set of key variables that incomplete records know has a network
#' of its own. A million records with ten key variables take 1.4 s at 2 threads.
#'
#' @section Memory:
#' Beyond `data`, with five key variables and two threads: at most 400 bytes a record.
#'
#' @inheritParams sdcRisk-params
#' @param pop_size Number of people in the population. `NULL`: the sum of the weights.
#' @param missing `"wildcard"`, `"category"` or `"exclude"`, see the section on missing values.
#'
#' @return An object of class `sdc_population_risk`, an [sdc_result] with
#' \describe{
#'   \item{`estimates`}{one row per measure: `measure` (`"uniqueness"`, `"correctness"`,
#'     `"tau1"`, `"tau2"`, `"reidentifications"`, `"largest"`), `value`, `low` and `high` (an
#'     interval at 95%), `status`, see the section on uncertainty, and `note`, the reason if
#'     it is not `"ok"`}
#'   \item{`records`}{`as.data.frame()`, one row per record: `risk`,
#'     \eqn{E(1/F \mid f)}{E(1/F | f)}, whose sum is
#'     the number of re-identifications, and `prob_unique`, whose sum is tau1; with `hh_id`
#'     `household_risk`, the chance that at least one member of the record's household is found,
#'     one minus the product of those that a member is not}
#'   \item{`diagnostics`}{`pop_size`; `weights` of network, tree and independence;
#'     `effective_draws`, the number of draws from the posterior that importance weights leave;
#'     `n_members`, the number of records of the largest household; `n_patterns`, the number of
#'     sets of key variables that records know}
#' }
#' Errors: `bad_weights`, `bad_argument` if the size of the population is not given, and `bad_data`
#' if a record has no household or no record is complete.
#' @references
#' Chao, A. (1984). Nonparametric estimation of the number of classes in a population.
#' Scandinavian Journal of Statistics 11(4), 265-270.
#'
#' Skinner, C. J. and Shlomo, N. (2008). Assessing identification risk in survey microdata using
#' log-linear models. Journal of the American Statistical Association 103(483), 989-1001.
#' \doi{10.1198/016214507000001328}.
#'
#' Carota, C., Filippone, M., Leombruni, R. and Polettini, S. (2015). Bayesian nonparametric
#' disclosure risk estimation via mixed effects log-linear models. Annals of Applied Statistics
#' 9(1), 525-546. \doi{10.1214/15-AOAS807}.
#' @family risk of keys
#' @concept re-identification risk
#' @concept population uniqueness
#' @export
#' @examples
#' keys <- c("BORNUSA", "CENREG", "DAGE3", "DRACE3", "EDUC3", "GENDER")
#' risk <- population_risk(nals_prison, keys, weight_var = "WEIGHT")
#' risk
#' risk$estimates[risk$estimates$measure == "reidentifications", ]
#' sum(risk$records$risk) # the same
population_risk <- function(data, key_vars = NULL, ..., weight_var = NULL, pop_size = NULL,
                            hh_id = NULL, missing = "wildcard", sampling_fraction = NULL,
                            limit = NULL) {
  ask <- enter("population_risk", patterns = TRUE)
  data <- ask$data
  missing <- ask$missing
  check_no_dots(...)
  limit <- check_record_limit(limit)
  check_choice(missing, c("category", "exclude", "wildcard"), "missing")
  roles <- check_roles(data, ask$key_vars, ask$weight_var, ask$hh_id)
  check_population(ask$weight_var, ask$pop_size, ask$sampling_fraction)
  with_progress("Population risk", {
    table <- household_table(
      ask, ask$key_vars, roles,
      exclude = roles$positions, listwise = missing == "exclude"
    )
    if (table$n < 2) {
      stop_sdc("bad_data", c(
        "A law of the population needs at least two records.",
        x = paste0("There is ", format_count(table$n), ".")
      ))
    }
    households <- table$labels$households
    rows <- table$rows
    weights <- if (is.null(rows)) roles$weights else roles$weights[rows]
    n_people <- people_of_sample(table, data, weights, ask)
    equal <- equal_weights(roles$weights, data)
    found <- core(rs_population_risk, table$pointer, list(
      n_people = n_people, weights = if (!equal) weights,
      households = households$pointer, missing = missing, least = running$least
    ))
    if (!is.null(households)) {
      found$at_home <- core(rs_members_risk, households$pointer, found$risk)$risk
      homes <- data[[roles$hh_at]]
      found$n_members <- max(tabulate(match(homes, homes)))
    }
    found$sampled <- !equal || n_people > table$n * (1 + 1e-9)
    settings <- file_settings(
      table,
      weight_var = if (!is.null(roles$weight_at)) names(data)[[roles$weight_at]],
      hh_id = households$variables, missing = missing,
      pop_size = n_people
    )
    inform_excluded(settings$n - table$n, settings$n)
    with_limit(new_population_risk(found, table, settings, ask$file, ask$call), limit)
  })
}

# People of the population of the records in use.
people_of_sample <- function(table, data, weights, ask) {
  fraction <- fraction_in_use(table$n, n_records(data), ask$pop_size, ask$sampling_fraction)
  people <- if (is.null(fraction)) sum(weights) else table$n / fraction
  if (people < table$n * (1 - 1e-9)) {
    stop_sdc("bad_weights", c(
      "The weights must sum to at least the number of records.",
      x = paste0(
        "They sum to ", format_count(round(people)), ", with ", plural(table$n, "record"), "."
      ),
      i = "Give weights that say how many people a record stands for, or `pop_size`."
    ))
  }
  max(people, table$n)
}

# Intervals were tried on samples of 1% and more; below, they held in half of the samples.
least_fraction <- 0.005

# A suppression chooses the rarest keys, so that what is left looks common: up to this share of the
# key values that are missing the intervals held.
most_missing <- 0.01

# People of the largest class that the core looks at for the largest risk.
largest_class <- 500

# Why the population may be unlike what a sample of it lets expect.
unlike_the_sample <- function(found, table, settings, file) {
  c(
    if (found$neighbours_alike > 0.01 && is.null(settings$hh_id)) {
      "neighbours in the order of the file are alike: name households by hh_id"
    },
    if (isTRUE(file$hh_left_out) && is.null(settings$hh_id)) {
      "household numbers were left out: check the file before release_data()"
    },
    if (table$n < least_fraction * settings$pop_size) {
      "the sampling fraction is very small"
    }
  )
}

# Status of the intervals of a result, with the reason.
population_status <- function(found, table, settings, file) {
  if (identical(file$remedy, "invariant_pram")) {
    return(list("not judged", "values were exchanged: pram_audit() judges this file"))
  }
  why <- c(
    if (found$sampled) unlike_the_sample(found, table, settings, file),
    if (settings$missing == "wildcard" && mean(table$n_missing) > most_missing * table$n) {
      "more than 1% of the key values are missing: the keys that are left may be the common ones"
    },
    if (found$sampled && found$refuted) {
      "the frequencies in the file refute the model: upper ends need none"
    },
    if (found$sampled && found$effective_draws < 20) "the posterior is known from few draws"
  )
  if (length(why)) list("unclear", paste(why, collapse = "; ")) else list("ok", "")
}

# The largest risk of a key unlike the others, with a chance of 1/(n + 1) after n that are as rare
# as the rarest of the file: of its people nothing is known but its own count.
risk_unlike <- function(found) {
  rarest <- found$rarest
  chance <- 0.025 * (rarest$n_alike + 1)
  if (found$sampled && chance < 1) {
    1 / (rarest$count + stats::qnbinom(chance, rarest$count, rarest$fraction))
  }
}

new_population_risk <- function(found, table, settings, file, this_call) {
  figures <- matrix(found$figures, nrow = 3)
  measure <- c("uniqueness", "correctness", "tau1", "tau2", "reidentifications", "largest")
  # For the error of the model two fifths fewer people, or two thirds more; chosen on known
  # populations.
  smallest <- found$smallest_class
  smallest[is.na(smallest)] <- largest_class + 1
  if (found$sampled) {
    smallest[2:3] <- c(floor(smallest[[2]] / 0.6), max(1, floor(0.6 * smallest[[3]])))
  }
  of_smallest <- 1 / smallest
  risk <- max(found$risk)
  largest <- if (found$refuted) 1 else max(of_smallest, risk, risk_unlike(found))
  # A key has as many people as records at least.
  complete <- settings$missing != "wildcard" || table$n_incomplete == 0
  if (complete) largest <- max(risk, min(largest, 1 / found$rarest$count))
  about <- population_status(found, table, settings, file)
  status <- rep(about[[1]], 6)
  note <- rep(about[[2]], 6)
  if (settings$missing == "wildcard" && table$n_incomplete > 0 && about[[1]] != "not judged") {
    status[1:2] <- "unclear"
    note[1:2] <- paste(
      c("incomplete records do not say how unique people are", setdiff(about[[2]], "")),
      collapse = "; "
    )
  }
  records <- list(
    risk = found$risk, prob_unique = found$prob_unique, household_risk = found$at_home
  )
  records <- records[!vapply(records, is.null, NA)]
  new_sdc_result(
    "sdc_population_risk",
    estimates = frame(
      measure = measure, value = c(figures[1, ], risk),
      low = c(figures[2, ], min(of_smallest, risk)),
      high = c(figures[3, ], largest), status = status, note = note
    ),
    records = do.call(frame, lapply(records, spread_records, table$rows, table$n_rows)),
    settings = settings,
    diagnostics = list(
      n = table$n, n_excluded = settings$n - table$n, n_keys = length(settings$key_vars),
      pop_size = settings$pop_size, n_incomplete = table$n_incomplete,
      weights = rlang::set_names(found$stacking, c("network", "tree", "independence")),
      n_members = found$n_members, effective_draws = found$effective_draws,
      n_patterns = as.integer(found$n_patterns)
    ),
    call = this_call
  )
}
