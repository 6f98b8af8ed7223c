#' Declare the roles of the columns of a file
#'
#' Declares key variables, weights, households, sensitive variables and the size of the population
#' of a file once. Use the result as `data` of every function. It remains a data frame; its
#' `summary()` shows the roles found, and columns that look like roles not yet given.
#'
#' @concept quasi-identifier
#' @concept direct identifier
#' @concept key variable
#'
#' @details
#' A role takes the place of the argument of the same name in every function. An argument that is
#' given to a function comes first, even if it is `NULL`. A function uses the roles that it has
#' arguments for and ignores the others. `key_vars` holds a column with another role only if you
#' name it there.
#' If the function takes `pop_size` and the file was given
#' `sampling_fraction`, or the reverse, one follows from the other by the number
#' of records: \eqn{\pi = n / N}{pi = n / N}.
#'
#' The file is a data frame, tibble or data.table, as `data` was, with roles:
#' `sdc_roles(file)` gives them. Verbs of R and dplyr keep them. A renamed column keeps its
#' role; a column that is dropped loses it, with a message (`role_lost`). If records are left
#' out, by `filter()` or `file[rows, ]`, a message (`file_part`) says so once, and the size of
#' the population, which was that of the whole file, is dropped. `head()` and `as.data.frame()`
#' give records without roles, `count()` and `summarise()` what they give for any data frame. A
#' table whose rows are not records, such as that of `pivot_longer()`, has no roles, with a message,
#' nor has a join with the file in the second place: `rbind()` and joins take the roles of their
#' first file. A grouped data frame is an error.
#'
#' The codes of the key variables are kept with the file, so that a second method on the same key
#' variables need not code them. A changed column is coded again, and so are a file that was saved
#' and read, and a data.table, whose columns can change in place.
#'
#' @section Scenario: The file states the scenario once: what an intruder knows (`key_vars`,
#' `key_groups`), who can be meant (`pop_size`, `weight_var`) and, with `prob_attempt`, how likely
#' an attempt is. A correct match then has probability
#' \eqn{P(\text{attempt}) P(\text{match} \mid \text{attempt})}{P(attempt) P(match | attempt)}. Every
#' risk remains conditional on an attempt, in `estimates`, `records`, limits and verdicts alike.
#' Prints add a line of products, and [sdc_report()] a column. How many of the targets are in the
#' file is a fact about the intruder's data: `coverage` of [link_attack()].
#'
#' @section What the summary looks for: No role is guessed: a column that looks like an
#' identifier or a weight does not become one. Use these lines as a reason to look.
#'
#' \describe{
#'   \item{an identifier}{text, dates or whole numbers, nearly all different: more values
#'     than 90% of at least 20 records that are not missing. Whole numbers also need a name
#'     such as id, no or person, or they rise or fall with every record, lie closer than two
#'     apart on average, or all have the same number of digits}
#'   \item{a weight}{positive numbers whose name says so (weight, wgt, wt, pond,
#'     gewicht and the like)}
#'   \item{a household}{values that repeat, 1.1 to 12 records each on average,
#'     and a name that says so (hh, hid, household, haushalt, menage)}
#'   \item{a continuous variable}{more than 30 different numbers with a fraction, or different
#'     ones in more than a fifth of at least 20 records; more than 100 different whole numbers in
#'     more than a fifth of the records, or more than 1,000 that differ in their number of digits}
#'   \item{missing codes}{numbers such as 9, 97 to 99, 999 or -9 to -1 that stand
#'     farther apart from all other values of a variable than these from each other,
#'     text such as "-9" or "99" if all others are words, and text such as "NA" or ".", which
#'     are values to every method unless they are
#'     declared missing. The summary counts them; `roles` of a [file_check()] says which}
#' }
#'
#' @section A table of a database:
#' The file of a lazy table of dbplyr is this table with roles. Verbs of dplyr keep them by the
#' rules above, and run no query. A verb that can leave out records, such as `filter()` or
#' `inner_join()`, says that the file can now be a part. `sdc_file()` counts the patterns of the key
#' variables, as does the first function that measures the file after a verb, or `dim()`. If a join
#' repeats records, nothing says so: compare `nrow()`. `collect()` gives the file in R with its
#' roles and history, `head()` and `as.data.frame()` give records without roles. Verbs that need
#' records in R, such as `$`, `[` and `merge()`, are an error (`bad_data`) that names the verb of
#' dplyr. Households, strata, continuous variables and clusters are an error (`bad_argument`).
#' `id_vars` are neither counted nor released. [release_in_database] describes the protection.
#'
#' @section Cost:
#' Creating the file checks the columns named and codes nothing. The summary codes
#' every column once: about 0.1 s for a million records and ten key variables.
#'
#' @param data A data frame, tibble or data.table with one row per record. A survey design of
#'   the packages survey or srvyr, whose weights and strata are taken. Or an
#'   `sdc_file`, whose roles are kept if no new ones are given. An sdcMicroObj
#'   brings its own, see [store_result()]. A result of [suppress_cells()] or
#'   [invariant_pram()] is taken as its protected data, with the roles of the original. A
#'   [pattern_table()], or a table of a database, which is counted into one.
#' @param key_vars The key variables: names as text, positions, or a selection as in dplyr, such
#'   as `c(age, sex)`, `starts_with("pb")` or `-income`. `NULL`: all columns
#'   that have no other role and do not look like a weight, a household or an
#'   identifier; a message of class `sdcRisk_message_columns_left_out` names those.
#' @inheritParams sdcRisk-params
#' @param strata_var Names of the columns that make strata.
#' @param sensitive Names of the sensitive variables.
#' @param ... Further roles, by name: `id_vars`, columns that identify persons, which are not key
#'   variables and which [release_data()] leaves out; `num_vars`, continuous variables; `cluster`,
#'   the primary sampling units; `prob_attempt`, the probability that an intruder tries, above 0
#'   and at most 1. `sensitive_vars` and `strata` are other names of `sensitive` and `strata_var`.
#' @param pop_size,sampling_fraction Number of people in the population, or share
#'   of it in the file. If both are given they must agree.
#' @param missing `"wildcard"`, `"category"` or `"exclude"`: the rule for missing
#'   values. `NULL`: that of every function.
#'
#' @return `data` with the class `sdc_file` and the roles. The print is that of a tibble below
#'   a line of roles. A file of a pattern table holds patterns: it is not a data frame, and
#'   prints as its summary. The file of a table of a database is the table with roles, see below.
#'
#'   Errors: `bad_data`, `unknown_key_var`, `bad_column` for key variables without
#'   defined values, `bad_weights`, `bad_argument`.
#' @family data
#' @concept quasi-identifier
#' @concept direct identifier
#' @export
#' @examples
#' file <- sdc_file(
#'   nals_prison, c("CENREG", "DAGE3", "EDUC3", "GENDER", "BORNUSA", "DRACE3"),
#'   weight_var = "WEIGHT"
#' )
#' file
#' summary(file) # what was found in it
#' n_matches(file)$estimates$n_unique # 52
#' individual_risk(file)$estimates$expected_reidentifications # 0.6467
#' population_risk(sdc_file(file, prob_attempt = 0.1)) # times 0.1 in a line of its own
sdc_file <- function(data, key_vars = NULL, ..., weight_var = NULL, hh_id = NULL,
                     strata_var = NULL, sensitive = NULL, pop_size = NULL,
                     sampling_fraction = NULL, key_groups = NULL, missing = NULL) {
  UseMethod("sdc_file")
}

