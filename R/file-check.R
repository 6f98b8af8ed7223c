#' Check a file against disclosure limits
#'
#' Measures a file by every method that the roles of its columns allow, and compares each measure
#' with a limit. Use it first, and again after every protection. The page names the measures to
#' report, the variables that drive the risk, and the next lines of code to run.
#'
#' @concept risk assessment
#' @concept re-identification risk
#' @concept identity disclosure
#'
#' @details
#' Every number is that of the function that measures it, called on one [sdc_file()] with
#' its defaults: [n_matches()] (k, sample uniques, sensitive values), [qar_risk()] (T and
#' the riskiest key set), [population_risk()] (largest record risk, re-identifications,
#' households, tau1, tau2, population uniqueness: one law, so that tau1 <= tau2 <=
#' re-identifications),
#' [exhaustive_tabulation()] (small cells of tables of one and two variables) and
#' [key_overview()] (what dropping a variable would buy). These pages have the formulas.
#'
#' What depends on the population needs `weight_var`, `pop_size` or `sampling_fraction`.
#' Without `pop_size` the population is the sum of the weights; without weights every
#' record stands for as many people, and a file as large as its population has weights
#' of 1. Weights that average 1 do not say how large the population is: without `pop_size`
#' the journalist's measures are not judged, and with it the weights are multiplied to
#' sum to it.
#'
#' The page counts records. Use `n_matches(hh_id = )` to count households.
#'
#' @section Verdicts:
#' \describe{
#'   \item{`"ok"`, `"above"`}{the interval, or the value of a measure without one, keeps its
#'     limit, or all of it exceeds it}
#'   \item{`"unclear"`}{the limit lies within the interval, the interval is not known to hold
#'     ([population_risk()] says when), the weights do not sum to the population given, records
#'     have enough matches only by incomplete ones or with their own `id_vars`, all matches lack
#'     a sensitive value, or released columns reveal key variables or are not compared, see below}
#'   \item{`"not judged"`}{the measure could not be computed, or is not defined on this file}
#'   \item{`"no limit"`}{no limit was set for the measure}
#' }
#' A missing value matches every value, but who finds a record with all values of the target does
#' not take it for an incomplete one. So k, l and counts of unique records are `"unclear"` if
#' complete records have too few matches among themselves, or if more than 3% of the records rest on
#' few that miss more, each on more than 10 (100 if these miss at most half of the key variables);
#' `suppress_cells(rule = "strict")` prevents it. Strata, households and repeated `id_vars` are
#' looked at one by one and all at once.
#'
#' Verdicts take missing values as unknown. If released columns reveal or narrow them, measures that
#' count matches are `"unclear"`: a suppressed age is known from the year of birth. Nor is any
#' verdict `"ok"` if a column without a role is more detailed than a key variable, as the age
#' than its group: leave it out, or make it a key variable.
#'
#' A record of which the file has k like it has k like it in the population at least. So a limit of
#' 0.05 on the journalist risk is kept for certain if no key has fewer than 20 records and no record
#' is incomplete, whatever a model says. In most other files with sample uniques the largest risk
#' cannot be known to be small: expect `"unclear"` or `"above"`.
#'
#' `reason` says why a verdict is `"unclear"` or `"not judged"`.
#'
#' @section Limits:
#' A limit is named by the measure as `estimates` names it, and is of its unit: records
#' for `k` (a limit of 3 is kept if no key has fewer than 3 records), values for `l`, numbers of
#' records or people for `n_unique`, `n_special`, `n_homogeneous`, `expected_reidentifications`,
#' `tau1`, `tau2`, and numbers from 0 to 1 for all others. `limit` replaces the defaults; use
#' `list()` for no limits.
#'
#' No limit is right for every release. The defaults, and others in use:
#'
#' \describe{
#'   \item{`k` of 3 (default) or 5}{a risk of 1/3 or 1/5: the usual frequencies for data
#'     that go to known users (El Emam 2013, chapter on precedents of cell sizes)}
#'   \item{`k` of 11 or 20}{for data open to anyone (the same)}
#'   \item{`journalist` of 0.05 (default)}{a key that 20 people share, the strictest of
#'     these sizes}
#'   \item{`journalist` of 0.09}{a key that 11 people share: clinical reports that anyone
#'     can read (European Medicines Agency 2016)}
#'   \item{`journalist` of 1/k}{k-map: no record has a risk above that of a key that k people of the
#'     population share}
#'   \item{`l` of 2 (default with a sensitive variable)}{see [attribute_risk()]}
#'   \item{`small_cells`}{no default; a minimum of 3 records per cell is the usual threshold
#'     rule for tables (Hundepool and others 2012)}
#' }
#'
#' @section Which measure to report:
#' Ask who attacks. If anyone can know that a person is in the file (a census, a
#' register, a panel, a small study), the prosecutor's measures count: k, sample uniques, T.
#' If nobody can, the journalist's: the largest record risk and tau1. A file that is open to anyone
#' is judged by both. `contradictions` has one row per pair of measures that seem to disagree, with
#' the reason (census or sample, prosecutor or journalist) and which to report when. The
#' vignette "Which risk for my release?" goes through the cases.
#'
#' @section Missing values:
#' One page has one rule, `missing`. By `"wildcard"`, the default, a missing value may be any
#' value, so that it matches everything: k, sample uniques and sensitive values after
#' [suppress_cells()] are the remedy's own. [population_risk()] judges a record by the values that
#' it has. T and tables of one and two variables need cells, and a record that may be in several
#' cells has none: if any record is incomplete on the key variables, these are `"not judged"`.
#'
#' If nothing was suppressed and values are missing at random, `missing = "exclude"` measures the
#' complete records alone, and limits that these keep are `"unclear"` for the file. After
#' [suppress_cells()] these are not the rare ones, and their figures are too low. Suppressed values
#' cannot be recognised in a file, so the choice is yours.
#'
#' @section Cost: A million records with ten key variables take about 3 s. [key_overview()] is
#' left out, and the page gives the call to run, if records times squared key variables exceed 2e8
#' (2e7 if records are incomplete), and the table of key sets if records times key sets exceed 1e9.
#'
#' @section Memory:
#' Beyond `data`, with five key variables and two threads: at most 500 bytes a record.
#'
#' @inheritParams sdcRisk-params
#' @inheritParams sdc_file
#' @param ... Rarely used arguments, those of `file_check_control()`, by their full names, or
#'   together: `control = file_check_control(...)`.
#' @param limit Limits named by measure, see the section on limits.
#' @param k The least number of matches that a record may have: short for `k` in `limit`.
#' @param p Size of the key sets of [qar_risk()]; the number of key variables if there
#'   are fewer.
#' @param missing `"wildcard"`, `"category"` or `"exclude"`: the rule of the page for
#'   missing values, see the section on missing values.
#'
#' @return An object of class `sdc_file_check`, an [sdc_result] whose print is a page of up
#' to 25 rows: the verdict, the measures that have a limit, the key variables that drive it, what
#' brings the file under its limit and one next line of code. `print(x, all = TRUE)` and
#' `summary()` have all measures. With
#' \describe{
#'   \item{`estimates`}{one row per measure: `question`, `measure`, `value`, `low` and
#'     `high` (an interval at 95%, `NA` for none), `scenario` (`"prosecutor"`,
#'     `"journalist"`, `"tables"`), `limit`, `verdict` (`"ok"`, `"above"`,
#'     `"unclear"`, `"not judged"`, `"no limit"`), `n_records_above` (records that are
#'     themselves above the limit, for measures of records), `reason`; this is `as.data.frame()`}
#'   \item{`records`}{one row per record: `n_matches`, `journalist_risk`, `prob_unique` (the chance
#'     that it is unique in the population), `household_risk`, `n_violations` (tables in which its
#'     cell is small), as far as they were measured, and `above` (whether any limit on records is
#'     exceeded)}
#'   \item{`roles`}{one row per column: `variable`, `role`, `looks_like`, `type`,
#'     `n_values`, `n_missing`, `missing_codes` (values that may stand for a missing one),
#'     their number `n_missing_codes` and that of the records with one, `n_coded_missing`,
#'     and `n_alike` (values that differ from another only by case, blanks or Unicode form)}
#'   \item{`drivers`}{one row per key variable, by what dropping it would buy: `variable`,
#'     `n_unique_without` (sample uniques left), `unique_change`, `risk_without` (T left),
#'     `share_top` (share of the riskiest key sets with it)}
#'   \item{`contradictions`, `next_steps`}{measures that differ and why; lines of code that run}
#'   \item{`diagnostics`}{`doubts`: by measure, why its interval is not known to hold; `signals`:
#'     warnings and messages of the methods, which are not signalled; `notes`; `population`;
#'     `told_missing`: columns that reveal or narrow key variables and are known if these are
#'     missing; `told_before`: others that reveal values that a protection in the history changed,
#'     `told_others` of other variables; `told_by_order`, `told_by_columns`: what the order and
#'     columns reveal; `told_by_ids`, `order_until_release`: what identifiers and the order do until
#'     [release_data()]; `finer_columns`: more detailed ones without a role; `not_compared`;
#'     `few_elsewhere`: records with few matches in other households, strata or of other persons}
#' }
#' Errors: those of [sdc_file()], `bad_argument` for limits of unknown measures or outside their
#' range, and `no_key_vars` without `key_vars` if columns look like identifiers, weights,
#' households or continuous variables: its field `proposed` is a call that names key variables.
#' @references
#' El Emam, K. (2013). Guide to the de-identification of personal health information.
#' CRC Press, Boca Raton. \doi{10.1201/b14764}.
#'
#' European Medicines Agency (2016). External guidance on the implementation of the
#' European Medicines Agency policy on the publication of clinical data for medicinal
#' products for human use. EMA/90915/2016.
#'
#' Hundepool, A., Domingo-Ferrer, J., Franconi, L., Giessing, S., Schulte Nordholt, E.,
#' Spicer, K. and de Wolf, P.-P. (2012). Statistical disclosure control. Wiley, Chichester.
#' \doi{10.1002/9781118348239}.
#' @family decisions
#' @seealso [records_at_risk()] for the records above a limit, [compare_risk()] for two
#'   files.
#' @concept k-anonymity
#' @concept k-map
#' @concept identity disclosure
#' @concept attribute disclosure
#' @export
#' @examples
#' keys <- c("CENREG", "DAGE3", "EDUC3", "GENDER", "BORNUSA", "DRACE3")
#' check <- file_check(nals_prison[c(keys, "WEIGHT")], keys, weight_var = "WEIGHT")
#' check # k is above its limit, the journalist risk may be
#' check$estimates[check$estimates$measure == "journalist", c("value", "low", "high")]
#' nrow(records_at_risk(check)) # 88
#' part <- adult[seq(1, 32561, by = 10), c("sex", "race")] # k-map with k = 20
#' k_map <- measures(file_check(part, pop_size = 32561, limit = list(journalist = 1 / 20)))
#' k_map[k_map$measure == "journalist", c("high", "verdict")] # 0.032, "ok"
#' min(n_matches(adult, names(part))$records$n_matches) # 109 people, counted
file_check <- function(data, key_vars = NULL, ..., limit = list(k = 3, journalist = 0.05),
                       k = NULL, weight_var = NULL, hh_id = NULL, strata_var = NULL,
                       sensitive = NULL, pop_size = NULL, key_groups = NULL,
                       missing = "wildcard") {
  ask <- enter("file_check", patterns = TRUE)
  check_no_dots(...)
  if (is.null(ask$key_vars)) ask_for_keys(ask)
  asked <- list(
    limit = check_limits(with_k(limit, k)), p = check_whole(ask$p, "p"),
    missing = check_choice(ask$missing, c("wildcard", "category", "exclude"), "missing")
  )
  with_progress("File check", {
    file <- check_file(ask$file, mget(setdiff(role_names, "missing"), envir = ask))
    asked <- c(asked, file$roles[c("hh_id", "sensitive", "strata_var")])
    # No key is to tell a sensitive value.
    if (!was_given("limit") && !is.null(asked$sensitive)) asked$limit$l <- 2
    asked$facts <- population_facts(file)
    asked$unit_id <- repeated_id(file)
    asked$id_left_out <- file$id_left_out
    coded <- coded_page(file, asked, labels_of_file(file))
    asked <- coded$asked
    table <- coded$table
    file$codes$shared <- TRUE
    # Prints of the file are made for the page alone.
    running$passing <- TRUE
    on.exit({
      file$codes$shared <- NULL
      running$passing <- FALSE
    }, add = TRUE)
    ran <- run_methods(file, asked)
    running$passing <- FALSE
    result <- new_file_check(file, table, ran, asked, ask$call)
    result$next_steps <- check_next_steps(result, file, data)
    if (!is.null(file$object) && length(file$history) == 0) inform_order_of_object(file)
    result
  })
}

