#' Classical estimators of population uniqueness
#'
#' Estimates how many people are unique in the population on the key variables, from the
#' sample frequencies alone. Use these five estimators of the literature to
#' check [copula_uniqueness()], which also models the variables.
#'
#' @details
#' Let \eqn{s_f} be the number of keys with \eqn{f} of the
#' \eqn{n} records, \eqn{u = \sum s_f}{u = sum s_f} the number of keys, \eqn{N} the number
#' of people and \eqn{\pi = n / N}{pi = n / N}.
#' \describe{
#'   \item{`"pitman"`}{(Hoshino 2001) The sample is one of Pitman's random
#'     partitions with parameters \eqn{\alpha}{alpha} and \eqn{\theta}{theta}, estimated by
#'     maximum likelihood; the uniqueness of \eqn{N} people is
#'     \deqn{\frac{\Gamma(1 + \theta)\,\Gamma(N + \theta + \alpha - 1)}{%
#'       \Gamma(\alpha + \theta)\,\Gamma(N + \theta)}.}{%
#'       G(1 + theta) G(N + theta + alpha - 1) / (G(alpha + theta) G(N + theta)),
#'       G the gamma function.}}
#'   \item{`"ewens"`}{The same with \eqn{\alpha = 0}{alpha = 0}: uniqueness
#'     \eqn{\theta / (N + \theta - 1)}{theta / (N + theta - 1)}.}
#'   \item{`"zayatz"`}{(1991) A sample unique is a population unique with the
#'     probability that Bayes' rule gives if keys of the population are as frequent
#'     as those of the sample: with \eqn{h(f)} the hypergeometric probability that one
#'     of \eqn{f} people is sampled, uniqueness is
#'     \eqn{(s_1 / n)\; s_1 h(1) / \sum_f s_f h(f)}{(s_1 / n) s_1 h(1) / sum_f s_f h(f)}.}
#'   \item{`"snb"`}{(Chen and Keller-McNulty 1998) Keys of the population have one
#'     plus a negative binomial number of people, \eqn{NB(a, b)}; \eqn{a} and \eqn{b} are
#'     such that the expected numbers of keys with one and two records are
#'     \eqn{s_1} and \eqn{s_2}, the number of keys \eqn{K} is Shlosser's estimate, and
#'     uniqueness is \eqn{K b^a / N}{K b^a / N}.}
#'   \item{`"dankar"`}{(Dankar and others 2012) Up to a sampling fraction of 0.1
#'     `"pitman"`, or `"zayatz"` if that has no solution; above it the smaller of
#'     `"zayatz"` and `"snb"`.}
#' }
#' None knows which values make a record rare. On 175 samples of known populations the mean error
#' of `"pitman"` was .173, .072, .035 and .019 at sampling fractions of 1, 5, 20 and 50%, that of
#' [population_risk()] .058, .020, .007 and .003 (`vignette("trust")`).
#'
#' `status` is `"ok"`; `"boundary"` if the likelihood has no maximum inside its range (all
#' records alike, or no two alike: the limit is given); `"extreme"` if the equations of
#' `"snb"` hold only with \eqn{a}{a} above 10 or \eqn{b}{b} within 1e-6 of 0 or 1, which no
#' file of people has: the frequencies hold too little information, so do not use the value;
#' `"no_solution"` if they have none (the value is `NA`). A number that is not finite is
#' never `"ok"`.
#'
#' A population size need not be whole, as sums of weights hardly ever are:
#' `"zayatz"`, which counts people, takes the nearest whole number.
#'
#' @section Cost:
#' Grouping the records once, and work on the distinct frequencies: a million records and six
#' key variables take 0.3 seconds of one processor, all five methods together no more.
#'
#' @section Memory:
#' Beyond `data`, with five key variables and two threads: at most 130 bytes a record.
#'
#' @inheritParams sdcRisk-params
#' @param pop_size Number of people in the population: one or several numbers,
#'   none below the number of records. By default the sum of the weights of an [sdc_file()], if
#'   they expand it.
#' @param method One or several of the estimators; the first alone by default.
#'
#' @return An object of class `sdc_population_uniqueness`, an [sdc_result] whose
#'   `records` are `NULL` and whose `estimates` have one row per `pop_size` and
#'   method: `pop_size`, `method`, `population_uniqueness` (share of people),
#'   `n_population_unique` (number of people), `alpha` and `theta` (of `"pitman"`,
#'   `"ewens"` and `"dankar"` if it used them), `status`; `as.data.frame()` gives
#'   them. Errors: `bad_argument` for a `pop_size` that is not finite or below the
#'   number of records.
#' @references
#' Hoshino, N. (2001). Applying Pitman's sampling formula to microdata disclosure
#' risk assessment. Journal of Official Statistics 17(4), 499-520.
#'
#' Chen, G. and Keller-McNulty, S. (1998). Estimation of identification disclosure
#' risk in microdata. Journal of Official Statistics 14(1), 79-95.
#'
#' Zayatz, L. V. (1991). Estimation of the percent of unique population elements
#' on a microdata file using the sample. Statistical Research Division Report,
#' US Bureau of the Census.
#'
#' Dankar, F. K., El Emam, K., Neisa, A. and Roffey, T. (2012). Estimating the
#' re-identification risk of clinical data sets. BMC Medical Informatics and
#' Decision Making 12, 66. \doi{10.1186/1472-6947-12-66}.
#' @family copula
#' @export
#' @examples
#' set.seed(1)
#' sample <- adult[sample(nrow(adult), 3256), ]
#' keys <- c("age", "sex", "education_num", "occupation", "hours_per_week")
#' population_uniqueness(
#'   sample, keys, nrow(adult), c("pitman", "ewens", "zayatz", "snb", "dankar")
#' )
#' # The truth is known here: 0.421.
#' cells <- table(do.call(paste, adult[keys]))
#' sum(cells == 1) / nrow(adult)
population_uniqueness <- function(data, key_vars = NULL, pop_size,
                                  method = c("pitman", "ewens", "zayatz", "snb", "dankar"),
                                  ..., missing = "category", sampling_fraction = NULL) {
  ask <- enter("population_uniqueness", patterns = TRUE)
  pop_size <- ask$pop_size
  check_no_dots(...)
  if (is.null(ask$sampling_fraction)) check_size_given(ask$file)
  methods <- check_methods(method, base::missing(method))
  check_missing_rule(ask$missing)
  table <- key_table(ask$file, ask$key_vars, listwise = ask$missing == "exclude")
  settings <- file_settings(table, missing = ask$missing)
  pop_size <- size_of_population(settings$n, ask$pop_size, ask$sampling_fraction)
  check_pop_size(pop_size, table$n)
  sizes <- tabulate_sizes(group_records(table)$counts)
  rows <- lapply(pop_size, function(size) {
    found <- lapply(methods, function(method) classical_estimate(method, sizes, size))
    found <- stack_frames(found)
    do.call(frame, c(list(pop_size = rep(size, nrow(found)), method = methods), found))
  })
  estimates <- stack_frames(rows)
  estimates$n_population_unique <- estimates$population_uniqueness * estimates$pop_size
  new_sdc_result(
    "sdc_population_uniqueness",
    estimates = estimates[c(
      "pop_size", "method", "population_uniqueness", "n_population_unique", "alpha",
      "theta", "status"
    )],
    records = NULL, settings = settings,
    diagnostics = list(
      n = table$n, n_keys = length(table$keys), n_cells = sum(sizes$n),
      sample_uniqueness = sum(sizes$n[sizes$size == 1]) / table$n,
      n_excluded = settings$n - table$n
    ),
    call = ask$call
  )
}