#' @export
sdc_file.default <- function(data, ...) {
  announce("sdc_file")
  check_given("data")
  # The protected data of a result, or an error.
  sdc_file(as_file(data, "data"), ...)
}

#' @export
sdc_file.data.frame <- function(data, key_vars = NULL, ..., weight_var = NULL,
                                hh_id = NULL, strata_var = NULL, sensitive = NULL,
                                pop_size = NULL, sampling_fraction = NULL,
                                key_groups = NULL, missing = NULL) {
  announce("sdc_file")
  check_column_arguments()
  more <- more_roles(data, ...)
  if ("sensitive" %in% names(more)) sensitive <- more$sensitive
  if ("strata_var" %in% names(more)) strata_var <- more$strata_var
  check_records(data)
  stop_grouped(data)
  one <- function(x, arg) if (!is.null(x)) names(data)[check_column(x, data, arg)]
  some <- function(x, arg) if (length(x)) names(data)[check_columns(x, data, arg)]
  roles <- list(
    weight_var = one(weight_var, "weight_var"), hh_id = one(hh_id, "hh_id"),
    strata_var = some(strata_var, "strata_var"), sensitive = some(sensitive, "sensitive"),
    id_vars = some(more$id_vars, "id_vars"), num_vars = some(more$num_vars, "num_vars"),
    cluster = some(more$cluster, "cluster")
  )
  single <- roles[c("weight_var", "hh_id")]
  others <- unlist(roles[c("hh_id", "strata_var", "sensitive")])
  if (!is.null(single$weight_var) && single$weight_var %in% others) {
    stop_argument(
      "weight_var", "name a column that has no other role",
      found = paste0("Named twice: ", quote_names(single$weight_var), ".")
    )
  }
  inform_odd_households(data, roles$hh_id)
  check_weights(data, weight_var)
  check_fraction(n_records(data), pop_size, sampling_fraction)
  keys <- file_keys(data, key_vars, key_groups, roles)
  roles$sensitive <- sensitive_unknown(roles$sensitive, keys$key_vars)
  if (!is.null(missing)) {
    missing <- check_choice(missing, c("wildcard", "category", "exclude"), "missing")
  }
  close_file(new_file(data, c(
    list(key_vars = keys$key_vars), roles,
    list(
      pop_size = pop_size, sampling_fraction = sampling_fraction,
      key_groups = keys$key_groups, missing = missing, prob_attempt = more$prob_attempt
    )
  )))
}

