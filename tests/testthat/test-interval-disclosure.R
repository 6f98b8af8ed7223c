# Released numbers that reveal the original ones: an oracle, sdcMicro's figures, and hard inputs.

business <- function(seed = 1, n = 60, d = 3) {
  set.seed(seed)
  x <- exp(matrix(stats::rnorm(n * d), n))
  x[, 1] <- round(x[, 1], 1)
  original <- as.data.frame(x)
  released <- as.data.frame(x * exp(stats::rnorm(n * d, sd = 0.1)))
  released[[1]] <- round(released[[1]], 1)
  list(original = original, released = released)
}

test_that("each value is judged by the definition of its rule", {
  for (seed in 1:4) {
    files <- business(seed)
    files$original[3, 2] <- NA
    files$released[4:5, 1] <- NA
    width <- c(rank = 0.04, sd = 0.06, percent = 0.05)
    vars <- names(files$original)
    found <- interval_disclosure(files$original, files$released, vars, width = width)
    for (rule in names(width)) {
      for (v in names(files$original)) {
        slow <- slow_interval(files$original[[v]], files$released[[v]], rule, width[[rule]])
        expect_identical(found$records[[paste0(rule, ".", v)]], slow, info = paste(rule, v))
      }
    }
    inside <- as.matrix(found$records[paste0("sd.", names(files$original))])
    row <- found$estimates[found$estimates$rule == "sd", ]
    expect_equal(row$n_values, 177)
    expect_equal(row$n_within, sum(inside, na.rm = TRUE))
    expect_equal(row$prop_any, mean(rowSums(inside, na.rm = TRUE) > 0))
    expect_equal(row$n_all, sum(rowSums(!inside, na.rm = TRUE) == 0))
    expect_equal(
      found$variables$n_within[found$variables$rule == "sd"],
      unname(colSums(inside, na.rm = TRUE))
    )
  }
})

test_that("the example of the help page is right", {
  firms <- data.frame(turnover = c(10, 20, 30, 400), staff = c(1, 2, 4, 50))
  released <- transform(firms, turnover = c(10.1, 25, 30.2, 350))
  found <- interval_disclosure(firms, released, c(turnover, staff))
  expect_equal(found$estimates$rule, c("rank", "sd", "robust", "percent"))
  expect_equal(found$records$n_percent, c(2, 1, 2, 1))
  expect_equal(found$records$n_sd, c(2, 2, 2, 1))
})

test_that("sdcMicro's dRisk() and dRiskRMD() are reproduced", {
  skip_if_not_installed("sdcMicro")
  skip_if_not_installed("robustbase")
  place <- new.env()
  utils::data(list = "Tarragona", package = "sdcMicro", envir = place)
  original <- place$Tarragona[, c("FIXED.ASSETS", "CURRENT.ASSETS", "SALES", "LABOR.COSTS")]
  set.seed(1)
  released <- as.data.frame(lapply(original, function(x) {
    x + stats::rnorm(834, sd = stats::sd(x) / 20)
  }))
  scaled <- scale(original)
  set.seed(2)
  scatter <- getExportedValue("robustbase", "covMcd")(scaled)$cov
  set.seed(2)
  theirs <- sdcMicro::dRiskRMD(original, xm = released)
  found <- interval_disclosure(
    original, released, names(original), width = c(sd = 0.05, robust = 5e-4), scatter = scatter
  )
  e <- found$estimates
  expect_equal(e$prop_all[[1]], sdcMicro::dRisk(original, xm = released, k = 0.05))
  expect_equal(e$prop_any[[2]], theirs$risk1)
  expect_equal(e$n_alone[[2]] / 834, theirs$risk2)
  hit <- found$records$n_robust > 0
  distance <- 0.05 * found$records$distance
  expect_equal(sum(hit) * sum(distance[hit]) / 834, theirs$wrisk1)
  expect_equal(which(hit), unname(theirs$indexRisk1))
  # The scatter of this package has no random part and bounds the same outliers.
  own <- interval_disclosure(original, released, names(original))$records$distance
  expect_identical(own, interval_disclosure(original, released, names(original))$records$distance)
  expect_gt(stats::cor(own, found$records$distance, method = "spearman"), 0.7)
})

