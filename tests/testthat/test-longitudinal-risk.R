skip_on_cran()

wave1 <- panel_waves$wave1
wave2 <- panel_waves$wave2
keys <- c("gender", "age_group", "education", "n_children", "occupation")
links <- c(
  "gender", "born_abroad", "education", "degree_year", "degree_field", "school_region",
  "birth_region", "father_education", "home_language"
)
changes <- c("n_children", "occupation")

panel_risk <- function(..., earlier = wave1, latest = wave2, key_vars = keys, link_vars = links,
                       change_vars = changes, model = "independence") {
  quietly(longitudinal_risk(
    earlier, latest, key_vars, link_vars, change_vars, "id", ...,
    weight_var = "weight", model = model, interval = "none"
  ))
}

alone <- function(data, key_vars, model = "independence", ...) {
  quietly(loglinear_risk(
    data, key_vars, weight_var = "weight", model = model, interval = "none", ...
  ))
}

test_that("the scenarios are log-linear risks of the tables they stand for", {
  found <- panel_risk(model = "two_way")
  link <- longitudinal_link(wave1, wave2, links, "id")
  certain <- change_indicators(wave1, wave2, changes, "id", link, "certain")
  all <- change_indicators(wave1, wave2, changes, "id")
  more <- c(keys, paste0(changes, "_changed"))
  by_hand <- list(
    alone(wave2, keys, "two_way"), alone(certain, more, "two_way"), alone(all, more, "two_way")
  )
  expect_identical(
    found$estimates$scenario, c("cross_sectional", "certain_links", "all_links")
  )
  for (at in 1:3) {
    shown <- names(by_hand[[at]]$estimates)
    expect_equal(found$estimates[at, shown], by_hand[[at]]$estimates, ignore_attr = TRUE)
    scenario <- found$estimates$scenario[[at]]
    for (measure in c("tau1", "tau2")) {
      expect_equal(
        found$records[[paste0(measure, "_", scenario)]], by_hand[[at]]$records[[measure]]
      )
    }
  }
  expect_equal(found$estimates$ratio, found$estimates$tau1 / found$estimates$tau1[[1]])
  expect_equal(found$link$estimates, link$estimates)
  expect_identical(found$records$certain, link$records$certain)
  expect_identical(found$changes$n_changed, c(
    sum(all$n_children_changed), sum(all$occupation_changed)
  ))
  expect_identical(found$changes$n_changed_certain, c(
    sum(certain$n_children_changed), sum(certain$occupation_changed)
  ))
})

test_that("indicators follow their definition, and previous values split them", {
  partner <- match(wave2$id, wave1$id)
  before <- as.character(wave1$n_children)[partner]
  now <- as.character(wave2$n_children)
  differs <- !is.na(before) & !is.na(now) & before != now
  indicator <- panel_risk(change_vars = "n_children")
  expect_identical(indicator$changes$n_changed, sum(differs))
  table <- data.frame(wave2[setdiff(keys, "n_children")], now, ifelse(differs, before, "same"))
  cells <- do.call(paste, c(lapply(table, as.character), sep = "\r"))
  previous <- panel_risk(change_vars = "n_children", detail = "previous_value")
  expect_equal(previous$estimates$n_unique[[3]], sum(table(cells) == 1))
  expect_true(all(previous$estimates$n_unique >= indicator$estimates$n_unique))
  expect_equal(previous$estimates[1, ], indicator$estimates[1, ])
  expect_true(all(
    previous$fits$all_links$records$sample_unique[
      indicator$fits$all_links$records$sample_unique
    ]
  ))
})

