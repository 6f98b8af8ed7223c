# household_risk(): the composition of households as a key.

skip_on_cran()

random_homes <- function(seed) {
  set.seed(seed)
  n <- sample(1:25, 1)
  few <- function(k, missing) {
    x <- sample(c(letters[1:k], if (missing) NA), n, replace = TRUE)
    if (sample(2, 1) == 1) x else factor(x)
  }
  data.frame(
    home = sample(sample(1:12, sample(1:12, 1)), n, replace = TRUE),
    a = few(sample(1:3, 1), seed %% 2 == 0), b = few(2, FALSE)
  )[sample(n), ]
}

test_that("all, two and one known member agree with brute force on 300 files", {
  for (seed in 1:300) {
    data <- random_homes(seed)
    keys <- if (seed %% 3) c("a", "b") else "a"
    # A missing value is one of its own.
    shown <- data
    shown[keys] <- lapply(shown[keys], function(x) ifelse(is.na(x), "missing", as.character(x)))
    found <- lapply(c("1", "2", "all"), function(known) {
      number <- if (known == "all") known else as.numeric(known)
      household_risk(data, keys, "home", known = number)$records$n_matches
    })
    wanted <- lapply(c("1", "2", "all"), function(known) {
      oracle_household_matches(shown, keys, "home", known)
    })
    expect_identical(found, wanted, info = seed)
    expect_true(all(found[[1]] >= found[[2]] & found[[2]] >= found[[3]]), info = seed)
  }
})

test_that("the order of members and the names of households change nothing", {
  for (seed in 1:50) {
    data <- random_homes(seed)
    order <- sample(nrow(data))
    turned <- data[order, ]
    turned$home <- paste("home", 100 - turned$home)
    for (known in list(1, 2, "all")) {
      own <- household_risk(data, c("a", "b"), "home", known = known)
      again <- household_risk(turned, c("a", "b"), "home", known = known)
      expect_identical(again$records$n_matches, own$records$n_matches[order])
      expect_identical(again$sizes, own$sizes)
      expect_equal(again$estimates, own$estimates)
    }
  }
})

test_that("people who live alone are matched as persons", {
  data <- nals_prison[1:500, c("DAGE3", "EDUC3", "GENDER")]
  persons <- n_matches(data, missing = "category")
  data$home <- sample(nrow(data))
  for (known in list(1, 2, "all")) {
    alone <- household_risk(data, 1:3, "home", known = known)
    expect_identical(alone$records$n_matches, persons$records$n_matches)
    expect_identical(alone$estimates$n_unique, as.integer(persons$estimates$n_unique))
    expect_identical(alone$estimates$risk_mean, persons$estimates$risk_mean)
    expect_identical(alone$estimates$risk_q99, persons$estimates$risk_q99)
  }
})

family <- function() {
  data.frame(
    home = c(1, 1, 1, 2, 2, 3, 3, 3, 4),
    age = c(40, 38, 12, 40, 38, 12, 38, 40, 38),
    region = c("N", "N", "N", "N", "N", "N", "N", "N", "S"),
    w = c(10, 10, 10, 20, 20, 30, 30, 30, 40)
  )
}