test_that("an unchanged file is disclosed, a shuffled one is not", {
  files <- business(5, n = 400)
  same <- interval_disclosure(files$original, files$original, V1:V3)
  expect_equal(same$estimates$prop_within, rep(1, 4))
  set.seed(6)
  mixed <- as.data.frame(lapply(files$original, sample))
  other <- interval_disclosure(files$original, mixed, V1:V3)
  expect_lt(max(other$estimates$prop_within), 0.2)
})

test_that("the role of continuous variables is taken from the file", {
  files <- business()
  file <- sdc_file(cbind(files$original, g = 1:2), "g", num_vars = c(V1, V3))
  found <- interval_disclosure(file, files$released)
  expect_identical(found$settings$key_vars, c("V1", "V3"))
  expect_error(
    interval_disclosure(files$original, files$released), class = "sdcRisk_error_bad_argument"
  )
})

test_that("hard columns: constant, missing, huge, one record, integer64, text, infinite", {
  n <- 30
  data <- data.frame(same = rep(3, n), gone = NA_real_, huge = seq_len(n) * 1e300, whole = 1:n)
  found <- interval_disclosure(data, data, same:whole)
  expect_equal(found$estimates$n_values[[2]], 3 * n)
  expect_equal(found$estimates$prop_within[c(1, 2, 4)], rep(1, 3))
  # Records without a value in one variable have no robust distance.
  expect_true(all(is.na(found$records$distance)))
  far <- interval_disclosure(data["huge"], transform(data["huge"], huge = rev(huge)), "huge")
  expect_equal(far$estimates$n_within[[4]], 0)
  one <- interval_disclosure(data[1, ], data[1, ], same:whole)
  expect_equal(one$estimates$n, rep(1, 4))
  expect_no_error(utils::capture.output(print(one)))
  wide <- structure(as.double(1:3), class = "integer64")
  expect_identical(sdcRisk:::wide_to_double(wide * 0), c(0, 0, 0))
  bad <- function(data, class) {
    expect_error(interval_disclosure(data, data, "x"), class = paste0("sdcRisk_error_", class))
  }
  bad(data.frame(x = c(1, Inf)), "bad_column")
  bad(data.frame(x = c("a", "b")), "bad_column")
  bad(data.frame(x = c(TRUE, FALSE)), "bad_column")
  bad(data.frame(y = 1:2), "unknown_key_var")
  expect_error(
    interval_disclosure(data, data[-1, ], "whole"), class = "sdcRisk_error_mismatched_data"
  )
  expect_error(
    interval_disclosure(data, data["same"], "whole"), class = "sdcRisk_error_unknown_key_var"
  )
  expect_error(
    interval_disclosure(data, data, "whole", width = c(sdd = 1)),
    class = "sdcRisk_error_bad_argument"
  )
  expect_error(
    interval_disclosure(data, data, "whole", scatter = diag(2)),
    class = "sdcRisk_error_bad_argument"
  )
})

test_that("the print answers its question and holds no value", {
  files <- business(7)
  found <- interval_disclosure(files$original, files$released, V1:V3)
  text <- text_of(found)
  expect_match(text, "Interval disclosure of continuous variables", fixed = TRUE)
  expect_match(text, "percent", fixed = TRUE)
  expect_lte(length(format(found, width = 80)), 16)
  expect_match(interpret(found)[[1]], "3 continuous variables of 60 records", fixed = TRUE)
  expect_equal(nrow(records_at_risk(found, 0.99)), sum(found$records$n_rank == 3))
})

test_that("a file without a value to compare is printed", {
  none <- interval_disclosure(
    data.frame(a = c(NA_real_, NA_real_)), data.frame(a = c(1, 2)), "a"
  )
  expect_identical(none$estimates$n_values, rep(0L, 4))
  expect_output(print(none), "values compared")
})