#' @rdname file_check
#' @export
file_check_control <- function(p = 3, sampling_fraction = NULL, ...) {
  new_control("file_check_control")
}

# Without key variables all columns are meant. If some of these look like something else, which
# are key variables is for the user to say: no page is made of a guess.
ask_for_keys <- function(ask) {
  data <- ask$file$data
  if (!is.null(times_of(data))) {
    return(invisible())
  }
  served <- rlang::set_names(c("weight_var", "hh_id", "strata_var", "sensitive"))
  roles <- lapply(served, function(role) {
    if (length(ask[[role]])) names(data)[check_columns(ask[[role]], data, role)]
  })
  names <- setdiff(names(data), unlist(roles))
  looks <- looks_like(data, names)
  if (!any(nzchar(looks))) {
    return(invisible())
  }
  roles <- utils::modifyList(roles_by_looks(data, looks), Filter(length, roles))
  roles <- roles[lengths(roles) > 0]
  given <- ask$call$data
  given <- if (is.symbol(given)) given else as.name("your_data")
  # The page takes continuous variables from the file.
  call <- if (is.null(roles$num_vars)) {
    as.call(c(list(as.name("file_check"), given), roles))
  } else {
    call("file_check", as.call(c(list(as.name("sdc_file"), given), roles)))
  }
  stop_sdc(
    "no_key_vars", "`key_vars` must name the columns that an intruder can know.",
    x = paste0(
      "None were named, and columns look like something else: ",
      looks_words(names, looks, nzchar(looks)), "."
    ),
    i = separator_advice(names(data), NULL),
    i = if (length(roles$key_vars)) paste0("Proposed: ", code_text(call), "."),
    columns = names[nzchar(looks)], proposed = call
  )
}