#' @export
sdc_file.sdc_file <- function(data, key_vars = NULL, ..., weight_var = NULL, hh_id = NULL,
                              strata_var = NULL, sensitive = NULL, pop_size = NULL,
                              sampling_fraction = NULL, key_groups = NULL, missing = NULL) {
  announce("sdc_file")
  check_column_arguments()
  old <- as_file(data, "data")
  given <- c(given_roles(), more_roles(all_columns_of(old), ...))
  kept <- old$roles[setdiff(names(old$roles), same_question(names(given)))]
  data <- if (is.null(old$table)) old$data else old$table
  file <- as_file(do.call(sdc_file, c(list(data), kept, given), quote = TRUE), "data")
  for (part in past_parts) file[[part]] <- old[[part]]
  close_file(file)
}

#' @export
sdc_file.sdc_open_file <- sdc_file.sdc_file

#' Roles of the columns of a file
#'
#' @param x An [sdc_file()], or a result of a remedy such as [suppress_cells()].
#' @return A list of the roles that were given, named by the arguments of [sdc_file()]:
#'   columns by name, and the numbers about the population. Other objects are an error of
#'   class `sdcRisk_error_bad_data`.
#' @family data
#' @export
#' @examples
#' file <- sdc_file(nals_prison, c("CENREG", "GENDER"), weight_var = "WEIGHT")
#' sdc_roles(file)$key_vars # "CENREG" "GENDER"
#' names(file)[names(file) == "CENREG"] <- "region"
#' sdc_roles(file)$key_vars # "region" "GENDER"
sdc_roles <- function(x) {
  announce("sdc_roles")
  check_given("x")
  if (!is_file(x) && !is_remedy(x) && !is_pattern_table(x) && !is_sdcmicro(x)) {
    stop_sdc(
      "bad_data", "`x` must be a file with roles, made by sdc_file().",
      x = paste0("It has class ", quote_names(class(x)), "."),
      i = if (is.data.frame(x)) "Give the roles first: sdc_file(x, key_vars = c(...)).",
      data_class = class(x)
    )
  }
  if (is_file_table(x)) attr(x, "roles") else as_file(x, "x")$roles
}

