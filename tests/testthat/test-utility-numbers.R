# The loss of changes of continuous variables, against base R.

firms <- local({
  set.seed(1)
  n <- 300
  staff <- exp(stats::rnorm(n, 3))
  data.frame(
    turnover = staff * exp(stats::rnorm(n, 1, 0.5)), staff = staff,
    sector = rep(c("a", "b", "c"), 100), w = stats::runif(n, 1, 5)
  )
})
noisy <- local({
  set.seed(2)
  transform(firms, turnover = turnover * exp(stats::rnorm(300, 0, 0.2)))
})

test_that("moments, deciles, correlations and IL1s are those of base R", {
  x <- utility_loss(firms, noisy)
  expect_identical(x$numbers$variable, c("turnover", "staff", "w"))
  row <- x$numbers[1, ]
  s <- stats::sd(firms$turnover)
  expect_equal(row$il1s, mean(abs(firms$turnover - noisy$turnover)) / sqrt(2) / s)
  expect_equal(row$mean_change, (mean(noisy$turnover) - mean(firms$turnover)) / s)
  expect_equal(row$sd_ratio, stats::sd(noisy$turnover) / s)
  deciles <- function(v) stats::quantile(v, 1:9 / 10)
  expect_equal(
    row$quantile_change, max(abs(deciles(noisy$turnover) - deciles(firms$turnover))) / s
  )
  numbers <- c("turnover", "staff", "w")
  moved <- abs(stats::cor(noisy[numbers]) - stats::cor(firms[numbers]))
  expect_equal(row$correlation_change, max(moved["turnover", -1]))
  expect_equal(x$numbers$il1s[2:3], c(0, 0))
  expect_equal(x$estimates$il1s, row$il1s / 3)
  expect_equal(x$estimates$correlation_change, row$correlation_change)
})

test_that("IL1s is the figure of sdcMicro", {
  skip_if_not_installed("sdcMicro")
  ours <- utility_loss(firms, noisy, c("turnover", "staff"))$numbers
  theirs <- sdcMicro::dUtility(firms[1:2], xm = noisy[1:2], method = "IL1s")
  expect_equal(sum(ours$il1s) * 300, theirs)
})

test_that("a shuffled variable costs its correlations, not its margin", {
  set.seed(3)
  mixed <- transform(firms, staff = sample(staff))
  x <- utility_loss(firms, mixed)
  row <- x$numbers[x$numbers$variable == "staff", ]
  expect_equal(c(row$mean_change, row$sd_ratio, row$quantile_change), c(0, 1, 0))
  expect_gt(row$il1s, 0.3)
  expect_gt(row$correlation_change, 0.5)
})

test_that("microaggregation and rounding have a cost although they are recodings", {
  grouped <- quietly(microaggregate(firms, turnover, k = 5, method = "optimal"))
  x <- quietly(utility_loss(firms, grouped))
  expect_gt(x$numbers$il1s[[1]], 0)
  expect_equal(x$numbers$mean_change[[1]], 0)
  expect_lt(x$numbers$sd_ratio[[1]], 1)
})

test_that("intervals of a regression overlap as Karr and others say", {
  model <- log(turnover) ~ log(staff) + sector
  x <- utility_loss(firms, noisy, model = model)
  a <- stats::confint(stats::lm(model, firms))
  b <- stats::confint(stats::lm(model, noisy))
  common <- pmax(pmin(a[, 2], b[, 2]) - pmax(a[, 1], b[, 1]), 0)
  overlap <- (common / (a[, 2] - a[, 1]) + common / (b[, 2] - b[, 1])) / 2
  expect_equal(x$coefficients$overlap, unname(overlap))
  expect_identical(x$coefficients$term, rownames(a))
  expect_equal(x$estimates$ci_overlap, mean(overlap))
  expect_equal(x$estimates$ci_overlap_least, min(overlap))
  expect_equal(utility_loss(firms, firms, model = model)$estimates$ci_overlap, 1)
  weighed <- utility_loss(firms, noisy, weight_var = "w", model = model)
  own <- stats::coef(stats::lm(model, noisy, weights = noisy$w))
  expect_equal(weighed$coefficients$after, unname(own))
  bad <- function(model, class) {
    expect_error(utility_loss(firms, noisy, model = model), class = paste0("sdcRisk_error_", class))
  }
  bad(~staff, "bad_argument")
  bad("turnover ~ staff", "bad_argument")
  bad(turnover ~ stuff, "unknown_key_var")
})

test_that("files without continuous variables are as they were", {
  x <- utility_loss(nals_prison, nals_prison, c("GENDER", "CENREG"))
  expect_null(x$numbers)
  expect_false("il1s" %in% names(x$estimates))
})

test_that("candidates of a release lie in one picture", {
  skip_if_not_installed("ggplot2")
  known <- cbind(firms[1:2], id = 1:300)
  releases <- lapply(c(three = 3, ten = 10), function(k) {
    cbind(as.data.frame(quietly(microaggregate(firms[1:2], turnover:staff, k = k))), id = 1:300)
  })
  attack <- function(data) link_attack(known, data, turnover:staff, "id")
  loss <- lapply(releases, function(data) quietly(utility_loss(known, data, turnover:staff)))
  both <- compare_risk(attack(known), attack(releases$three), ten = attack(releases$ten),
                       labels = c("now", "three"), loss = loss)
  expect_equal(both$loss$il1s[[1]], 0)
  expect_lt(both$loss$il1s[[2]], both$loss$il1s[[3]])
  expect_gt(both$loss$risk[[1]], both$loss$risk[[2]])
  expect_match(text_of(both), "numbers moved by IL1s", fixed = TRUE)
  picture <- ggplot2::autoplot(both, "risk_utility")
  expect_true("change of numbers (IL1s)" %in% as.character(picture$data$panel))
})