# The file coded in one go, so that the methods share the codes, and what they are asked of it.
# Codes themselves come to R for `columns` of a page, and to judge incomplete records.
coded_page <- function(file, asked, labels = NULL, columns = TRUE) {
  table <- key_table(
    file, file$roles$key_vars, key_groups = file$roles$key_groups, candidates = TRUE,
    labels = labels, roles = role_columns(file$data, file$roles)
  )
  asked$variables <- table$variables
  asked$keys <- names(table$keys)
  asked$n_keys <- length(asked$keys)
  asked$remedy <- file$remedy
  asked$n_suppressed <- sum(file$states$n_suppressed)
  asked$n_incomplete <- table$n_incomplete
  asked[c("units", "stratum")] <- covering(file$data, file$roles)
  kept <- file$protected$kept
  asked$promised <- length(kept) > 0 && setequal(asked$keys, kept$keys) && table$n == kept$n &&
    sum(table$n_missing) == kept$n_missing && max(2, asked$limit$k) <= kept$k
  asked$promised_units <- asked$promised && all(names(asked$units) %in% kept$hh_id)
  apart <- length(asked$units) + length(asked$stratum) > 0
  if (columns || table$n_incomplete > 0 || apart) asked$coded <- coded_columns(table)
  asked$codes <- codes_to_match(asked, table, apart)
  asked$times <- if (is.null(table$times)) rep(1, table$n_rows) else table$times
  asked$p <- min(asked$p, asked$n_keys)
  list(table = table, asked = asked)
}

