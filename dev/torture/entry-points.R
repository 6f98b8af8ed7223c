# Calls every entry point of the compiled core, twice each, on 12 records: checkers.R runs
# this under programs that watch memory, since a block that each call loses shows in two.

suppressMessages(library(sdcRisk))
options(sdcRisk.threads = 2)
space <- asNamespace("sdcRisk")
entries <- grep("^rs_", ls(space), value = TRUE)
seen <- new.env()
seen$used <- character()
seen$calls <- 0
for (name in entries) {
  local({
    own <- name
    entry <- get(own, space)
    get("unlockBinding", baseenv())(own, space)
    assign(own, function(...) {
      seen$used <- union(seen$used, own)
      seen$calls <- seen$calls + 1
      entry(...)
    }, space)
  })
}

set.seed(7)
n <- 12
place <- new.env(parent = globalenv())
place$data <- data <- data.frame(
  a = sample(3, n, TRUE), b = factor(sample(c("x", "y"), n, TRUE), ordered = TRUE),
  c = sample(4, n, TRUE), w = stats::runif(n, 2, 9), hh = rep(1:6, each = 2), id = seq_len(n)
)
place$n <- n
place$keys <- c("a", "b", "c")
place$later <- transform(data[-2, ], c = replace(c, 1, NA))
place$blanks <- replace(data, "c", replace(data$c, 3, NA))
place$kinds <- data.frame(
  text = rep(c("x", "\u00e9", NA), 4),
  latin1 = rep(iconv(c("\u00e9", "\u00fc"), "UTF-8", "latin1"), 6),
  real = rep(c(0.1, NA, 1e300), 4), yes = rep(c(TRUE, NA), 6),
  wide = bit64::as.integer64(rep(1:3, 4)), day = as.Date("2020-01-01") + rep(1:2, 6),
  time = as.POSIXct("2020-01-01", tz = "UTC") + rep(1:4, 3)
)
place$kinds$may <- candidates(rep(list(1:2, 2, 3), 4))
place$kinds$between <- candidate_interval(1:12, 1:12 + 2)
if (requireNamespace("dbplyr", quietly = TRUE) && requireNamespace("RSQLite", quietly = TRUE)) {
  place$connection <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  DBI::dbWriteTable(place$connection, "people", transform(data, b = as.character(b)))
}