# The roles that the exported function was given, NULL among them.
given_roles <- function() lapply(rlang::set_names(role_names[was_given(role_names)]), argument)

# The population size answers the question of the sampling fraction, too.
same_question <- function(roles) {
  both <- c("pop_size", "sampling_fraction")
  if (any(both %in% roles)) union(roles, both) else roles
}

# Roles that few files have come through `...` by name; everything else there is refused.
more_roles <- function(data, ...) {
  running$ask$.controls <- names(file_dots)
  check_no_dots(...)
  given <- rlang::enquos(...)
  given <- given[names(given) %in% names(file_dots)]
  columns <- given[names(given) != "prob_attempt"]
  roles <- Map(read_columns, names(columns), columns, MoreArgs = list(data = data))
  Map(refuse_lone_number, roles, names(roles))
  attempt <- lapply(given[names(given) == "prob_attempt"], function(given) {
    x <- rlang::eval_tidy(given)
    if (!is.null(x)) check_share(x, "prob_attempt")
  })
  rlang::set_names(c(roles, attempt), file_dots[c(names(roles), names(attempt))])
}

file_dots <- c(
  id_vars = "id_vars", num_vars = "num_vars", cluster = "cluster", sensitive_vars = "sensitive",
  strata = "strata_var", prob_attempt = "prob_attempt"
)

# The sensitive variables that an intruder does not know as key variables.
sensitive_unknown <- function(sensitive, keys) {
  both <- intersect(sensitive, keys)
  if (length(both)) {
    inform_sdc(
      "known_sensitive",
      paste0("Key variables are not sensitive variables here: ", quote_names(both), "."),
      i = "An intruder who knows a value has nothing to learn of it.",
      columns = both
    )
  }
  setdiff(sensitive, keys)
}

# The key variables by name, and their groups; checked as every method checks
# them.
file_keys <- function(data, key_vars, key_groups, roles) {
  positions <- resolve_key_vars(data, key_vars, match(unlist(roles), names(data)))
  if (is.null(key_vars)) positions <- without_other_looks(data, positions)
  check_no_roles(data, positions, match(c(roles$weight_var, roles$hh_id), names(data)))
  variables <- names(data)[positions]
  column_sources(data, positions, candidates = TRUE)
  keys <- resolve_key_groups(key_groups, data, positions, variables)
  groups <- lapply(keys[lengths(keys) > 1], function(v) variables[v])
  list(key_vars = variables, key_groups = if (length(groups)) groups)
}

# Of columns that nobody named, those that look like a weight, a household or an identifier
# are no key variables: every record would count as unique.
without_other_looks <- function(data, positions) {
  if (!is.null(times_of(data))) {
    return(positions)
  }
  looks <- looks_like(data, names(data)[positions])
  out <- looks %in% c("weight", "household", "identifier")
  if (!any(out) || all(out)) {
    return(positions)
  }
  inform_sdc(
    "columns_left_out",
    paste0("Not taken as key variables: ", looks_words(names(data)[positions], looks, out), "."),
    i = "Name their role (`weight_var`, `hh_id`), or name them in `key_vars`.",
    columns = names(data)[positions[out]]
  )
  positions[!out]
}

# Entering a method -----------------------------------------------------------

# The first line of an exported function that takes a file, whatever its type: what the
# function goes on with is in the answer, see announce(). `patterns`: whether the function can
# do with patterns and their counts instead of records.
enter <- function(name, arg = "data", patterns = FALSE, at = sys.parent()) {
  force(at)
  read_file(announce(name, at), arg, patterns)
}

