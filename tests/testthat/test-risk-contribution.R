skip_on_cran()

test_that("contributions equal real removal, whatever the settings", {
  for (seed in seeds(40)) {
    set.seed(seed)
    p <- sample(1:3, 1)
    data <- small_file(sample(3:20, 1), sample(p:5, 1), sample(2:9, 1), seed)
    pi_u <- runif(1, 0.05, 0.6)
    alpha <- pi_u * sample(c(1, 0.5, 0.1), 1)
    pwm <- sample(c("plotting", "unbiased"), 1)
    one <- sample(c("one", "clamp", "exclude"), 1)
    x <- quiet_qar(data, p = p, alpha = alpha, pi_u = pi_u, pwm = pwm, theta_one = one)
    found <- risk_contribution(x, data)$records
    expect_equal(
      found$contribution, slow_contribution(data, p, alpha, pi_u, pwm, one),
      tolerance = 1e-12
    )
    unique <- slow_unique(data, p)
    theta <- slow_distinct(data, p) / nrow(data)
    expect_equal(found$n_unique_sets, rowSums(unique))
    expect_equal(found$u_plus, as.vector(unique %*% theta), tolerance = 1e-12)
    expect_equal(found$u_star, as.vector(unique %*% (1 - theta)), tolerance = 1e-12)
  }
})

test_that("contributions equal qar_risk() on the data without the record", {
  data <- adult[1:400, ]
  x <- qar_risk(data, pi_u = 0.1)
  found <- risk_contribution(x, data)$records$contribution
  for (i in c(1, 57, 200, 400)) {
    without <- qar_risk(data[-i, ], pi_u = 0.1)$estimates$risk
    expect_equal(found[[i]], x$estimates$risk - without, tolerance = 1e-12)
  }
})

test_that("companions follow their definitions", {
  data <- small_file(25, 5, 4, 7)
  x <- quiet_qar(data, p = 2, pi_u = 0.3)
  found <- risk_contribution(x, data, entropy = TRUE)$records
  expect_equal(found$entropy, slow_entropy(data, 2), tolerance = 1e-12)
  surprisal <- rowMeans(vapply(data, function(column) {
    -log(ave(column, column, FUN = length) / nrow(data))
  }, numeric(25)))
  expect_equal(found$surprisal, surprisal, tolerance = 1e-12)
})

test_that("permuting records permutes contributions", {
  data <- adult[1:300, ]
  order <- rev(seq_len(300))
  a <- risk_contribution(qar_risk(data, pi_u = 0.1), data)$records
  b <- risk_contribution(qar_risk(data[order, ], pi_u = 0.1), data[order, ])$records
  expect_identical(a[order, ], b, ignore_attr = TRUE)
})

test_that("a duplicated record is unique nowhere", {
  data <- adult[c(1:200, 200), ]
  found <- risk_contribution(qar_risk(data, pi_u = 0.1), data)$records
  expect_identical(found$n_unique_sets[200:201], c(0L, 0L))
  expect_identical(found$u_plus[200:201], c(0, 0))
})

test_that("excluded records have NA and the others their contribution", {
  data <- small_file(20, 4, 4, 3)
  data$b[c(2, 9)] <- NA
  x <- quiet_qar(data, p = 2, pi_u = 0.3, missing = "exclude")
  found <- risk_contribution(x, data)
  expect_true(all(is.na(unlist(found$records[c(2, 9), ]))))
  expect_equal(
    found$records$contribution[-c(2, 9)],
    slow_contribution(data[-c(2, 9), ], 2, 0.01, 0.3),
    tolerance = 1e-12
  )
  expect_identical(found$diagnostics$n_excluded, 2L)
  expect_match(lines_of(found)[[3]], "2 incomplete records excluded")
})

test_that("one analysis is chosen or asked for", {
  data <- adult[1:200, ]
  x <- quiet_qar(data, p = 2:3, alpha = c(0.01, 0.05), pi_u = 0.1)
  expect_error(risk_contribution(x, data), class = "sdcRisk_error_ambiguous_analysis")
  expect_error(risk_contribution(x, data, p = 3), class = "sdcRisk_error_ambiguous_analysis")
  expect_error(risk_contribution(x, data, p = 4), class = "sdcRisk_error_bad_argument")
  found <- risk_contribution(x, data, p = 3, alpha = 0.05)
  alone <- risk_contribution(quiet_qar(data, alpha = 0.05, pi_u = 0.1), data)
  expect_identical(found$records, alone$records)
})

test_that("other data and other arguments are refused", {
  data <- adult[1:100, ]
  x <- qar_risk(data, pi_u = 0.1)
  expect_error(risk_contribution(x, adult), class = "sdcRisk_error_mismatched_data")
  expect_error(risk_contribution(x, data[100:1, ]), class = "sdcRisk_error_mismatched_data")
  expect_error(risk_contribution(x, data[-1]), class = "sdcRisk_error_mismatched_data")
  expect_error(risk_contribution(x, 1:3), class = "sdcRisk_error_mismatched_data")
  changed <- data
  changed$age[[1]] <- changed$age[[1]] + 1L
  expect_error(risk_contribution(x, changed), class = "sdcRisk_error_mismatched_data")
  expect_error(risk_contribution(data, data), class = "sdcRisk_error_bad_argument")
  expect_error(risk_contribution(x, data, FALSE), class = "sdcRisk_error_bad_argument")
})

