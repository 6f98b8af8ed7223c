# Microaggregation: groups against slow ones, invariants, and what leaves the house.

numbers <- function(seed, n = 40, d = 3, digits = 3) {
  set.seed(seed)
  as.data.frame(round(matrix(stats::rexp(n * d), n), digits))
}
same_groups <- function(a, b) identical(match(a, unique(a)), match(b, unique(b)))
squares <- function(a, b) sum((as.matrix(a) - as.matrix(b))^2)

test_that("MDAV makes the groups of the slow one", {
  for (seed in 1:6) {
    data <- numbers(seed, n = 20 + 7 * seed, d = 1 + seed %% 4, digits = 2)
    for (k in 2:5) {
      made <- quietly(microaggregate(data, names(data), k = k))
      groups <- slow_mdav(data, k)
      expect_true(same_groups(do.call(paste, as.list(made)), groups), info = paste(seed, k))
      means <- lapply(data, function(x) stats::ave(x, groups))
      expect_equal(as.list(made), means, ignore_attr = TRUE)
      expect_gte(min(table(groups)), k)
    }
  }
})

test_that("the optimum is that of all partitions, with weights", {
  for (seed in 1:8) {
    set.seed(seed)
    data <- data.frame(x = sample(30, 11, TRUE), w = sample(1:4, 11, TRUE))
    k <- 2 + seed %% 3
    made <- quietly(microaggregate(data, x, k = k, method = "optimal"))
    expect_equal(squares(made$x, data$x), slow_optimum(data$x, k))
    weighed <- quietly(microaggregate(data, x, k = k, method = "optimal", weight_var = w))
    expect_equal(sum(data$w * (weighed$x - data$x)^2), slow_optimum(data$x, k, data$w))
    expect_gte(min(table(made$x)), k)
  }
})

test_that("means stay in the file, in strata, and with weights", {
  data <- cbind(numbers(9, 90), s = rep(c("a", "b", NA), 30), w = stats::runif(90, 1, 9))
  for (method in c("mdav", "optimal")) {
    made <- quietly(microaggregate(
      data, V1:V3, k = 4, method = method, weight_var = w, strata_var = s
    ))
    for (part in split(1:90, addNA(data$s))) {
      for (v in c("V1", "V2", "V3")) {
        expect_equal(
          stats::weighted.mean(made[[v]][part], data$w[part]),
          stats::weighted.mean(data[[v]][part], data$w[part])
        )
        expect_gte(min(table(made[[v]][part])), 4)
      }
    }
    expect_identical(made[c("s", "w")] |> as.data.frame(), data[c("s", "w")])
  }
})

test_that("it never loses more than sdcMicro's MDAV", {
  skip_if_not_installed("sdcMicro")
  place <- new.env()
  utils::data(list = c("Tarragona", "CASCrefmicrodata"), package = "sdcMicro", envir = place)
  for (data in list(place$Tarragona[1:6], place$CASCrefmicrodata[1:6])) {
    theirs <- suppressWarnings(sdcMicro::microaggregation(data, method = "mdav", aggr = 3)$mx)
    ours <- quietly(microaggregate(data, names(data), k = 3))
    scale <- function(x) sweep(as.matrix(x), 2, apply(data, 2, stats::sd), "/")
    expect_lte(squares(scale(ours), scale(data)), 1.0001 * squares(scale(theirs), scale(data)))
  }
})

test_that("missing values stay, and groups miss the same variables", {
  data <- numbers(3, 60)
  data$V1[1:5] <- NA
  data$V2[5:9] <- NA
  data[60, ] <- NA
  made <- quietly(microaggregate(data, V1:V3, k = 3, method = "optimal"))
  expect_identical(is.na(made$V1), is.na(data$V1))
  expect_gte(min(table(made$V1)), 3)
  # One record misses two variables.
  expect_error(microaggregate(data, V1:V3, k = 3), class = "sdcRisk_error_unprotectable")
  data$V2[5] <- 1
  made <- quietly(microaggregate(data, V1:V3, k = 3))
  expect_identical(is.na(as.matrix(as.data.frame(made))), is.na(as.matrix(data)))
  for (v in names(data)) expect_equal(mean(made[[v]], na.rm = TRUE), mean(data[[v]], na.rm = TRUE))
  data$V3[1] <- NaN
  expect_error(microaggregate(data, V1:V3, k = 3), class = "sdcRisk_error_unprotectable")
})

