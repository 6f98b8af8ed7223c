# What prints and sentences claim, checked against the numbers they speak of.

# A file of 12 columns and an id that makes every set with it identifying.
with_id <- function() {
  data <- adult[1:3000, ]
  data$id <- seq_len(nrow(data))
  data
}

test_that("sets that are left out or clamped are named in print and sentence", {
  data <- with_id()
  x <- quiet_qar(data, p = 2, alpha = 0.05, pi_u = 0.2, theta_one = "exclude")
  expect_identical(x$diagnostics$identifying$n_identifying, 11)
  expect_match(interpret(x), paste(
    "the riskiest of the 55 sets of 2 key variables (11 that identify every record left out)",
    "gives an average chance of", sdcRisk:::format_t(max(x$sets$set_risk[x$sets$set_risk < 1]))
  ), fixed = TRUE)
  expect_match(
    text_of(x), "Left out, as they identify every record: 11 of 66 key sets, all with \"id\"",
    fixed = TRUE
  )
  left <- x$sets[x$sets$n_distinct < 3000, ]
  expect_match(text_of(x), paste0("Riskiest key set: ", left$key_set[[1]]), fixed = TRUE)
  expect_identical(with(measures(x), value[measure == "set_risk"]), left$set_risk[[1]])

  clamped <- quiet_qar(data, p = 2, pi_u = 0.2, theta_one = "clamp")
  expect_match(text_of(clamped), "Identify every record, clamped: 11 of 66", fixed = TRUE)
  expect_match(interpret(clamped), "(11 that identify every record count half a key less)",
               fixed = TRUE)

  expect_match(text_of(risk_contribution(x, data)),
               "Key sets that identify every record are left out (11 of 66)", fixed = TRUE)
  expect_match(interpret(risk_contribution(clamped, data)),
               "key sets that identify every record count half a key less (11 of 66)",
               fixed = TRUE)
  path <- removal_path(x, data, 5)
  expect_match(text_of(path), "are left out (11 of 66)", fixed = TRUE)
  expect_match(interpret(path), "are left out (11 of 66)", fixed = TRUE)
  expect_match(interpret(removal_bound(x, data, 5)), "are left out (11 of 66)", fixed = TRUE)
  # Nothing to tell where no set identifies every record.
  plain <- quiet_qar(adult[1:300, ], p = 2, pi_u = 0.2, theta_one = "exclude")
  expect_false(grepl("left out|identify", paste(text_of(plain), interpret(plain))))
})

test_that("all identifying key sets are counted, with the variable that makes them", {
  data <- with_id()
  for (sets in c(TRUE, FALSE)) {
    warned <- tryCatch(
      qar_risk(data, p = 3, sets = sets), sdcRisk_warning_theta_one = conditionMessage
    )
    x <- quiet_qar(data, p = 3, sets = sets)
    truth <- sum(quiet_qar(data, p = 3)$sets$set_risk == 1)
    expect_gt(truth, 50)
    expect_identical(x$diagnostics$identifying$n_identifying, as.double(truth))
    expect_length(x$diagnostics$identifying_sets, 20)
    top <- x$diagnostics$identifying_variables[1, ]
    expect_identical(top$variable, "id")
    expect_identical(top$n_identifying, choose(11, 2))
    words <- paste(truth, "of 220 key sets, all with \"id\", which does so alone")
    expect_match(warned, words, fixed = TRUE)
    expect_match(warned, "Should \"id\" be a key variable?", fixed = TRUE)
    expect_match(text_of(x), words, fixed = TRUE)
  }
  set.seed(1)
  sampled <- quiet_qar(data, p = 3, max_sets = 40)
  known <- sampled$diagnostics$identifying
  expect_identical(known$n_identifying, as.double(sum(sampled$sets$set_risk == 1)))
  expect_identical(known$n_counted, nrow(sampled$sets) + 0)
  expect_false(known$all_known)
  expect_match(text_of(sampled), paste0("at least ", known$n_identifying, " of ", known$n_counted,
                                        " key sets counted"), fixed = TRUE)
})

test_that("a T beyond all key sets is called so, and the riskiest key set leads", {
  data <- adult[c("age", "sex", "race", "education_num", "occupation", "hours_per_week")]
  x <- quiet_qar(data, pi_u = 0.5)
  expect_identical(x$estimates$n_sets, 20L)
  expect_identical(x$estimates$status, "ok")
  expect_true(x$diagnostics$fit$beyond)
  expect_identical(x$diagnostics$fit$largest, x$sets$set_risk[[1]])
  expect_match(
    text_of(x),
    "lies beyond the data: 1% of 20 key sets is less than one. Report the riskiest key set.",
    fixed = TRUE
  )
  largest <- formatC(x$sets$set_risk[[1]], digits = 3, format = "fg", flag = "#")
  expect_match(interpret(x), paste(
    "the riskiest of the 20 sets of 3 key variables gives an average chance of", largest
  ), fixed = TRUE)
  expect_match(interpret(x), "beyond what so few key sets can show", fixed = TRUE)
  expect_false(grepl("has a larger average chance", interpret(x)))
  # With 56 sets it is below the riskiest, and not called beyond the data.
  below <- quiet_qar(adult[1:8])
  expect_lt(below$estimates$risk, below$sets$set_risk[[1]])
  expect_match(text_of(below), ": 1% of 56 key sets is less than one", fixed = TRUE)
  expect_false(grepl("beyond the data", text_of(below)))
  # 165 sets hold a share of 1%: the claim is about sets that exist.
  many <- quiet_qar(adult, pi_u = 0.1)
  expect_false(many$diagnostics$fit$beyond)
  expect_match(interpret(many), "a share of 1% of the key sets has a larger", fixed = TRUE)
})