# Arguments that were not given take the file's roles.
read_file <- function(ask, arg = "data", patterns = FALSE) {
  force(ask)
  check_given(arg)
  check_column_arguments()
  take_arguments(ask)
  file <- as_file(argument(arg), arg)
  ask$file <- file
  ask[[arg]] <- file$data
  take_roles(ask, file)
  if (!is.null(file$defaults)) take_defaults(ask, file)
  check_takes_patterns(file, patterns, arg)
  # Not given at all, it is for the function itself to ask for.
  if ("hh_id" %in% ask$.arguments) inform_odd_households(file$data, get0("hh_id", ask))
  remember(ask, rlang::set_names(list(file$roles), arg))
  note_patterns(ask, file)
}

# Arguments that a file may answer, as they were given, or their defaults.
take_arguments <- function(ask) {
  defaults <- formals(sys.function(ask$.at))
  for (arg in intersect(c(role_names, micro_names), ask$.arguments)) {
    known <- arg %in% ask$.given || !identical(defaults[[arg]], rlang::missing_arg())
    if (known) ask[[arg]] <- argument(arg)
  }
}

# Opens two waves or files, the first perhaps a list of earlier releases. Roles of the first take
# precedence over those of the second. `lazy`: TRUE if the function takes tables of a database and
# pattern tables.
enter_waves <- function(name, args = c("wave1", "wave2"), lazy = FALSE, at = sys.parent()) {
  force(at)
  ask <- announce(name, at)
  check_given(args)
  check_column_arguments()
  take_arguments(ask)
  for (arg in args) {
    wave <- argument(arg)
    if (is_remedy(wave)) {
      wave <- if (arg == "after") bare_frame(check_result(wave)$data) else released_file(wave, arg)
    }
    if (is_sdcmicro(wave)) wave <- micro_file(wave, arg)
    if (is_counted_wave(wave) && !lazy) stop_needs_records(arg, wave)
    if (is_pattern_table(wave)) check_whole_patterns(wave)
    if (is_file(wave)) {
      wave <- as_file(wave, arg)
      check_takes_patterns(wave, lazy, arg)
      take_roles(ask, wave)
      patterns <- !is.null(times_of(wave$data))
      wave <- if (patterns) as_pattern_table(wave$data, wave$roles$key_vars) else wave$data
    } else if (is.list(wave) && !is.data.frame(wave) && !is_counted_wave(wave)) {
      wave <- lapply(wave, bare_data)
    }
    ask[[arg]] <- wave
  }
  remember(ask)
}

# Opens an argument given as a file.
as_file <- function(x, arg) {
  if (is_open_file(x)) {
    check_whole_file(x)
    if (rlang::is_weakref(x$original)) x$original <- rlang::wref_value(x$original)
    return(x)
  }
  if (inherits(x, "sdc_file")) {
    inform_perturbed(counted_file(open_file(x)))
  } else if (is_sdcmicro(x)) {
    micro_file(x, arg)
  } else if (is_pattern_table(x)) {
    pattern_file(x)
  } else if (is_design(x)) {
    design_file(x)
  } else if (is_lazy_table(x)) {
    lazy_file(x)
  } else if (is_remedy(x)) {
    inform_perturbed(released_file(x, arg))
  } else {
    check_data_frame(x, arg)
    structure(list(data = x, roles = list(), codes = NULL), class = "sdc_open_file")
  }
}

# The patterns of a table of a database are counted once, when a function needs them.
counted_file <- function(file) {
  if (is.null(file$data)) {
    roles <- file$roles
    columns <- unique(c(roles$key_vars, roles$sensitive))
    if (is.null(roles$key_vars)) {
      columns <- setdiff(colnames(file$table), c(roles$weight_var, roles$id_vars))
      roles$key_vars <- setdiff(columns, roles$sensitive)
    }
    file$roles$key_vars <- roles$key_vars
    # Without the order of arrange(), which counts do not need.
    table <- dplyr::arrange(file$table)
    file$data <- pattern_file(pattern_table(table, columns, weight_var = roles$weight_var))$data
    file$codes$counted <- file$data
  }
  file
}

# The protected data of a result as a file, with the roles that the original had: a
# protected file can be measured without naming them again.
released_file <- function(x, arg) counted_file(uncounted_release(x, arg))

