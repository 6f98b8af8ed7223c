skip_on_cran()

test_that("changes and expected matches equal brute force", {
  for (seed in seeds(60)) {
    waves <- random_waves(seed)
    if (!any(waves$wave2$id %in% waves$wave1$id)) next
    found <- quietly(key_stability(waves$wave1, waves$wave2, waves$keys, "id"))
    partner <- match(waves$wave2$id, waves$wave1$id)
    expect_identical(sort(found$variable), sort(waves$keys))
    for (row in seq_len(nrow(found))) {
      v <- found$variable[[row]]
      one <- as.character(waves$wave1[[v]][partner])
      two <- as.character(waves$wave2[[v]])
      expect_identical(found$n_compared[[row]], sum(!is.na(one) & !is.na(two)))
      expect_identical(found$n_changed[[row]], sum(one != two, na.rm = TRUE))
      added <- found$variable[found$step <= found$step[[row]]]
      slow <- slow_link(waves$wave1, waves$wave2, added, "id")
      expect_equal(found$expected_correct[[row]], slow$expected_correct)
      expect_equal(found$n_certain[[row]], slow$n_certain)
    }
    expect_false(is.unsorted(found$prop_changed, na.rm = TRUE))
  }
})

test_that("a greedy path takes what brings most at every step", {
  waves <- random_waves(4)
  found <- quietly(key_stability(waves$wave1, waves$wave2, waves$keys, "id", steps = "greedy"))
  found <- found[order(found$step), ]
  chosen <- character()
  for (step in seq_len(nrow(found))) {
    left <- setdiff(waves$keys, chosen)
    gains <- vapply(left, function(v) {
      slow_link(waves$wave1, waves$wave2, c(chosen, v), "id")$expected_correct
    }, 0)
    expect_equal(found$expected_correct[[step]], max(gains))
    chosen <- c(chosen, found$variable[[step]])
  }
})

test_that("entropy, levels and limits are as said", {
  one <- data.frame(id = 1:4, a = c(1, 1, 2, NA), b = c("x", "y", "x", "y"), c = 1)
  found <- key_stability(one, one, id = "id")
  a <- found[found$variable == "a", ]
  expect_equal(a$entropy, -(2 / 3 * log(2 / 3) + 1 / 3 * log(1 / 3)))
  expect_identical(a$n_levels, 2L)
  expect_identical(a$n_missing, 1L)
  expect_identical(found$variable, c("b", "a", "c"))
  none <- key_stability(one, one, id = "id", steps = "none")
  expect_false("step" %in% names(none))
  expect_identical(none$variable, found$variable)
  some <- key_stability(one, one, id = "id", max_keys = 1)
  expect_identical(some$step, c(1L, NA, NA))
  expect_error(key_stability(one, one), class = "sdcRisk_error_bad_argument")
  expect_error(key_stability(one, one, id = NULL), class = "sdcRisk_error_bad_argument")
  expect_error(key_stability(one, one, id = "id", step = 1), class = "sdcRisk_error_bad_argument")
  expect_error(
    key_stability(one, one, id = "id", steps = "best"), class = "sdcRisk_error_bad_argument"
  )
  expect_error(
    key_stability(one, one, id = "id", max_keys = 0), class = "sdcRisk_error_bad_argument"
  )
  expect_error(key_stability(one, one, "z", "id"), class = "sdcRisk_error_unknown_key_var")
})

test_that("a stability table prints, and parts of it are data frames still", {
  found <- key_stability(
    panel_waves$wave1[1:500, ], panel_waves$wave2[1:500, ], c("gender", "degree_year"), "id"
  )
  expect_lte(length(format(found)), 16)
  expect_output(print(found), "Most expected correct matches")
  expect_output(print(found["variable"]), "gender")
  expect_identical(found$variable, found$estimates$variable)
  expect_identical(dim(found), dim(found$estimates))
  expect_identical(class(as.data.frame(found)), "data.frame")
})

test_that("the rule of the paper picks the stable variables of panel_waves", {
  # Li et al., Table 3: variables with fewer than 200 changes, and age.
  waves <- panel_waves[c("wave1", "wave2")]
  variables <- setdiff(names(waves$wave1), c("id", "weight"))
  found <- key_stability(waves$wave1, waves$wave2, variables, "id", steps = "none")
  stable <- found$variable[found$n_changed < 200]
  expect_setequal(stable, c(
    "gender", "born_abroad", "education", "civil_status", "degree_year", "degree_field",
    "school_region", "birth_region", "father_education", "home_language"
  ))
})