test_that("a worked example has its numbers", {
  data <- family()
  all <- household_risk(data, "age", "home")
  expect_identical(all$records$n_matches, c(2L, 2L, 2L, 1L, 1L, 2L, 2L, 2L, 1L))
  expect_identical(all$records$household_size, c(3L, 3L, 3L, 2L, 2L, 3L, 3L, 3L, 1L))
  e <- all$estimates
  expect_identical(e$n_households, 4L)
  expect_identical(c(e$n_unique, e$n_persons_unique), c(2L, 3L))
  expect_identical(e$prop_unique, 0.5)
  expect_identical(e$expected_households, 3)
  expect_identical(all$sizes, data.frame(
    household_size = 1:3, n_households = c(1L, 1L, 2L), n_unique = c(1L, 1L, 0L),
    n_persons_unique = c(1L, 2L, 0L), prop_unique = c(1, 1, 0)
  ))
  two <- household_risk(data, "age", "home", known = 2)
  expect_identical(two$records$n_matches, c(2L, 2L, 2L, 3L, 3L, 2L, 2L, 2L, 4L))
  one <- household_risk(data, "age", "home", known = 1)
  expect_identical(one$records$n_matches, c(2L, 2L, 2L, 3L, 3L, 2L, 2L, 2L, 4L))
  # What members share is known of the household.
  shared <- household_risk(data, "age", "home", hh_vars = "region", known = 1)
  expect_identical(shared$records$n_matches, c(2L, 2L, 2L, 3L, 3L, 2L, 2L, 2L, 1L))
  among <- household_risk(data, c("age", "region"), "home", hh_vars = "region", known = 1)
  expect_identical(among$records, shared$records)
})

test_that("two members with one key ask for two", {
  data <- data.frame(home = c(1, 1, 2, 2, 3), age = c(5, 5, 5, 6, 5))
  two <- household_risk(data, "age", "home", known = 2)
  expect_identical(two$records$n_matches, c(1L, 1L, 1L, 1L, 3L))
  one <- household_risk(data, "age", "home", known = 1)
  expect_identical(one$records$n_matches, c(3L, 3L, 1L, 1L, 3L))
})

test_that("weights and a population give the journalist's risk", {
  data <- family()
  all <- household_risk(data, "age", "home", weight_var = "w")
  expect_equal(all$records$n_matches_weighted, c(40, 40, 40, 20, 20, 40, 40, 40, 40))
  chance <- function(f, total) {
    persons <- data.frame(key = rep(1, f), w = total / f)
    individual_risk(persons, "key", "w")$records$risk[[1]]
  }
  expect_equal(
    all$records$journalist_risk,
    rep(c(chance(2, 40), chance(1, 20), chance(2, 40), chance(1, 40)), c(3, 2, 3, 1))
  )
  e <- all$estimates
  expect_equal(
    e$expected_reidentifications, 2 * chance(2, 40) + chance(1, 20) + chance(1, 40)
  )
  expect_equal(e$journalist_max, chance(1, 20))
  # A population means equal weights; with weights it is what they sum to.
  of_size <- household_risk(data, "age", "home", pop_size = 90)
  expect_equal(of_size$records$n_matches_weighted, 10 * of_size$records$n_matches)
  expect_equal(
    household_risk(data, "age", "home", sampling_fraction = 0.1)$records, of_size$records
  )
  scaled <- household_risk(data, "age", "home", weight_var = "w", pop_size = 2 * sum(data$w))
  expect_equal(scaled$records$n_matches_weighted, 2 * all$records$n_matches_weighted)
  # Every column by the choice that is worst for it.
  two <- household_risk(data, "age", "home", weight_var = "w", known = 1)
  expect_equal(two$records$n_matches_weighted, c(40, 40, 40, 60, 60, 40, 40, 40, 100))
  small <- transform(data, w = 0.5)
  expect_warning(
    household_risk(small, "age", "home", weight_var = "w"),
    class = "sdcRisk_warning_small_weights"
  )
})

test_that("missing values are a value, or leave the whole household out", {
  data <- family()
  data$age[[2]] <- NA
  category <- household_risk(data, "age", "home")
  expect_identical(category$records$n_matches, c(1L, 1L, 1L, 1L, 1L, 1L, 1L, 1L, 1L))
  exclude <- quietly(household_risk(data, "age", "home", missing = "exclude"))
  expect_identical(exclude$records$n_matches, c(NA, NA, NA, 1L, 1L, 1L, 1L, 1L, 1L))
  expect_identical(exclude$estimates$n_households, 3L)
  expect_identical(exclude$estimates$n, 6L)
  expect_match(text_of(exclude), "3 records of households with an incomplete member excluded")
  expect_message(
    household_risk(data, "age", "home", missing = "exclude"),
    class = "sdcRisk_message_many_excluded"
  )
  error <- expect_error(
    household_risk(data, "age", "home", missing = "wildcard"),
    class = "sdcRisk_error_bad_argument"
  )
  expect_match(conditionMessage(error), "the assignment of their members")
  data$age[c(4, 6, 9)] <- NA
  expect_error(
    household_risk(data, "age", "home", missing = "exclude"),
    "At least one household must be complete", class = "sdcRisk_error_bad_data"
  )
})

