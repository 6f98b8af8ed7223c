# Numbers in words, and lines that fit.

with_options <- function(options, code) {
  old <- options(options)
  on.exit(options(old))
  force(code)
}

test_that("shares are neither 0 nor 100% unless they are", {
  expect_identical(
    format_percent(c(12101 / 12107, 1, 0, 7.5e-18, 0.475, 0.99999999, 0.0795, NA)),
    c("99.95%", "100%", "0%", "below 0.0001%", "47.5%", "99.99%", "7.95%", "NA")
  )
  expect_identical(
    format_risk(c(7044, 4000.2, 1, 0.25, 1.1e-130, 0, NA)),
    c("7,044", "4,000", "1.00", "0.250", "1.1e-130", "0", "NA")
  )
  expect_identical(format_amount(c(7, 2.25)), c("7", "2.25"))
})

test_that("next to nothing is said as such in sentences", {
  expect_identical(
    words_of_small(c(2.1e-75, 9.9e-7, 1e-6, 0, 0.5, NA), format_short),
    c("below 1e-6", "below 1e-6", "1e-06", "0", "0.5", "NA")
  )
  expect_identical(
    format_spread(0.25, 1.092e-45, 0, format_short),
    "largest 0.25, 99% of the records below 1e-6, 95% at most 0"
  )
  # Tables keep the figure.
  expect_identical(format_short(1.092e-45), "1.09e-45")
})

test_that("numbers follow OutDec and never have one mark for both", {
  with_options(list(OutDec = ",", warn = 2), {
    expect_identical(format_count(c(14827, 3)), c("14.827", "3"))
    expect_identical(format_risk(c(1, 7044, 0.00005)), c("1,00", "7.044", "0,0000500"))
    expect_identical(format_percent(c(0.3425, 1e-9)), c("34,2%", "below 0,0001%"))
    expect_identical(format_likelihood(1e-7), "below 0,000100")
  })
})

test_that("data do not depend on OutDec", {
  data <- data.frame(
    a = c(1.5, 2.25, 1.5, 100000, 3.125), b = c("x", "1.5", "2.25", "y", "x"),
    w = c(1.5, 2.5, 3, 4, 9), id = 1:5
  )
  # The same key as text in the other wave.
  later <- transform(data, a = c("1.5", "2.25", "7", "100000", "3.125"))
  all_of_it <- function() {
    set.seed(3)
    list(
      quietly(n_matches(data, c("a", "b"), weight_var = "w"))[1:2],
      quietly(individual_risk(data, c("a", "b"), "w"))[1:2],
      exhaustive_tabulation(data, c("a", "b"))$categories,
      quietly(longitudinal_link(data, later, "a", "id"))$records,
      key_table(data)$fingerprint, format(candidates(c(1.5, 2.5), c(3.5, 4))),
      summary(quietly(n_matches(data, "b")), by = data$a)$strata$stratum
    )
  }
  points <- all_of_it()
  expect_setequal(
    points[[3]]$category[points[[3]]$variable == "a"], c("1.5", "2.25", "3.125", "100000")
  )
  expect_identical(points[[4]]$n_diff, c(0L, 0L, 1L, 0L, 0L))
  expect_identical(with_options(list(OutDec = ",", warn = 2), all_of_it()), points)
})

test_that("digits of the session do not lengthen numbers", {
  with_options(list(digits = 22), expect_identical(format_number(c(0.01, 0.8)), c("0.01", "0.8")))
})

test_that("lines wrap at the width of the console, tables break into blocks", {
  with_options(list(width = 50), {
    long <- paste(rep("word", 30), collapse = " ")
    lines <- wrap_lines(c("short", long, "  12.5% of the records"))
    expect_identical(lines[[1]], "short")
    expect_true(all(nchar(lines) <= 50))
    expect_true(all(startsWith(lines[3:4], "  word")))

    table <- as.data.frame(matrix(123456, 2, 12, dimnames = list(NULL, paste0("column", 1:12))))
    below <- format_table(table)
    expect_true(all(nchar(below) <= 50))
    expect_setequal(
      unlist(strsplit(trimws(grep("column", below, value = TRUE)), " +")), names(table)
    )
  })
})

test_that("prints of wide results fit 80 columns and 16 lines, summaries 80 columns", {
  data <- nals_prison
  names(data)[1:4] <- paste0(names(data)[1:4], strrep("_long", 6))
  keys <- c(names(data)[1:3], "GENDER", "BORNUSA")
  results <- quietly(list(
    individual_risk(data, keys, "WEIGHT"), exhaustive_tabulation(data, keys),
    n_matches(data, keys, weight_var = "WEIGHT"), qar_risk(data, keys, p = 2, pi_u = 0.4),
    invariant_pram(data, keys, unprotected = "keep"),
    loglinear_risk(data, keys, weight_var = "WEIGHT", interval = "none")
  ))
  with_options(list(width = 80), for (x in results) {
    lines <- utils::capture.output(print(x))
    expect_lte(length(lines), 16)
    expect_lte(max(nchar(lines)), 80)
    expect_lte(max(nchar(utils::capture.output(print(summary(x))))), 80)
  })
})

test_that("names of thousands of characters are cut", {
  long <- strrep("n", 20000)
  data <- stats::setNames(data.frame(rep(1:3, 20), rep(1:2, 30)), c(long, "b"))
  x <- quietly(qar_risk(data, p = 1, pi_u = 0.6))
  expect_lt(system.time(lines <- format(summary(x)))[["elapsed"]], 2)
  failed <- tryCatch(qar_risk(data, long, p = 5), error = identity)
  expect_lt(nchar(conditionMessage(failed)), 1000)
  expect_identical(quote_names(long), paste0("\"", strrep("n", 37), "...\""))
})

test_that("the spread of the records says at most", {
  expect_identical(
    record_spread(c(rep(1, 30), 0.5, NA)),
    "largest 1.00, 99% of the records at most 1.00, 95% at most 1.00"
  )
})