classical_methods <- c("pitman", "ewens", "zayatz", "snb", "dankar")

check_methods <- function(method, absent) {
  if (absent) {
    return("pitman")
  }
  known <- is.character(method) && length(method) > 0 && !anyDuplicated(method) &&
    all(method %in% classical_methods)
  if (!known) stop_argument("method", paste("be among", quote_names(classical_methods)))
  method
}

# Number of cells by number of records.
tabulate_sizes <- function(counts) {
  counts <- sort(as.double(counts))
  runs <- rle(counts)
  frame(size = runs$values, n = as.double(runs$lengths))
}

classical_estimate <- function(method, sizes, pop_size) {
  n <- sum(sizes$size * sizes$n)
  row <- function(value, status = "ok", alpha = NA_real_, theta = NA_real_) {
    frame(population_uniqueness = value, alpha = alpha, theta = theta, status = status)
  }
  partition <- function(fitted) {
    row(partition_uniqueness(fitted, pop_size), fitted$status, fitted$alpha, fitted$theta)
  }
  from_cells <- function(found) row(found$value, found$status)
  switch(method,
    pitman = partition(fit_pitman(sizes)),
    ewens = partition(fit_ewens(sizes)),
    zayatz = from_cells(zayatz_estimate(sizes, pop_size)),
    snb = from_cells(snb_estimate(sizes, pop_size)),
    dankar = {
      if (n / pop_size <= 0.1) {
        fitted <- fit_pitman(sizes)
        if (fitted$status == "ok") {
          return(partition(fitted))
        }
        return(from_cells(zayatz_estimate(sizes, pop_size)))
      }
      both <- list(zayatz_estimate(sizes, pop_size), snb_estimate(sizes, pop_size))
      both <- both[!is.na(vapply(both, function(b) b$value, 0))]
      if (length(both) == 0) {
        return(row(NA_real_, "no_solution"))
      }
      from_cells(both[[which.min(vapply(both, function(b) b$value, 0))]])
    }
  )
}

