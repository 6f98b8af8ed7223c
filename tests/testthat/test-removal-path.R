# Every step of a path against the file really reduced, in base R.

skip_on_cran()

expect_path <- function(path, data, p, alpha, pi_u, ...) {
  first <- slow_tail(data, p, alpha, pi_u, ...)
  ends <- which(!duplicated(path$step, fromLast = TRUE))
  for (end in ends) {
    left <- data[-path$record[seq_len(end)], , drop = FALSE]
    expected <- slow_tail(left, p, alpha, pi_u, ...)
    found <- unlist(path[end, c("risk", "threshold", "shape", "risk_empirical")])
    expect_equal(found, expected[names(found)], tolerance = 1e-10)
    expect_equal(path$reduction[[end]], 1 - expected[["risk"]] / first[["risk"]])
  }
  # Records of a block share the risk after the whole block.
  expect_identical(path$risk, path$risk[ends][path$step])
}

quiet_path <- function(...) suppressMessages(removal_path(...))

test_that("every order reports what the reduced file really has", {
  for (by in names(sdcRisk:::removal_orders)) {
    skip_if(by %in% c("pls", "filtered_entropy") && !requireNamespace("pls", quietly = TRUE))
    data <- small_file(40, 5, 5, 21)
    x <- quiet_qar(data, p = 2, alpha = 0.1, pi_u = 0.4)
    for (block in c(1, 4)) {
      set.seed(5)
      found <- quiet_path(x, data, n = 9, by = by, block = block)
      expect_path(found$path, data, 2, 0.1, 0.4)
      expect_identical(found$path$step, as.integer((0:8) %/% block + 1))
      expect_false(anyDuplicated(found$path$record) > 0)
    }
  }
})

test_that("proper elimination takes the largest contribution at every step", {
  for (seed in 1:4) {
    data <- small_file(18, 4, 4, seed)
    x <- quiet_qar(data, p = 2, alpha = 0.1, pi_u = 0.4)
    path <- quiet_path(x, data, n = 8, by = "proper")$path
    left <- seq_len(18)
    for (record in path$record) {
      contribution <- slow_contribution(data[left, ], 2, 0.1, 0.4)
      # Base R rounds otherwise in the last digits.
      best <- left[contribution >= max(contribution) - 1e-13]
      expect_identical(record, best[[1]])
      left <- setdiff(left, record)
    }
  }
})

test_that("orders that are updated look at the file as it is", {
  data <- small_file(30, 5, 4, 33)
  x <- quiet_qar(data, p = 2, alpha = 0.1, pi_u = 0.4)
  pick <- function(score, left) left[which.max(score)]
  left <- seq_len(30)
  for (record in quiet_path(x, data, n = 10, by = "u_plus_updated")$path$record) {
    file <- data[left, ]
    score <- slow_unique(file, 2) %*% slow_distinct(file, 2)
    expect_identical(record, pick(score, left))
    left <- setdiff(left, record)
  }
  left <- seq_len(30)
  for (record in quiet_path(x, data, n = 10, by = "top_count", top = 0.3)$path$record) {
    file <- data[left, ]
    top <- order(-slow_distinct(file, 2))[1:3]
    expect_identical(record, pick(rowSums(slow_unique(file, 2)[, top]), left))
    left <- setdiff(left, record)
  }
})

test_that("orders that rank once follow the metrics of the original file", {
  data <- small_file(40, 5, 5, 2)
  x <- quiet_qar(data, p = 2, alpha = 0.1, pi_u = 0.4)
  metrics <- risk_contribution(x, data, entropy = TRUE)$records
  for (by in c("contribution", "u_plus", "u_star", "surprisal", "entropy")) {
    found <- quiet_path(x, data, n = 12, by = by)$path$record
    expect_identical(found, utils::head(order(-metrics[[by]]), 12))
  }
})

test_that("random orders follow the seed and carry a band", {
  data <- adult[1:300, ]
  x <- qar_risk(data, pi_u = 0.1)
  set.seed(8)
  a <- removal_path(x, data, 20, "random", n_sim = 5)
  set.seed(8)
  b <- removal_path(x, data, 20, "random", n_sim = 5)
  expect_identical(a$path, b$path)
  expect_identical(max(a$diagnostics$draws$draw), 5L)
  last <- a$diagnostics$draws[a$diagnostics$draws$step == 20, ]
  end <- a$path[20, ]
  expect_equal(end$risk, last$risk[[1]])
  expect_equal(c(end$risk_mean, end$risk_low, end$risk_high),
               c(mean(last$risk), min(last$risk), max(last$risk)))
})

