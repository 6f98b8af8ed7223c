nals_keys <- c("BORNUSA", "CENREG", "DAGE3", "DRACE3", "EDUC3", "GENDER")

nals <- function(...) {
  quiet_loglinear(nals_prison, nals_keys, weight_var = "WEIGHT", ...)
}

test_that("the published table of SDCNway's manual holds to its printed digits", {
  published <- read.csv(
    test_path("fixtures", "sdcnway-manual-loglinear.csv"), comment.char = "#",
    colClasses = "character"
  )
  for (row in seq_len(nrow(published))) {
    x <- nals(
      model = published$model[[row]], sampling = published$sampling[[row]], interval = "none"
    )
    expect_identical(x$estimates$n_cells, 432)
    expect_identical(x$estimates$n_unique, 52)
    for (term in names(published)[-(1:2)]) {
      printed <- published[[term]][[row]]
      digits <- nchar(gsub("^0+", "", gsub("[-.]", "", sub("e.*", "", printed))))
      value <- as.numeric(printed)
      unit <- 10^(floor(log10(abs(value))) + 1 - digits)
      expect_lt(abs(x$estimates[[term]] - value), 0.51 * unit)
    }
  }
})

test_that("fits and sums equal stats::loglin and literal sums over all cells", {
  compared <- 0
  for (seed in seeds(70)) {
    set.seed(seed)
    d <- sample(2:5, 1)
    n <- sample(c(20, 80, 300, 900), 1)
    data <- loglinear_file(n, sample(1:5, d, TRUE), seed)
    keys <- setdiff(names(data), "w")
    sampling <- sample(c("overall", "cell"), 1)
    kind <- sample(c("independence", "two_way", "three", "chain"), 1)
    if (kind == "three" && d < 3) kind <- "two_way"
    one <- as.list(seq_along(keys))
    model <- switch(kind,
      three = ~ a:b:c, chain = reformulate(paste(keys[-d], keys[-1], sep = ":")), kind
    )
    margins <- switch(kind,
      independence = one, two_way = combn(d, 2, simplify = FALSE),
      three = c(list(1:3), one[-(1:3)]), chain = lapply(seq_len(d - 1), function(i) c(i, i + 1))
    )
    pi <- n / sum(data$w)
    slow <- tryCatch(
      oracle_loglinear(oracle_table(data, keys, data$w, margins, pi), pi, sampling),
      # Where the maximum lies on the boundary beyond zero margins, loglin()
      # needs more iterations than anybody has.
      warning = function(w) NULL
    )
    x <- quiet_loglinear(
      data, keys, weight_var = "w", model = model, sampling = sampling, interval = "none"
    )
    expect_lte(x$fits[[1]]$deviation, 1e-9)
    if (is.null(slow) || x$fits[[1]]$passes > 80) next
    compared <- compared + 1
    for (term in names(slow)) {
      value <- slow[[term]]
      # A variance that underflows leaves nothing to divide by.
      if (is.finite(value) && abs(value) > 1e-200) {
        expect_equal(x$estimates[[term]], value, tolerance = 1e-6, label = paste(seed, term))
      }
    }
  }
  expect_gt(compared, 0.7 * length(seeds(70)))
})

test_that("a boundary that loglin() creeps to is reached", {
  data <- loglinear_file(5, c(2, 4, 3), 55)
  keys <- c("a", "b", "c")
  margins <- combn(3, 2, simplify = FALSE)
  pi <- 5 / sum(data$w)
  fitted <- quiet_loglinear(
    data, keys, weight_var = "w", model = "two_way", sampling = "overall", interval = "none"
  )
  slow <- function(iter) {
    suppressWarnings(
      oracle_loglinear(oracle_table(data, keys, data$w, margins, pi, iter), pi)
    )
  }
  few <- slow(200)
  many <- slow(20000)
  got <- fitted$estimates$tau2
  expect_equal(got, many$tau2, tolerance = 1e-3)
  expect_lte(abs(got - many$tau2), abs(got - few$tau2) + 1e-9)
})

test_that("records carry the risks of their cells", {
  data <- loglinear_file(150, c(3, 4, 5), 12)
  x <- quiet_loglinear(
    data, c("a", "b", "c"), weight_var = "w", sampling = "overall", interval = "none"
  )
  key <- interaction(data[1:3], drop = TRUE)
  expect_identical(x$records$sample_unique, as.vector(table(key)[key] == 1))
  p <- lapply(data[1:3], function(v) tapply(data$w, v, sum) / sum(data$w))
  lambda <- sum(data$w) * p$a[data$a] * p$b[data$b] * p$c[data$c]
  expect_equal(x$records$lambda, as.vector(lambda))
  q <- (1 - x$estimates$sampling_fraction) * x$records$lambda
  expect_equal(x$records$tau1, ifelse(x$records$sample_unique, exp(-q), 0))
  expect_equal(x$records$tau2, ifelse(x$records$sample_unique, -expm1(-q) / q, 0))
  expect_equal(sum(x$records$tau2), x$estimates$tau2)
  expect_equal(x$estimates$tau1_rate, sum(x$records$tau1) / 150)
})