# A value that is no number is no solution.
estimate_of <- function(value, status = "ok") {
  if (is.finite(value)) {
    list(value = value, status = status)
  } else {
    list(value = NA_real_, status = "no_solution")
  }
}

# Pitman's partition ---------------------------------------------------------

# Maximum likelihood of alpha and theta, from several starts. Without any two
# records alike, or without any two unlike, there is no maximum.
fit_pitman <- function(sizes) {
  limit <- degenerate_partition(sizes)
  if (!is.null(limit)) {
    return(limit)
  }
  ewens <- fit_ewens(sizes)
  n <- sum(sizes$size * sizes$n)
  cells <- sum(sizes$n)
  minus <- function(par) {
    alpha <- stats::plogis(par[[1]])
    -pitman_likelihood(alpha, exp(par[[2]]) - alpha, sizes, n, cells)
  }
  best <- NULL
  for (alpha in c(0.05, 0.4, 0.8)) {
    # An equal number of keys with a heavier tail needs a smaller theta.
    start <- c(stats::qlogis(alpha), log(ewens$theta * (1 - alpha)^2 + alpha + 0.1))
    found <- stats::optim(start, minus, control = list(reltol = 1e-12, maxit = 1000))
    found <- stats::optim(found$par, minus, method = "BFGS")
    if (is.null(best) || found$value < best$value) best <- found
  }
  alpha <- stats::plogis(best$par[[1]])
  if (-best$value <= pitman_likelihood(0, ewens$theta, sizes, n, cells) + 1e-9) {
    return(ewens)
  }
  list(alpha = alpha, theta = exp(best$par[[2]]) - alpha, status = "ok")
}

fit_ewens <- function(sizes) {
  limit <- degenerate_partition(sizes)
  if (!is.null(limit)) {
    return(limit)
  }
  n <- sum(sizes$size * sizes$n)
  cells <- sum(sizes$n)
  # The expected number of cells, theta (psi(theta + n) - psi(theta)), rises in theta.
  excess <- function(ln_theta) {
    theta <- exp(ln_theta)
    if (theta < 1e4) {
      return(theta * (digamma(theta + n) - digamma(theta)) - cells)
    }
    # The difference without loss of digits.
    theta * log1p(n / theta) + 0.5 * n / (theta + n) - cells
  }
  found <- stats::uniroot(excess, c(-30, log(n) + 30), tol = 1e-12)
  list(alpha = 0, theta = exp(found$root), status = "ok")
}

degenerate_partition <- function(sizes) {
  if (all(sizes$size == 1)) {
    list(alpha = NA_real_, theta = Inf, status = "boundary")
  } else if (sum(sizes$n) == 1) {
    list(alpha = NA_real_, theta = 0, status = "boundary")
  }
}

# ln likelihood of `cells` cells of `n` records by their sizes, up to a constant.
pitman_likelihood <- function(alpha, theta, sizes, n = sum(sizes$size * sizes$n),
                              cells = sum(sizes$n)) {
  ln_rising(theta, alpha, cells - 1) - (lgamma(theta + n) - lgamma(theta + 1)) +
    sum(sizes$n * (lgamma(sizes$size - alpha) - lgamma(1 - alpha)))
}

# sum(log(theta + seq_len(m) * alpha)), by the gamma function: with x = theta / alpha + 1
# it is m ln(alpha) + ln(Gamma(x + m) / Gamma(x)), at large x by Stirling's formula
# without the terms that cancel.
ln_rising <- function(theta, alpha, m) {
  x <- theta / alpha + 1
  if (m < 100) {
    sum(log(theta + seq_len(m) * alpha))
  } else if (x < 1e4) {
    m * log(alpha) + lgamma(x + m) - lgamma(x)
  } else if (is.finite(x)) {
    m * log(theta + alpha) + (x + m - 0.5) * log1p(m / x) - m - m / (12 * x * (x + m))
  } else {
    m * log(theta)
  }
}

# The expected share of unique people among N.
partition_uniqueness <- function(fitted, pop_size) {
  if (is.na(fitted$alpha)) {
    return(if (is.infinite(fitted$theta)) 1 else 0)
  }
  alpha <- fitted$alpha
  theta <- fitted$theta
  if (pop_size <= 1) {
    return(1)
  }
  exp(ln_gamma_ratio(alpha + theta, 1 - alpha) + ln_gamma_ratio(pop_size + theta, alpha - 1))
}

# ln(Gamma(x + a) / Gamma(x)) for |a| <= 1 without loss of digits at large x.
ln_gamma_ratio <- function(x, a) {
  if (x < 1e4) {
    return(lgamma(x + a) - lgamma(x))
  }
  a * log(x) + a * (a - 1) / (2 * x) - a * (a - 1) * (2 * a - 1) / (12 * x^2) +
    (a * (a - 1))^2 / (12 * x^3)
}

