# The measures of file_check(): each is a result of the function that measures it,
# from one file, and one or more rows of the page.

# Most records for which the page fits models unasked: beyond, the log-linear model
# and the copula take longer than all other measures together.
most_modelled <- 2e5
# Most records times key sets counted one by one, and records times pairs of key
# variables of the overview: about two seconds each. Matches of incomplete records take
# ten times as long.
most_set_work <- 1e9
most_overview_work <- 2e8

# The results of all methods, or of those in `only`, each a result or a text that says why it is
# missing; `signals` are the conditions they raised.
run_methods <- function(file, asked, only = NULL) {
  signals <- new.env(parent = emptyenv())
  signals$all <- list()
  facts <- asked$facts
  if (!is.null(facts$scale)) file <- with_scaled_weights(file, facts$scale)
  every_rule <- c("wildcard", "category", "exclude")
  # A method is run if nothing speaks against it. Without incomplete records every rule
  # for missing values gives the same.
  run <- function(method, args, why = NULL, rules = every_rule[-1]) {
    known <- asked$missing %in% rules
    if (!is.null(only) && !method %in% only) {
      return("not asked for")
    }
    if (is.null(why) && !known && asked$n_incomplete > 0) {
      why <- not_for_wildcards(asked$n_incomplete, facts$n, isTRUE(asked$n_suppressed > 0))
    }
    if (!is.null(why)) {
      return(why)
    }
    rule <- if (known) list(missing = asked$missing)
    attempt(method, do.call(method, c(list(file), args, rule)), signals)
  }
  unknown <- if (is.null(facts$pop_size)) facts$why
  few <- if (isTRUE(facts$pop_size < facts$n)) {
    "the population has fewer people than the file has records"
  }
  later <- function(code) {
    if (!is.null(unknown)) unknown else not_modelled(facts$n_rows, asked$models, code)
  }
  n_sets <- choose(asked$n_keys, asked$p)
  found <- list(
    n_matches = run("check_matches", list(asked$sensitive), rules = every_rule),
    special_uniques = run("check_special", list(min(2, asked$n_keys)), rules = every_rule),
    qar_risk = run(
      "check_qar", list(p = asked$p, sets = n_sets * facts$n_rows <= most_set_work)
    ),
    individual_risk = run("check_individual", list(asked), unknown, every_rule),
    loglinear_risk = run("loglinear_risk", list(), later("loglinear_risk(file)")),
    copula_uniqueness = run(
      "copula_uniqueness", c(list(records = FALSE), facts$people),
      if (is.null(few)) later(copula_code(facts)) else few
    ),
    population_uniqueness = run("population_uniqueness", facts$people, c(unknown, few)),
    exhaustive_tabulation = run("exhaustive_tabulation", list()),
    household_matches = if (asked$missing == "wildcard" && !is.null(asked$hh_id)) {
      run("n_matches", list(), rules = every_rule)
    },
    strata_matches = if (!is.null(asked$strata_var)) {
      run("check_matches_on", list(union(file$roles$key_vars, asked$strata_var)), NULL, every_rule)
    },
    key_overview = run("check_overview", list(asked), no_overview(asked, facts), every_rule)
  )
  list(found = found, signals = signals$all)
}

no_overview <- function(asked, facts) {
  work <- facts$n_rows * asked$n_keys^2
  if (asked$n_incomplete > 0) work <- 10 * work
  if (asked$n_keys < 2) {
    "there is one key variable"
  } else if (work > most_overview_work) {
    "not computed: run key_overview(file)"
  }
}

# After suppression of 1% of the records the copula's uniqueness was a seventh of the truth
# without these records, and with a category for them tau1 was ten times the truth: a file that
# is known to have suppressed values is not measured without them.
not_for_wildcards <- function(n_incomplete, n, suppressed) {
  paste0(
    plural(n_incomplete, "record"), " (", format_percent(n_incomplete / n), ") ",
    if (n_incomplete == 1) "misses" else "miss", " a key value, which this method cannot ",
    "take as unknown",
    if (!suppressed) paste0(
      "; if nothing was suppressed and values are missing at random, ",
      "run file_check(file, missing = \"exclude\")"
    )
  )
}

not_modelled <- function(n_rows, models, code) {
  if (isFALSE(models)) {
    paste0("not computed: models = FALSE; run ", code)
  } else if (is.null(models) && n_rows > most_modelled) {
    paste0("not computed: more than ", format_count(most_modelled), " records; run ", code)
  }
}

copula_code <- function(facts) {
  paste0(
    "copula_uniqueness(file, ",
    if (length(facts$people)) paste0("pop_size = ", number_code(facts$pop_size), ", "),
    "records = FALSE)"
  )
}