# The codes of the key variables, 0 for any value, of a page that has to look at the matches of
# incomplete records or, `apart`, of units and strata; NULL otherwise.
codes_to_match <- function(asked, table, apart) {
  codes <- unname(lapply(asked$coded[table$variables], `[[`, "codes"))
  if (table$n_incomplete > 0 && asked$missing == "wildcard") {
    codes_there(codes)
  } else if (apart && (table$n_incomplete == 0 || asked$missing == "category")) {
    lapply(codes, function(code) replace(code, code == 0L, max(code) + 1L))
  }
}

# All other columns that can be coded, those that methods ask for by the names they give them.
labels_of_file <- function(file) {
  data <- file$data
  at <- function(role) match(file$roles[[role]], names(data))
  labels <- c(households = at("hh_id"), sensitive_ = at("sensitive"))
  names(labels) <- sub("^sensitive_$", "sensitive_1", names(labels))
  others <- setdiff(seq_along(data), c(labels, at("key_vars"), unlist(lapply(
    file$roles$key_groups, match, names(data)
  ))))
  names(others) <- sprintf("column_%d", others)
  Filter(function(v) {
    !is_candidates(data[[v]]) && !is.null(column_source(data[[v]], nrow(data)))
  }, as.list(c(labels, others)))
}

# The columns of a table and of its labels by name: `codes`, `n_values` and `n_missing`.
coded_columns <- function(table) {
  tables <- c(list(table), table$labels)
  columns <- Map(function(table, codes) {
    columns <- Map(
      list, codes = codes, n_values = table$n_values, n_missing = table$n_missing
    )
    rlang::set_names(columns, table$variables)
  }, tables, all_codes(tables))
  unlist(unname(columns), recursive = FALSE)
}