# Sampling from cells ---------------------------------------------------------

zayatz_estimate <- function(sizes, pop_size) {
  n <- sum(sizes$size * sizes$n)
  pop_size <- round(pop_size)
  single <- sum(sizes$n[sizes$size == 1])
  if (single == 0) {
    return(estimate_of(0))
  }
  one_sampled <- stats::dhyper(1, sizes$size, pop_size - sizes$size, n)
  chance <- single * stats::dhyper(1, 1, pop_size - 1, n) / sum(sizes$n * one_sampled)
  estimate_of(single / n * chance)
}

snb_estimate <- function(sizes, pop_size) {
  n <- sum(sizes$size * sizes$n)
  of_size <- function(size) sum(sizes$n[sizes$size == size])
  single <- of_size(1)
  double <- of_size(2)
  if (single == 0) {
    return(estimate_of(0))
  }
  if (n >= pop_size) {
    return(estimate_of(single / n))
  }
  if (double == 0) {
    return(estimate_of(NA_real_))
  }
  sampled <- n / pop_size
  left <- 1 - sampled
  # Shlosser's number of cells of the population.
  cells <- sum(sizes$n) + single * sum(left^sizes$size * sizes$n) /
    sum(sizes$size * sampled * left^(sizes$size - 1) * sizes$n)
  # Derivatives of the generating function z (b / (1 - (1 - b) z))^a at 1 - pi.
  expected <- function(a, b) {
    c <- 1 - b
    base <- 1 - c * left
    first <- b^a * (base^-a + left * a * c * base^(-a - 1))
    second <- b^a * (2 * a * c * base^(-a - 1) + left * a * (a + 1) * c^2 * base^(-a - 2))
    cells * c(sampled * first, sampled^2 * second / 2)
  }
  miss <- function(par) {
    fitted <- expected(exp(par[[1]]), stats::plogis(par[[2]]))
    loss <- sum((log(fitted) - log(c(single, double)))^2)
    if (is.finite(loss)) loss else 1e10
  }
  best <- NULL
  for (start in list(c(-2, -2), c(0, -4), c(-4, -1), c(1, 0))) {
    found <- stats::optim(start, miss, control = list(reltol = 1e-14, maxit = 5000))
    if (is.null(best) || found$value < best$value) best <- found
  }
  if (best$value > 1e-6) {
    return(estimate_of(NA_real_))
  }
  a <- exp(best$par[[1]])
  b <- stats::plogis(best$par[[2]])
  extreme <- a > 10 || b < 1e-6 || b > 1 - 1e-6
  estimate_of(min(cells * b^a / pop_size, 1), if (extreme) "extreme" else "ok")
}

# Methods ----------------------------------------------------------------------

declare_measure(
  "population_uniqueness",
  reference = "hoshino2001",
  ids = c("pop_size", "method"), terms = "population_uniqueness",
  each = paste0(
    ifelse(method == "pitman", "", paste0(" (", method, ")")), " among ", format_count(pop_size),
    " people"
  ),
  population_uniqueness = figure(
    "Population uniqueness (Pitman)", "share", scenario = "journalist", key = "pitman",
    note = status_note(status), head = "unique"
  ),
  title = "Uniqueness in the population by estimators from sample frequencies",
  question = "how many people are unique, by the sample's counts alone?",
  size = paste0(
    if (nrow(e) == 1) paste0(format_count(pop_size), " people; "),
    plural(x$diagnostics$n, "record"), " with ", plural(x$diagnostics$n_cells, "key"), " of ",
    plural(x$diagnostics$n_keys, "key variable"), "; ",
    missing_clause_of(x), "; unique in the sample: ",
    format_percent(x$diagnostics$sample_uniqueness), "."
  ),
  notes = list(
    if (any(nzchar(status_note(status)))) {
      at <- nzchar(status_note(status))
      paste0("Not to rely on: ", paste(method[at], status_note(status[at]), collapse = "; "), ".")
    },
    "No record risks: see copula_uniqueness()."
  ),
  measured = paste0(
    "Uniqueness in the population was estimated from the frequencies of ",
    plural(x$diagnostics$n_cells, "key"), " that ", plural(x$diagnostics$n, "record"),
    " have on ", plural(x$diagnostics$n_keys, "key variable")
  ),
  found = if (all(is.na(population_uniqueness))) {
    "it could not be determined by any of the estimators"
  } else {
    known <- !is.na(population_uniqueness)
    paste0("unique in the population are an estimated ", paste0(
      format_percent(population_uniqueness[known]), " of ", format_count(pop_size[known]),
      " people (", method[known], ")", collapse = ", "
    ))
  },
  limits = "these estimators do not know which values are rare",
  source = "classical estimators",
  assuming = missing_clause_of(x), frame = x$estimates
)