test_that("paths do not depend on threads, memory or progress", {
  data <- adult[1:300, ]
  x <- qar_risk(data, pi_u = 0.1)
  for (by in c("proper", "top_count", "u_plus_updated")) {
    whole <- removal_path(x, data, 20, by, block = 5)
    anew <- removal_path(x, data, 20, by, block = 5, max_memory = 0)
    expect_identical(anew$path, whole$path)
    before <- options(sdcRisk.threads = 1, sdcRisk.progress = TRUE)
    one <- removal_path(x, data, 20, by, block = 5)
    options(before)
    expect_identical(one$path, whole$path)
  }
  error <- expect_error(
    suppressMessages(removal_path(x, data, 250, max_memory = 0)),
    class = "sdcRisk_error_too_large"
  )
  expect_match(conditionMessage(error), "`block` = 2", fixed = TRUE)
})

test_that("records are row numbers of the data, also where some are excluded", {
  data <- small_file(30, 4, 4, 12)
  data$c[c(1, 5, 7)] <- NA
  x <- quiet_qar(data, p = 2, alpha = 0.1, pi_u = 0.4, missing = "exclude")
  found <- quiet_path(x, data, 6)
  expect_false(any(c(1, 5, 7) %in% found$path$record))
  expect_equal(
    found$path$risk[[6]],
    slow_tail(data[-c(1, 5, 7, found$path$record), ], 2, 0.1, 0.4)[["risk"]]
  )
  expect_error(removal_path(x, data, 27), class = "sdcRisk_error_bad_argument")
  expect_identical(found$records$removal_step[found$path$record], found$path$step)
  expect_identical(sum(!is.na(augment(found, data)$.removal_step)), 6L)
})

test_that("degenerate files have paths", {
  ids <- data.frame(id = 1:12, a = rep(1:2, 6), b = rep(1:3, 4), k = 1)
  for (one in c("one", "clamp", "exclude")) {
    x <- quiet_qar(ids, p = 2, alpha = 0.1, pi_u = 0.4, theta_one = one)
    for (by in c("proper", "top_count", "u_plus", "random")) {
      found <- quiet_path(x, ids, 11, by, n_sim = 2)
      expect_path(found$path, ids, 2, 0.1, 0.4, theta_one = one)
      expect_output(print(found), "Removal of records")
    }
  }
  two <- data.frame(a = c(1, 1), b = c(1, 2))
  found <- quiet_path(quiet_qar(two, p = 1), two, 1)
  expect_identical(nrow(found$path), 1L)
})

test_that("bad requests are refused", {
  data <- adult[1:100, ]
  x <- qar_risk(data, pi_u = 0.1)
  bad <- function(...) expect_error(removal_path(...), class = "sdcRisk_error_bad_argument")
  bad(x, data, 100)
  bad(x, data, 101)
  bad(x, data, 0)
  bad(x, data, 5, by = "best")
  bad(x, data, 5, block = 0)
  bad(x, data, 5, top = 0)
  bad(x, data, 5, top = 1.1)
  bad(x, data, 5, blocks = 2)
  bad(x, data, 5, max_memory = -1)
  bad(data, data, 5)
  expect_error(removal_path(x, adult, 5), class = "sdcRisk_error_mismatched_data")
  # Columns are found by name, in any order.
  expect_identical(removal_path(x, rev(data), 5)$path, removal_path(x, data, 5)$path)
  changed <- data
  changed$sex[[1]] <- setdiff(levels(factor(data$sex)), as.character(data$sex[[1]]))[[1]]
  expect_error(removal_path(x, changed, 5), class = "sdcRisk_error_mismatched_data")
  expect_error(removal_path(x, data, 5, "entropy"), class = "sdcRisk_error_bad_column")
  several <- quiet_qar(data, p = 2:3, pi_u = 0.1)
  expect_error(removal_path(several, data, 5), class = "sdcRisk_error_ambiguous_analysis")
  expect_identical(removal_path(several, data, 5, p = 3)$path, removal_path(x, data, 5)$path)
})