test_that("few exceedances come with a pi_u that helps, or with the number to report", {
  advice <- function(...) {
    tryCatch(
      qar_risk(...), sdcRisk_warning_few_exceedances = conditionMessage,
      sdcRisk_warning_no_exceedance = conditionMessage
    )
  }
  # 165 sets: 8 above u at 0.05, 10 at 0.06.
  expect_match(advice(adult), "`pi_u = 0.06` leaves 10 or more", fixed = TRUE)
  expect_gte(qar_risk(adult, pi_u = 0.06)$estimates$n_exceedances, 10)
  eight <- adult[1:8]
  said <- advice(eight)
  pi_u <- as.double(sub(".*`pi_u = ([0-9.]+)`.*", "\\1", said))
  expect_gte(quiet_qar(eight, pi_u = pi_u)$estimates$n_exceedances, 10)
  expect_lt(quiet_qar(eight, pi_u = pi_u - 0.01)$estimates$n_exceedances, 10)
  expect_match(text_of(quiet_qar(eight)), paste0("`pi_u = ", pi_u, "` leaves 10"), fixed = TRUE)
  six <- adult[c("age", "sex", "race", "education_num", "occupation", "hours_per_week")]
  for (pi_u in c(0.05, 0.2, 0.45)) {
    expect_match(
      advice(six, pi_u = pi_u), "20 key sets are too few for a tail: report the riskiest"
    )
  }
  expect_match(advice(six[1:3], p = 1), "3 key sets are too few for a tail")
})

test_that("several analyses are cited by the largest, and a sample is called one", {
  x <- quiet_qar(adult, p = 2:4, pi_u = 0.1)
  worst <- x$estimates[which.max(x$estimates$risk), ]
  expect_identical(worst$p, 4L)
  expect_match(interpret(x), "T(p = 4, alpha = 0.01), the largest of 3 analyses, was", fixed = TRUE)
  expect_match(interpret(x), sdcRisk:::format_risk(worst$risk), fixed = TRUE)
  set.seed(1)
  sampled <- quiet_qar(adult, pi_u = 0.1, max_sets = 80)
  of <- sampled$diagnostics$sampling
  expect_match(interpret(sampled), "and sampled")
  expect_match(
    text_of(sampled), paste0("Sampled: ", of$n_counted, " of 165 key sets"), fixed = TRUE
  )
  error <- formatC(of$risk_se, digits = 2, format = "g")
  expect_match(text_of(sampled), paste("standard error of T by design", error), fixed = TRUE)
})

test_that("a T next to one is not printed as one", {
  expect_identical(
    sdcRisk:::format_t(c(1, 0.9999995, 0.99996, 0.99994, 0.5, NA)),
    c("1.00", "0.9999995", "0.99996", "0.99994", "0.500", "NA")
  )
})

test_that("levels are printed the same whatever the digits option", {
  data <- adult[1:300, ]
  x <- quiet_qar(data, pi_u = 0.1)
  others <- list(
    x, risk_contribution(x, data), removal_path(x, data, 5), removal_bound(x, data, 5)
  )
  words <- lapply(others, function(r) c(lines_of(r), interpret(r)))
  for (digits in c(3, 22)) {
    old <- options(digits = digits)
    expect_identical(lapply(others, function(r) c(lines_of(r), interpret(r))), words)
    options(old)
  }
})

test_that("prints have at most 16 rows of 80 columns when wrapped", {
  data <- with_id()
  results <- list(
    quiet_qar(data), quiet_qar(data, p = 2:5, alpha = c(0.01, 0.02)),
    quiet_qar(data, theta_one = "exclude"), quiet_qar(data, p = 2, theta_one = "clamp"),
    quiet_qar(data[1:6]), quiet_qar(data[1:6], pi_u = 0.5), quiet_qar(data[1:3], p = 1),
    quiet_qar(adult, pi_u = 0.1, max_sets = 80), quiet_qar(data, p = 3:5, max_sets = 100)
  )
  for (result in results) {
    expect_lte(length(format(result)), 16)
  }
})

# Rounding -----------------------------------------------------------------

test_that("contributions that are rounding lower nothing and break no ties", {
  ranks <- sdcRisk:::rank_falling(c(0.1, 0.3, 0.1 + 5e-16, 0, 5.6e-17, -0.2))
  expect_identical(ranks, c(2L, 1L, 2L, 3L, 3L, 4L))
  expect_identical(sdcRisk:::rank_falling(numeric()), integer())
})

test_that("surprisals of the same shares are equal, and order and correlate as ties", {
  set.seed(4)
  data <- as.data.frame(lapply(c(a = 2, b = 3, c = 4, d = 5, e = 3), function(k) {
    sample(rep(seq_len(k), length.out = 60))
  }))
  x <- quiet_qar(data, p = 2, pi_u = 0.3)
  found <- risk_contribution(x, data)
  counts <- sapply(data, function(v) as.vector(table(v)[as.character(v)]))
  # Products of whole numbers are exact.
  products <- apply(counts, 1, prod)
  surprisal <- found$records$surprisal
  expect_true(any(duplicated(products)))
  expect_identical(
    outer(products, products, "=="), outer(surprisal, surprisal, "==")
  )
  path <- quietly(removal_path(x, data, 20, "surprisal"))
  expect_identical(path$path$record, utils::head(order(products), 20))
})