number_code <- function(x) format(x, scientific = FALSE, digits = 15)

# Matches of records: weights and households are other measures' business.
check_matches <- function(file, sensitive, ...) {
  count <- function(sensitive) {
    n_matches(
      file, ..., sensitive = sensitive, weight_var = NULL, hh_id = NULL, pop_size = NULL,
      sampling_fraction = NULL
    )
  }
  if (is.null(sensitive)) {
    return(count(NULL))
  }
  # What is wrong with a sensitive variable is no reason to count nothing.
  rlang::try_fetch(count(sensitive), sdcRisk_error = function(e) {
    result <- count(NULL)
    result$diagnostics$sensitive_refused <- first_line(e)
    result
  })
}

check_special <- function(file, max_size, ...) {
  special_uniques(file, max_size = max_size, pop_size = NULL, sampling_fraction = NULL, ...)
}

check_matches_on <- function(file, key_vars, ...) {
  n_matches(
    file, key_vars, ..., weight_var = NULL, hh_id = NULL, pop_size = NULL, sampling_fraction = NULL
  )
}

# key_overview() takes a missing value as a category. By other rules the sample uniques
# without each key variable are counted as n_matches() counts them.
check_overview <- function(file, asked, missing) {
  if (asked$n_incomplete == 0 || missing == "category") {
    return(key_overview(file))
  }
  keys <- asked$keys
  sets <- c(list(keys), lapply(seq_along(keys), function(v) keys[-v]))
  names(sets) <- c("all", paste("without", keys))
  counted <- n_matches(
    file, sets, missing = missing, weight_var = NULL, hh_id = NULL, pop_size = NULL,
    sampling_fraction = NULL
  )$estimates$n_unique
  list(estimates = frame(
    variable = keys, n_unique_without = counted[-1], unique_change = counted[-1] - counted[[1]]
  ))
}

# The extreme risk of records needs no households.
check_qar <- function(file, ...) {
  rlang::try_fetch(qar_risk(file, ...), sdcRisk_error = function(e) {
    qar_risk(file, hh_id = NULL, ...)
  })
}

# Without weights every record stands for as many people; without households that can
# be told apart there are records alone.
check_individual <- function(file, asked, ...) {
  facts <- asked$facts
  if (is.null(file$roles$weight_var)) {
    data <- with_equal_weight(as.data.frame(file$data), facts$pop_size / facts$n)
    codes <- file$codes
    file <- as_file(
      sdc_file(data, file$roles$key_vars, weight_var = equal_weight, hh_id = asked$hh_id), "data"
    )
    file$codes <- codes
  }
  if (is.null(asked$hh_id)) {
    return(individual_risk(file, ...))
  }
  rlang::try_fetch(individual_risk(file, ...), sdcRisk_error = function(e) {
    result <- individual_risk(file, hh_id = NULL, ...)
    result$diagnostics$household_refused <- first_line(e)
    result
  })
}

equal_weight <- ".equal_weight"

with_equal_weight <- function(data, weight) {
  times <- times_of(data)
  data[[equal_weight]] <- if (is.null(times)) rep(weight, nrow(data)) else weight * times
  if (!is.null(times)) {
    attr(data, "patterns") <- list(
      times = times, weight_var = equal_weight, squares = weight^2 * times,
      weight_range = c(weight, weight)
    )
  }
  data
}

# Weights that average 1, made to sum to the population.
with_scaled_weights <- function(file, scale) {
  data <- as.data.frame(file$data)
  name <- file$roles$weight_var
  data[[name]] <- check_weights(file$data, name) * scale
  patterns <- attr(file$data, "patterns")
  if (!is.null(patterns)) {
    patterns$squares <- patterns$squares * scale^2
    patterns$weight_range <- patterns$weight_range * scale
    attr(data, "patterns") <- patterns
  }
  file$data <- data
  file
}

# A result, or the error in its place: what must hold, and what was found. Warnings
# and messages are kept for the page. An interrupt or a time limit ends all.
attempt <- function(method, code, signals) {
  keep <- function(condition) {
    signals$all <- c(signals$all, list(list(
      method = method, kind = class(condition)[[1]], text = first_line(condition)
    )))
    rlang::cnd_muffle(condition)
  }
  withCallingHandlers(
    tryCatch(code, error = function(e) {
      pass_on_time_limit(e)
      found <- sub("[.]$", "", e$body[names(e$body) %in% "x"])
      paste(c(first_line(e), found), collapse = ". ")
    }),
    sdcRisk_warning = keep, sdcRisk_message = keep
  )
}
