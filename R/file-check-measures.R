# The measures of file_check(): each is a result of the function that measures it,
# from one file, and one or more rows of the page.

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
  every_rule <- c("wildcard", "category", "exclude")
  # A method is run if nothing speaks against it. Without incomplete records every rule
  # for missing values gives the same.
  run <- function(method, args, why = NULL, rules = every_rule[-1], of = file) {
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
    attempt(method, do.call(method, c(list(of), args, rule)), signals)
  }
  complete <- complete_file(file, asked)
  unknown <- if (is.null(facts$pop_size)) facts$why
  n_sets <- choose(asked$n_keys, asked$p)
  found <- list(
    n_matches = run("check_matches", list(asked$sensitive), rules = every_rule),
    special_uniques = run("check_special", list(min(2, asked$n_keys)), rules = every_rule),
    qar_risk = run(
      "check_qar", list(p = asked$p, sets = n_sets * facts$n_rows <= most_set_work)
    ),
    population_risk = run("check_law", list(), unknown, every_rule),
    exhaustive_tabulation = run("exhaustive_tabulation", list(), of = complete),
    household_matches = if (!is.null(asked$hh_id)) {
      run("n_matches", list(), rules = every_rule)
    },
    unit_matches = if (length(asked$unit_id)) {
      run("check_matches_of_units", list(asked$unit_id), rules = every_rule)
    },
    strata_matches = if (!is.null(asked$strata_var)) {
      run(
        "check_matches", list(asked$sensitive, union(file$roles$key_vars, asked$strata_var)),
        rules = every_rule
      )
    },
    key_overview = run(
      "check_overview", list(asked), no_overview(asked, facts), every_rule, of = complete
    )
  )
  list(found = found, signals = signals$all)
}

# For methods that leave out a record from the tables or key sets alone in which it is incomplete:
# the file in which an incomplete record has no key value, so that all judge the same records.
complete_file <- function(file, asked) {
  if (asked$missing == "exclude" && asked$n_incomplete > 0) {
    keys <- asked$variables
    incomplete <- Reduce(`|`, lapply(asked$coded[keys], function(column) column$codes == 0L))
    for (name in keys) file$data[[name]][incomplete] <- NA
    file$codes <- NULL
  }
  file
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

number_code <- function(x) format(x, scientific = FALSE, digits = 15)

# Matches of records by `key_vars`: weights and households are other measures' business.
check_matches <- function(file, sensitive, key_vars = file$roles$key_vars, ...) {
  count <- function(sensitive) {
    n_matches(
      file, key_vars, ..., sensitive = sensitive, weight_var = NULL, hh_id = NULL, pop_size = NULL,
      sampling_fraction = NULL
    )
  }
  if (is.null(sensitive)) {
    return(count(NULL))
  }
  # If a sensitive variable cannot be used, the matches are counted without it.
  rlang::try_fetch(count(sensitive), sdcRisk_error = function(e) {
    result <- count(NULL)
    result$diagnostics$sensitive_refused <- first_line(e)
    result
  })
}

check_special <- function(file, max_size, ...) {
  special_uniques(file, max_size = max_size, pop_size = NULL, sampling_fraction = NULL, ...)
}

check_matches_of_units <- function(file, unit_id, ...) {
  n_matches(
    file, ..., hh_id = unit_id, weight_var = NULL, pop_size = NULL, sampling_fraction = NULL
  )
}

# The fewest matches, `k`, by the key variables, `keys`, if each value of an identifier, `id`, is
# counted once, of a person's records among complete ones, too; NULL without key variables.
matches_of_units <- function(file, id) {
  keys <- file$roles$key_vars
  if (is.data.frame(file$data) && all(c(keys, id) %in% names(file$data)) && length(keys)) {
    household <- identical(id, file$roles$hh_id)
    data <- as.data.frame(bare_data(file$data))[c(keys, id)]
    complete <- !Reduce(`|`, lapply(data[keys], is_missing))
    among <- list(data, if (!household && any(complete)) data[complete, ])
    k <- vapply(Filter(Negate(is.null), among), function(data) {
      tryCatch(
        suppressMessages(min(n_matches(data, keys, hh_id = id)$records$n_matches)),
        sdcRisk_error = function(e) NA_real_
      )
    }, 0)
    list(id = id, keys = keys, k = min(k), household = household)
  }
}

# TRUE if most records share their value of a column with few others, most of these with their key
# variables, as several records of a person do, and some would have fewer than k matches if each
# value counted once.
few_of_unit <- function(file, name, k) {
  if (!is.data.frame(file$data)) {
    return(FALSE)
  }
  x <- as_bare(file$data[[name]])
  class <- do.call(paste, c(lapply(file$data[file$roles$key_vars], as_bare), list(sep = "\r")))
  shared <- function(x) duplicated(x) | duplicated(x, fromLast = TRUE)
  with_others <- sum(shared(x) & !is.na(x))
  with_key <- sum(shared(paste(x, class, sep = "\r")) & !is.na(x))
  length(unique(x)) > length(x) / 6 && with_others > length(x) / 2 &&
    with_key >= 0.75 * with_others && isTRUE(matches_of_units(file, name)$k < k)
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

# Without households that can be told apart there are records alone.
check_law <- function(file, ...) {
  if (is.null(file$roles$hh_id)) {
    return(population_risk(file, ...))
  }
  rlang::try_fetch(population_risk(file, ...), sdcRisk_error = function(e) {
    result <- population_risk(file, hh_id = NULL, ...)
    result$diagnostics$household_refused <- first_line(e)
    result
  })
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
      paste(c(first_line(e), sub("[.]$", "", e$body[names(e$body) %in% "x"])), collapse = ". ")
    }),
    sdcRisk_warning = keep, sdcRisk_message = keep
  )
}