# The file with its roles; what it was coded for before stays known.
check_file <- function(given, roles) {
  roles <- roles[!vapply(roles, is.null, NA)]
  file <- as_file(do.call(sdc_file, c(list(given$data), roles), quote = TRUE), "data")
  # So does what an sdcMicroObj says of suppressed values.
  for (role in file_roles) file$roles[[role]] <- given$roles[[role]]
  for (part in c("codes", past_parts)) {
    if (!is.null(given[[part]])) file[[part]] <- given[[part]]
  }
  if (!is.null(given$table)) {
    check_still_counted(given)
    file$table <- given$table
    file$in_database <- setdiff(colnames(given$table), names(file$data))
    file$ignored <- unlist(columns_ignoring(
      given$table, list(key_vars = file$roles$key_vars, patterns = given$data)
    ), use.names = FALSE)
  }
  file
}

# Size of the population, its source, and the arguments (`people`) for functions that do not take it
# from the file.
population_facts <- function(file) {
  n <- n_records(file$data)
  weights <- check_weights(file$data, file$roles$weight_var)
  given <- with_population(file, "pop_size")$pop_size
  summed <- if (!is.null(weights)) sum(weights)
  # A sum of weights that are no whole numbers may miss one by its rounding.
  whole <- !is.null(summed) && abs(summed - round(summed)) < 1e-9 * summed
  size <- if (!is.null(given)) given else if (whole) round(summed) else summed
  why <- weights_that_do_not_expand(weights, times_of(file$data), n)
  # They say who counts for more, and the population for how many all count.
  scale <- if (!is.null(why) && !is.null(given)) given / summed
  if (!is.null(why) && is.null(given)) size <- NULL
  counted <- is.null(summed) || is_census(weights, times_of(file$data))
  list(
    n = n, n_rows = nrow(file$data), pop_size = size, from = if (!is.null(given)) {
      "given"
    } else if (!is.null(size)) {
      "weights"
    } else {
      "unknown"
    },
    sum_weights = if (is.null(scale)) summed else given, scale = scale,
    census = !is.null(size) && size <= n && counted,
    expands = is.null(why) || !is.null(given), why = if (is.null(summed)) {
      "neither weights nor the size of the population are known: weight_var or pop_size"
    } else {
      why
    }
  )
}

# T beyond all key sets is an extrapolation.
extreme_measure <- function(rows) {
  risk <- rows$value[match(c("qar", "set_risk"), rows$measure)]
  if (isTRUE(risk[[1]] > risk[[2]])) "set_risk" else if (!is.na(risk[[1]])) "T"
}

