# The measures of file_check(): each is a result of the function that measures it,
# from one file, and one or more rows of the page.

# What the page asks, in its order. `unit`: "matches", "count" (of records), "share" or
# "risk", the last two from 0 to 1; a limit is one of that unit.
check_catalogue <- function() {
  text <- c(
    "k|prosecutor|matches|fewest matches, k|How many records share a key, at least?",
    "n_unique|prosecutor|count|sample uniques|How many records are alone with their key?",
    "prop_unique|prosecutor|share|sample uniques, share|What share of the records is alone?",
    "n_homogeneous|prosecutor|count|one sensitive value|For how many is the sensitive value known?",
    "qar|prosecutor|risk|extreme risk T|What risk do 1 % of the key sets exceed?",
    "set_risk|prosecutor|risk|riskiest key set|How risky is the riskiest key set?",
    "journalist|journalist|risk|largest record risk|How likely is the riskiest record found?",
    paste0(
      "expected_reidentifications|journalist|count|re-identifications|",
      "How many people does an intruder find who tries every record?"
    ),
    "reidentification_rate|journalist|share|re-identifications, share|What share is found?",
    paste0(
      "household|journalist|risk|largest risk, any member|",
      "How likely is a member of a household found?"
    ),
    "tau1|journalist|count|population uniques, tau1|How many sample uniques are so among all?",
    "tau1_corrected|journalist|count|population uniques, tau1|The same, the model's bias corrected",
    "tau1_rate|journalist|share|tau1, share|What share of the records is that?",
    "tau2|journalist|count|correct matches, tau2|How many sample uniques are matched correctly?",
    "tau2_corrected|journalist|count|correct matches, tau2|The same, the model's bias corrected",
    paste0(
      "population_uniqueness|journalist|share|population uniqueness|",
      "What share of the people is unique in the population?"
    ),
    "pitman|journalist|share|the same by Pitman|The same, by the sizes of the cells alone",
    "small_cells|tables|share|cells below 3|What share of the cells of tables is small?",
    "small_cell_records|tables|share|records in such cells|What share of the records is in one?"
  )
  parts <- do.call(rbind, strsplit(text, "|", fixed = TRUE))
  frame(
    measure = parts[, 1], scenario = parts[, 2], unit = parts[, 3], label = parts[, 4],
    question = parts[, 5]
  )
}

# Most records for which the page fits models unasked: beyond, the log-linear model
# and the copula take longer than all other measures together.
most_modelled <- 2e5
# Most records times key sets counted one by one, and records times pairs of key
# variables of the overview: about two seconds each.
most_set_work <- 1e9
most_overview_work <- 2e8

# The results of all methods, each a result or a text that says why there is none;
# `signals` are the conditions they raised.
run_methods <- function(file, asked) {
  signals <- new.env(parent = emptyenv())
  signals$all <- list()
  # A method is run where nothing stands against it.
  run <- function(method, args, why = NULL, rules = c("category", "exclude")) {
    if (!is.null(why)) {
      return(why)
    }
    rule <- if (isTRUE(asked$missing %in% rules)) list(missing = asked$missing)
    attempt(method, do.call(method, c(list(file), args, rule)), signals)
  }
  facts <- asked$facts
  all_rules <- c("category", "exclude", "wildcard")
  unknown <- if (is.null(facts$pop_size)) {
    "neither weights nor the size of the population are known: weight_var or pop_size"
  }
  few <- if (isTRUE(facts$pop_size < facts$n)) {
    paste(
      if (facts$from == "given") "the population has" else "the weights sum to",
      "fewer people than the file has records"
    )
  }
  later <- function(code) {
    if (!is.null(unknown)) unknown else not_modelled(facts$n_rows, asked$models, code)
  }
  n_sets <- choose(asked$n_keys, asked$p)
  found <- list(
    n_matches = run("check_matches", list(asked$sensitive), rules = all_rules),
    qar_risk = run(
      "check_qar", list(p = asked$p, sets = n_sets * facts$n_rows <= most_set_work)
    ),
    individual_risk = run("check_individual", list(asked), unknown, all_rules),
    loglinear_risk = run("loglinear_risk", list(), later("loglinear_risk(file)")),
    copula_uniqueness = run(
      "copula_uniqueness", c(list(records = FALSE), facts$people),
      if (is.null(few)) later(copula_code(facts)) else few
    ),
    population_uniqueness = run("population_uniqueness", facts$people, c(unknown, few)),
    exhaustive_tabulation = run("exhaustive_tabulation", list()),
    key_overview = run("key_overview", list(), no_overview(asked, facts), character())
  )
  list(found = found, signals = signals$all)
}

no_overview <- function(asked, facts) {
  if (asked$n_keys < 2) {
    "there is one key variable"
  } else if (facts$n_rows * asked$n_keys^2 > most_overview_work) {
    "not computed: run key_overview(file)"
  }
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
    file <- sdc_file(data, asked$keys, weight_var = equal_weight, hh_id = asked$hh_id)
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

first_line <- function(condition) {
  sub("[.]$", "", strsplit(conditionMessage(condition), "\n", fixed = TRUE)[[1]][[1]])
}