test_that("the population comes from weights, its size or a fraction", {
  data <- loglinear_file(100, c(3, 4, 5), 2)
  data$w <- 8
  tau <- function(...) {
    quiet_loglinear(data, c("a", "b", "c"), ..., interval = "none")$estimates$tau2
  }
  expect_equal(tau(weight_var = "w"), tau(pop_size = 800))
  expect_equal(tau(weight_var = "w"), tau(sampling_fraction = 1 / 8))
  expect_equal(tau(pop_size = 800, sampling_fraction = 1 / 8), tau(pop_size = 800))
  expect_equal(tau(pop_size = 800, weight_var = "w"), tau(pop_size = 800))
  # Weights are scaled to the size.
  expect_equal(tau(pop_size = 1600, weight_var = "w"), tau(pop_size = 1600))
  # A census.
  expect_equal(tau(pop_size = 100), tau(sampling_fraction = 1))
  x <- quiet_loglinear(data, c("a", "b", "c"), pop_size = 100)
  expect_equal(x$estimates$tau1, x$estimates$n_unique)
  expect_identical(x$estimates$tau1_se, 0)
  expect_error(tau(), class = "sdcRisk_error_bad_argument")
  expect_error(tau(pop_size = 99), class = "sdcRisk_error_bad_argument")
  expect_error(tau(pop_size = 800, sampling_fraction = 0.5), class = "sdcRisk_error_bad_argument")
})

test_that("the fraction is that of the records used", {
  data <- loglinear_file(100, c(3, 4, 5), 2)
  data$a[1:20] <- NA
  tau <- function(..., missing = "exclude") {
    x <- quiet_loglinear(data, c("a", "b", "c"), ..., missing = missing, interval = "none")
    x$estimates[c("n", "tau2", "sampling_fraction")]
  }
  expect_equal(tau(sampling_fraction = 1 / 8), tau(pop_size = 800))
  expect_identical(tau(sampling_fraction = 1 / 8)$sampling_fraction, 80 / 800)
  expect_equal(tau(pop_size = 800, sampling_fraction = 1 / 8), tau(pop_size = 800))
  expect_identical(tau(sampling_fraction = 1 / 8, missing = "category")$sampling_fraction, 1 / 8)
})

test_that("bad weights are refused", {
  data <- loglinear_file(50, c(3, 4), 3)
  bad <- function(w, ...) {
    data$w <- w
    quiet_loglinear(data, c("a", "b"), weight_var = "w", ..., interval = "none")
  }
  expect_error(bad(c(NA, rep(2, 49))), class = "sdcRisk_error_bad_weights")
  expect_error(bad(c(0, rep(2, 49))), class = "sdcRisk_error_bad_weights")
  expect_error(bad(c(Inf, rep(2, 49))), class = "sdcRisk_error_bad_weights")
  # A fraction above 1.
  expect_error(bad(0.5), "sum to at least", class = "sdcRisk_error_bad_weights")
  expect_silent(bad(1))
  # Above 1 in a cell only.
  low <- c(0.5, rep(9, 49))
  data$a[[1]] <- 99
  expect_silent(bad(low))
  expect_error(bad(low, sampling = "cell"), "In 1 cell", class = "sdcRisk_error_bad_weights")
})

test_that("degenerate files have their stated answers", {
  # No sample unique.
  twice <- data.frame(a = c(1, 1, 2, 2), b = c(1, 1, 2, 2))
  expect_message(
    x <- loglinear_risk(twice, pop_size = 40), class = "sdcRisk_message_no_sample_unique"
  )
  expect_identical(x$estimates$tau1, 0)
  expect_identical(x$estimates$tau2, 0)
  expect_identical(c(x$estimates$tau2_low, x$estimates$tau2_high), c(0, 0))
  expect_identical(x$records$tau2, rep(0, 4))
  expect_match(lines_of(x), "risk by these measures is zero", all = FALSE)
  # All records in one cell.
  one <- quiet_loglinear(data.frame(a = rep(1, 5), b = "x"), pop_size = 50, model = "two_way")
  expect_identical(one$estimates$n_cells, 1)
  expect_identical(one$estimates$tau2, 0)
  # A single record.
  single <- quiet_loglinear(data.frame(a = 1), pop_size = 3)
  expect_equal(single$estimates$tau1, exp(-2))
  # A one-level key changes nothing.
  data <- loglinear_file(60, c(3, 4, 5), 4)
  data$one <- "x"
  for (model in c("independence", "two_way", "search")) {
    without <- quiet_loglinear(
      data, c("a", "b", "c"), weight_var = "w", model = model, interval = "none"
    )
    with <- quiet_loglinear(
      data, c("a", "b", "c", "one"), weight_var = "w", model = model, interval = "none"
    )
    expect_equal(with$estimates[5:6], without$estimates[5:6])
    expect_equal(with$estimates$tau2, without$estimates$tau2, tolerance = 1e-7)
    expect_equal(with$estimates$z2, without$estimates$z2, tolerance = 1e-6)
  }
})