# Of a table of a database without its patterns.
uncounted_release <- function(x, arg) {
  check_result(x)
  if (is_sdcmicro(x$data)) {
    file <- micro_file(x$data, arg)
    file$told$columns <- x$diagnostics$told_by_columns
    return(file)
  }
  used <- x$settings[c("weight_var", "hh_id", "strata_var")]
  # Of a suppression `key_vars` are linked variables, too.
  sets <- unique(unlist(x$settings$key_sets))
  keys <- if (length(sets)) sets else x$settings$key_vars
  used <- c(list(key_vars = keys), used[lengths(used) > 0])
  roles <- attr(x, "asked")$arguments$data$roles
  roles <- c(roles[setdiff(names(roles), c(names(used), "missing"))], used)
  file <- if (inherits(x$data, "tbl_lazy")) {
    kept <- if (is_file_table(x$data)) attr(x$data, "kept")
    file <- file_of_table(new_file(kept$counted, list()), bare_frame(x$data), roles)
    if (is.environment(kept)) file$codes <- kept
    file
  } else {
    new_file(bare_frame(x$data), roles)
  }
  step <- remedy_step(x)
  past <- with_step(attr(x, "past"), sub("^sdc_", "", class(x)[[1]]), step$words, step$states)
  for (part in names(past)) file[[part]] <- past[[part]]
  file[c("original", "forgotten")] <- original_behind(x)
  file$told <- list(
    order = rbind(past$told$order, x$diagnostics$told_by_order),
    columns = rbind(past$told$columns, x$diagnostics$told_by_columns)
  )
  if (inherits(x, "sdc_suppress_cells")) {
    # Blanks can be any value, where the function knows of that.
    file$defaults <- list(missing = "wildcard")
    file$protected <- list(suppressed = x$estimates$n_suppressed, kept = kept_by(x, keys))
  }
  file
}

inform_perturbed <- function(file) {
  if (identical(file$remedy, "invariant_pram")) {
    inform_sdc(
      "perturbed_keys", "Key variables of this file are perturbed.",
      i = paste(
        "Measures that count agreeing records do not say how risky it is: see ?release_data.",
        "pram_audit() does."
      ),
      columns = file$states$variable[grepl("randomised", file$states$state)]
    )
  }
  file
}

# Arguments that nobody gave become the file's roles.
take_roles <- function(ask, file) {
  if (length(file$roles) == 0) {
    return(invisible())
  }
  takes <- intersect(role_names, ask$.arguments)
  open <- setdiff(takes, same_question(intersect(takes, ask$.given)))
  roles <- with_population(file, takes)
  for (role in intersect(open, names(roles))) ask[[role]] <- roles[[role]]
  ask$.given <- union(ask$.given, intersect(open, names(roles)))
}

# The roles with the population in the words that a function takes.
with_population <- function(file, takes) {
  roles <- file$roles
  n <- n_records(file$data)
  if (!is.null(roles$pop_size)) {
    roles$sampling_fraction <- if (!"pop_size" %in% takes) n / roles$pop_size
  } else if (!is.null(roles$sampling_fraction) && !"sampling_fraction" %in% takes) {
    roles$pop_size <- n / roles$sampling_fraction
  }
  roles
}

