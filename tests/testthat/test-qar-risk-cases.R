# Cases checked by hand, and published figures.

# A file in which column v has `values[v]` values: column v takes 1, 2, ... in
# the first records and its last value in all others.
staircase <- function(n, values) {
  columns <- lapply(values, function(k) pmin(seq_len(n), k))
  names(columns) <- paste0("v", seq_along(values))
  data.frame(columns)
}

test_that("one key set has the status single, a message and its own risk", {
  data <- data.frame(a = c(1, 1, 2, 2, 2), b = c("x", "y", "x", "x", "y"))
  expect_message(
    result <- qar_risk(data, p = 2, alpha = 0.01),
    class = "sdcRisk_message_single_set"
  )
  expect_identical(result$estimates$status, "single")
  expect_identical(result$estimates$risk, 4 / 5)
  expect_identical(result$estimates$threshold, 4 / 5)
  expect_identical(result$estimates$risk_empirical, 4 / 5)
  expect_identical(result$estimates$n_exceedances, 0L)
  expect_identical(result$estimates$shape, NA_real_)
  expect_identical(
    result$sets[c("key_set", "n", "n_distinct", "n_unique", "n_pairs")],
    data.frame(key_set = "a + b", n = 5L, n_distinct = 4L, n_unique = 3L, n_pairs = 1L)
  )
})

test_that("equal risks leave no exceedance: T is the threshold", {
  data <- data.frame(a = c(1, 1, 2), b = c(1, 2, 2), c = c(2, 1, 1))
  expect_warning(
    result <- qar_risk(data, p = 1),
    class = "sdcRisk_warning_no_exceedance"
  )
  expect_identical(result$estimates$status, "no_exceedance")
  expect_identical(result$estimates$risk, 2 / 3)
  expect_identical(result$estimates$threshold, 2 / 3)
  expect_identical(result$estimates$shape, NA_real_)
  expect_identical(result$estimates$scale, NA_real_)
})

test_that("ties at the top leave no exceedance either", {
  data <- staircase(20, c(2, 3, 4, 9, 9, 9))
  expect_warning(
    result <- qar_risk(data, p = 1, pi_u = 0.4, alpha = 0.1),
    class = "sdcRisk_warning_no_exceedance"
  )
  expect_identical(result$estimates$risk, 9 / 20)
})

test_that("fewer key sets than 1 / pi_u leave no exceedance where u is the largest risk", {
  data <- staircase(20, c(2, 3, 5))
  expect_warning(
    result <- qar_risk(data, p = 1, pi_u = 0.05),
    class = "sdcRisk_warning_no_exceedance"
  )
  expect_identical(result$estimates$risk, 5 / 20)
})

test_that("few exceedances give a number, a status and a warning", {
  data <- staircase(50, c(2, 3, 4, 6, 10, 15, 21, 30))
  expect_warning(
    result <- qar_risk(data, p = 1, alpha = 0.05, pi_u = 0.3),
    class = "sdcRisk_warning_few_exceedances"
  )
  # h = 1/3 + 0.7 (8 + 1/3) = 37/6: between the 6th and the 7th risk.
  u <- (5 / 6) * 15 / 50 + (1 / 6) * 21 / 50
  expect_equal(result$estimates$threshold, u, tolerance = 1e-14)
  expect_identical(result$estimates$n_exceedances, 2L)
  expect_identical(result$estimates$status, "few")
  l <- stats::qlogis(c(21, 30) / 50) - stats::qlogis(u)
  a0 <- sum(l) / 2
  a1 <- (l[[1]] * (1 - 0.65 / 2) + l[[2]] * (1 - 1.65 / 2)) / 2
  xi <- 2 - a0 / (a0 - 2 * a1)
  beta <- 2 * a0 * a1 / (a0 - 2 * a1)
  risk <- stats::plogis(stats::qlogis(u) + beta / xi * ((0.05 / 0.3)^-xi - 1))
  expect_close(result$estimates$shape, xi)
  expect_close(result$estimates$scale, beta)
  expect_close(result$estimates$risk, risk)
})