test_that("missing values are excluded, or a value of their own", {
  data <- loglinear_file(120, c(3, 4, 5), 6)
  data$b[c(3, 50)] <- NA
  x <- quiet_loglinear(data, c("a", "b", "c"), weight_var = "w", interval = "none")
  complete <- data[-c(3, 50), ]
  y <- quiet_loglinear(complete, c("a", "b", "c"), weight_var = "w", interval = "none")
  expect_equal(x$estimates, y$estimates)
  expect_true(all(is.na(x$records[c(3, 50), ])))
  expect_equal(x$records[-c(3, 50), ], y$records, ignore_attr = TRUE)
  expect_identical(x$diagnostics$n_excluded, 2)
  own <- data
  own$b[is.na(own$b)] <- 99L
  expect_equal(
    quiet_loglinear(
      data, c("a", "b", "c"), weight_var = "w", interval = "none", missing = "category"
    )$estimates$tau2,
    quiet_loglinear(own, c("a", "b", "c"), weight_var = "w", interval = "none")$estimates$tau2
  )
  expect_error(
    loglinear_risk(data, weight_var = "w", missing = "wildcard"),
    class = "sdcRisk_error_bad_argument"
  )
  data$b <- NA_integer_
  expect_error(
    loglinear_risk(data, c("a", "b"), weight_var = "w"), class = "sdcRisk_error_bad_data"
  )
})

test_that("several key sets and models give a row each, as if asked alone", {
  data <- loglinear_file(200, c(3, 4, 5, 2), 7)
  data$d[1:9] <- NA
  sets <- list(neighbour = c("a", "b"), colleague = c("a", "c", "d"))
  x <- quiet_loglinear(
    data, sets, weight_var = "w", model = c("independence", "two_way"), interval = "none"
  )
  expect_identical(x$estimates$key_set, rep(names(sets), each = 2))
  expect_identical(x$estimates$model, rep(c("independence", "two_way"), 2))
  expect_identical(x$diagnostics$n_excluded, c(0, 0, 9, 9))
  for (row in 1:4) {
    alone <- quiet_loglinear(
      data, sets[[(row + 1) %/% 2]], weight_var = "w", model = x$estimates$model[[row]],
      interval = "none"
    )
    expect_equal(x$estimates[row, -1], alone$estimates[, -1], ignore_attr = TRUE)
    expect_equal(x$fits[[row]]$records, alone$records)
  }
  expect_identical(x$records, x$fits[[1]]$records)
  expect_identical(nrow(x$diagnostics$models), 4L)
  expect_lte(length(format(x)), 16)
})

test_that("formulas name interactions of key variables", {
  data <- loglinear_file(300, c(3, 4, 5, 2), 8)
  terms <- function(model, keys = letters[1:4], ...) {
    quiet_loglinear(
      data, keys, weight_var = "w", model = model, interval = "none", ...
    )$fits[[1]]$terms
  }
  expect_setequal(terms(~ a * b + c:d), c("a:b", "c:d"))
  expect_setequal(terms(~ a:b:c), c("a:b:c", "d"))
  expect_setequal(terms(~1), letters[1:4])
  expect_setequal(terms(~ .^2), terms("two_way"))
  expect_setequal(terms(~ .^2 - a:b), setdiff(terms("two_way"), "a:b"))
  names(data)[1:2] <- c("key one", "k%s")
  expect_setequal(
    terms(~ `key one` * `k%s`, c("key one", "k%s", "c")), c("key one:k%s", "c")
  )
  x <- quiet_loglinear(
    data, list(two = c("c", "d"), one = c("c", "k%s")), weight_var = "w", model = ~ c * d,
    interval = "none"
  )
  expect_identical(lapply(x$fits, `[[`, "terms"), list("c:d", c("c", "k%s")))
  for (bad in list(y ~ c, ~ zz, ~ log(c), ~ c + offset(d), "three_way", 2, list(), NULL, ~ w)) {
    expect_error(terms(bad, c("c", "d")), class = "sdcRisk_error_bad_argument")
  }
})