entry_calls <- list(
  qar = quote(qar_risk(data, keys, p = 2, pi_u = 0.4)),
  qar_homes = quote(qar_risk(data, keys, p = 1, pi_u = 0.4, hh_id = "hh")),
  qar_alone = quote(qar_risk(data, keys, p = 2, pi_u = 0.4, sets = FALSE)),
  qar_sampled = quote(qar_risk(
    as.data.frame(lapply(stats::setNames(1:9, letters[1:9]), function(i) sample(3, n, TRUE))),
    p = 4, pi_u = 0.4, max_sets = 50
  )),
  contribution = quote(risk_contribution(qar, data, entropy = TRUE)),
  shown = quote(print(summary(contribution))),
  path = quote(removal_path(qar, data, 2)),
  adaptive = quote(removal_path(qar, data, 2, by = "u_plus_updated")),
  random_path = quote(removal_path(qar, data, 2, by = "random", n_sim = 2)),
  bound = quote(removal_bound(qar, data, 2)),
  overview = quote(key_overview(data, keys)),
  matches = quote(n_matches(data, keys, weight_var = "w")),
  two_sets = quote(n_matches(blanks, list(one = keys[1:2], two = keys), missing = "exclude")),
  classes = quote(n_matches(kinds[1:7])),
  candidates = quote(n_matches(kinds[7:9], rule = "overlap")),
  homes = quote(household_risk(data, keys, "hh", known = 1)),
  individual = quote(individual_risk(data, keys, "w", "hh")),
  law = quote(population_risk(data, keys, weight_var = "w", hh_id = "hh")),
  tables = quote(exhaustive_tabulation(data, keys, 1:2)),
  special = quote(special_uniques(data, keys, sampling_fraction = 0.4)),
  told = quote(attribute_risk(data, keys[1:2], "c", released = later)),
  attacked = quote(attack_release(data, later, keys[1:2], "c", control = later)),
  population = quote(population_uniqueness(data, keys, 100)),
  fit = quote(copula_fit(data, keys, min_records = 2)),
  uniqueness = quote(copula_uniqueness(fit, pop_size = 100, newdata = data)),
  records = quote(copula_uniqueness(fit, pop_size = 100, newdata = blanks)),
  sizes = quote(uniqueness_by_size(fit, 100)),
  part = quote(uniqueness_by_size(fit, 100, sizes = 2)),
  profile = quote(uniqueness_profile(fit, data[1, keys], 100)),
  drawn = quote(simulate(fit, 5)),
  members = quote(copula_uniqueness(data, keys, pop_size = 100, min_records = 2, hh_id = "hh")),
  validated = quote(validate_uniqueness(fit, data)),
  loglinear = quote(loglinear_risk(data, keys, weight_var = "w")),
  loglinear_sets = quote(
    loglinear_risk(blanks, list(one = keys[1:2], two = keys), weight_var = "w", missing = "exclude")
  ),
  removed = quote(uniqueness_profile(fit, data[1, keys[1:2]], 100)),
  perturbed = quote(invariant_pram(data, keys[1:2], unprotected = "keep")),
  perturbed_sample = quote(perturbation_risk(data, pram = perturbed, pop_size = 1000)),
  audit = quote(pram_audit(perturbed, data, n_sim = 2)),
  variance = quote(pram_variance(perturbed, data)),
  theta = quote(pram_theta(0.7, counts = c(1, 2, 5))),
  match_prob = quote(pram_match_prob(c(1, 2, 5), 0.4)),
  suppressed = quote(suppress_cells(data, keys, k = 2)),
  shared = quote(suppress_cells(data, keys, k = 2, rule = "shared")),
  shuffled = quote(release_data(suppressed, shuffle = TRUE)),
  recoded = quote(recode_search(data, keys, constraint = list(k = 2))),
  blanked = quote(recode_search(
    data, keys, constraint = list(k = 2), suppress = 0.3, blanks = "cells"
  )),
  searched = quote(recode_search(data, keys, constraint = list(k = 2, qar = 0.9), suppress = 0.5)),
  applied = quote(apply_recoding(searched, data)),
  linked = quote(longitudinal_link(data, later, keys, "id")),
  attack = quote(link_attack(data, later, keys, "id")),
  together = quote(joint_release_risk(list(data, later), "id", keys)),
  stability = quote(key_stability(data, later, keys, "id", steps = "greedy")),
  changed = quote(change_indicators(data, later, keys, "id")),
  panel = quote(longitudinal_risk(data, later, keys, keys, "c", "id", weight_var = "w")),
  patterns = quote(n_matches(pattern_table(data, keys))),
  counted = quote(longitudinal_link(pattern_table(data, keys), pattern_table(later, keys), keys)),
  close = quote(interval_disclosure(data, data, "w", width = c(sd = 0.1))),
  grouped = quote(microaggregate(data, "w", k = 2)),
  loss = quote(utility_loss(data, later[c(1, seq_len(nrow(later))), ], keys)),
  check = quote(file_check(data, keys, weight_var = "w", hh_id = "hh")),
  by_formula = quote(sdcRisk:::rs_expected_inverse(as.double(1:4), as.double(5:8))),
  failed = quote(sdcRisk:::rs_fail("error", "100%")),
  hoarded = quote(sdcRisk:::rs_hoard(8L, 1000L)),
  # R is called from within: a tick that allocates.
  waited = quote(sdcRisk:::rs_wait(300L, function(done, total) {
    is.list(lapply(1:20, function(i) list(i, "text")))
  })),
  drawn_seeds = quote(sdcRisk:::rs_draws(as.double(1:8), 3, 2L)),
  lazy_release = quote({
    DBI::dbExecute(connection, "DROP TABLE IF EXISTS released")
    x <- invariant_pram(
      dplyr::tbl(connection, "people"), keys[1:2], unprotected = "keep", row_id = "id",
      into = "released"
    )
    as.data.frame(release_data(x))
  }),
  lazy_counts = quote(
    qar_risk(dplyr::tbl(connection, "people"), keys, p = 2, pi_u = 0.4, max_patterns = 1)
  )
)

if (is.null(place$connection)) entry_calls <- entry_calls[!startsWith(names(entry_calls), "lazy_")]
# Later calls use the answers of earlier ones.
for (name in names(entry_calls)) {
  for (again in 1:2) {
    set.seed(3)
    place[[name]] <- tryCatch(
      suppressMessages(suppressWarnings({
        utils::capture.output(x <- eval(entry_calls[[name]], place))
        x
      })),
      error = function(e) cat("stopped:", name, conditionMessage(e), "\n")
    )
  }
}
cat(seen$calls, "calls of", length(seen$used), "of", length(entries), "entry points; not called:",
  setdiff(entries, seen$used), "\n")
