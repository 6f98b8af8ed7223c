skip_on_cran()

before <- data.frame(
  age = c(21, 22, 31, 32, 41, 42, 51, 52), sex = rep(c("m", "f"), 4), w = 1:8 / 2,
  band = rep(c(1, 2), each = 4)
)

test_that("recoding and blanks are counted in bits", {
  after <- transform(before, age = floor(age / 10) * 10)
  x <- utility_loss(before, after, c("age", "sex"))
  # Every value of 8 joins one other: a bit each, of 3 * 8 + 8.
  expect_equal(x$estimates$bits_lost, 8)
  expect_equal(x$estimates$bits, 32)
  expect_identical(x$variables$change, c("recoded", "none"))
  expect_equal(x$estimates$tv_margins, 0)
  after$sex[1:2] <- NA
  x <- utility_loss(before, after, c("age", "sex"))
  expect_equal(x$variables$bits_lost, c(8, 2))
  expect_equal(x$estimates$n_blank, 2)
  expect_equal(x$variables$tv[[2]], 0.25)
  expect_identical(x$variables$change[[2]], "blanks")
})

test_that("exchanges are seen by margins, pairs and distance", {
  after <- before
  after$band[1:2] <- 2
  x <- utility_loss(before, after, c("band", "sex"), weight_var = "w")
  expect_equal(x$estimates$n_exchanged, 2)
  expect_identical(x$variables$change[[1]], "exchanged")
  expect_equal(x$variables$bits_lost, c(0, 0))
  expect_equal(x$variables$tv[[1]], 0.25)
  expect_equal(x$variables$il1s[[1]], 0.25 / (sqrt(2) * stats::sd(before$band)))
  share <- function(v) tapply(before$w, v, sum) / sum(before$w)
  expect_equal(
    x$variables$tv_weighted[[1]], sum(abs(share(before$band) - share(after$band))) / 2
  )
  # Right margins, broken pairs.
  swapped <- before
  swapped$sex[c(1, 6)] <- before$sex[c(6, 1)]
  x <- utility_loss(before, swapped, c("band", "sex"))
  expect_equal(x$estimates$tv_margins, 0)
  expect_equal(x$estimates$tv_pairs, 0.25)
})

test_that("what costs a search is what the data lost", {
  x <- suppressMessages(recode_search(
    adult, c("age", "education_num", "sex"), constraint = list(k = 4), suppress = 0.03
  ))
  lost <- utility_loss(adult, apply_recoding(x, adult), c("age", "education_num", "sex"))
  expect_equal(lost$estimates$prop_bits_lost, x$estimates$cost_share, tolerance = 1e-9)
  # Missing values that join a dropped variable are recoded, not exchanged.
  keys <- c("age", "workclass", "sex")
  for (share in c(0, 0.02)) {
    x <- suppressMessages(recode_search(
      adult, keys, constraint = list(k = 30), suppress = share, keep = list(workclass = 4)
    ))
    lost <- utility_loss(adult, apply_recoding(x, adult), keys)
    # The search pays for whole records that it blanks; cells of theirs that were
    # missing before have lost nothing.
    expect_equal(
      lost$estimates$bits_lost, x$best$cost[[1]],
      tolerance = if (share > 0) 0.003 else 1e-9
    )
    expect_lte(lost$estimates$bits_lost, x$best$cost[[1]] * (1 + 1e-9))
    expect_identical(lost$estimates$n_exchanged, 0L)
  }
})

test_that("losses stand side by side, and beside risks", {
  a <- utility_loss(before, transform(before, age = floor(age / 10) * 10), c("age", "sex"))
  b <- utility_loss(before, transform(before, age = floor(age / 20) * 20), c("age", "sex"))
  both <- compare_risk(a, b)
  expect_true("prop_bits_lost" %in% as.data.frame(both)$term)
  expect_error(utility_loss(before, before[1:3, ]), class = "sdcRisk_error_mismatched_data")
  expect_error(utility_loss(before, before["age"], "sex"), class = "sdcRisk_error_unknown_key_var")
  local_reproducible_output(width = 80)
  expect_snapshot(a)
  expect_snapshot(interpret(a), transform = no_version)
})

test_that("a comparison takes what the protection cost", {
  recoded <- transform(adult, age = 10 * (age %/% 10))
  keys <- c("age", "education_num", "sex")
  risk <- function(data) suppressMessages(n_matches(data, keys))
  x <- compare_risk(
    risk(adult), risk(recoded), loss = utility_loss(adult, recoded, keys)
  )
  expect_match(
    paste(trimws(format(x)), collapse = " "), "Cost of `after`: .* of the bits lost"
  )
  expect_identical(x$loss$result, c("before", "after"))
  expect_identical(x$loss$prop_bits_lost[[1]], 0)
  expect_error(
    compare_risk(risk(adult), risk(recoded), loss = list(afer = utility_loss(adult, recoded))),
    "Did you mean \"after\""
  )
  skip_if_not_installed("ggplot2")
  picture <- ggplot2::autoplot(x, "risk_utility")
  expect_identical(ggplot2::layer_data(picture, 1)$x, x$loss$prop_bits_lost)
  expect_error(ggplot2::autoplot(compare_risk(risk(adult), risk(recoded)), "risk_utility"), "loss")
})