new_file_check <- function(file, table, ran, asked, this_call) {
  found <- ran$found
  told <- told_by_columns(file$data, NULL, asked$keys, units_of(file)$ids, asked$coded)
  file$beside <- beside_in_table(file, asked)
  said <- told_of_page(file, asked)
  before <- said$before
  asked$history <- file$history
  asked$told_missing <- said$missing
  finer <- finer_columns(told, file$roles)
  asked$finer_columns <- finer[!told_pairs(finer) %in% told_pairs(before), ]
  if (!is.null(file$table)) asked <- asked_of_table(file, asked)
  of_keys <- before$variable %in% asked$keys
  asked$told_before <- before[of_keys, ]
  asked$told_by_order <- said$order
  asked$not_compared <- not_compared(file, asked)
  asked$ignored <- file$ignored
  rows <- check_rows(found, asked)
  of_records <- check_records_of(found, table, asked)
  rows$n_records_above <- as_count(unname(of_records$n_above[rows$measure]))
  facts <- c(asked$facts, extreme = extreme_measure(rows))
  settings <- file_settings(
    table,
    limit = asked$limit, p = asked$p, missing = asked$missing,
    weight_var = file$roles$weight_var, hh_id = asked$hh_id, sensitive = asked$sensitive,
    strata_var = file$roles$strata_var, pop_size = facts$pop_size, candidates = TRUE
  )
  new_sdc_result(
    "sdc_file_check",
    estimates = rows[c(
      "question", "measure", "value", "low", "high", "scenario", "limit", "verdict",
      "n_records_above", "reason"
    )],
    records = of_records$records, settings = settings,
    diagnostics = list(
      population = facts, missing = missing_cells(table, file$data),
      identifying = identifying_keys(table), n_incomplete = table$n_incomplete,
      history = file$history, told_missing = asked$told_missing, told_by_columns = told,
      told_before = asked$told_before, told_others = before[!of_keys, ], told_by_ids = said$by_ids,
      told_by_order = asked$told_by_order, order_until_release = said$order_until_release,
      few_elsewhere = few_elsewhere(found, asked),
      unit_id = asked$unit_id,
      finer_columns = asked$finer_columns, not_compared = asked$not_compared,
      ignored = asked$ignored,
      doubts = population_doubts(found, asked), signals = signal_table(ran$signals),
      notes = check_notes(facts)
    ),
    call = this_call, roles = look_at_columns(file, asked$coded), drivers = check_drivers(found),
    contradictions = check_contradictions(rows, facts)
  )
}

# The same of a table of a database: `few_in_table`, records that share their key with too few
# values of an identifier, and columns that are more detailed than key variables.
asked_of_table <- function(file, asked) {
  others <- setdiff(file$in_database, unlist(file$roles))
  found <- finer_in_table(file$table, file$data, asked$keys, others)
  asked$finer_columns <- found$finer
  asked$odd_in_table <- found$odd
  ids <- as.character(intersect(file$roles$id_vars, colnames(file$table)))
  asked$few_in_table <- vapply(rlang::set_names(ids), function(id) {
    few_units_in_table(file$table, asked$keys, id, max(2, asked$limit$k))
  }, 0)
  asked$unit_id <- ids[vapply(ids, function(id) repeats_in_table(file$table, id), NA)]
  asked
}

# What other columns of a file, and the order of its records, tell of missing and of protected
# values, and what columns do that its release leaves out.
told_of_page <- function(file, asked) {
  seen <- without_blanks(file, asked)
  before <- told_before(file, asked)
  missing <- told_compared(file, told_else(told_missing(file, seen, asked), before))
  before <- before[!told_pairs(before) %in% told_pairs(missing), ]
  list(
    missing = told_here(file, missing), before = told_here(file, before),
    by_ids = told_by_ids(file, rbind(missing, before)),
    order = told_by_kept_order(file, seen, asked$keys),
    order_until_release = if (has_ids(file)) order_of_file(file, asked$keys)
  )
}

# What the order of a file reveals of key variables.
order_of_file <- function(file, keys) {
  told <- file$told$order
  told[told$variable %in% keys & (is.na(told$by) | told$by %in% names(file$data)), ]
}