test_that("more key sets than the limit are refused, also where x sampled them", {
  data <- adult[1:100, ]
  sampled <- quiet_qar(data, pi_u = 0.1, max_sets = 60)
  too_large <- function(expr) expect_error(expr, class = "sdcRisk_error_too_large")
  too_large(risk_contribution(sampled, data, max_sets = 60))
  too_large(removal_path(sampled, data, 5, max_sets = 60))
  too_large(removal_path(sampled, data, 5, "u_plus", max_sets = 60))
  too_large(removal_bound(sampled, data, 5, max_sets = 60))
  x <- quiet_qar(data, pi_u = 0.1)
  expect_identical(risk_contribution(sampled, data)$records, risk_contribution(x, data)$records)
})

test_that("a message comes with many removals, and none with few", {
  data <- adult[1:200, ]
  x <- qar_risk(data, pi_u = 0.1)
  expect_message(removal_path(x, data, 41), class = "sdcRisk_message_many_removed")
  expect_silent(removal_path(x, data, 40))
})

test_that("the print warns where T fell by its fit alone", {
  estimates <- data.frame(
    risk_before = 0.4, risk = 0.3, risk_empirical_before = 0.4, risk_empirical = 0.41
  )
  expect_true(sdcRisk:::fit_moved(estimates))
  estimates$risk_empirical <- 0.3
  expect_false(sdcRisk:::fit_moved(estimates))
  estimates$risk <- 0.5
  expect_false(sdcRisk:::fit_moved(estimates))
  estimates$risk <- NA_real_
  expect_false(sdcRisk:::fit_moved(estimates))
  gss <- trial_file("gss18b.csv")
  x <- qar_risk(gss)
  proper <- removal_path(x, gss, 1000, "proper")
  expect_true(proper$diagnostics$fit_moved)
  expect_output(print(proper), "Careful: T fell because")
  expect_equal(proper$estimates$reduction, 0.094, tolerance = 0.01)
  top <- removal_path(x, gss, 1000)
  expect_false(top$diagnostics$fit_moved)
})

test_that("PLS predicts the sign of contributions", {
  skip_if_not_installed("pls")
  data <- adult[1:1500, ]
  x <- qar_risk(data, pi_u = 0.1)
  set.seed(3)
  linear <- removal_path(x, data, 100, "pls")
  quality <- linear$diagnostics$pls
  expect_identical(quality$sample, c("train", "test"))
  expect_identical(quality$n, c(1125L, 375L))
  expect_true(all(quality$auc > 0.6))
  expect_output(print(linear), "AUC")
  # The area under the curve by trapezoids, which the thinned curve has nearly.
  roc <- split(linear$diagnostics$roc, linear$diagnostics$roc$sample)[quality$sample]
  area <- vapply(roc, function(curve) {
    up <- curve$true_positive
    sum(diff(curve$false_positive) * (up[-1] + up[-length(up)]) / 2)
  }, 0)
  expect_equal(unname(area), quality$auc, tolerance = 1e-3)
  skip_if_not_installed("ggplot2")
  drawn <- ggplot2::ggplot_build(plot(linear, "roc"))
  expect_identical(nrow(drawn$data[[2]]), nrow(linear$diagnostics$roc))
  expect_error(
    plot(removal_path(x, data, 10), "roc"), "PLS", class = "sdcRisk_error_bad_argument"
  )
  set.seed(3)
  squares <- removal_path(x, data, 100, "pls", pls_degree = 2, pls_response = "contribution")
  expect_false(identical(squares$path$record, linear$path$record))
  equal <- data.frame(a = rep(1:2, 10), b = rep(1:2, 10))
  expect_error(
    quiet_path(quiet_qar(equal, p = 1), equal, 2, "pls"),
    class = "sdcRisk_error_bad_data"
  )
})

test_that("areas under the curve are shares of pairs in the right order", {
  positive <- c(TRUE, FALSE, TRUE, FALSE, FALSE)
  predicted <- c(3, 1, 2, 2, 0)
  expect_equal(sdcRisk:::area_under_curve(positive, predicted), 5.5 / 6)
  expect_identical(sdcRisk:::area_under_curve(c(TRUE, TRUE), 1:2), NA_real_)
})

