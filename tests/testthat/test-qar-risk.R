# The extreme risk against its oracle in base R, and the laws it obeys.

# One row of settings per random file, so that every value of every setting
# meets many files.
random_case <- function(seed) {
  set.seed(seed)
  n_keys <- sample(2:7, 1)
  pick <- function(x) x[[sample.int(length(x), 1)]]
  list(
    data = random_file(
      n = sample(c(3:12, 40, 150), 1),
      levels = sample.int(8, n_keys, replace = TRUE),
      missing_rate = pick(c(0, 0.1, 0.3)), seed = seed + 1000
    ),
    p = sample.int(min(n_keys, 4), sample.int(min(n_keys, 4), 1)),
    alpha = pick(list(0.01, 0.05, c(0.002, 0.05, 0.01))),
    pi_u = pick(c(0.05, 0.1, 0.25, 0.5)),
    pwm = pick(c("plotting", "unbiased")),
    missing = pick(c("category", "exclude")),
    theta_one = pick(c("one", "clamp", "exclude"))
  )
}

test_that("estimates and key sets equal the oracle on random files", {
  skip_on_cran()
  compared <- 0
  seen <- character()
  for (seed in 1:100) {
    case <- random_case(seed)
    complete <- any(stats::complete.cases(case$data))
    if (case$missing == "exclude" && !complete) {
      next
    }
    compared <- compared + 1
    result <- quietly(do.call(qar_risk, case))
    expect_oracle(result, do.call(oracle_qar, case), info = paste("seed", seed))
    seen <- c(seen, result$estimates$status)
  }
  expect_gte(compared, 80)
  expect_setequal(seen, c("ok", "few", "no_exceedance", "theta_one", "single"))
})

test_that("estimates equal the oracle on many key sets with long tails", {
  for (seed in 1:4) {
    data <- random_file(80, levels = rep(c(2, 3, 5, 8), 3), missing_rate = 0.05, seed = seed)
    for (pwm in c("plotting", "unbiased")) {
      arguments <- list(
        data = data, p = 2:4, alpha = c(0.01, 0.1), pi_u = 0.1, pwm = pwm
      )
      result <- quietly(do.call(qar_risk, arguments))
      expect_oracle(result, do.call(oracle_qar, arguments), info = paste(pwm, seed))
      expect_true("ok" %in% result$estimates$status)
    }
  }
})

test_that("key groups count as one key whose value is the combination", {
  for (seed in 1:6) {
    data <- random_file(60, levels = c(3, 4, 2, 5, 3, 2), missing_rate = 0.1, seed = seed)
    keys <- list(v1 = "v1", both = c("v2", "v5"), v3 = "v3", v4 = "v4", v6 = "v6")
    result <- quietly(qar_risk(
      data, p = 2:3, alpha = 0.05, pi_u = 0.2, key_groups = list(both = c("v2", "v5"))
    ))
    oracle <- oracle_qar(data, p = 2:3, alpha = 0.05, pi_u = 0.2, keys = keys)
    expect_oracle(result, oracle)

    pasted <- data.frame(
      v1 = data$v1,
      both = paste(oracle_codes(data$v2), oracle_codes(data$v5)),
      data[c("v3", "v4", "v6")]
    )
    by_hand <- quietly(qar_risk(pasted, p = 2:3, alpha = 0.05, pi_u = 0.2))
    expect_identical(result$estimates, by_hand$estimates)
    expect_identical(result$sets, by_hand$sets)
    expect_identical(result$variables, by_hand$variables)
  }
})

test_that("missing values of a key group are judged per column", {
  data <- data.frame(
    a = c(1, NA, 1, 1), b = c(1, 2, NA, 1), c = c("x", "y", "z", "w")
  )
  group <- list(ab = c("a", "b"))
  category <- quietly(qar_risk(data, p = 1, key_groups = group))
  expect_identical(category$sets$key_set, c("c", "ab"))
  expect_identical(category$sets$n_distinct, c(4L, 3L))
  excluded <- quietly(qar_risk(data, p = 1, key_groups = group, missing = "exclude"))
  expect_identical(excluded$estimates$n_records, 2L)
  expect_identical(excluded$sets$n_distinct, c(2L, 1L))
  expect_identical(excluded$diagnostics$n_excluded, 2L)
})

test_that("the variables table says who is in the top sets and what T is without them", {
  for (case in list(
    list(p = 2, alpha = 0.05, pi_u = 0.2), list(p = 3, alpha = c(0.01, 0.05), pi_u = 0.1)
  )) {
    data <- random_file(90, levels = c(2, 8, 5, 3, 7, 2, 4), missing_rate = 0.05, seed = 7)
    risk <- function(columns) {
      quietly(do.call(qar_risk, c(list(data, key_vars = columns), case)))
    }
    result <- risk(names(data))
    variables <- result$variables
    expect_identical(variables$variable, rep(names(data), length(case$alpha)))
    expect_identical(variables$alpha, rep(case$alpha, each = 7))
    n_distinct <- vapply(data, function(x) max(oracle_codes(x)), 1L)
    expect_identical(variables$n_distinct, rep(unname(n_distinct), length(case$alpha)))

    top <- utils::head(result$sets$key_set, ceiling(0.05 * nrow(result$sets)))
    members <- strsplit(top, " + ", fixed = TRUE)
    share <- vapply(names(data), function(v) mean(vapply(members, `%in%`, NA, x = v)), 0)
    expect_equal(variables$share_top, rep(unname(share), length(case$alpha)))

    without <- sapply(names(data), function(v) risk(setdiff(names(data), v))$estimates$risk)
    expect_identical(variables$risk_without, as.vector(t(without)))
  }
})

