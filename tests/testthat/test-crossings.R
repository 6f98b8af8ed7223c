# One way into the compiled core, and few steps over its threshold.

test_that("a function on a data frame calls into the core six times at most", {
  set.seed(1)
  n <- 400
  data <- data.frame(
    a = sample(5, n, TRUE), b = factor(sample(letters[1:6], n, TRUE)),
    c = sample(c("x", "y", NA), n, TRUE), d = sample(20:60, n, TRUE),
    w = rep(round(runif(100, 5, 50), 1), each = 4), hh = rep(1:100, each = 4),
    s = sample(3, n, TRUE), id = seq_len(n)
  )
  keys <- c("a", "b", "c", "d")
  pairs <- list(both = c("a", "b"))
  later <- data[sample(n), ]
  later$a[1:20] <- 1L
  x <- quietly(qar_risk(data, keys, p = 2))
  fit <- quietly(copula_fit(data, keys))
  file <- data[c("b", "hh", "s", "d")]
  file$region <- rep(sample(6, 100, TRUE), each = 4)
  file$person <- sample(1e6, n)
  moved <- quietly(invariant_pram(file, c("b", "s"), unprotected = "keep"))
  calls <- list(
    quote(qar_risk(data, keys, p = 2:3, missing = "exclude", key_groups = pairs)),
    quote(risk_contribution(x, data)),
    quote(removal_path(x, data, 3)),
    quote(removal_path(x, data, 3, by = "pls")),
    quote(removal_bound(x, data, 3)),
    quote(n_matches(
      data, keys,
      weight_var = "w", hh_id = "hh", sensitive = "s", key_groups = pairs
    )),
    quote(n_matches(data, keys, missing = "exclude", patterns = later[1:5, ])),
    quote(key_overview(data, keys, key_groups = pairs)),
    quote(copula_fit(data, keys)),
    quote(copula_fit(data, keys, missing = "exclude", weight_var = "w")),
    quote(copula_uniqueness(data, keys, c(4000, 5000), given_sample = TRUE)),
    quote(copula_uniqueness(data, keys, 4000, missing = "exclude", weight_var = "w")),
    quote(copula_uniqueness(data, keys, 4000, newdata = later, missing = "exclude")),
    quote(copula_uniqueness(data, keys, 4000, score = "copula")),
    quote(copula_uniqueness(fit, pop_size = c(4000, 5000))),
    quote(copula_uniqueness(fit, pop_size = 4000, score = "placement")),
    quote(predict(fit, later, 4000)),
    quote(validate_uniqueness(fit, later)),
    quote(uniqueness_by_size(fit, 4000, n_sim = 3)),
    quote(simulate(fit, 10)),
    quote(population_uniqueness(data, keys, 4000)),
    quote(longitudinal_link(data, later, keys, id = "id")),
    quote(longitudinal_link(data, later, keys, id = "id", tolerance = list(d = 2))),
    quote(longitudinal_risk(data, later, keys[1:3], keys, "a", "id", weight_var = "w")),
    quote(longitudinal_risk(
      data, later, keys[1:3], keys, c("a", "b"), "id",
      weight_var = "w", detail = "previous_value", missing = "category"
    )),
    quote(link_attack(data, later, keys, id = "id")),
    quote(key_stability(data, later, keys, id = "id", tolerance = list(d = 2))),
    quote(change_indicators(data, later, keys, id = "id")),
    quote(invariant_pram(file, c("b", "s"), within = "region", unprotected = "keep")),
    quote(invariant_pram(
      file, c("b", "region"),
      hh_id = "hh", hh_vars = "region", unprotected = "keep"
    )),
    quote(invariant_pram(file, "region", hh_id = "hh", hh_vars = "region", unprotected = "keep")),
    quote(pram_audit(moved, file, n_sim = 10)),
    quote(pram_audit(moved, file, n_sim = 10, known_keys = "b")),
    quote(pram_variance(moved, file)),
    quote(loglinear_risk(data, keys, weight_var = "w")),
    quote(loglinear_risk(data, keys, weight_var = "w", model = c("independence", "two_way"))),
    quote(exhaustive_tabulation(data, keys, weight_var = "w")),
    quote(individual_risk(data, keys, weight_var = "w", hh_id = "hh", missing = "wildcard"))
  )
  if (!requireNamespace("pls", quietly = TRUE)) calls[[4]] <- NULL
  for (call in calls) {
    made <- crossings(quietly(eval(call)))
    expect_gte(length(made), 1)
    # Three more for what other released columns reveal, and three for the orders of identifiers.
    protects <- as.character(call[[1]]) %in% c("invariant_pram", "suppress_cells")
    expect_lte(length(made), if (protects) 12 else 6)
  }
  # Each earlier release more is linked and compared.
  two <- quote(longitudinal_risk(
    list(x = data, y = data[1:300, ]), later, keys[1:3], keys, c("a", "b"), "id",
    weight_var = "w"
  ))
  expect_lte(length(crossings(quietly(eval(two)))), 8)
})

test_that("file_check() codes the file once, and calls into the core once a method", {
  keys <- c("age", "workclass", "occupation", "sex", "race")
  made <- crossings(quietly(file_check(adult, keys, pop_size = 1e6)))
  expect_identical(sum(made == "rs_code"), 1L)
  # Matches, and for the overview those by all keys and without each of five, in one call.
  expect_identical(sum(made == "rs_n_matches"), 2L)
  expect_lte(length(made), 6)
  # Six methods call once each; coding and its labels take two.
  keys <- c("CENREG", "DAGE3", "EDUC3", "GENDER", "BORNUSA", "DRACE3")
  made <- crossings(quietly(file_check(nals_prison, keys, weight_var = "WEIGHT")))
  expect_identical(sum(made == "rs_code"), 1L)
  expect_lte(length(made), 8)
})