test_that("the verbs of results work", {
  data <- adult[1:300, ]
  x <- qar_risk(data, pi_u = 0.1)
  found <- removal_path(x, data, 50)
  expect_s3_class(found, c("sdc_removal_path", "sdc_result"), exact = TRUE)
  expect_lte(length(format(found)), 16)
  expect_identical(as.data.frame(found), found$path)
  expect_identical(
    names(found$path),
    c("step", "record", "risk", "reduction", "threshold", "shape", "risk_empirical")
  )
  expect_identical(glance(found)$n_removed, 50L)
  expect_identical(nrow(tidy(found)), 6L)
  expect_match(interpret(found), "the extreme re-identification risk T is")
  expect_output(print(summary(found)), "on the way")
  expect_error(summary(found, by = rep(1, 300)), class = "sdcRisk_error_bad_argument")
  other <- removal_path(x, data, 50, "u_plus")
  both <- compare_risk(found, other)
  expect_s3_class(both, "sdc_removal_path_comparison")
  risk <- both$table[both$table$term == "risk", ]
  expect_equal(risk$estimate, c(found$estimates$risk, other$estimates$risk))
})

test_that("pictures show the numbers of the tables", {
  skip_if_not_installed("ggplot2")
  data <- adult[1:400, ]
  x <- qar_risk(data, pi_u = 0.1)
  contribution <- risk_contribution(x, data)
  points <- ggplot2::layer_data(ggplot2::autoplot(contribution), 2)
  expect_true(all(points$y %in% contribution$records$contribution))
  expect_length(unique(points$colour), 2)
  alone <- ggplot2::autoplot(contribution, "uniqueness")
  of_records <- contribution$records[!is.na(contribution$records$contribution), ]
  expect_equal(ggplot2::layer_data(alone, 1)$xintercept, mean(of_records$u_plus))
  expect_equal(ggplot2::layer_data(alone, 2)$yintercept, mean(of_records$u_star))
  expect_true(all(ggplot2::layer_data(alone, 3)$y %in% of_records$u_star))
  found <- removal_path(x, data, 30, block = 10)
  line <- ggplot2::layer_data(ggplot2::autoplot(found), 3)
  expect_equal(line$y, c(0, found$path$reduction[c(10, 20, 30)]))
  expect_equal(line$x, c(0, 10, 20, 30))
  random <- removal_path(x, data, 30, "random", n_sim = 3)
  both <- compare_risk(found, random)
  same <- compare_risk(found, found)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  for (type in c("u_plus", "boxplot", "metrics", "uniqueness")) {
    expect_silent(plot(contribution, type))
  }
  for (object in list(found, random, both, same)) {
    for (type in c("reduction", "fit")) expect_silent(plot(object, type))
  }
  expect_silent(plot(removal_bound(x, data, c(5, 10))))
  for (object in list(contribution, found, both)) {
    expect_error(ggplot2::autoplot(object, "none"), class = "sdcRisk_error_bad_argument")
  }
})

test_that("work that is asked to stop stops, and the session goes on", {
  data <- small_file(20000, 12, 30, 1)
  x <- quiet_qar(data, p = 3)
  coded <- sdcRisk:::code_again(x, data)
  stop_now <- function(done, total) FALSE
  table <- coded$table$pointer
  run <- list(threads = 2L, tick = stop_now)
  tail <- list(
    p = 3L, alpha = 0.01, pi_u = 0.05, pwm = "plotting", theta_one = "one", max_sets = 1000L
  )
  adaptive <- function(...) {
    function() sdcRisk:::rs_adaptive_path(table, c(tail, list(n_top = 1L, n = 15000L, ...)), run)
  }
  work <- list(
    adaptive(by = "proper", block = 1L, max_memory = 2e9),
    adaptive(by = "u_plus_updated", block = 100L, max_memory = 0),
    function() {
      sdcRisk:::rs_fixed_paths(
        table, c(tail, list(orders = rep(list(1:15000), 50), block = 1L)), run
      )
    }
  )
  for (stopped in work) {
    began <- proc.time()[["elapsed"]]
    outcome <- tryCatch(sdcRisk:::unwrap(stopped()), interrupt = function(i) "interrupt")
    expect_identical(outcome, "interrupt")
    expect_lt(proc.time()[["elapsed"]] - began, 1.5)
  }
  small <- adult[1:100, ]
  expect_silent(removal_path(qar_risk(small, pi_u = 0.1), small, 5))
})
