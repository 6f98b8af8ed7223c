# Pictures show the numbers of the tables.

skip_on_cran()

skip_if_not_installed("ggplot2")

picture_file <- function() {
  random_file(90, levels = c(2, 8, 5, 3, 7, 2, 4), missing_rate = 0.05, seed = 71)
}

picture_risk <- function(...) {
  quietly(qar_risk(picture_file(), ..., pi_u = 0.2))
}

layer <- function(picture, i) ggplot2::layer_data(picture, i)

test_that("the distribution counts every key set and marks u and T", {
  result <- picture_risk(p = 2:3, alpha = c(0.05, 0.1))
  picture <- ggplot2::autoplot(result)
  bars <- layer(picture, 1)
  expect_equal(as.vector(tapply(bars$count, bars$PANEL, sum)), c(21, 35))
  for (panel in 1:2) {
    risks <- result$sets$set_risk[result$sets$p == panel + 1]
    occupied <- bars[bars$PANEL == panel & bars$count > 0, ]
    expect_lte(min(occupied$xmin), min(risks) + 1e-12)
    expect_gte(max(occupied$xmax), max(risks) - 1e-12)
  }
  lines <- layer(picture, 2)
  expect_setequal(
    unique(lines$xintercept), unique(c(result$estimates$threshold, result$estimates$risk))
  )
  expect_identical(nrow(lines), 6L)
  # One colour for u and one for every alpha.
  expect_length(unique(lines$colour), 3)
})

test_that("the picture of key sets shows the n riskiest with uniques and risks", {
  result <- picture_risk(p = 3)
  for (n in c(1, 4, 50)) {
    picture <- ggplot2::autoplot(result, "sets", n = n)
    top <- utils::head(result$sets, n)
    points <- layer(picture, 2)
    expect_identical(nrow(points), 2L * nrow(top))
    points <- points[order(-as.numeric(points$y)), ]
    uniques <- points$x[points$colour == points$colour[[1]]]
    expect_setequal(points$x, c(top$set_risk, top$n_unique / top$n))
    riskiest <- points$x[as.numeric(points$y) == max(as.numeric(points$y))]
    expect_setequal(riskiest, c(top$set_risk[[1]], top$n_unique[[1]] / 90))
    expect_length(uniques, nrow(top))
  }
})

test_that("the picture of key variables shows shares and T without each", {
  result <- picture_risk(p = 3)
  picture <- ggplot2::autoplot(result, "variables")
  bars <- layer(picture, 1)
  order <- levels(picture$data$variable)
  in_picture <- result$variables[match(order, result$variables$variable), ]
  for (panel in 1:2) {
    part <- bars[bars$PANEL == panel, ]
    shown <- part$x[order(as.numeric(part$y))]
    expect_identical(shown, in_picture[[c("share_top", "risk_without")[panel]]])
  }
  lines <- layer(picture, 2)
  expect_equal(lines$xintercept, c(3 / 7, result$estimates$risk))
})

test_that("the picture of the threshold shows T and u over pi_u", {
  result <- picture_risk(p = 2:3, alpha = c(0.05, 0.1))
  picture <- ggplot2::autoplot(result, "threshold")
  threshold <- result$diagnostics$threshold
  expect_identical(unique(layer(picture, 1)$xintercept), 0.2)
  lines <- layer(picture, 2)
  shown <- unique(lines[c("PANEL", "x", "y")])
  shown <- paste(shown$PANEL, signif(shown$x, 12), signif(shown$y, 12))
  known <- threshold[!is.na(threshold$risk), ]
  panel <- known$p - 1
  expected <- unique(c(
    paste(panel, signif(known$pi_u, 12), signif(known$risk, 12)),
    paste(panel, signif(known$pi_u, 12), signif(known$threshold, 12))
  ))
  expect_setequal(shown, expected)
  points <- layer(picture, 3)
  few <- known$status %in% c("few", "no_exceedance")
  expect_identical(any(points$shape == 1), any(few))
  expect_identical(any(points$shape == 19), any(!few))
})

test_that("a result without a determined T has no picture over thresholds", {
  result <- quietly(qar_risk(data.frame(a = 1:5, b = 5:1), p = 1, theta_one = "exclude"))
  expect_error(
    ggplot2::autoplot(result, "threshold"),
    class = "sdcRisk_error_bad_argument"
  )
  picture <- ggplot2::autoplot(result, "distribution")
  expect_identical(sum(layer(picture, 1)$count), 2)
})

test_that("every picture of every kind of result can be built", {
  data <- picture_file()
  data$id <- seq_len(nrow(data))
  results <- list(
    quietly(qar_risk(data, p = 1:3)), quietly(qar_risk(data, p = 2, theta_one = "exclude")),
    quietly(qar_risk(data[1:2], p = 2)),
    quietly(qar_risk(data[1:7], p = 1, pwm = "unbiased", alpha = c(0.01, 0.02, 0.05)))
  )
  for (result in results) {
    for (type in c("distribution", "sets", "variables", "threshold")) {
      picture <- ggplot2::autoplot(result, type)
      built <- expect_silent(ggplot2::ggplot_build(picture))
      expect_s3_class(picture, "ggplot")
      expect_gte(length(built$data), 2)
      expect_true(nzchar(picture$labels$title))
    }
  }
})

test_that("a picture draws without a warning and plot() returns it invisibly", {
  result <- picture_risk(p = 3)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  for (type in c("distribution", "sets", "variables", "threshold")) {
    expect_silent(returned <- withVisible(plot(result, type)))
    expect_false(returned$visible)
    expect_identical(returned$value$labels$title, ggplot2::autoplot(result, type)$labels$title)
  }
})