test_that("what cannot be meant is refused", {
  data <- family()
  refused <- function(kind, message, ...) {
    error <- expect_error(household_risk(...), class = paste0("sdcRisk_error_", kind))
    expect_match(conditionMessage(error), message)
  }
  refused("bad_argument", "`known` must be 1, 2 or \"all\"", data, "age", "home", known = 3)
  refused("bad_argument", "`known` must be", data, "age", "home", known = 1:2)
  refused("bad_argument", "`hh_id` must be given", data, "age")
  refused("bad_argument", "`hh_id` must name", data, "age", NULL)
  refused("unknown_key_var", "`hh_id` must name", data, "age", "hous")
  refused("bad_argument", "`key_vars` must leave out", data, c("age", "home"), "home")
  refused("bad_argument", "`hh_vars` must leave out", data, "age", "home", hh_vars = "home")
  refused(
    "bad_data", "They differ within 3 households \\(\"age\"\\)", data, "region", "home",
    hh_vars = "age"
  )
  refused("bad_argument", "Unknown: \"by\"", data, "age", "home", by = 1)
  refused(
    "bad_weights", "differ within 1 household", transform(data, w = c(1, rep(2, 8))), "age",
    "home", weight_var = "w"
  )
  refused(
    "bad_data", "The household is missing in 2 records",
    transform(data, home = replace(home, 1:2, NA)), "age", "home"
  )
  refused("bad_argument", "pop_size", data, "age", "home", pop_size = 3)
})

test_that("one household may be the whole file, or nearly", {
  n <- 2e4
  data <- data.frame(home = rep(1, n), a = seq_len(n) %% 3000)
  data$b <- data$a %% 7
  for (known in list(1, 2, "all")) {
    whole <- quietly(household_risk(data, c("a", "b"), "home", known = known))
    expect_true(all(whole$records$n_matches == 1))
    expect_identical(whole$sizes$household_size, as.integer(n))
  }
  data$home[1:60] <- rep(2:31, each = 2)
  keys <- quietly(household_risk(data, c("a", "b"), "home", known = 2))
  expect_identical(unique(keys$records$n_matches[61:n]), 1L)
  expect_identical(unique(keys$records$n_matches[1:60]), 2L)
})

test_that("keys of any type, an sdc_file, and results that know their data", {
  data <- family()
  data$when <- as.Date("2020-01-01") + data$age
  file <- sdc_file(data, c("age", "when"), weight_var = "w", hh_id = "home")
  from_file <- household_risk(file)
  expect_identical(
    from_file$records,
    household_risk(data, c("age", "when"), "home", weight_var = "w")$records
  )
  added <- augment(from_file, data)
  expect_identical(added$.n_matches, from_file$records$n_matches)
  other <- transform(data, home = rev(home))
  expect_error(augment(from_file, other), class = "sdcRisk_error_mismatched_data")
  # Any order of the columns that members share.
  expect_identical(
    household_risk(data, "age", "home", hh_vars = c("region", "w"))$records,
    household_risk(data, c("age", "region", "w"), "home")$records
  )
})

test_that("verbs of results work", {
  x <- household_risk(family(), "age", "home", weight_var = "w", hh_vars = "region")
  expect_identical(generics::tidy(x)$term[[1]], "n_unique")
  expect_identical(generics::glance(x)$n_unique, 2L)
  by <- summary(x, "region", family())
  expect_identical(by$record_risk$n, c(8L, 1L))
  expect_identical(nrow(as.data.frame(x)), 9L)
  before <- household_risk(family(), c("age", "w"), "home")
  expect_match(text_of(compare_risk(before, household_risk(family(), "age", "home"))), "n_unique")
  skip_if_not_installed("ggplot2")
  for (type in c("sizes", "matches", "strata")) {
    picture <- ggplot2::autoplot(x, type, by = family()$region)
    expect_s3_class(ggplot2::ggplot_build(picture)$plot, "ggplot")
  }
})