test_that("T without a variable is missing where too few variables remain", {
  data <- random_file(30, levels = c(2, 3, 4), seed = 3)
  result <- quietly(qar_risk(data, p = c(2, 3)))
  variables <- result$variables
  expect_identical(is.na(variables$risk_without), variables$p == 3)
  two <- oracle_set_counts(data[c("v1", "v2")], 2)
  expect_identical(variables$risk_without[variables$variable == "v3" & variables$p == 2],
                   two$set_risk)
})

test_that("T without a variable is that of the records in use when some are excluded", {
  data <- random_file(60, levels = c(3, 5, 2, 4), missing_rate = 0.1, seed = 12)
  result <- quietly(qar_risk(data, p = 2, pi_u = 0.3, missing = "exclude"))
  complete <- data[stats::complete.cases(data), ]
  expect_identical(result$diagnostics$n_excluded, nrow(data) - nrow(complete))
  without <- sapply(names(data), function(v) {
    quietly(qar_risk(complete[setdiff(names(data), v)], p = 2, pi_u = 0.3))$estimates$risk
  })
  expect_identical(result$variables$risk_without, unname(without))
})

test_that("the sensitivity to the threshold is a rerun at each threshold", {
  data <- random_file(70, levels = c(2, 8, 5, 3, 7, 2, 4), missing_rate = 0.1, seed = 9)
  alpha <- c(0.03, 0.05)
  threshold <- quietly(qar_risk(data, p = 2:3, alpha = alpha))$diagnostics$threshold
  expect_identical(nrow(threshold), 2L * 2L * 19L)
  expect_identical(unique(threshold$pi_u), (2:20) / 100)
  for (row in seq_len(nrow(threshold))) {
    at <- threshold[row, ]
    if (at$alpha > at$pi_u) {
      expect_true(is.na(at$risk))
      expect_true(is.na(at$status))
      next
    }
    again <- quietly(qar_risk(
      data, p = at$p, alpha = at$alpha, pi_u = at$pi_u, sets = FALSE
    ))$estimates
    same <- c("p", "alpha", "risk", "threshold", "shape", "n_exceedances", "status")
    expect_identical(unlist(at[same]), unlist(again[same]))
  }
})

test_that("leaving out the table of key sets leaves the estimates as they are", {
  data <- random_file(50, levels = c(2, 8, 5, 8, 7), missing_rate = 0.1, seed = 4)
  for (theta_one in c("one", "exclude")) {
    with <- quietly(qar_risk(data, p = 1:5, pi_u = 0.2, theta_one = theta_one))
    without <- quietly(qar_risk(data, p = 1:5, pi_u = 0.2, theta_one = theta_one, sets = FALSE))
    expect_identical(without$estimates, with$estimates)
    expect_null(without$sets)
    expect_null(without$variables)
    expect_null(without$diagnostics$threshold)
  }
})

test_that("T is the threshold, to the last bit, where alpha is pi_u", {
  for (seed in 1:10) {
    data <- random_file(100, levels = rep(c(2, 5, 8), 3), missing_rate = 0.05, seed = seed)
    for (pwm in c("plotting", "unbiased")) {
      estimates <- quietly(qar_risk(
        data, p = 1:3, alpha = 0.1, pi_u = 0.1, pwm = pwm, theta_one = "clamp"
      ))$estimates
      expect_identical(estimates$risk, estimates$threshold)
      expect_identical(estimates$risk, estimates$risk_empirical)
    }
  }
})

test_that("the set risk is the mean of 1/k over the records", {
  data <- random_file(200, levels = c(3, 5, 8, 2), missing_rate = 0.1, seed = 21)
  sets <- quietly(qar_risk(data, p = 1:4))$sets
  for (i in seq_len(nrow(sets))) {
    members <- strsplit(sets$key_set[[i]], " + ", fixed = TRUE)[[1]]
    key <- do.call(paste, lapply(data[members], oracle_codes))
    k <- as.vector(table(key)[key])
    expect_close(sets$set_risk[[i]], mean(1 / k))
    expect_identical(sets$n_unique[[i]], sum(k == 1))
    expect_identical(sets$n_pairs[[i]], sum(k == 2) %/% 2L)
  }
})