test_that("a contribution that is rounding lowers no risk", {
  data <- data.frame(
    a = c(2, 1, 2, 4, 1, 4, 4, 2, 2, 3, 4, 3, 4, 1, 3, 2, 2, 1, 3, 4),
    b = c(3, 4, 4, 2, 1, 1, 4, 1, 1, 2, 4, 1, 4, 3, 1, 4, 3, 4, 2, 3),
    c = c(3, 4, 4, 4, 2, 1, 4, 4, 3, 4, 3, 3, 1, 4, 2, 2, 1, 2, 3, 2)
  )
  x <- quiet_qar(data, p = 2, alpha = 0.4, pi_u = 0.4)
  found <- risk_contribution(x, data)
  contribution <- found$records$contribution
  expect_identical(sum(contribution > 0), 6L)
  expect_identical(sum(contribution > 1e-10), 3L)
  expect_identical(found$estimates$prop_positive, 3 / 20)
  # The three are one tie, in order of their rows, after the first three.
  path <- quietly(removal_path(x, data, 6, "contribution"))$path$record
  tied <- which(abs(contribution) < 1e-10)
  expect_identical(path[4:6], tied)
  tidied <- replace(contribution, tied, 0)
  kendall <- summary(found)$correlations
  expect_equal(
    kendall$kendall[kendall$metric_2 == "u_plus"][[1]],
    stats::cor(round(tidied, 10), found$records$u_plus, method = "kendall")
  )
})

test_that("entropy names the keys that have no order", {
  x <- qar_risk(adult[1:100, ], pi_u = 0.1)
  error <- expect_error(
    risk_contribution(x, adult[1:100, ], entropy = TRUE),
    class = "sdcRisk_error_bad_column"
  )
  expect_true("occupation" %in% error$columns)
  expect_false("age" %in% error$columns)
})

test_that("groups of columns count as one key", {
  data <- small_file(30, 5, 4, 11)
  groups <- list(ab = c("a", "b"))
  x <- quiet_qar(data, p = 2, pi_u = 0.4, key_groups = groups)
  merged <- cbind(ab = interaction(data$a, data$b), data[c("c", "d", "e")])
  found <- risk_contribution(x, data)$records
  expect_equal(found$contribution, slow_contribution(merged, 2, 0.01, 0.4), tolerance = 1e-12)
  expect_error(risk_contribution(x, data, entropy = TRUE), class = "sdcRisk_error_bad_column")
})

test_that("tiny and degenerate files have their stated answers", {
  one <- data.frame(a = 1, b = 2)
  x <- quiet_qar(one, p = 1)
  found <- risk_contribution(x, one)
  expect_true(is.na(found$records$contribution))
  expect_output(print(found), "not determined")
  expect_output(print(summary(found)), "NA")
  two <- data.frame(a = c(1, 1), b = c(2, 2))
  found <- risk_contribution(quiet_qar(two, p = 1), two)$records
  expect_equal(found$contribution, slow_contribution(two, 1, 0.01, 0.05))
  ids <- data.frame(id = 1:30, a = rep(1:2, 15), b = rep(1:3, 10), k = 1)
  x <- quiet_qar(ids, p = 2, pi_u = 0.3)
  expect_equal(risk_contribution(x, ids)$records$contribution, rep(0, 30))
})

test_that("summary holds the correlations of base R", {
  data <- adult[1:300, ]
  found <- risk_contribution(qar_risk(data, pi_u = 0.1), data)
  table <- summary(found)$correlations
  for (row in seq_len(nrow(table))) {
    pair <- found$records[c(table$metric_1[[row]], table$metric_2[[row]])]
    expect_equal(table$pearson[[row]], cor(pair[[1]], pair[[2]]))
    expect_equal(table$kendall[[row]], cor(pair[[1]], pair[[2]], method = "kendall"))
  }
  strata <- summary(found, by = "sex", data = data)$contribution_by_strata
  expect_equal(sum(strata$n), 300)
})

test_that("the verbs of results work", {
  data <- adult[1:300, ]
  x <- qar_risk(data, pi_u = 0.1)
  found <- risk_contribution(x, data)
  expect_s3_class(found, c("sdc_risk_contribution", "sdc_result"), exact = TRUE)
  expect_lte(length(format(found)), 16)
  expect_identical(as.data.frame(found), found$records)
  expect_identical(nrow(tidy(found)), 6L)
  expect_identical(glance(found)$n_records, 300L)
  augmented <- augment(found, data)
  expect_identical(augmented$.contribution, found$records$contribution)
  expect_error(augment(found, adult), class = "sdcRisk_error_mismatched_data")
  expect_match(interpret(found), "Bera and others 2023")
  expect_equal(found$estimates$contribution_max, max(found$records$contribution))
  both <- compare_risk(found, found)
  expect_true(all(both$table$change == 0))
})

test_that("threads change nothing", {
  x <- qar_risk(adult, pi_u = 0.1)
  two <- risk_contribution(x, adult)$records
  before <- options(sdcRisk.threads = 1)
  on.exit(options(before))
  expect_identical(risk_contribution(x, adult)$records, two)
})

test_that("real data have the published clusters and correlations", {
  gss <- trial_file("gss18.csv")
  found <- summary(risk_contribution(qar_risk(gss), gss))
  expect_equal(found$correlations$pearson[[1]], 0.535, tolerance = 1e-3)
  expect_equal(found$clusters$cor_u_plus, c(0.958, 0.907), tolerance = 1e-3)
  expect_equal(found$explained_by$r_squared, c(0.286, 0.926), tolerance = 1e-3)
})