test_that("identical waves, or none in common, add nothing", {
  same <- panel_risk(earlier = wave2)
  expect_identical(same$estimates$ratio, c(1, 1, 1))
  expect_identical(same$estimates$ratio_tau2, c(1, 1, 1))
  expect_true(all(same$changes$n_changed == 0))
  strangers <- transform(wave1, id = id + 1000000L)
  expect_warning(
    none <- longitudinal_risk(
      strangers, wave2, keys, links, changes, "id",
      weight_var = "weight", model = "independence", interval = "none"
    ),
    class = "sdcRisk_warning_no_common_ids"
  )
  expect_identical(none$estimates$ratio, c(1, 1, 1))
  expect_false(any(none$records$linked))
  expect_match(paste(format(none, rows = 40), collapse = " "), "0 in both", fixed = TRUE)
  # Nobody is linked with certainty by gender alone.
  vague <- panel_risk(link_vars = "gender")
  expect_identical(vague$estimates$ratio[1:2], c(1, 1))
  expect_identical(vague$estimates$tau1[[3]], panel_risk()$estimates$tau1[[3]])
})

test_that("more knowledge means no fewer sample uniques", {
  found <- panel_risk()
  expect_false(is.unsorted(found$estimates$n_unique))
  more <- panel_risk(change_vars = c(changes, "civil_status"))
  expect_true(all(more$estimates$n_unique >= found$estimates$n_unique))
})

test_that("remedies keep a limit on the file with its changes, and leave these", {
  few <- c("gender", "age_group", "education", "n_children")
  all_keys <- c(few, "n_children_changed")
  changed <- change_indicators(wave1, wave2, "n_children", "id")
  uniques <- function(data) {
    sum(table(do.call(paste, c(as.data.frame(data)[all_keys], sep = "|"))) == 1)
  }
  risk <- panel_risk(key_vars = few, change_vars = "n_children")
  expect_equal(risk$estimates$n_unique[[3]], uniques(changed))
  found <- quietly(recode_search(
    changed, all_keys, constraint = list(prop_unique = 0.01), keep = list(n_children_changed = 0)
  ))
  recoded <- apply_recoding(found, changed)
  expect_gt(uniques(changed), 0.01 * nrow(changed))
  expect_lte(uniques(recoded), 0.01 * nrow(changed))
  expect_identical(
    as.character(recoded$n_children_changed), as.character(changed$n_children_changed)
  )
  suppressed <- quietly(suppress_cells(changed, all_keys, importance = c(n_children_changed = Inf)))
  expect_identical(suppressed$data$n_children_changed, changed$n_children_changed)
  expect_identical(suppressed$estimates$n_violations_after, 0L)
})

test_that("variables that cannot change link few", {
  fixed <- c("gender", "born_abroad")
  both <- wave2[wave2$id %in% wave1$id, ]
  key <- function(data) do.call(paste, data[fixed])
  expect_identical(key(both), key(wave1[match(both$id, wave1$id), ]))
  # Everybody guesses among those who agree.
  expect_equal(
    longitudinal_link(wave1, wave2, fixed, "id")$estimates$expected_correct,
    sum(1 / table(key(wave1))[key(both)])
  )
})

