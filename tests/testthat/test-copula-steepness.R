# Whether uniqueness falls faster in a sample than in its model.

fall_of <- function(fit) {
  shown <- sdcRisk:::subsets_of_sample(fit)
  sdcRisk:::steepness(
    shown, sdcRisk:::draw_population(fit, 2 * fit$n, TRUE, 0, shown$sizes)$subsets
  )
}

test_that("the share alone in subsets is that of all subsets", {
  counts <- c(1, 1, 2, 3)
  cell <- rep(seq_along(counts), counts)
  for (m in 1:7) {
    subsets <- utils::combn(7, m)
    slow <- mean(apply(subsets, 2, function(rows) mean(tabulate(cell[rows], 4)[cell[rows]] == 1)))
    cells <- data.frame(size = 1:3, n = c(2, 1, 1))
    expect_equal(sdcRisk:::share_alone(cells, m), slow, tolerance = 1e-10)
  }
})

test_that("members who share the values of their group are told of, single people are not", {
  set.seed(4)
  homes <- data.frame(
    region = sample(40, 4000, TRUE), rooms = sample(8, 4000, TRUE), origin = sample(20, 4000, TRUE)
  )
  members <- homes[rep(seq_len(4000), sample(1:5, 4000, TRUE)), ]
  half <- members[sample(nrow(members), 6000), ]
  expect_warning(
    suppressMessages(suppressWarnings(
      found <- copula_uniqueness(half, pop_size = nrow(members), records = FALSE),
      "sdcRisk_warning_models_differ"
    )),
    class = "sdcRisk_warning_overstated"
  )
  expect_true(found$diagnostics$fall$faster)
  # Cells are as coarse as households have members, weighed by members: 11 / 3.
  expect_gt(found$diagnostics$fall$ln_coarser, log(2))
  expect_lt(found$diagnostics$fall$ln_coarser, log(11 / 3))
  expect_match(paste(format(found), collapse = " "), "falls faster in the sample")
  # The warning is right: the truth is a quarter of the estimate's, or less.
  expect_lt(share_unique(members), found$estimates$population_uniqueness)

  single <- as.data.frame(lapply(homes, sample))
  expect_no_warning(
    alone <- suppressWarnings(
      suppressMessages(copula_uniqueness(single[1:2000, ], pop_size = 4000, records = FALSE)),
      "sdcRisk_warning_models_differ"
    ),
    class = "sdcRisk_warning_overstated"
  )
  expect_false(alone$diagnostics$fall$faster)
  expect_lt(abs(alone$diagnostics$fall$ln_coarser), 0.2)
  expect_lt(abs(alone$diagnostics$fall$excess), 0.1)
})

test_that("a group's figure among the keys makes uniqueness fall faster", {
  # Schools with a number of their own: two keys, and cells of their pairs alone.
  set.seed(5)
  schools <- data.frame(meals = sample(60, 80, TRUE), rank = sample(50, 80, TRUE))
  pupils <- schools[sample(80, 4000, TRUE), ]
  pupils$year <- sample(6, 4000, TRUE)
  fit <- copula_fit(pupils[1:400, ])
  fall <- fall_of(fit)
  expect_true(fall$faster)
  expect_gt(fall$ln_coarser, log(2))
})

test_that("where the sample shows nothing, nothing is said", {
  alone <- data.frame(a = sample(1000), b = sample(1000))
  fit <- suppressWarnings(suppressMessages(copula_fit(alone[1:60, ])))
  expect_identical(
    fall_of(fit),
    list(
      excess = NA_real_, excess_se = NA_real_, ln_coarser = NA_real_, faster = FALSE
    )
  )
  # Nor is anything asked at the size of the sample, or without calibration.
  data <- adult[1:1500, c("age", "sex")]
  none <- function(...) {
    suppressWarnings(copula_uniqueness(data, records = FALSE, ...))$diagnostics$fall
  }
  expect_null(none(pop_size = 1500))
  expect_null(none(pop_size = 30000, calibrate = FALSE))
})