test_that("groups of columns count as one key", {
  data <- loglinear_file(200, c(2, 3, 4), 9)
  grouped <- quiet_loglinear(
    data, c("a", "b", "c"), weight_var = "w", key_groups = list(ab = c("a", "b")),
    interval = "none"
  )
  merged <- data.frame(ab = interaction(data$a, data$b, drop = TRUE), c = data$c, w = data$w)
  alone <- quiet_loglinear(merged, c("ab", "c"), weight_var = "w", interval = "none")
  expect_equal(grouped$estimates[-1], alone$estimates[-1])
  expect_error(
    quiet_loglinear(
      data, list(x = c("a", "c"), y = c("a", "b")), weight_var = "w",
      key_groups = list(ab = c("a", "b"))
    ),
    class = "sdcRisk_error_bad_argument"
  )
})

test_that("tables too large are refused with advice, structured ones are not", {
  set.seed(1)
  wide <- as.data.frame(lapply(1:12, function(i) sample.int(30, 60, TRUE)))
  names(wide) <- letters[1:12]
  x <- quiet_loglinear(wide, pop_size = 600)
  expect_gt(x$estimates$n_cells, 1e12)
  chain <- quiet_loglinear(wide, pop_size = 600, model = ~ a:b + b:c + c:a, interval = "none")
  expect_identical(chain$fits[[1]]$method, "junction_tree")
  error <- expect_error(
    loglinear_risk(wide, pop_size = 600, model = "two_way"), class = "sdcRisk_error_too_large"
  )
  expect_match(conditionMessage(error), "recode")
  expect_error(
    nals(model = "two_way", max_cells = 400), class = "sdcRisk_error_too_large"
  )
})

test_that("zero margins are counted, and warned of where uniques are alone on them", {
  warning <- expect_warning(
    x <- loglinear_risk(
      nals_prison, nals_keys, weight_var = "WEIGHT", model = "two_way", interval = "none"
    ),
    class = "sdcRisk_warning_zero_margins"
  )
  pairs <- combn(nals_keys, 2, function(p) sum(table(nals_prison[p]) == 0))
  expect_identical(x$estimates$n_zero_margins, as.double(sum(pairs)))
  expect_identical(x$fits[[1]]$n_unique_alone, 8)
  expect_silent(
    loglinear_risk(nals_prison, nals_keys, weight_var = "WEIGHT", interval = "none")
  )
})

test_that("arguments outside their domain are refused", {
  bad <- function(...) {
    expect_error(
      loglinear_risk(nals_prison, nals_keys, weight_var = "WEIGHT", ...),
      class = "sdcRisk_error_bad_argument"
    )
  }
  bad("two_way")
  bad(interval = "delta")
  bad(models = "two_way")
  bad(model = c("two_way", "two_way"))
  bad(sampling = "none")
  bad(missing = "drop")
  bad(interval = "exact")
  bad(level = 1)
  bad(max_cells = 0)
  bad(key_groups = list(c("a", "b")))
  bad(pop_size = "many")
  bad(sampling_fraction = 2)
  same <- list(a = "GENDER", a = "CENREG")
  for (keys in list(list("GENDER"), same, list(), list(a = character()), "WEIGHT")) {
    expect_error(
      loglinear_risk(nals_prison, keys, weight_var = "WEIGHT"),
      class = "sdcRisk_error_bad_argument"
    )
  }
  expect_error(
    loglinear_risk(nals_prison, "nothing", weight_var = "WEIGHT"),
    class = "sdcRisk_error_unknown_key_var"
  )
  expect_error(
    loglinear_risk(nals_prison, nals_keys, weight_var = "nothing"),
    class = "sdcRisk_error_unknown_key_var"
  )
  expect_error(
    loglinear_risk(as.matrix(nals_prison), nals_keys, pop_size = 1e6),
    class = "sdcRisk_error_bad_data"
  )
  expect_error(
    loglinear_risk(as.matrix(nals_prison), nals_keys, weight_var = "WEIGHT"),
    class = "sdcRisk_error_bad_data"
  )
})

test_that("models given in the order of the help page are all fitted", {
  words <- c("independence", "two_way", "search")
  fitted <- function(...) nals(..., interval = "none")$estimates$model
  expect_identical(fitted(model = words), words)
  expect_identical(fitted(model = as.list(words)), words)
  expect_identical(fitted(), "independence")
  wrapper <- function(data, model = words, ...) {
    quiet_loglinear(data, nals_keys, weight_var = "WEIGHT", model = model, ...)
  }
  expect_identical(wrapper(nals_prison, interval = "none")$estimates$model, words)
  by_call <- suppressWarnings(do.call(loglinear_risk, list(
    nals_prison, nals_keys,
    weight_var = "WEIGHT", model = words, interval = "none"
  )))
  expect_identical(by_call$estimates$model, words)
})

test_that("arguments called missing are no trouble", {
  expect_error(
    loglinear_risk(nals_prison, nals_keys, weight_var = "WEIGHT", missing = mean),
    class = "sdcRisk_error_bad_argument"
  )
})