test_that("equal values, constants, few records, huge numbers and integers", {
  data <- data.frame(zero = c(rep(0L, 8), 5L, 7L, 9L, 11L), same = 2, huge = (1:12) * 1e300)
  made <- NULL
  expect_message(
    made <- microaggregate(data, zero:huge, k = 3), class = "sdcRisk_message_equal_groups"
  )
  expect_identical(made$same, rep(2, 12))
  expect_true(all(is.finite(made$huge)))
  expect_equal(mean(made$huge / 1e300), 6.5)
  alone <- quietly(microaggregate(data, zero, k = 3, method = "optimal"))
  expect_identical(alone$zero[1:8], rep(0, 8))
  expect_equal(alone$zero[9:12], rep(8, 4))
  expect_error(microaggregate(data[1:2, ], zero, k = 3), class = "sdcRisk_error_unprotectable")
  three <- quietly(microaggregate(data[9:11, ], zero, k = 3))
  expect_equal(three$zero, rep(7, 3))
  expect_error(
    microaggregate(transform(data, zero = Inf), zero), class = "sdcRisk_error_bad_column"
  )
  expect_error(microaggregate(data, zero, k = 1), class = "sdcRisk_error_bad_argument")
  expect_error(microaggregate(data), class = "sdcRisk_error_bad_argument")
  expect_equal(
    quietly(microaggregate(data.frame(x = 1:7), x, k = 3, digits = 0))$x,
    rep(c(2, 6), c(3, 4))
  )
})

test_that("results do not depend on threads or on OutDec", {
  data <- numbers(4, 500)
  one <- quietly(microaggregate(data, V1:V3))
  old <- options(sdcRisk.threads = 1, OutDec = ",")
  on.exit(options(old))
  expect_identical(as.data.frame(quietly(microaggregate(data, V1:V3))), as.data.frame(one))
})

test_that("it is a step in the history of a file and flows on", {
  data <- cbind(numbers(5, 60), g = rep(1:2, 30))
  file <- sdc_file(data, "g", num_vars = V1:V3)
  made <- quietly(microaggregate(file, k = 4))
  expect_s3_class(made, "sdc_file")
  expect_match(summary(made)$history, "microaggregate(k = 4, \"mdav\"): V1, V2, V3", fixed = TRUE)
  expect_identical(summary(made)$states$state, rep("microaggregated", 3))
  expect_identical(sdc_roles(made), sdc_roles(file))
  found <- interval_disclosure(file, made)
  expect_lt(found$estimates$prop_within[[2]], 1)
  loss <- quietly(utility_loss(made))
  expect_true(all(loss$variables$il1s[loss$variables$variable != "g"] > 0))
  expect_identical(as.data.frame(quietly(release_data(made))), as.data.frame(made))
})

test_that("nothing but means leaves the house", {
  set.seed(8)
  x <- structure(round(stats::rexp(60), 4), label = "secret", note = "11.25")
  data <- data.frame(x = x, copy = as.numeric(x) * 2)
  file <- sdc_file(data, "copy", num_vars = "x")
  # A column that tells the values is named.
  expect_message(
    made <- microaggregate(file, k = 3), class = "sdcRisk_message_determined_keys"
  )
  expect_null(attributes(made$x))
  kept <- tempfile()
  on.exit(unlink(kept))
  alone <- quietly(microaggregate(data["x"], x, k = 3))
  saveRDS(alone, kept)
  expect_false(any(as.numeric(x) %in% unlist(as.data.frame(readRDS(kept)))))
  # The order of the records tells nothing that the input order did not.
  expect_message(
    microaggregate(data.frame(x = sort(as.numeric(x))), x, k = 3),
    class = "sdcRisk_message_told_by_order"
  )
})

test_that("an sdcMicroObj is given back with the new numbers", {
  skip_if_not_installed("sdcMicro")
  place <- new.env()
  utils::data(list = "testdata2", package = "sdcMicro", envir = place)
  object <- suppressWarnings(suppressMessages(sdcMicro::createSdcObj(
    place$testdata2, keyVars = c("urbrur", "roof"), numVars = c("expend", "income", "savings"),
    w = "sampling_weight"
  )))
  made <- suppressWarnings(quietly(microaggregate(object, k = 3)))
  expect_s4_class(made, "sdcMicroObj")
  now <- sdcMicro::get.sdcMicroObj(made, "manipNumVars")
  expect_gte(min(table(now$income)), 3)
})

test_that("weights and strata are no variables to be replaced", {
  d <- data.frame(x = 1:6, w = 1:6 * 2)
  expect_error(
    microaggregate(d, c("x", "w"), weight_var = "w"), class = "sdcRisk_error_bad_argument"
  )
  # A file without roles says nothing of them.
  expect_match(utils::capture.output(print(microaggregate(d, "x")))[[1]], "6 records$")
})