test_that("an unknown picture, setting or a result without sets is a bad argument", {
  result <- picture_risk(p = 3)
  for (type in list("tail", NA, 1, character(), c("sets", "variables"))) {
    expect_error(ggplot2::autoplot(result, type), class = "sdcRisk_error_bad_argument")
  }
  expect_error(ggplot2::autoplot(result, typ = "sets", m = 3), "\"m\"",
               class = "sdcRisk_error_bad_argument")
  for (n in list(0, NA, "3", 1.5)) {
    expect_error(ggplot2::autoplot(result, "sets", n = n), class = "sdcRisk_error_bad_argument")
  }
  without <- picture_risk(p = 3, sets = FALSE)
  error <- expect_error(ggplot2::autoplot(without), class = "sdcRisk_error_bad_argument")
  expect_match(conditionMessage(error), "sets = TRUE", fixed = TRUE)
})

test_that("the picture of a comparison shows its table", {
  before <- picture_risk(p = 2:3)
  after <- quietly(qar_risk(picture_file()[-2], p = 3:4, pi_u = 0.2))
  comparison <- compare_risk(before, after)
  table <- as.data.frame(comparison)
  # The first three terms: the measure leads, its shape and scale are in the table.
  terms <- c("risk", "risk_empirical", "threshold")
  table <- table[!is.na(table$estimate) & table$term %in% terms, ]
  picture <- ggplot2::autoplot(comparison)
  points <- layer(picture, 1)
  expect_identical(nrow(points), nrow(table))
  for (panel in seq_along(terms)) {
    expect_setequal(
      signif(points$x[points$PANEL == panel], 12),
      signif(table$estimate[table$term == terms[[panel]]], 12)
    )
  }
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_silent(returned <- withVisible(plot(comparison)))
  expect_false(returned$visible)
  expect_error(ggplot2::autoplot(comparison, tpe = 1), class = "sdcRisk_error_bad_argument")
})

test_that("a bound at one number of records is drawn without a word", {
  skip_if_not_installed("ggplot2")
  risk <- qar_risk(adult[1:300, 1:6], p = 2, pi_u = 0.3, alpha = 0.1) |> suppressWarnings()
  expect_no_message(picture <- plot(removal_bound(risk, adult[1:300, 1:6], n = 10)))
  expect_identical(nrow(ggplot2::layer_data(picture, 1)), 2L)
})

test_that("the stability of one key is drawn without a word", {
  skip_if_not_installed("ggplot2")
  wave <- data.frame(id = 1:4, a = c(1, 1, 2, 3))
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_silent(picture <- plot(key_stability(wave, wave, "a", id = "id")))
  expect_identical(nrow(ggplot2::layer_data(picture, 1)), 2L)
})

test_that("long names keep both ends, and key sets fit beside their bars", {
  expect_identical(short_names(c("age", "age + sex")), c("age", "age + sex"))
  long <- paste0("v", 1:3, "_of_the_register_of_persons_and_households_", 1:3)
  set <- short_names(paste(long, collapse = " + "))
  expect_lte(nchar(set), 48)
  expect_match(set, "^v1_.*_1 \\+ v2_.*_2 \\+ v3_.*_3$")
  many <- short_names(paste(rep(long, 4), collapse = " + "))
  expect_length(strsplit(many, " + ", fixed = TRUE)[[1]], 12)
})

test_that("an extrapolated T and the risk of k are said to be that", {
  skip_if_not_installed("ggplot2")
  keys <- c("CENREG", "DAGE3", "EDUC3", "GENDER", "BORNUSA", "DRACE3")
  few <- suppressWarnings(qar_risk(nals_prison, keys))
  expect_gt(few$estimates$risk, max(few$sets$set_risk))
  expect_match(ggplot2::autoplot(few)$labels$caption, "lies above the risk of every key set")
  check <- ggplot2::autoplot(file_check(nals_prison, keys))
  expect_true("fewest matches, as risk 1/k" %in% levels(check$data$label))
})

test_that("legends of an attack have words, not names of arguments", {
  skip_if_not_installed("ggplot2")
  keys <- c("gender", "born_abroad", "education", "degree_year", "degree_field")
  found <- suppressWarnings(link_attack(
    panel_waves$wave1, panel_waves$wave2, keys, "id", weights = c("calibrated", "em")
  ))
  shown <- ggplot2::autoplot(found)$data
  expect_setequal(shown$intruder, c("knows how often keys change", "learns it from the files (EM)"))
  expect_identical(levels(shown$what), c("matches claimed", "of them right"))
})

test_that("a suppression and its cost are drawn without empty panels", {
  skip_if_not_installed("ggplot2")
  keys <- c("CENREG", "DAGE3", "EDUC3", "GENDER", "BORNUSA", "DRACE3")
  blanked <- suppressMessages(suppress_cells(nals_prison, keys))
  drawn <- ggplot2::autoplot(blanked)
  expect_equal(drawn$data$share, blanked$variables$prop_suppressed)
  expect_match(drawn$labels$subtitle, "^97 values in all; most in CENREG: 39.6%")
  loss <- ggplot2::autoplot(utility_loss(nals_prison, blanked$data, keys))
  expect_identical(levels(loss$data$panel), "bits lost")
  exchanged <- nals_prison
  exchanged$GENDER <- rev(exchanged$GENDER)
  both <- ggplot2::autoplot(utility_loss(nals_prison, exchanged, keys))
  expect_true("values exchanged" %in% levels(both$data$panel))
})