test_that("the panel's known population is met", {
  # The full set of keys of panel_waves$population.
  key_vars <- c(
    "gender", "age_group", "born_abroad", "education", "civil_status", "n_children",
    "urbanity", "occupation"
  )
  change_vars <- c("civil_status", "n_children", "urbanity", "occupation")
  found <- panel_risk(key_vars = key_vars, change_vars = change_vars, model = "two_way")
  expect_true(all(abs(found$estimates$z2) < 1.96))
  indicators <- paste0(change_vars, "_changed")
  sample <- change_indicators(wave1, wave2, change_vars, "id")
  population <- panel_waves$population
  truth <- function(columns) {
    key <- function(data) do.call(paste, c(lapply(data[columns], as.character), sep = "\r"))
    size <- tapply(population$n, key(population), sum)
    mine <- key(sample)
    once <- !(duplicated(mine) | duplicated(mine, fromLast = TRUE))
    known <- once & found$records$linked
    c(
      tau1 = sum(size[mine[once]] == 1, na.rm = TRUE), tau2 = sum(1 / size[mine[once]]),
      tau1_linked = sum(size[mine[known]] == 1), tau2_linked = sum(1 / size[mine[known]])
    )
  }
  cross <- truth(key_vars)
  expect_equal(found$estimates$tau1[[1]], cross[["tau1"]], tolerance = 0.06)
  expect_equal(found$estimates$tau2[[1]], cross[["tau2"]], tolerance = 0.02)
  # A respondent of both waves is in the cell of their changes; one of wave
  # 2 alone may not be. Taken as unchanged, they make changes look rare.
  all <- truth(c(key_vars, indicators))
  linked <- found$records$linked
  tau1 <- sum(found$records$tau1_all_links[linked])
  tau2 <- sum(found$records$tau2_all_links[linked])
  expect_equal(tau1, all[["tau1_linked"]], tolerance = 0.1)
  expect_equal(tau2, all[["tau2_linked"]], tolerance = 0.05)
  expect_gt(tau1, all[["tau1_linked"]])
  expect_gt(all[["tau1_linked"]] / cross[["tau1_linked"]], 1.5)
})

test_that("several earlier releases are linked one by one", {
  one <- panel_risk()
  listed <- panel_risk(earlier = list(wave1 = wave1))
  expect_identical(listed$estimates, one$estimates)
  half <- wave1[seq(1, nrow(wave1), 2), ]
  two <- panel_risk(earlier = list(a = wave1, b = half), change_vars = "n_children")
  expect_identical(names(two$link), c("a", "b"))
  expect_identical(two$changes$release, c("a", "b"))
  expect_identical(
    setdiff(two$fits$all_links$fits[[1]]$key_vars, keys),
    c("n_children_changed_a", "n_children_changed_b")
  )
  expect_identical(two$records$linked, one$records$linked)
  expect_lte(length(format(two)), 16)
  unnamed <- panel_risk(earlier = list(wave1, half), change_vars = "n_children")
  expect_identical(unnamed$changes$release, c("1", "2"))
  expect_identical(unnamed$estimates$tau1, two$estimates$tau1)
})

test_that("a formula may name changes, which some scenarios do not have", {
  found <- panel_risk(
    change_vars = "n_children", model = ~ gender:age_group + n_children:n_children_changed
  )
  by_hand <- alone(wave2, keys, ~ gender:age_group)
  expect_equal(found$estimates$tau1[[1]], by_hand$estimates$tau1)
  all <- change_indicators(wave1, wave2, "n_children", "id")
  by_hand <- alone(
    all, c(keys, "n_children_changed"), ~ gender:age_group + n_children:n_children_changed
  )
  expect_equal(found$estimates$tau1[[3]], by_hand$estimates$tau1)
  expect_match(found$estimates$model, "n_children_changed")
})

test_that("key variables may be missing, and other settings are passed on", {
  gaps <- wave2
  gaps$education[1:500] <- NA
  found <- panel_risk(latest = gaps)
  expect_equal(found$estimates$n, rep(7408, 3))
  expect_true(all(is.na(found$records$tau1_all_links[1:500])))
  whole <- panel_risk(latest = gaps, missing = "category")
  expect_equal(whole$estimates$n, rep(7908, 3))
  cell <- panel_risk(sampling = "cell")
  expect_identical(cell$estimates$sampling, rep("cell", 3))
  size <- panel_risk(pop_size = 2e5)
  expect_true(all(size$estimates$tau1 < panel_risk()$estimates$tau1))
})

