# Objects of the package with something in them changed at random: each verb must answer, or
# refuse it by an error of its own class.
#
#   Rscript torture/damaged.R <minutes>          goes on with the next seeds
#   Rscript torture/damaged.R case <object> <seed>    one of them
#
# `torture/results/damaged.csv` has a row for each object: `damages` are changes, each followed
# by every verb; `answered`, `refused` and `failed` count verbs, `failed_seeds` names the first.
# A change is somewhere in the lists and attributes of the object, but for its class: a part is
# dropped, missing, of another type, empty, twice as long, of another sign or order. With every
# tenth seed nothing is changed, and the object is saved and read again: every verb must answer
# as before.

arguments <- commandArgs(trailingOnly = TRUE)
damaged_file <- "torture/results/damaged.csv"
suppressMessages(library(sdcRisk))
options(sdcRisk.threads = 2)
grDevices::pdf(NULL)
quiet <- function(code) suppressMessages(suppressWarnings(code))

set.seed(1)
n <- 90
people <- data.frame(
  id = seq_len(n), age = sample(18:30, n, TRUE), town = sample(letters[1:6], n, TRUE),
  sex = sample(c("f", "m"), n, TRUE), job = sample(9, n, TRUE), hh = sample(30, n, TRUE),
  w = stats::runif(n, 2, 40)
)
later <- people[sample(n), ]
later$age <- later$age + stats::rbinom(n, 1, 0.3)
keys <- c("age", "town", "sex", "job")
few <- keys[1:3]

make <- list(
  qar_risk = quote(qar_risk(people, keys, p = 2, pi_u = 0.4)),
  risk_contribution = quote(risk_contribution(qar_risk(people, keys, p = 2, pi_u = 0.4), people)),
  removal_path = quote(removal_path(qar_risk(people, keys, p = 2, pi_u = 0.4), people, 5)),
  removal_bound = quote(removal_bound(qar_risk(people, keys, p = 2, pi_u = 0.4), people, 2)),
  exhaustive_tabulation = quote(exhaustive_tabulation(people, keys, 1:2)),
  n_matches = quote(n_matches(people, keys)), key_overview = quote(key_overview(people, keys)),
  individual_risk = quote(individual_risk(people, keys, "w", "hh")),
  household_risk = quote(household_risk(people, few, "hh")),
  population_uniqueness = quote(population_uniqueness(people, keys, 20000)),
  copula_fit = quote(copula_fit(people, keys)),
  copula_uniqueness = quote(copula_uniqueness(people, keys, pop_size = 5000)),
  uniqueness_by_size = quote(uniqueness_by_size(copula_fit(people, keys), 5000)),
  uniqueness_profile = quote(uniqueness_profile(copula_fit(people, keys), people[1, keys], 5000)),
  validate_uniqueness = quote(validate_uniqueness(copula_fit(people[1:60, ], keys), people)),
  invariant_pram = quote(invariant_pram(people, few, unprotected = "keep")),
  pram_audit = quote(
    pram_audit(invariant_pram(people, few, unprotected = "keep"), people, n_sim = 20)
  ),
  suppress_cells = quote(suppress_cells(people, few, k = 2)),
  recode_search = quote(recode_search(people, few, constraint = list(k = 2), suppress = 0.1)),
  longitudinal_link = quote(longitudinal_link(people, later, few, "id")),
  link_attack = quote(link_attack(people, later, few, "id")),
  key_stability = quote(key_stability(people, later, few, "id")),
  longitudinal_risk = quote(
    longitudinal_risk(people, later, few[1:2], few[1:2], "age", "id", weight_var = "w")
  ),
  loglinear_risk = quote(loglinear_risk(people, few, weight_var = "w")),
  utility_loss = quote(utility_loss(people, later, few)),
  file_check = quote(file_check(people, keys, weight_var = "w", hh_id = "hh")),
  pattern_result = quote(n_matches(pattern_table(people, keys))),
  hierarchy = quote(hierarchy(people$age)),
  candidates = quote(candidates(lapply(people$age, function(v) v + 0:2))),
  candidate_interval = quote(candidate_interval(people$age, people$age + 2)),
  pattern_table = quote(pattern_table(people, keys, weight_var = "w")),
  sdc_file = quote(sdc_file(people, keys, weight_var = "w", hh_id = "hh"))
)

shown <- function(x) utils::capture.output(print(x))
of_results <- list(
  print = shown, summary = function(x) shown(summary(x)), interpret = interpret,
  tidy = generics::tidy, glance = generics::glance, as.data.frame = as.data.frame,
  augment = function(x) generics::augment(x, people),
  autoplot = function(x) ggplot2::autoplot(x), compare = function(x) compare_risk(x, x),
  report = function(x) sdc_report(x, file = tempfile(fileext = ".html"))
)
of_candidates <- list(
  print = shown, format = format, subset = function(x) x[3:1], sort = sort,
  n_matches = function(x) {
    data <- data.frame(town = people$town)
    data$may <- x
    n_matches(data, c("town", "may"), rule = "overlap")
  }
)
verbs <- list(
  hierarchy = list(
    print = shown, as.data.frame = as.data.frame,
    recode_search = function(x) {
      recode_search(people, few, hierarchies = list(age = x), constraint = list(k = 2),
        suppress = 0.3)
    }
  ),
  candidates = of_candidates, candidate_interval = of_candidates,
  pattern_table = list(
    print = shown, as.data.frame = as.data.frame, n_matches = n_matches, sdc_file = sdc_file,
    individual_risk = individual_risk, pattern_table = pattern_table,
    update = function(x) stats::update(x, people[1:3, ]),
    link = function(x) longitudinal_link(x, x, keys)
  ),
  sdc_file = list(
    print = shown, n_matches = n_matches, individual_risk = individual_risk,
    file_check = file_check, sdc_file = sdc_file, pattern_table = pattern_table
  )
)
verbs_of <- function(name) {
  further <- list(
    copula_fit = list(
      copula_uniqueness = function(x) copula_uniqueness(x, pop_size = 5000),
      simulate = function(x) stats::simulate(x, 5)
    ),
    qar_risk = list(
      risk_contribution = function(x) risk_contribution(x, people),
      removal_path = function(x) removal_path(x, people, 2)
    ),
    invariant_pram = list(
      release_data = release_data, pram_variance = function(x) pram_variance(x, people)
    ),
    suppress_cells = list(release_data = release_data),
    recode_search = list(apply_recoding = function(x) apply_recoding(x, people))
  )
  if (is.null(verbs[[name]])) c(of_results, further[[name]]) else verbs[[name]]
}

