# Oracles: what the package computes, again, in base R, slow and obvious.

# Values as whole numbers, missing being a value of its own. Whole numbers
# joined by "-" cannot run into each other, as texts could.
oracle_codes <- function(x) {
  text <- as.character(x)
  text[is.na(x)] <- NA
  match(text, unique(text))
}

# Distinct keys, sample uniques and pairs of every set of `p` columns, in the
# order of combn(). `keys` is a list of columns that count as one key each.
oracle_set_counts <- function(data, p, missing = "category",
                              keys = as.list(names(data))) {
  if (missing == "exclude") {
    data <- data[stats::complete.cases(data), , drop = FALSE]
  }
  codes <- lapply(keys, function(members) {
    parts <- lapply(members, function(m) oracle_codes(data[[m]]))
    oracle_codes(do.call(paste, c(parts, sep = "-")))
  })
  labels <- if (is.null(names(keys))) vapply(keys, `[[`, "", 1) else names(keys)
  sets <- utils::combn(length(keys), p, simplify = FALSE)
  sizes <- lapply(sets, function(set) table(do.call(paste, c(codes[set], sep = "-"))))
  data.frame(
    key_set = vapply(sets, function(set) paste(labels[set], collapse = " + "), ""),
    p = rep(as.integer(p), length(sets)), n = rep(nrow(data), length(sets)),
    n_distinct = lengths(sizes),
    n_unique = vapply(sizes, function(size) sum(size == 1), 1L),
    n_pairs = vapply(sizes, function(size) sum(size == 2), 1L),
    set_risk = lengths(sizes) / nrow(data)
  )
}

# The quantile of definition 8 that a share of `share` exceeds, its place in
# whole numbers: R's quantile() takes a whole place for one an ulp below it. A
# share of more than six decimals makes no place whole.
oracle_quantile <- function(x, share) {
  x <- sort(x)
  n <- length(x)
  unit <- 1e6
  over <- round(share * unit)
  if (abs(over / unit - share) > 1e-12) over <- share * unit
  # (n + 1/3) (1 - share) + 1/3 times 3 units.
  place <- (3 * n + 1) * (unit - over) + unit
  lower <- x[[min(max(place %/% (3 * unit), 1), n)]]
  upper <- x[[min(place %/% (3 * unit) + 1, n)]]
  rest <- place %% (3 * unit) / (3 * unit)
  if (lower == upper || rest == 0) lower else (1 - rest) * lower + rest * upper
}

# Shape and scale from excesses by probability-weighted moments.
oracle_pwm <- function(l, pwm) {
  l <- sort(l)
  n <- length(l)
  j <- seq_len(n)
  weight <- if (pwm == "plotting") 1 - (j - 0.35) / n else (n - j) / (n - 1)
  a0 <- mean(l)
  a1 <- mean(weight * l)
  c(shape = 2 - a0 / (a0 - 2 * a1), scale = 2 * a0 * a1 / (a0 - 2 * a1))
}

# The extreme risk at one level, from the counts of all sets.
oracle_tail <- function(distinct, n_records, alpha, pi_u, pwm, theta_one) {
  ones <- distinct == n_records
  theta <- distinct / n_records
  if (theta_one == "clamp") {
    theta[ones] <- (n_records - 0.5) / n_records
  }
  if (theta_one == "exclude") {
    theta <- theta[!ones]
  }
  out <- data.frame(
    risk = NA_real_, risk_empirical = NA_real_, threshold = NA_real_,
    shape = NA_real_, scale = NA_real_, n_exceedances = 0L,
    n_sets = length(theta), n_records = n_records, status = "theta_one"
  )
  if (length(theta) == 0) {
    return(out)
  }
  u <- oracle_quantile(theta, pi_u)
  above <- theta[theta > u]
  out$risk_empirical <- oracle_quantile(theta, alpha)
  out$threshold <- u
  out$n_exceedances <- length(above)
  if (any(theta == 1)) {
    out$risk <- 1
    return(out)
  }
  out$status <- if (length(theta) == 1) {
    "single"
  } else if (length(above) == 0) {
    "no_exceedance"
  } else if (length(above) < 10) {
    "few"
  } else {
    "ok"
  }
  out$risk <- u
  if (length(above) == 0) {
    return(out)
  }
  if (pwm == "unbiased" && length(above) == 1) {
    out$risk <- if (alpha == pi_u) u else NA_real_
    return(out)
  }
  if (pwm == "unbiased" && length(unique(above)) == 1) {
    # As excesses draw together, T tends to the largest risk.
    out$risk <- if (alpha == pi_u) u else max(above)
    return(out)
  }
  fit <- oracle_pwm(stats::qlogis(above) - stats::qlogis(u), pwm)
  out$shape <- fit[["shape"]]
  out$scale <- fit[["scale"]]
  ratio <- log(pi_u / alpha)
  rise <- if (out$shape == 0) ratio else expm1(out$shape * ratio) / out$shape
  if (alpha < pi_u) {
    out$risk <- stats::plogis(stats::qlogis(u) + out$scale * rise)
  }
  out
}