test_that("no sample unique means no risk, and is said", {
  few <- list(
    wave1 = data.frame(id = 1:40, a = rep(1:2, 20), b = 1), wave2 = data.frame(
      id = 1:40, a = rep(1:2, 20), b = 1
    )
  )
  expect_message(
    found <- longitudinal_risk(
      few$wave1, few$wave2, c("a", "b"), c("a", "b"), "a", "id",
      sampling_fraction = 0.1, model = "independence", interval = "none"
    ),
    class = "sdcRisk_message_no_sample_unique"
  )
  expect_identical(found$estimates$tau1, c(0, 0, 0))
  expect_identical(found$estimates$ratio, rep(NA_real_, 3))
  expect_match(text_of(found), "no ratio")
  expect_match(interpret(found), "0%")
})

test_that("threads change nothing, and nothing is random", {
  run <- function(threads) {
    before <- options(sdcRisk.threads = threads)
    on.exit(options(before))
    quietly(longitudinal_risk(
      wave1, wave2, keys[1:4], links, "n_children", "id",
      weight_var = "weight", model = "two_way"
    ))$estimates
  }
  set.seed(5)
  before <- .Random.seed
  expect_identical(run(1), run(3))
  expect_identical(.Random.seed, before)
})

test_that("scenarios have the corrected values and intervals of their fits", {
  found <- quietly(longitudinal_risk(
    wave1, wave2, keys, links, changes, "id",
    weight_var = "weight", model = "two_way"
  ))
  for (at in 1:3) {
    own <- found$fits[[at]]$estimates
    columns <- c("tau1_corrected", "tau1_low", "tau2_high", "tau2_bias", "status")
    expect_identical(found$estimates[at, columns], own[columns], ignore_attr = TRUE)
  }
  tidied <- tidy(found)
  row <- tidied[tidied$term == "tau1_corrected", ]
  expect_identical(row$conf.low, found$estimates$tau1_low)
  expect_true(all(row$conf.low <= row$estimate & row$estimate <= row$conf.high))
  expect_match(interpret(found), "95% interval", fixed = TRUE)
  expect_lte(length(format(found)), 16)
})

test_that("a sentence tells a model that does not fit", {
  found <- quietly(longitudinal_risk(
    wave1, wave2, keys, links, changes, "id",
    weight_var = "weight", model = "independence"
  ))
  off <- found$estimates$z2 > 3
  expect_true(any(off))
  expect_identical(found$estimates$status[off], rep("underfits", sum(off)))
  expect_match(
    interpret(found), paste("overstates", found$estimates$scenario[off][[1]]), fixed = TRUE
  )
  expect_match(interpret(found), "z2 = ", fixed = TRUE)
})

test_that("a ratio to nearly nobody is not given", {
  few <- quietly(longitudinal_risk(
    wave1, wave2, c("gender", "age_group", "education", "n_children"), links, "n_children", "id",
    weight_var = "weight", model = "independence", interval = "none"
  ))
  # 5.5e-13 expected persons by the file alone.
  expect_lt(few$estimates$tau1[[1]], 0.5)
  expect_identical(few$estimates$ratio, rep(NA_real_, 3))
  expect_match(paste(lines_of(few), collapse = " "), "no ratio", fixed = TRUE)
  expect_no_match(interpret(few), "times", fixed = TRUE)
})

test_that("weights that average 1 are told, once", {
  low <- transform(wave2, weight = weight / mean(weight))
  n <- 0
  withCallingHandlers(
    quietly_but_small <- longitudinal_risk(
      wave1, low, keys, links, changes, "id",
      weight_var = "weight", model = "independence", interval = "none"
    ),
    warning = function(w) {
      n <<- n + inherits(w, "sdcRisk_warning_small_weights")
      tryInvokeRestart("muffleWarning")
    }
  )
  expect_identical(n, 1)
})

