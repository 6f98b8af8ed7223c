# A file whose values can be found wherever they are told, and a result of every function.

# Text values hold "zqcanary", too long to occur by chance in the base64 of a picture; numbers
# are near 774400.
secret_file <- function(n = 120) {
  set.seed(7)
  data <- data.frame(
    a = paste0("zqcanary", sample(letters[1:6], n, TRUE)), b = 774400 + sample(9, n, TRUE),
    c = factor(paste0("zqcanary", sample(3, n, TRUE))), id = 774500L + seq_len(n),
    home = rep(seq_len(n / 3), each = 3), w = 20
  )
  data$a[[1]] <- "zqcanary alone"
  data
}
secret <- "zqcanary|(?<![0-9])(774[45][0-9][0-9]|774,[45][0-9][0-9])(?![0-9])"
tells <- function(text) any(grepl(secret, text, perl = TRUE))
holds <- function(x) tells(rawToChar(serialize(x, NULL, ascii = TRUE)))

secret_results <- function() {
  data <- secret_file()
  keys <- c("a", "b", "c")
  later <- data
  later$b <- rev(later$b)
  quietly({
    qar <- qar_risk(data, keys, p = 2, pi_u = 0.4, alpha = 0.1)
    fit <- copula_fit(data, keys)
    bare <- invariant_pram(data[keys], unprotected = "keep")
    list(
      silent = list(
        key_overview = key_overview(data, keys), n_matches = n_matches(data, keys),
        household_risk = household_risk(data, keys, "home"),
        individual_risk = individual_risk(data, keys, "w", "home"),
        population_uniqueness = population_uniqueness(data, keys, 2400),
        file_check = file_check(data, keys, weight_var = "w", hh_id = "home"),
        interval_disclosure = interval_disclosure(data, later, "w"),
        utility_loss = utility_loss(data, later, keys), qar_risk = qar,
        attribute_risk = attribute_risk(data, c("b", "c"), "a", released = later),
        attack_release = attack_release(data, later, c("b", "c"), "a"),
        risk_contribution = risk_contribution(qar, data),
        removal_path = removal_path(qar, data, 3), removal_bound = removal_bound(qar, data, 3),
        uniqueness_by_size = uniqueness_by_size(fit, 2400),
        validate_uniqueness = validate_uniqueness(fit, data),
        pram_audit = pram_audit(bare, data[keys], n_sim = 3),
        perturbation_risk = perturbation_risk(data[keys], pram = bare, pop_size = 2400),
        key_stability = key_stability(data, later, keys, id = "id"),
        loglinear_risk = loglinear_risk(data, keys, weight_var = "w"),
        compare_risk = compare_risk(n_matches(data, keys), n_matches(later, keys)),
        predict = predict(fit, data, 2400),
        records_at_risk = records_at_risk(n_matches(data, keys), 0.2)
      ),
      speaking = list(
        sdc_file = summary(sdc_file(data, keys)), copula_fit = fit,
        pattern_table = pattern_table(data, keys),
        n_matches_of_patterns = n_matches(pattern_table(data, keys)),
        copula_uniqueness = copula_uniqueness(fit, pop_size = 2400),
        uniqueness_profile = uniqueness_profile(fit, data[1, keys], 2400),
        exhaustive_tabulation = exhaustive_tabulation(data, keys),
        special_uniques = special_uniques(data, keys),
        hierarchy = hierarchy(data$a), recode_search = recode_search(data, keys),
        invariant_pram = bare, suppress_cells = suppress_cells(data, keys, k = 2),
        latest_values = latest_values(list(data, later), "id"),
        panel_members = panel_members(data, list(later), "id"),
        longitudinal_link = longitudinal_link(data, later, keys, "id"),
        link_attack = link_attack(data, later, keys, "id"),
        joint_release_risk = joint_release_risk(list(data, later), "id", keys),
        longitudinal_risk = longitudinal_risk(
          data, later, keys, keys, "b", "id", weight_var = "w"
        ),
        pram_variance = pram_variance(bare, data[keys]), simulate = simulate(fit, 5)
      )
    )
  })
}