test_that("one exceedance with plotting positions gives shape 2 - 1/0.3", {
  data <- staircase(50, c(2, 3, 4, 6, 10, 30))
  result <- quietly(qar_risk(data, p = 1, alpha = 0.05, pi_u = 0.2))
  expect_identical(result$estimates$n_exceedances, 1L)
  expect_identical(result$estimates$status, "few")
  expect_close(result$estimates$shape, 2 - 1 / 0.3)
  expect_false(is.na(result$estimates$risk))
})

test_that("one exceedance with unbiased weights determines nothing but T at pi_u", {
  data <- staircase(50, c(2, 3, 4, 6, 10, 30))
  expect_warning(
    result <- qar_risk(data, p = 1, alpha = c(0.05, 0.2), pi_u = 0.2, pwm = "unbiased"),
    class = "sdcRisk_warning_few_exceedances"
  )
  expect_identical(result$estimates$n_exceedances, c(1L, 1L))
  expect_identical(result$estimates$shape, c(NA_real_, NA_real_))
  expect_identical(result$estimates$scale, c(NA_real_, NA_real_))
  expect_identical(is.na(result$estimates$risk), c(TRUE, FALSE))
  expect_identical(result$estimates$risk[[2]], result$estimates$threshold[[2]])
})

test_that("equal excesses give the largest risk under unbiased weights", {
  data <- staircase(50, c(2, 3, 4, 6, 10, 20, 20))
  expect_message(
    result <- suppressWarnings(qar_risk(
      data, p = 1, alpha = c(0.05, 0.3), pi_u = 0.3, pwm = "unbiased"
    )),
    class = "sdcRisk_message_equal_excesses"
  )
  estimates <- result$estimates
  expect_identical(estimates$n_exceedances, c(2L, 2L))
  expect_identical(estimates$risk, c(20 / 50, estimates$threshold[[1]]))
  expect_identical(estimates$shape, c(NA_real_, NA_real_))
  expect_identical(estimates$scale, c(NA_real_, NA_real_))
  expect_identical(result$diagnostics$fit$equal, c(TRUE, TRUE))
  expect_match(paste(lines_of(result), collapse = " "), "Equal excesses have no tail")
  expect_match(interpret(result), "the riskiest key sets share")
  # It is the limit of excesses that draw together.
  apart <- staircase(50000, c(2000, 3000, 4000, 6000, 10000, 19999, 20000))
  near <- quietly(qar_risk(apart, p = 1, alpha = 0.05, pi_u = 0.3, pwm = "unbiased"))$estimates
  expect_lt(near$shape, -1000)
  expect_equal(near$risk, 0.4, tolerance = 1e-4)
  plotting <- quietly(qar_risk(data, p = 1, alpha = 0.05, pi_u = 0.3))$estimates
  # a0 = l and a1 = l (1 - 1.15 / 2): a0 - 2 a1 = 0.15 l.
  expect_close(plotting$shape, 2 - 1 / 0.15)
})

test_that("a key set that identifies every record makes T one, by name and with a warning", {
  data <- cbind(staircase(12, c(2, 3, 4, 5)), id = 1:12)
  expect_warning(
    result <- qar_risk(data, p = 1, alpha = 0.05, pi_u = 0.5),
    regexp = "id", class = "sdcRisk_warning_theta_one"
  )
  expect_identical(result$estimates$status, "theta_one")
  expect_identical(result$estimates$risk, 1)
  expect_identical(result$diagnostics$identifying_sets, "id")
  expect_identical(result$estimates$n_exceedances, 2L)
  expect_identical(result$estimates$shape, NA_real_)

  # Without it: what the file without the column gives.
  without <- quietly(qar_risk(data[1:4], p = 1, alpha = 0.05, pi_u = 0.5))
  expect_identical(result$diagnostics$without_theta_one$risk, without$estimates$risk)
  excluded <- quietly(qar_risk(data, p = 1, alpha = 0.05, pi_u = 0.5, theta_one = "exclude"))
  expect_identical(excluded$estimates, without$estimates)
  expect_identical(excluded$sets$key_set[[1]], "id")
  expect_identical(excluded$sets$set_risk[[1]], 1)

  # The print names the columns and gives T without them.
  shown <- paste(lines_of(result), collapse = "\n")
  expect_match(shown, "\"id\"", fixed = TRUE)
  number <- formatC(without$estimates$risk, digits = 3, format = "fg", flag = "#")
  expect_match(shown, number, fixed = TRUE)
})

