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

test_that("totals are of the key variables, and continuous ones are not called so", {
  skip_if_not_installed("xml2")
  set.seed(4)
  n <- 2000
  data <- data.frame(
    age = sample(20:79, n, TRUE), sex = sample(2, n, TRUE), area = sample(9, n, TRUE),
    kappa = exp(stats::rnorm(n)), lambda = exp(stats::rnorm(n)), one = 1
  )
  keys <- c("age", "sex", "area")
  numbers <- c("kappa", "lambda", "one")
  file <- sdc_file(data, keys, num_vars = all_of(numbers))
  protected <- quietly(suppress_cells(file, k = 3))
  x <- quietly(utility_loss(protected))
  after <- as.data.frame(protected$data)
  # In base R.
  blank <- is.na(after[keys])
  of_value <- vapply(keys, function(v) as.vector(table(data[[v]])[as.character(data[[v]])]),
                     numeric(n))
  bits <- log2(n / of_value)
  expected <- c(
    n_blank = sum(blank), prop_blank = mean(blank), prop_exchanged = 0,
    n_records_changed = sum(rowSums(blank) > 0), bits = sum(bits), bits_lost = sum(bits[blank]),
    prop_bits_lost = sum(bits[blank]) / sum(bits), tv_margins = mean(blank), il1s = 0
  )
  expect_equal(unlist(x$estimates[names(expected)]), expected, ignore_attr = TRUE)
  terms <- as.data.frame(tidy(x))
  of_tidy <- terms$estimate[match(names(expected), terms$term)]
  expect_equal(of_tidy, unname(expected))
  expect_identical(x$variables$variable, c(keys, numbers))
  expect_identical(c(glance(x)$n_keys, glance(x)$n_blank), c(3L, sum(blank)))
  share <- paste0(format(signif(100 * mean(blank), 3)), "%")
  expect_match(text_of(x), paste0("Suppressed values +", share))
  expect_match(text_of(x), "2,000 records, 3 variables, 3 continuous variables;", fixed = TRUE)
  both <- quietly(compare_risk(protected, loss = x))
  expect_equal(unlist(both$loss[2, c("prop_blank", "il1s")]), expected[c("prop_blank", "il1s")])
  # Of the report: names, the page for the board and the tables.
  path <- tempfile(fileext = ".html")
  on.exit(unlink(c(path, sub("html$", "json", path))))
  quietly(sdc_report(
    protected, x, after = interval_disclosure(file, protected), file = path, internal = TRUE,
    pictures = FALSE
  ))
  html <- xml2::read_html(path)
  text <- xml2::xml_text(xml2::xml_find_first(html, "//body"))
  expect_match(text, "Key variables examined: age, sex, area.", fixed = TRUE)
  expect_match(text, "Variables other than the key variables (age, sex, area)", fixed = TRUE)
  expect_match(text, "may an intruder know?age, sex, area", fixed = TRUE)
  expect_no_match(text, "was made on kappa|of other key variables")
  cells <- function(label) {
    rows <- xml2::xml_find_all(html, paste0("//tr[td[1][text()='", label, "']]/td[2]"))
    unique(xml2::xml_text(rows))
  }
  expect_identical(cells("Mean change of continuous variables (IL1s)"), "0")
  expect_identical(cells("Largest change of a decile, in standard deviations"), "0")
  expect_identical(cells("prop_blank")[[1]], format(mean(blank), digits = 7))
  expect_setequal(cells("Suppressed values"), c(share, format(sum(blank), big.mark = ",")))
  # Continuous variables alone are the totals.
  moved <- transform(data, kappa = rev(kappa))
  only <- quietly(utility_loss(sdc_file(data, num_vars = all_of(numbers)), moved, all_of(numbers)))
  expect_equal(only$estimates$prop_exchanged, mean(data[numbers] != moved[numbers]))
  expect_match(text_of(only), "2,000 records, 3 continuous variables;", fixed = TRUE)
  expect_identical(key_names(only), character())
})

test_that("continuous variables are those of the file, before or after", {
  set.seed(5)
  data <- data.frame(sex = rep(1:2, 200), area = rep(1:4, each = 100), loss = round(rexp(400), 5))
  file <- sdc_file(data, c("sex", "area"), num_vars = "loss")
  after <- quietly(microaggregate(file, k = 3))
  loss <- utility_loss(data, after)
  expect_identical(loss$numbers$n_changed, sum(data$loss != after$loss))
  expect_equal(
    loss$estimates$il1s, mean(abs(data$loss - after$loss)) / (sqrt(2) * sd(data$loss))
  )
  expect_identical(loss$numbers, utility_loss(file, after)$numbers)
})