harms <- list(
  dropped = function(v) NULL, missing = function(v) NA, text = function(v) "zqc",
  fun = function(v) mean, empty = function(v) v[0], long = function(v) c(v, v),
  wrapped = function(v) list(v), sign = function(v) if (is.numeric(v)) -v else v,
  infinite = function(v) if (is.numeric(v)) v * Inf else v, reversed = function(v) rev(v),
  huge = function(v) if (is.numeric(v)) v + 1e9 else v
)

# Somewhere in the lists and attributes of `x`.
harmed <- function(x, harm, depth = 0) {
  kept <- attributes(x)
  places <- c(
    if (is.list(x)) as.list(seq_along(unclass(x))), as.list(setdiff(names(kept), "class"))
  )
  if (length(places) == 0 || (depth > 0 && stats::runif(1) < 0.4)) return(harm(x))
  place <- places[[sample.int(length(places), 1)]]
  out <- unclass(x)
  if (is.character(place)) {
    kept[place] <- list(harmed(kept[[place]], harm, depth + 1))
    attributes(out) <- NULL
  } else {
    out[place] <- list(harmed(out[[place]], harm, depth + 1))
  }
  attributes(out) <- kept
  out
}

# What each verb did with the object of a seed: "answered", "refused", or the words of a failure.
outcomes <- function(name, object, seed) {
  set.seed(seed)
  whole <- seed %% 10 == 0
  x <- if (whole) {
    unserialize(serialize(object, NULL))
  } else {
    tryCatch(quiet(harmed(object, sample(harms, 1)[[1]])), error = function(e) NULL)
  }
  # R itself refuses some attributes.
  if (is.null(x)) return(character())
  vapply(verbs_of(name), function(verb) {
    answer <- function(x) {
      set.seed(3)
      tryCatch({
        setTimeLimit(elapsed = 60, transient = TRUE)
        out <- quiet(verb(x))
        setTimeLimit()
        list(out)
      }, error = function(e) {
        if (inherits(e, "sdcRisk_error")) "refused" else paste("failed:", conditionMessage(e))
      })
    }
    got <- answer(x)
    if (is.character(got)) {
      if (whole && !identical(got, answer(object))) "failed: what was saved is refused" else got
    } else {
      "answered"
    }
  }, "")
}

run_all <- function(minutes) {
  until <- Sys.time() + 60 * minutes
  rows <- if (file.exists(damaged_file)) utils::read.csv(damaged_file, na.strings = NULL)
  objects <- lapply(make, function(call) {
    set.seed(2)
    quiet(eval(call))
  })
  repeat {
    for (name in names(make)) {
      row <- rows[rows$object == name, ]
      if (NROW(row) == 0) {
        row <- data.frame(
          object = name, last_seed = 0, damages = 0, answered = 0, refused = 0, failed = 0,
          failed_seeds = "", seconds = 0
        )
      }
      row$failed_seeds <- as.character(row$failed_seeds)
      began <- proc.time()[["elapsed"]]
      for (seed in row$last_seed + 1:10) {
        found <- outcomes(name, objects[[name]], seed)
        failed <- startsWith(found, "failed")
        row$damages <- row$damages + (length(found) > 0 && seed %% 10 > 0)
        row$answered <- row$answered + sum(found == "answered")
        row$refused <- row$refused + sum(found == "refused")
        row$failed <- row$failed + sum(failed)
        if (any(failed)) {
          seeds <- c(strsplit(row$failed_seeds, " ")[[1]], seed)
          row$failed_seeds <- paste(utils::head(seeds, 10), collapse = " ")
          cat(name, seed, paste0(names(found), ": ", found)[failed], sep = "\n  ")
        }
      }
      row$last_seed <- seed
      row$seconds <- round(row$seconds + proc.time()[["elapsed"]] - began, 1)
      rows <- rbind(rows[rows$object != name, ], row)
      utils::write.csv(rows[order(rows$object), ], damaged_file, row.names = FALSE)
      if (Sys.time() > until) break
    }
    if (Sys.time() > until) break
  }
  cat(
    sum(rows$damages), "damages to", nrow(rows), "objects; verbs:", sum(rows$answered),
    "answered,", sum(rows$refused), "refused,", sum(rows$failed), "failed\n"
  )
  if (any(rows$failed > 0)) quit(status = 1)
}

if (identical(arguments[1], "case")) {
  set.seed(2)
  print(outcomes(arguments[[2]], quiet(eval(make[[arguments[[2]]]])), as.integer(arguments[[3]])))
} else {
  run_all(if (length(arguments)) as.numeric(arguments[[1]]) else 5)
}