test_that("clamping counts half a class less", {
  data <- cbind(staircase(12, c(2, 3, 4, 5)), id = 1:12)
  result <- quietly(qar_risk(data, p = 1, alpha = 0.05, pi_u = 0.5, theta_one = "clamp"))
  expect_identical(result$estimates$status, "few")
  u <- 4 / 12
  expect_identical(result$estimates$threshold, u)
  l <- stats::qlogis(c(5, 11.5) / 12) - stats::qlogis(u)
  fit <- oracle_pwm(l, "plotting")
  expect_close(result$estimates$shape, fit[["shape"]])
  expect_lt(result$estimates$risk, 1)
})

test_that("a file in which every key set identifies every record leaves nothing to exclude", {
  data <- data.frame(a = 1:6, b = 6:1, c = letters[1:6])
  expect_warning(
    result <- qar_risk(data, p = 2, theta_one = "exclude"),
    class = "sdcRisk_warning_theta_one"
  )
  expect_identical(result$estimates$status, "theta_one")
  expect_identical(result$estimates$risk, NA_real_)
  expect_identical(result$estimates$threshold, NA_real_)
  expect_identical(result$estimates$n_sets, 0L)
  one <- quietly(qar_risk(data, p = 2))
  expect_identical(one$estimates$risk, 1)
  expect_identical(one$estimates$threshold, 1)
  clamped <- quietly(qar_risk(data, p = 2, theta_one = "clamp"))
  expect_identical(clamped$estimates$risk, 5.5 / 6)
  expect_identical(clamped$estimates$status, "no_exceedance")
})

test_that("a constant column is allowed, warned about and changes no risk", {
  data <- random_file(60, levels = c(4, 5, 6), seed = 31)
  data$same <- "x"
  expect_warning(
    quietly_but <- withCallingHandlers(
      qar_risk(data, p = 2, pi_u = 0.3),
      sdcRisk_warning = function(w) {
        if (!inherits(w, "sdcRisk_warning_constant_column")) {
          tryInvokeRestart("muffleWarning")
        } else {
          expect_identical(w$columns, "same")
        }
      }
    ),
    regexp = "same", class = "sdcRisk_warning_constant_column"
  )
  sets <- quietly_but$sets
  for (v in c("v1", "v2", "v3")) {
    with_same <- sets$n_distinct[sets$key_set == paste(v, "+ same")]
    expect_identical(with_same, length(unique(data[[v]])))
  }
})

test_that("a column that is missing throughout is constant", {
  data <- data.frame(a = c(1, 2, 3, 3), none = NA, text = NA_character_)
  warned <- tryCatch(
    qar_risk(data, p = 1),
    sdcRisk_warning_constant_column = function(w) w$columns
  )
  expect_identical(warned, c("none", "text"))
})

test_that("a file of one record is identified by every key", {
  data <- data.frame(a = 1, b = "x")
  result <- quietly(qar_risk(data, p = 1:2))
  expect_identical(result$estimates$risk, c(1, 1))
  expect_identical(result$estimates$status, c("theta_one", "theta_one"))
  expect_identical(result$sets$n_unique, c(1L, 1L, 1L))
})

test_that("one trouble is one warning, whatever the number of analyses", {
  data <- staircase(50, c(2, 3, 4, 6, 10, 15, 21, 30))
  warned <- list()
  withCallingHandlers(
    qar_risk(data, p = 1:2, alpha = c(0.02, 0.05, 0.1), pi_u = 0.3),
    sdcRisk_warning = function(w) {
      warned <<- c(warned, list(w))
      tryInvokeRestart("muffleWarning")
    }
  )
  expect_length(warned, 1)
  expect_s3_class(warned[[1]], "sdcRisk_warning_few_exceedances")
})