test_that("mistakes are refused with the argument's name", {
  bad <- function(kind = "bad_argument", ...) {
    given <- list(
      wave1 = wave1, wave2 = wave2, key_vars = keys, link_vars = links,
      change_vars = changes, id = "id", weight_var = "weight", model = "independence",
      interval = "none"
    )
    mistakes <- list(...)
    for (name in names(mistakes)) given[name] <- list(mistakes[[name]])
    expect_error(
      do.call(longitudinal_risk, given), class = paste0("sdcRisk_error_", kind),
      info = names(mistakes)
    )
  }
  for (wave in list(1:3, NULL, list(), wave1[0, ], list(1:3))) bad("bad_data", wave1 = wave)
  bad("bad_data", wave2 = 1:3)
  bad(wave1 = rlang::set_names(list(wave1, wave1), c("a", "a")))
  bad("unknown_key_var", key_vars = "z")
  bad(key_vars = NULL)
  bad(key_vars = character())
  bad(key_vars = c(keys, "weight"))
  bad("unknown_key_var", link_vars = "z")
  bad(link_vars = c(links, "id"))
  bad("unknown_key_var", change_vars = "z")
  bad(change_vars = NULL)
  bad(change_vars = "id")
  bad(change_vars = "urbanity", detail = "previous_value")
  bad("unknown_key_var", id = "z")
  bad(id = NULL)
  bad(id = character())
  bad(id = c("id", "gender"))
  bad(missing = mean)
  bad("bad_data", wave1 = rbind(wave1, wave1[1, ]))
  bad("unknown_key_var", weight_var = "z")
  bad(weight_var = NULL)
  bad("bad_weights", wave2 = transform(wave2, weight = -1))
  bad(pop_size = 100)
  bad(sampling_fraction = 1.5)
  bad(missing = "wildcard")
  bad(model = "saturated")
  bad(model = c("independence", "two_way"))
  bad(model = ~ z:gender)
  bad(detail = "value")
  bad(sampling = "none")
  bad(interval = "exact")
  bad(level = 1)
  bad(max_cells = 0)
  bad("too_large", max_cells = 10, model = "two_way")
  bad(min_overlap = 99)
  bad(tolerance = list(z = c(0, 1)))
  bad(wave2 = cbind(wave2, n_children_changed = 1L))
  bad(keyvars = 1)
})

test_that("the verbs of results work", {
  found <- panel_risk()
  expect_s3_class(found, c("sdc_longitudinal_risk", "sdc_result"), exact = TRUE)
  expect_lte(length(format(found)), 16)
  expect_identical(as.data.frame(found), found$estimates)
  tidied <- tidy(found)
  expect_identical(tidied$estimate[tidied$term == "ratio"], found$estimates$ratio)
  expect_identical(glance(found)$n_analyses, 3L)
  expect_identical(augment(found, wave2)$.tau2_all_links, found$records$tau2_all_links)
  expect_error(augment(found, wave1), class = "sdcRisk_error_mismatched_data")
  strata <- summary(found, by = "gender", data = wave2)
  expect_equal(sum(strata$risk_by_strata$n), nrow(wave2))
  expect_equal(
    colSums(strata$scenarios_by_link[paste0("tau1_", found$estimates$scenario)]),
    found$estimates$tau1, ignore_attr = TRUE
  )
  both <- compare_risk(found, found)
  expect_true(all(both$table$change == 0, na.rm = TRUE))
})

test_that("pictures show the numbers of the tables", {
  skip_if_not_installed("ggplot2")
  found <- panel_risk()
  picture <- ggplot2::autoplot(found)
  points <- ggplot2::layer_data(picture, 2)
  expect_setequal(points$x, c(found$estimates$tau1, found$estimates$tau2))
  bars <- ggplot2::layer_data(ggplot2::autoplot(found, "links"), 1)
  expect_equal(sum(bars$xmax - bars$xmin), sum(found$estimates$tau1))
  boxes <- ggplot2::layer_data(
    ggplot2::autoplot(found, "strata", by = "gender", data = wave2), 1
  )
  expect_identical(nrow(boxes), 2L)
  expect_error(ggplot2::autoplot(found, "strata"), class = "sdcRisk_error_bad_argument")
  expect_error(ggplot2::autoplot(found, "tau"), class = "sdcRisk_error_bad_argument")
})