test_that("the order of the records does not matter", {
  data <- random_file(120, levels = c(3, 5, 8, 2, 6), missing_rate = 0.1, seed = 22)
  set.seed(1)
  shuffled <- data[sample.int(nrow(data)), ]
  for (missing in c("category", "exclude")) {
    plain <- quietly(qar_risk(data, p = 1:3, pi_u = 0.2, missing = missing))
    other <- quietly(qar_risk(shuffled, p = 1:3, pi_u = 0.2, missing = missing))
    expect_identical(other$estimates, plain$estimates)
    expect_identical(other$sets, plain$sets)
    expect_identical(other$variables, plain$variables)
  }
})

test_that("the order of the columns decides no more than the order of ties and members", {
  data <- random_file(120, levels = c(3, 5, 8, 2, 6), missing_rate = 0.1, seed = 23)
  plain <- quietly(qar_risk(data, p = 2:3, pi_u = 0.2))
  other <- quietly(qar_risk(data[c(4, 1, 5, 3, 2)], p = 2:3, pi_u = 0.2))
  expect_identical(other$estimates, plain$estimates)
  in_one_order <- function(sets) {
    members <- lapply(strsplit(sets$key_set, " + ", fixed = TRUE), sort)
    sets$key_set <- vapply(members, paste, "", collapse = " + ")
    sets <- sets[order(sets$p, sets$key_set), ]
    rownames(sets) <- NULL
    sets
  }
  expect_identical(in_one_order(other$sets), in_one_order(plain$sets))
})

test_that("the names of the values and the types of the columns do not matter", {
  data <- random_file(
    100, levels = c(5, 4, 6), missing_rate = 0.1, seed = 24,
    types = c("factor", "integer", "character")
  )
  plain <- quietly(qar_risk(data, p = 1:3, pi_u = 0.3))
  relabelled <- data
  levels(relabelled$v1) <- rev(LETTERS[seq_len(nlevels(data$v1))])
  relabelled$v2 <- as.Date(-100 * data$v2, origin = "2000-01-01")
  relabelled$v3 <- oracle_codes(data$v3) * 1e6 + 0.5
  relabelled$v3[is.na(data$v3)] <- NaN
  other <- quietly(qar_risk(relabelled, p = 1:3, pi_u = 0.3))
  expect_identical(other$estimates, plain$estimates)
  expect_identical(other$sets, plain$sets)
})

test_that("doubling the file halves every set risk", {
  data <- random_file(80, levels = c(5, 4, 6, 3), missing_rate = 0.1, seed = 25)
  once <- quietly(qar_risk(data, p = 1:3, pi_u = 0.3))$sets
  twice <- quietly(qar_risk(rbind(data, data), p = 1:3, pi_u = 0.3))$sets
  expect_identical(twice$key_set, once$key_set)
  expect_identical(twice$n_distinct, once$n_distinct)
  expect_identical(twice$set_risk, once$set_risk / 2)
  expect_identical(twice$n_unique, rep(0L, nrow(once)))
  expect_identical(twice$n_pairs, once$n_unique)
})

test_that("a key set is at least as risky as every part of it", {
  data <- random_file(100, levels = c(5, 4, 6, 3), missing_rate = 0.1, seed = 26)
  sets <- quietly(qar_risk(data, p = 1:4))$sets
  members <- strsplit(sets$key_set, " + ", fixed = TRUE)
  for (i in seq_along(members)) {
    parts <- vapply(members, function(m) all(m %in% members[[i]]), NA)
    expect_identical(max(sets$n_distinct[parts]), sets$n_distinct[[i]])
  }
})

test_that("key variables are taken by name or position, and only these", {
  data <- random_file(50, levels = c(5, 4, 6, 3), missing_rate = 0.1, seed = 27)
  by_name <- quietly(qar_risk(data, c("v4", "v2", "v1"), p = 2))
  by_position <- quietly(qar_risk(data, c(4, 2, 1), p = 2))
  alone <- quietly(qar_risk(data[c("v4", "v2", "v1")], p = 2))
  expect_identical(by_name$estimates, alone$estimates)
  expect_identical(by_name$sets, alone$sets)
  expect_identical(by_position$sets, alone$sets)
  expect_identical(by_name$settings$fingerprint, alone$settings$fingerprint)
})

test_that("any number of threads gives identical results", {
  old <- options(sdcRisk.threads = 1)
  on.exit(options(old))
  data <- random_file(3000, levels = rep(c(2, 5, 8), 5), missing_rate = 0.05, seed = 28)
  one <- quietly(qar_risk(data, p = 1:4, alpha = c(0.001, 0.01)))
  for (threads in c(2, 3, 8)) {
    options(sdcRisk.threads = threads)
    expect_identical(quietly(qar_risk(data, p = 1:4, alpha = c(0.001, 0.01))), one)
  }
})

test_that("columns with many values are counted as exactly as those with few", {
  set.seed(29)
  n <- 70000
  data <- data.frame(
    few = sample.int(3, n, TRUE), some = sample.int(300, n, TRUE),
    many = sample.int(1e9, n), most = stats::rnorm(n)
  )
  data$many[1:10] <- data$many[11:20]
  found <- quietly(qar_risk(data, p = 2, pi_u = 0.4))
  expect_oracle(found, oracle_qar(data, p = 2, pi_u = 0.4))
})