# The data of a file and the codes of its columns, in which a blank text is missing: SPSS and Stata
# write it for a missing one.
without_blanks <- function(file, asked) {
  data <- file$data
  coded <- asked$coded
  for (name in asked$keys) {
    x <- data[[name]]
    blank <- if (is.factor(x)) {
      which(as_bare(x) %in% which(levels(x) == ""))
    } else if (is.character(x)) {
      which(!nzchar(x))
    }
    # Beside missing values a blank is a value.
    if (length(blank) && !anyNA(x)) {
      data[[name]][blank] <- NA
      coded[[name]]$codes[blank] <- 0L
    }
  }
  list(data = data, coded = coded)
}

# Columns that tell or narrow missing values of a key variable, which were suppressed in vain. A
# column that reveals values narrows these, too. Suppressed values of a data frame were compared
# with the originals, those of a table were not, nor those that were missing before.
told_missing <- function(file, seen, asked) {
  keys <- asked$keys
  in_table <- !is.null(file$beside)
  n_missing <- function() {
    sum(vapply(seen$coded[keys], function(column) sum(column$codes == 0L), 0L))
  }
  compared <- !in_table && length(file$history) > 0 && asked$n_suppressed >= n_missing() / 2
  told <- told_by_columns(
    if (in_table) file$beside else seen$data, NULL, keys, units_of(file)$ids,
    if (!in_table) seen$coded, missing = TRUE, ties = !compared
  )
  # Patterns have no other columns.
  if (is.null(told)) {
    return(told)
  }
  # Key variables are associated: few values can seem to follow from another one.
  by_keys <- told$by %in% told_among(told, keys)$by
  told <- told[!by_keys | !told$part & told$share >= 0.5, ]
  told <- told[order(match(told$variable, keys), told$part | told$share < 0.5, -told$n), ]
  told[!duplicated(told[c("variable", "by")]), ]
}

# A release of a protected file would leave identifiers out. In a release they were asked for, and a
# file without history may be one that was written.
told_here <- function(file, told) if (has_ids(file)) told_unasked(told) else told

# What they reveal until then; `id` is left out.
told_by_ids <- function(file, told) {
  told <- told[has_ids(file) & told$identifier, ]
  if (NROW(told) == 0) {
    return(told)
  }
  parts <- strsplit(told$by, " + ", fixed = TRUE)
  columns <- as.list(file$data)[intersect(unlist(parts), names(file$data))]
  ids <- c(units_of(file)$ids, identifiers_of(columns, file$roles))
  told$id <- vapply(parts, function(names) paste(intersect(names, ids), collapse = ", "), "")
  told
}

has_ids <- function(file) length(file$history) > 0 && !isTRUE(file$forgotten)

# What protections found by comparing with the original. What key variables tell of each other is
# for measures that count keys.
told_before <- function(file, asked) {
  told <- told_of_rest(file)
  # An sdcMicroObj has no history, but the values of its beginning.
  first <- if (!is.null(file$object)) first_original(file)
  if (!is.null(first)) {
    told <- told_by_columns(first, file$data, names(file$original), units_of(file)$ids)
  }
  told <- told_among(told, names(file$data))
  by_keys <- told$by %in% told_among(told, asked$keys)$by
  told[!(by_keys & told$variable %in% asked$keys), ]
}

# Of variables whose first values this session knows, what a comparison with these counts.
told_compared <- function(file, told) {
  variables <- intersect(told$variable, names(file$original))
  from <- if (length(variables) && is.data.frame(file$data)) {
    with_columns(file$data, file$original)
  }
  if (is.null(from)) {
    return(told)
  }
  found <- chain_told_by_columns(
    from, NULL, file$data, union(variables, file$roles$key_vars), units_of(file)$ids, variables
  )
  at <- match(paste(told_pairs(told), told$part), paste(told_pairs(found), found$part))
  told[!is.na(at), ] <- found[at[!is.na(at)], ]
  told[!told$variable %in% variables | !is.na(at), ]
}

# Rows without those of which a comparison with the original, `known`, has another number of as many
# values.
told_else <- function(told, known) {
  if (NROW(known) == 0) {
    return(told)
  }
  known <- known[match(told_pairs(told), told_pairs(known)), ]
  n <- function(told) round(told$n / told$share)
  told[is.na(known$n) | told$n == known$n | n(told) > n(known), ]
}

