# All that a print could say, each paragraph a line, and the same as one text.
lines_of <- function(x) format(x, width = 1e4, rows = Inf, all = TRUE)
text_of <- function(x) paste(lines_of(x), collapse = " ")

# One result of every class that prints in words, from data the package ships.
# Built once; random ones from a fixed seed.

results_in_words <- local({
  kept <- NULL
  function() {
    if (is.null(kept)) kept <<- quietly(make_results_in_words())
    kept
  }
})

make_results_in_words <- function() {
  keys <- c("GENDER", "CENREG", "DAGE3", "EDUC3")
  set.seed(1)
  sample <- adult[1:2000, c("age", "sex", "education_num", "occupation")]
  c(
    extreme_results(), match_results(keys), copula_results(sample), pram_results(keys),
    wave_results(),
    list(
      individual_risk = individual_risk(nals_prison, keys, "WEIGHT"),
      population_risk = population_risk(nals_prison, keys, weight_var = "WEIGHT"),
      household_risk = household_risk(
        transform(nals_prison, home = seq_len(nrow(nals_prison)) %/% 3), keys[1:2], "home",
        hh_vars = NULL, known = 2, pop_size = 8e5
      ),
      special_uniques = special_uniques(nals_prison, keys, sampling_fraction = 0.001),
      attribute_risk = attribute_risk(nals_prison, keys, "DRACE3"),
      attack_release = attack_release(
        nals_prison, nals_prison[c(1:90, 1:90), ], keys, "DRACE3", nals_prison[91:182, ]
      ),
      exhaustive_tabulation = exhaustive_tabulation(nals_prison, keys, dims = 1:3),
      loglinear_risk = loglinear_risk(
        nals_prison, c("GENDER", "DAGE3", "EDUC3"), weight_var = "WEIGHT"
      ),
      key_overview = key_overview(nals_prison, keys),
      interval_disclosure = interval_disclosure(
        adult[1:500, ], transform(adult[1:500, ], age = age + rep(-1:3, 100)),
        c("age", "education_num")
      )
    )
  )
}

extreme_results <- function() {
  data <- adult[1:3000, 1:8]
  with_id <- transform(data[1:5], id = seq_len(3000))
  risk <- qar_risk(data, p = 2, pi_u = 0.4)
  coarser <- qar_risk(transform(data, age = age %/% 10), p = 2, pi_u = 0.4)
  list(
    qar_risk = risk, qar_risk_few = qar_risk(data[1:5], p = 2:3),
    qar_risk_identifying = qar_risk(with_id, p = 2, theta_one = "exclude", pi_u = 0.3),
    risk_contribution = risk_contribution(risk, data),
    removal_path = removal_path(risk, data, 20),
    removal_bound = removal_bound(risk, data, c(10, 100)),
    comparison = compare_risk(risk, coarser)
  )
}

match_results <- function(keys) {
  known <- n_matches(
    nals_prison, keys, weight_var = "WEIGHT", sensitive = "DRACE3", pop_size = 8e5
  )
  list(
    n_matches = known, n_matches_plain = n_matches(nals_prison, keys, missing = "exclude"),
    n_matches_patterns = n_matches(nals_prison, keys, patterns = nals_prison[1:3, keys]),
    n_matches_sets = n_matches(nals_prison, list(three = keys[1:3], four = keys)),
    comparison_of_sets = compare_risk(
      n_matches(nals_prison, keys), n_matches(nals_prison, keys[-4])
    )
  )
}

copula_results <- function(sample) {
  fit <- copula_fit(sample)
  people <- adult[1:10000, names(sample)]
  person <- data.frame(age = 51, sex = "Female")
  list(
    copula_fit = fit,
    copula_uniqueness = copula_uniqueness(sample, pop_size = c(1e4, 1e6)),
    copula_uniqueness_fit = copula_uniqueness(fit, pop_size = 1e5),
    uniqueness_profile = uniqueness_profile(fit, person, pop_size = 1e5),
    uniqueness_by_size = uniqueness_by_size(fit, pop_size = 1e5),
    validate_uniqueness = validate_uniqueness(fit, people),
    population_uniqueness = population_uniqueness(sample, pop_size = 1e5)
  )
}

pram_results <- function(keys) {
  set.seed(2)
  secret <- invariant_pram(nals_prison, keys)
  list(
    perturbation_risk = perturbation_risk(nals_prison, pram = secret, pop_size = 8e5),
    invariant_pram = secret, pram_audit = pram_audit(secret, nals_prison, n_sim = 100),
    pram_audit_known = pram_audit(secret, nals_prison, n_sim = 0, known_keys = keys[1:2])
  )
}

wave_results <- function() {
  keys <- c("gender", "age_group", "education", "income_class")
  waves <- lapply(panel_waves[c("wave1", "wave2")], function(wave) {
    wave[wave$id %in% sort(unique(panel_waves$wave1$id))[1:800], ]
  })
  background <- panel_waves$background
  list(
    longitudinal_link = longitudinal_link(waves$wave1, waves$wave2, keys, "id"),
    longitudinal_link_no_id = longitudinal_link(waves$wave1, waves$wave2, keys),
    longitudinal_risk = longitudinal_risk(
      waves$wave1, waves$wave2, keys[1:3], keys, "income_class", "id",
      pop_size = 20 * nrow(waves$wave2), model = "independence"
    ),
    link_attack = link_attack(waves$wave1, waves$wave2, keys, "id"),
    link_attack_no_id = link_attack(waves$wave1, waves$wave2, keys),
    key_stability = key_stability(waves$wave1, waves$wave2, keys, "id"),
    joint_release_risk = joint_release_risk(
      lapply(waves, `[`, c("id", keys)), "id", keys, pop_size = 1e5, link_vars = keys[1:3]
    ),
    latest_values = latest_values(background, "id", c("year", "month")),
    panel_members = panel_members(waves$wave1, list(waves$wave2), "id"),
    birth_month = birth_month(
      background, "id", "year", "month", "age", birth_year = "birth_year"
    )
  )
}

# Sentences name the version, which snapshots must outlive.
no_version <- function(lines) gsub("sdcRisk [0-9.]+", "sdcRisk <version>", lines)