test_that("a factor with codes without a level is refused", {
  before <- data.frame(a = factor(c("x", "y")))
  after <- before
  after$a <- structure(c(1L, 9L), levels = c("x", "y"), class = "factor")
  refused <- expect_error(utility_loss(before, after, "a"), class = "sdcRisk_error_bad_column")
  expect_match(conditionMessage(refused), "codes without a level")
})

test_that("noise and exchanges of distinct values are exchanges, not recodings", {
  set.seed(1)
  n <- 1000
  d <- data.frame(income = round(rlnorm(n, 10), 2), sex = sample(1:2, n, TRUE))
  changed <- function(income, before = d) {
    after <- before
    after$income <- income
    x <- utility_loss(before, after)
    cbind(x$variables[1, ], n_records_changed = x$estimates$n_records_changed)
  }
  il1s <- function(income) mean(abs(income - d$income)) / (sqrt(2) * sd(d$income))
  for (income in list(
    sample(d$income), d$income * exp(rnorm(n, 0, 0.1)), d$income + rnorm(n),
    # Noise that rounding joins here and there, and draws with repetition.
    round(d$income * exp(rnorm(n, 0, 0.1)), -1), sample(d$income, n, TRUE),
    round(d$income * exp(rnorm(n)), -4)
  )) {
    found <- changed(income)
    expect_identical(found$change, "exchanged")
    expect_identical(found$n_exchanged, sum(income != d$income))
    expect_identical(found$n_records_changed, sum(income != d$income))
    expect_gt(found$n_exchanged, 950)
    expect_equal(found$bits_lost, 0)
    expect_equal(found$il1s, il1s(income))
  }
  # Swapping of pairs leaves the others.
  swapped <- d$income
  swapped[1:10] <- swapped[10:1]
  expect_identical(changed(swapped)$n_exchanged, 10L)
  # Noise by household: values that occur several times.
  hh <- d[rep(seq_len(300), each = 3), ]
  expect_identical(changed(hh$income * rep(exp(rnorm(300)), each = 3), hh)$n_exchanged, 900L)
  # Text: an exchange takes names that were there, a pseudonym does not.
  names <- transform(d, income = paste0("p", seq_len(n)))
  expect_identical(changed(sample(names$income), names)$change, "exchanged")
  expect_identical(changed(paste0("q", sample(n)), names)$change, "recoded")
})

test_that("recodings of distinct values stay recodings", {
  set.seed(2)
  n <- 500
  d <- data.frame(x = round(rlnorm(n, 10), 2))
  recoded <- function(x) utility_loss(d, data.frame(x = x))$variables
  band <- cut(d$x, quantile(d$x, 0:10 / 10), include.lowest = TRUE)
  for (x in list(
    round(d$x, -3), pmin(d$x, 50000), d$x / 1000, 32 + 1.8 * d$x, band, as.integer(band),
    ifelse(d$x > 50000, "more", "less"), rank(-d$x) %/% 3
  )) {
    found <- recoded(x)
    expect_identical(found$change, "recoded")
    expect_identical(found$n_exchanged, 0L)
    size <- ave(seq_along(x), as.character(x), FUN = length)
    expect_equal(found$bits_lost, sum(log2(size)))
  }
  # Codes that occur often may change their order where they are joined.
  codes <- data.frame(x = rep(1:16, each = 10))
  joined <- data.frame(x = c(3, 1, 2, 1)[codes$x %% 4 + 1])
  expect_identical(utility_loss(codes, joined)$variables$change, "recoded")
})

test_that("accents in another encoding are lost like those in this one", {
  regions <- c("\u00cele-de-France", "Bretagne", "C\u00f4te d'Or", "Corse")
  data <- data.frame(region = rep(regions, c(40, 30, 20, 10)), sex = rep(1:2, 50))
  latin <- data
  latin$region <- iconv(data$region, "UTF-8", "latin1")
  losses <- lapply(list(data, latin), function(file) {
    after <- file
    after$region[71:100] <- "elsewhere"
    utility_loss(file, after)$estimates
  })
  expect_identical(losses[[1]], losses[[2]])
  expect_gt(losses[[2]]$prop_bits_lost, 0)
})

test_that("files that may have been exchanged are asked about", {
  file <- sdc_file(data.frame(a = rep(1:4, 5), b = 1:20), c("a", "b"))
  once <- quietly(suppress_cells(file, k = 2, rule = "own"))
  said <- expect_message(utility_loss(once, as.data.frame(file)),
                         class = "sdcRisk_message_partial_loss")
  expect_match(conditionMessage(said), "were they exchanged?", fixed = TRUE)
  twice <- quietly(suppress_cells(once, k = 3, rule = "own"))
  said <- expect_message(utility_loss(once, twice), class = "sdcRisk_message_partial_loss")
  expect_no_match(conditionMessage(said), "exchanged")
})