#' @export
sdc_file.tbl_lazy <- function(data, key_vars = NULL, ..., weight_var = NULL, hh_id = NULL,
                              strata_var = NULL, sensitive = NULL, pop_size = NULL,
                              sampling_fraction = NULL, key_groups = NULL, missing = NULL) {
  announce("sdc_file")
  columns <- name_frame(colnames(data))
  more <- more_roles(columns, ...)
  if ("sensitive" %in% names(more)) sensitive <- more$sensitive
  of_table <- c("id_vars", "sensitive", "prob_attempt")
  of_records <- c(mget(c("hh_id", "strata_var")), more[setdiff(names(more), of_table)])
  for (role in names(Filter(Negate(is.null), of_records))) {
    stop_argument(
      role, "be NULL for a table of a database",
      found = "A table of patterns and counts has no single records.",
      advice = "Bring the table into R to use it: sdc_file(dplyr::collect(table), ...)."
    )
  }
  one <- function(x, arg) if (!is.null(x)) names(columns)[check_column(x, columns, arg)]
  some <- function(x, arg) if (length(x)) names(columns)[check_columns(x, columns, arg)]
  id_vars <- some(more$id_vars, "id_vars")
  sensitive <- some(sensitive, "sensitive")
  weight_var <- one(weight_var, "weight_var")
  key_vars <- some(key_vars, "key_vars")
  if (is.null(key_vars)) key_vars <- setdiff(names(columns), c(weight_var, sensitive, id_vars))
  table <- pattern_table(data, unique(c(key_vars, sensitive)), weight_var = weight_var)
  given <- list(
    sensitive = sensitive, pop_size = pop_size, sampling_fraction = sampling_fraction,
    key_groups = key_groups, missing = missing
  )
  file <- do.call(sdc_file, c(
    list(table, key_vars = key_vars), given[!vapply(given, is.null, NA)]
  ))
  close_file(file_of_table(file, data, list(id_vars = id_vars, prob_attempt = more$prob_attempt)))
}

# An open file of patterns with the table of a database that they were counted in.
file_of_table <- function(file, table, roles) {
  roles <- roles[setdiff(names(roles), c(names(file$roles), "hh_id", "strata_var"))]
  file$roles <- c(file$roles, roles[lengths(roles) > 0])
  file$table <- dplyr::ungroup(table)
  file
}

# The file of a lazy table that a function was given as `data`: the patterns of what it
# asks about, as its other arguments say.
lazy_file <- function(x) {
  of <- function(name) if (was_given(name)) argument(name)
  names <- colnames(x)
  named <- function(columns) if (is.numeric(columns)) names[columns] else columns
  weight_var <- named(of("weight_var"))
  groups <- of("key_groups")
  keys <- unlist(lapply(c(list(), of("key_vars")), function(set) {
    # The name of a group stands for its columns.
    set <- as.list(named(set))
    lapply(set, function(one) if (one %in% names(groups)) groups[[one]] else one)
  }))
  keys <- unique(c(
    if (length(keys)) keys else setdiff(names, weight_var), named(of("sensitive"))
  ))
  most <- if ("max_patterns" %in% argument_names()) argument("max_patterns") else 5e6
  file <- pattern_file(pattern_table(x, keys, weight_var = weight_var, max_patterns = most))
  file_of_table(file, x, list())
}

#' @export
pattern_table.default <- function(data, ...) {
  announce("pattern_table")
  check_given("data")
  # The protected data of a result, or an error.
  pattern_table(as_file(data, "data"), ...)
}

#' @export
sdc_file.sdc_pattern_table <- function(data, key_vars = NULL, ..., weight_var = NULL,
                                       hh_id = NULL, strata_var = NULL, sensitive = NULL,
                                       pop_size = NULL, sampling_fraction = NULL,
                                       key_groups = NULL, missing = NULL) {
  announce("sdc_file")
  check_no_dots(...)
  given <- given_roles()
  file <- pattern_file(data)
  sdc_roles <- file$roles[setdiff(names(file$roles), names(given))]
  if (!is.null(given$sensitive) && is.null(given$key_vars)) {
    sdc_roles$key_vars <- setdiff(data$key_vars, given$sensitive)
  }
  do.call(sdc_file, c(list(file$data), sdc_roles, given))
}

#' @rdname store_result
#' @export
sdc_file.sdcMicroObj <- function(data, key_vars = NULL, ..., weight_var = NULL,
                                 hh_id = NULL, strata_var = NULL, sensitive = NULL,
                                 pop_size = NULL, sampling_fraction = NULL,
                                 key_groups = NULL, missing = NULL,
                                 state = c("current", "original")) {
  announce("sdc_file")
  check_no_dots(...)
  state <- check_choice(state, c("current", "original"), "state")
  given <- Filter(Negate(is.null), given_roles())
  do.call(sdc_file, c(list(micro_file(data, "data", state)), given))
}