# What qar_risk() returns: estimates by p and alpha, sets by falling risk.
oracle_qar <- function(data, p = 3, alpha = 0.01, pi_u = 0.05, missing = "category",
                       pwm = "plotting", theta_one = "one",
                       keys = as.list(names(data))) {
  sets <- do.call(rbind, lapply(p, function(size) {
    oracle_set_counts(data, size, missing, keys)
  }))
  cases <- expand.grid(alpha = alpha, p = p)
  tails <- Map(function(alpha, p) {
    of_size <- sets[sets$p == p, ]
    oracle_tail(of_size$n_distinct, of_size$n[[1]], alpha, pi_u, pwm, theta_one)
  }, cases$alpha, cases$p)
  estimates <- cbind(p = as.integer(cases$p), alpha = cases$alpha, do.call(rbind, tails))
  # order() leaves ties where they were.
  sets <- sets[order(-sets$n_distinct), ]
  rownames(sets) <- NULL
  list(estimates = estimates, sets = sets)
}

# One column of `n` values, `levels` of them at most.
random_column <- function(type, n, levels, missing_rate) {
  draw <- sample.int(levels, n, replace = TRUE, prob = 1 / seq_len(levels))
  x <- switch(type,
    factor = factor(paste0("level ", draw), levels = paste0("level ", levels:0)),
    ordered = factor(letters[draw], levels = letters[seq_len(levels)], ordered = TRUE),
    character = c("a", "a-b", "b", "-", "", "NA", "\u00e9", "1", "2", "1-2")[draw],
    integer = draw - 2L,
    double = c(-0.5, 0, 1e10, 1 / 3, -2, 7, Inf, 1e-10, 2, 3)[draw],
    logical = draw > 1,
    Date = as.Date("2020-02-28") + draw,
    POSIXct = as.POSIXct("2020-03-29 00:30:00", tz = "UTC") + 1800 * draw
  )
  x[stats::runif(n) < missing_rate] <- NA
  x
}

column_types <- c(
  "factor", "ordered", "character", "integer", "double", "logical", "Date", "POSIXct"
)

# A data frame of `n` records with one column per entry of `levels`, at most 10
# values each.
random_file <- function(n, levels, missing_rate = 0, seed = 1,
                        types = sample(column_types, length(levels), replace = TRUE)) {
  set.seed(seed)
  columns <- Map(random_column, types, n, levels, missing_rate)
  names(columns) <- paste0("v", seq_along(levels))
  data.frame(columns, stringsAsFactors = FALSE)
}

# The value of an expression whose warnings and messages are not the point.
quietly <- function(expr) {
  withCallingHandlers(
    expr,
    sdcRisk_warning = function(w) tryInvokeRestart("muffleWarning"),
    sdcRisk_message = function(m) tryInvokeRestart("muffleMessage")
  )
}

# Whether every number is within 1e-12 of what is expected, relative to the
# larger of it and one; missing and infinite values in the same places.
is_close <- function(found, expected) {
  finite <- is.finite(expected)
  off <- abs(found[finite] - expected[finite]) / pmax(1, abs(expected[finite]))
  identical(found[!finite], expected[!finite]) && all(is.finite(found[finite])) &&
    all(off <= 1e-12)
}

expect_close <- function(found, expected, info = NULL) {
  expect_true(is_close(found, expected), info = info)
}

# Equality with the result of oracle_qar().
expect_oracle <- function(result, oracle, info = NULL) {
  found <- result$estimates
  expected <- oracle$estimates
  numbers <- c("risk", "risk_empirical", "threshold", "shape", "scale")
  close <- vapply(numbers, function(name) is_close(found[[name]], expected[[name]]), NA)
  expect_identical(names(close)[!close], character(), info = info)
  exact <- c("p", "alpha", "n_exceedances", "n_sets", "n_records", "status")
  expect_identical(found[exact], expected[exact], info = info)
  expect_identical(result$sets, oracle$sets, info = info)
}

# A file of the trial data, or a skip where they are not installed.
trial_file <- function(name, ...) utils::read.csv(trial_path(name), ...)

trial_path <- function(name) {
  folder <- Sys.getenv("SDCRISK_DATA")
  path <- file.path(folder, name)
  there <- nzchar(folder) && all(file.exists(path))
  testthat::skip_if_not(there, paste("SDCRISK_DATA does not hold", toString(name)))
  path
}

# Seeds of random files. The check of a built package, which runs after the
# tests of the sources, takes an eighth of them.
seeds <- function(n) {
  in_sources <- identical(Sys.getenv("NOT_CRAN"), "true")
  seq_len(if (in_sources) n else ceiling(n / 8))
}
