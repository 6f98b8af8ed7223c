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
  file <- data[c("b", "hh", "s", "d")]
  file$region <- rep(sample(6, 100, TRUE), each = 4)
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
    quote(population_uniqueness(data, keys, 4000)),
    quote(longitudinal_link(data, later, keys, id = "id")),
    quote(key_stability(data, later, keys, id = "id")),
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
    quote(exhaustive_tabulation(data, keys, weight_var = "w")),
    quote(individual_risk(data, keys, weight_var = "w", hh_id = "hh", missing = "wildcard"))
  )
  if (!requireNamespace("pls", quietly = TRUE)) calls[[4]] <- NULL
  for (call in calls) {
    made <- crossings(quietly(eval(call)))
    expect_gte(length(made), 1)
    expect_lte(length(made), 6)
  }
})