# Columns of a protected file whose values have no order and no equality that is known, and all
# others of a table of a database: nobody knows what they reveal of the values that are missing or
# were changed.
not_compared <- function(file, asked) {
  if (asked$n_incomplete > 0 || length(file$history)) {
    others <- setdiff(names(file$data), unlist(file$roles))
    odd <- function(name) is.null(column_source(file$data[[name]], n_records(file$data)))
    # The ids of a released table show its old order.
    known <- setdiff(names(file$roles), if (isTRUE(file$forgotten)) "id_vars")
    c(
      setdiff(c(Filter(odd, others), file$in_database), unlist(file$roles[known])),
      if (asked$n_incomplete > 0) setdiff(table_columns(file), names(file$beside))
    )
  } else {
    asked$odd_in_table
  }
}

# What the order of a release reveals, its own or that of a column in it. A file without history may
# be a release that was written: then, what its order reveals of missing values.
told_by_kept_order <- function(file, seen, keys) {
  left <- isTRUE(file$forgotten)
  told <- if (left) order_of_file(file, keys)
  # A release may have been sorted since. Households stay together in it, which was compared.
  looks <- if (left) length(file$roles$hh_id) == 0 else length(file$history) == 0
  open <- if (looks) setdiff(keys, told$variable[is.na(told$by)])
  if (length(open) && is.null(file$object) && is.null(times_of(file$data))) {
    told <- rbind(told, order_tells_missing(lapply(rlang::set_names(open), function(name) {
      list(values = seen$data[[name]], codes = seen$coded[[name]]$codes)
    }), seen$data, if (length(file$roles$hh_id)) seen$coded[[file$roles$hh_id]]$codes))
  }
  told
}

signal_table <- function(signals) {
  of <- function(field) vapply(signals, `[[`, "", field)
  methods <- c(
    check_matches = "n_matches", check_law = "population_risk", check_qar = "qar_risk",
    check_overview = "key_overview"
  )
  method <- of("method")
  ours <- method %in% names(methods)
  method[ours] <- methods[method[ours]]
  frame(method = method, kind = of("kind"), text = of("text"))
}

# Limits --------------------------------------------------------------------------

# Limits by measure, as doubles; the empty list for none.
check_limits <- function(limit) {
  if (is.null(limit) || length(limit) == 0) {
    return(list())
  }
  limit <- as.list(limit)
  catalogue <- page_figures()
  names <- names(limit)
  if (is.null(names) || !all(nzchar(names)) || anyDuplicated(names)) {
    stop_argument(
      "limit", "be a list of limits, each named by its measure, once",
      advice = "Such as limit = list(k = 3, journalist = 0.05)."
    )
  }
  unknown <- setdiff(names, catalogue$measure)
  if (length(unknown)) {
    stop_sdc(
      "bad_argument", "`limit` must name measures of the page.",
      x = paste0("Unknown: ", quote_names(unknown), "."),
      i = nearest_names(unknown, catalogue$measure),
      i = paste0("Measures: ", paste(catalogue$measure, collapse = ", "), "."),
      argument = "limit", unknown = unknown
    )
  }
  units <- catalogue$unit[match(names, catalogue$measure)]
  Map(function(value, name, unit) check_one_limit(value, name, unit), limit, names, units)
}

check_one_limit <- function(value, name, unit) {
  number <- are_distinct_numbers(value, FALSE) && is.finite(value)
  inside <- function(low, high) number && value >= low && value <= high
  good <- switch(unit,
    share = , risk = inside(0, 1), matches = inside(1, Inf) && value == round(value),
    inside(0, Inf)
  )
  if (good) {
    return(as.double(value))
  }
  arg <- paste0("limit$", name)
  found <- given_words(value)
  switch(unit,
    share = , risk = stop_argument(arg, "be one number from 0 to 1", found, percent_advice(value)),
    matches = stop_argument(
      arg, "be a whole number of records of at least 1", found,
      if (inside(1e-9, 1)) {
        paste0("A risk of ", format_number(value), " is one of ", format_number(1 / value), ".")
      }
    ),
    stop_argument(arg, "be one number of at least 0", found)
  )
}