test_that("print and sentence say what was found", {
  x <- household_risk(
    family(), "age", "home", weight_var = "w", hh_vars = "region", known = 2
  )
  expect_snapshot(print(x))
  expect_snapshot(print(interpret(x)), transform = no_version)
})

# Households in methods whose risks are of persons ---------------------------------

simulated_homes <- function(n = 400, seed = 5) {
  set.seed(seed)
  size <- sample(1:5, n, replace = TRUE, prob = c(0.3, 0.35, 0.15, 0.15, 0.05))
  home <- rep(seq_len(n), size)
  people <- length(home)
  data.frame(
    home = home, region = sample(letters[1:4], n, replace = TRUE)[home],
    age = sample(0:9, people, replace = TRUE), sex = sample(c("f", "m"), people, replace = TRUE),
    work = sample(c("yes", "no", NA), people, replace = TRUE, prob = c(5, 4, 1)),
    w = 20
  )
}

test_that("qar_risk() adds households by their compositions", {
  data <- simulated_homes()
  keys <- c("region", "age", "sex", "work")
  persons <- quietly(qar_risk(data, keys, p = 1:3, pi_u = 0.3, alpha = 0.3))
  homes <- quietly(qar_risk(data, keys, p = 1:3, pi_u = 0.3, alpha = 0.3, hh_id = "home"))
  expect_identical(homes$estimates[names(persons$estimates)], persons$estimates)
  expect_identical(homes$sets[names(persons$sets)], persons$sets)
  for (i in seq_len(nrow(homes$sets))) {
    set <- strsplit(homes$sets$key_set[[i]], " + ", fixed = TRUE)[[1]]
    shown <- data
    shown$work <- ifelse(is.na(shown$work), "missing", shown$work)
    wanted <- oracle_composition_risk(shown, set, "home")
    expect_equal(homes$sets$n_compositions[[i]], wanted[["n"]])
    expect_equal(homes$sets$n_unique_households[[i]], wanted[["unique"]])
    expect_equal(homes$sets$household_set_risk[[i]], wanted[["risk"]])
  }
  # The tail at alpha = pi_u is its threshold, a quantile of the risks.
  two <- homes$estimates[homes$estimates$p == 2, ]
  expect_equal(
    two$household_risk,
    stats::quantile(homes$sets$household_set_risk[homes$sets$p == 2], 0.7, names = FALSE, type = 8)
  )
  expect_identical(unique(homes$estimates$n_households), 400)
  expect_match(text_of(homes), "T of households")
  # Households with an incomplete member are left out.
  complete <- stats::ave(!is.na(data$work), data$home, FUN = all)
  exclude <- quietly(qar_risk(data, keys, p = 2, pi_u = 0.3, hh_id = "home", missing = "exclude"))
  alone <- quietly(qar_risk(data[complete, ], keys, p = 2, pi_u = 0.3, hh_id = "home"))
  expect_identical(
    exclude$sets[order(exclude$sets$key_set), "n_compositions"],
    alone$sets[order(alone$sets$key_set), "n_compositions"]
  )
  # Households that live alone are persons.
  single <- quietly(qar_risk(
    transform(data, home = seq_along(home)), keys, p = 2, pi_u = 0.3, hh_id = "home"
  ))
  expect_identical(single$sets$household_set_risk, single$sets$set_risk)
  expect_equal(single$estimates$household_risk, single$estimates$risk)
  short <- quietly(qar_risk(data, keys, p = 2, pi_u = 0.3, hh_id = "home", sets = FALSE))
  expect_equal(
    short$estimates$household_risk,
    quietly(qar_risk(data, keys, p = 2, pi_u = 0.3, hh_id = "home"))$estimates$household_risk
  )
  expect_identical(
    quietly(risk_contribution(homes, data, p = 2))$records,
    quietly(risk_contribution(persons, data, p = 2))$records
  )
  sampled <- quietly(qar_risk(data, keys, p = 2, pi_u = 0.3, hh_id = "home", max_sets = 4))
  expect_true(is.na(sampled$estimates$household_risk))
  expect_error(
    qar_risk(transform(data, home = NA), keys, hh_id = "home"), class = "sdcRisk_error_bad_data"
  )
})