test_that("sixteen records in four columns give the numbers of the definition", {
  # Three factors crossed and their sum: H = 2, 2, 4 and 6 of 16 records.
  data <- expand.grid(a = 1:2, b = 1:2, c = 1:4)
  data$sum <- data$a + data$b + data$c
  sets <- quietly(qar_risk(data, p = 1:3))$sets
  expect_identical(sets$n_distinct[sets$key_set == "sum"], 6L)
  expect_identical(sets$n_unique[sets$key_set == "sum"], 2L)
  expect_identical(sets$n_distinct[sets$key_set == "a + b"], 4L)
  # sum - a takes 2..6: five values for either a.
  expect_identical(sets$n_distinct[sets$key_set == "a + sum"], 10L)
  # c and sum leave a + b, in {2, 3, 4}: twelve keys, four of them pairs.
  expect_identical(sets$n_distinct[sets$key_set == "c + sum"], 12L)
  expect_identical(sets$n_unique[sets$key_set == "c + sum"], 8L)
  expect_identical(sets$n_pairs[sets$key_set == "c + sum"], 4L)
  expect_identical(sets$set_risk[sets$key_set == "a + b + c"], 1)
})

# Published and established figures ----------------------------------------

test_that("the file of 11,124 records and 18 variables has the threshold .2410", {
  data <- trial_file("gss18.csv")
  expect_silent(estimates <- qar_risk(data, p = 3)$estimates)
  expect_identical(estimates$n_sets, 816L)
  expect_identical(estimates$n_exceedances, 41L)
  expect_identical(round(estimates$threshold, 4), 0.2410)
  expect_identical(round(estimates$shape, 2), -0.28)
  coarser <- qar_risk(trial_file("gss18b.csv"), p = 3)$estimates
  expect_identical(round(coarser$shape, 2), -0.22)
})

test_that("the two weights give the figures that other programs give", {
  # fExtremes and evir for plotting positions, POT and lmom for unbiased ones.
  data <- trial_file("qar_gss_500x10.csv")
  risk <- function(p, pi_u, pwm) {
    quietly(qar_risk(data, p = p, pi_u = pi_u, pwm = pwm))$estimates$risk
  }
  expect_lt(abs(risk(3, 0.1, "plotting") - 0.949388886933), 5.1e-13)
  expect_lt(abs(risk(3, 0.1, "unbiased") - 0.949893838352), 5.1e-13)
  expect_identical(round(risk(2, 0.05, "plotting"), 3), 0.703)
  expect_identical(round(risk(2, 0.05, "unbiased"), 3), 0.639)
})

test_that("three exceedances give .636019 and .623982", {
  data <- trial_file("qar_adult_2000x8.csv")
  plotting <- quietly(qar_risk(data, p = 3))$estimates
  unbiased <- quietly(qar_risk(data, p = 3, pwm = "unbiased"))$estimates
  expect_identical(plotting$n_exceedances, 3L)
  expect_identical(round(plotting$risk, 6), 0.636019)
  expect_identical(round(unbiased$risk, 6), 0.623982)
})

test_that("the European Social Survey file of the authors gives T = 0.1948661", {
  # Bera et al. (2023), section 4: 12,129 complete records, 18 ordinal
  # variables. The file may not be passed on: a user supplies it.
  path <- Sys.getenv("SDCRISK_ESS10")
  skip_if(!nzchar(path) || !file.exists(path), "the file is supplied by the user")
  data <- utils::read.csv(path)
  estimates <- qar_risk(data, p = 3, alpha = 0.01)$estimates
  expect_identical(estimates$n_records, 12129L)
  expect_identical(estimates$n_sets, 816L)
  expect_lt(abs(estimates$risk - 0.1948661), 5e-8)
})

test_that("alpha and pi_u that differ by rounding only are equal", {
  data <- random_file(40, levels = c(3, 4, 5, 6), seed = 12)
  exact <- quietly(qar_risk(data, p = 2, alpha = 0.2, pi_u = 0.2))
  rounded <- quietly(qar_risk(data, p = 2, alpha = 1 - 0.8, pi_u = 0.2))
  expect_false(1 - 0.8 == 0.2)
  expect_identical(rounded$estimates, exact$estimates)
  expect_identical(rounded$estimates$risk, rounded$estimates$threshold)
})