by_members <- function(risk, home) {
  1 - stats::ave(1 - ifelse(is.na(risk), 0, risk), home, FUN = prod)
}

test_that("loglinear_risk() adds the risk of households", {
  data <- simulated_homes()
  keys <- c("region", "age", "sex", "work")
  persons <- quietly(loglinear_risk(data, keys, weight_var = "w"))
  homes <- quietly(loglinear_risk(data, keys, weight_var = "w", hh_id = "home"))
  expect_identical(homes$estimates[names(persons$estimates)], persons$estimates)
  expect_identical(homes$records[names(persons$records)], persons$records)
  for (tau in c("tau1", "tau2")) {
    wanted <- by_members(persons$records[[tau]], data$home)
    expect_equal(
      homes$records[[paste0("household_", tau)]],
      ifelse(is.na(persons$records[[tau]]), NA, wanted)
    )
    expect_equal(
      homes$estimates[[paste0("households_", tau)]], sum(wanted[!duplicated(data$home)])
    )
  }
  expect_equal(homes$estimates$n_households, 400)
  expect_match(text_of(homes), "Households with a member matched correctly")
  expect_identical(augment(homes, data)$.household_tau2, homes$records$household_tau2)
  # Without `key_vars` the household is no key variable.
  expect_identical(
    quietly(loglinear_risk(data, weight_var = "w", hh_id = "home"))$records, homes$records
  )
  expect_error(
    loglinear_risk(data, c(keys, "home"), weight_var = "w", hh_id = "home"),
    class = "sdcRisk_error_bad_argument"
  )
})

test_that("copula_uniqueness() adds the scores of households", {
  data <- simulated_homes()[c("home", "region", "age", "sex")]
  keys <- c("region", "age", "sex")
  persons <- quietly(copula_uniqueness(data, keys, pop_size = 1e4))
  homes <- quietly(copula_uniqueness(data, keys, pop_size = 1e4, hh_id = "home"))
  expect_identical(homes$estimates, persons$estimates)
  expect_equal(homes$records$household_xi, by_members(persons$records$xi, data$home))
  expect_equal(homes$records$household_kappa, by_members(persons$records$kappa, data$home))
  expect_match(text_of(homes), "of 400 expected to have a member who is unique")
  expect_identical(
    quietly(copula_uniqueness(data, pop_size = 1e4, hh_id = "home"))$records, homes$records
  )
  expect_identical(augment(homes, data)$.household_xi, homes$records$household_xi)
  fit <- quietly(copula_fit(data, keys))
  released <- quietly(copula_uniqueness(fit, pop_size = 1e4, newdata = data, hh_id = "home"))
  expect_equal(released$records$household_xi, homes$records$household_xi)
  expect_error(
    copula_uniqueness(fit, pop_size = 1e4, hh_id = "home"),
    "`hh_id` must be given with records", class = "sdcRisk_error_bad_argument"
  )
})

test_that("missing values stand in the print, under both rules", {
  people <- data.frame(home = rep(1:40, each = 2), age = rep_len(1:9, 80), job = rep_len(1:4, 80))
  people$job[1:8] <- NA
  for (missing in c("category", "exclude")) {
    x <- suppressMessages(household_risk(people, c("age", "job"), "home", missing = missing))
    expect_match(
      text_of(x), "Missing: job 10%.", fixed = TRUE
    )
  }
})
