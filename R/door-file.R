#' A file with its roles said once
#'
#' Which columns of a file are key variables, which one holds the weights, who
#' lives with whom, how many people are in the population? `sdc_file()` keeps the
#' answers with the file, so that every function of the package takes it as
#' `data` and needs to be told nothing twice. Its print says what was found in
#' the file, and what looks like a role that nobody gave.
#'
#' @details
#' A role is what an argument of the same name says in a function: an argument
#' that is given to a function comes before the role, `NULL` included. A function
#' takes the roles that it has arguments for and ignores the others; `key_vars`
#' never holds a column that serves another role, unless it is named there.
#' Where the function takes `pop_size` and the file was given
#' `sampling_fraction`, or the reverse, one follows from the other by the number
#' of records: \eqn{\pi = n / N}{pi = n / N}.
#'
#' The file is held as it is, not as a copy: a later change of the data frame
#' makes another data frame and leaves the `sdc_file` alone. Columns of a
#' data.table that are changed in place by `:=` or `set()` do change in it. The
#' codes of the key variables are kept with the file, so that a second method on
#' the same key variables begins at once; they are made anew where `data` have
#' other columns by then, for a file that was saved and read again, and for a
#' data.table.
#'
#' @section What the print looks for:
#' Nothing is guessed in silence: a column that looks like a role gets none. What
#' is said is a reason to look.
#'
#' \describe{
#'   \item{an identifier}{text or whole numbers, nearly all different: more values
#'     than 90 % of at least 20 records that are not missing}
#'   \item{a weight}{positive numbers whose name says so (weight, wgt, wt, pond,
#'     gewicht and the like)}
#'   \item{a household}{values that repeat, 1.1 to 12 records each on average,
#'     and a name that says so (hh, hid, household, haushalt, menage)}
#'   \item{a continuous variable}{numbers with a fraction, or more than 100
#'     different whole numbers, in more than a fifth of at least 20 records}
#'   \item{missing codes}{numbers such as 9, 97 to 99, 999 or -9 to -1 that stand
#'     farther apart from all other values of a variable than these from each other,
#'     and text such as "NA" or ".", which are values to every method unless they are
#'     declared missing. The print counts them; `roles` of a [file_check()] says which}
#' }
#'
#' @section Cost:
#' Creating the file checks the columns named and codes nothing. The print codes
#' every column once: about 0.1 s for a million records and ten key variables.
#'
#' @param data A data frame, tibble or data.table with one row per record, or an
#'   `sdc_file`, whose roles are kept where no new ones are given. An sdcMicroObj
#'   brings its own, see [store_result()]. A [pattern_table()], or a table of a database,
#'   of which one is made.
#' @param key_vars Names or positions of the key variables. `NULL`: all columns
#'   that have no other role.
#' @param ... Must be empty: later arguments must be named in full.
#' @param weight_var Name of the column with sampling weights: finite, positive.
#' @param hh_id Name of the column that identifies households.
#' @param strata_var Names of the columns that make strata.
#' @param sensitive Names of the sensitive variables.
#' @param pop_size,sampling_fraction Number of people in the population, or share
#'   of it in the file. Where both are given they must agree.
#' @param key_groups A named list of columns that count as one key variable each.
#' @param missing `"wildcard"`, `"category"` or `"exclude"`: the rule for missing
#'   values. `NULL`: that of every function.
#'
#' @return An object of class `sdc_file`: a list of `data` and `roles`, the latter
#'   a list of the arguments above, columns by name.
#'
#'   Errors: `bad_data`, `unknown_key_var`, `bad_column` for key variables without
#'   defined values, `bad_weights`, `bad_argument`.
#' @family data
#' @export
#' @examples
#' file <- sdc_file(
#'   nals_prison, c("CENREG", "DAGE3", "EDUC3", "GENDER", "BORNUSA", "DRACE3"),
#'   weight_var = "WEIGHT"
#' )
#' file
#' n_matches(file)$estimates$n_unique # 52
#' individual_risk(file)$estimates$expected_reidentifications # 0.6467
sdc_file <- function(data, key_vars = NULL, ..., weight_var = NULL, hh_id = NULL,
                     strata_var = NULL, sensitive = NULL, pop_size = NULL,
                     sampling_fraction = NULL, key_groups = NULL, missing = NULL) {
  UseMethod("sdc_file")
}

# The names of the roles, which are arguments of the functions that use them.
role_names <- c(
  "key_vars", "weight_var", "hh_id", "strata_var", "sensitive", "pop_size",
  "sampling_fraction", "key_groups", "missing"
)

#' @export
sdc_file.default <- function(data, ...) {
  check_given("data")
  stop_not_a_file(data, "data")
}

#' @export
sdc_file.data.frame <- function(data, key_vars = NULL, ..., weight_var = NULL,
                                hh_id = NULL, strata_var = NULL, sensitive = NULL,
                                pop_size = NULL, sampling_fraction = NULL,
                                key_groups = NULL, missing = NULL) {
  check_no_dots(...)
  check_records(data)
  one <- function(x, arg) if (!is.null(x)) names(data)[check_column(x, data, arg)]
  some <- function(x, arg) if (length(x)) names(data)[check_columns(x, data, arg)]
  roles <- list(
    weight_var = one(weight_var, "weight_var"), hh_id = one(hh_id, "hh_id"),
    strata_var = some(strata_var, "strata_var"), sensitive = some(sensitive, "sensitive")
  )
  check_roles_differ(roles)
  check_weights(data, weight_var)
  check_fraction(n_records(data), pop_size, sampling_fraction)
  keys <- file_keys(data, key_vars, key_groups, roles)
  if (!is.null(missing)) {
    missing <- check_choice(missing, c("wildcard", "category", "exclude"), "missing")
  }
  new_file(data, c(
    list(key_vars = keys$key_vars), roles,
    list(
      pop_size = pop_size, sampling_fraction = sampling_fraction,
      key_groups = keys$key_groups, missing = missing
    )
  ))
}

#' @export
sdc_file.sdc_file <- function(data, key_vars = NULL, ..., weight_var = NULL, hh_id = NULL,
                              strata_var = NULL, sensitive = NULL, pop_size = NULL,
                              sampling_fraction = NULL, key_groups = NULL, missing = NULL) {
  check_no_dots(...)
  check_whole_file(data)
  given <- given_roles()
  kept <- data$roles[setdiff(names(data$roles), same_question(names(given)))]
  file <- do.call(sdc_file, c(list(data$data), kept, given), quote = TRUE)
  for (part in c("object", "defaults", "protected")) file[[part]] <- data[[part]]
  file
}

# The roles that the exported function was given, NULL among them.
given_roles <- function() mget(role_names[was_given(role_names)], envir = front())

# `codes` is the place where the coded key variables are kept.
new_file <- function(data, roles) {
  structure(
    list(
      data = data, roles = roles[!vapply(roles, is.null, NA)],
      codes = new.env(parent = emptyenv())
    ),
    class = "sdc_file"
  )
}

# The population size answers the question of the sampling fraction, too.
same_question <- function(roles) {
  both <- c("pop_size", "sampling_fraction")
  if (any(both %in% roles)) union(roles, both) else roles
}

check_roles_differ <- function(roles) {
  single <- roles[c("weight_var", "hh_id")]
  others <- unlist(roles[c("hh_id", "strata_var", "sensitive")])
  if (!is.null(single$weight_var) && single$weight_var %in% others) {
    stop_argument(
      "weight_var", "name a column that has no other role",
      found = paste0("Named twice: ", quote_names(single$weight_var), ".")
    )
  }
}

# The key variables by name, and their groups; checked as every method checks
# them.
file_keys <- function(data, key_vars, key_groups, roles) {
  serving <- match(unlist(roles), names(data))
  positions <- resolve_key_vars(data, key_vars, serving)
  check_no_roles(data, positions, match(c(roles$weight_var, roles$hh_id), names(data)))
  variables <- names(data)[positions]
  column_sources(data, positions, candidates = TRUE)
  keys <- resolve_key_groups(key_groups, data, positions, variables)
  groups <- lapply(keys[lengths(keys) > 1], function(v) variables[v])
  list(key_vars = variables, key_groups = if (length(groups)) groups)
}

# Entering a method -----------------------------------------------------------

# The file that an exported function was given, whatever its type. In the frame of
# that function `arg` becomes the data frame, and arguments that were not given take
# the file's roles. `patterns`: whether the function can do with patterns and their
# counts instead of records.
enter <- function(arg = "data", patterns = FALSE) {
  frame <- front()
  check_given(arg, frame)
  file <- as_file(get(arg, envir = frame), arg)
  assign(arg, file$data, envir = frame)
  take_roles(file)
  if (!is.null(file$defaults)) take_defaults(file)
  check_takes_patterns(file, patterns, arg)
  remember(rlang::set_names(list(file$roles), arg))
  note_patterns(file)
  file
}

# The same for two waves or files, the first being perhaps a list of earlier
# releases. Roles of the first come before those of the second. `lazy`: whether the
# function takes tables of a database and pattern tables.
enter_waves <- function(args = c("wave1", "wave2"), lazy = FALSE) {
  frame <- front()
  check_given(args, frame)
  for (arg in args) {
    wave <- get(arg, envir = frame)
    if (is_sdcmicro(wave)) wave <- micro_file(wave, arg)
    if (is_counted_wave(wave) && !lazy) stop_needs_records(arg, wave)
    if (is_pattern_table(wave)) check_whole_patterns(wave)
    if (inherits(wave, "sdc_file")) {
      check_whole_file(wave)
      check_takes_patterns(wave, lazy, arg)
      patterns <- !is.null(times_of(wave$data))
      assign(
        arg, if (patterns) as_pattern_table(wave$data, wave$roles$key_vars) else wave$data,
        envir = frame
      )
      take_roles(wave)
    } else if (is.list(wave) && !is.data.frame(wave) && !is_counted_wave(wave)) {
      assign(arg, lapply(wave, bare_data), envir = frame)
    }
  }
  remember()
}

as_file <- function(x, arg) {
  if (inherits(x, "sdc_file")) {
    return(check_whole_file(x))
  }
  if (is_sdcmicro(x)) {
    return(micro_file(x, arg))
  }
  if (is_pattern_table(x)) {
    return(pattern_file(x))
  }
  if (is_lazy_table(x)) {
    return(lazy_file(x, arg))
  }
  if (!is.data.frame(x)) {
    stop_not_a_file(x, arg)
  }
  check_records(x, arg)
  structure(list(data = x, roles = list(), codes = NULL), class = "sdc_file")
}

# Arguments that nobody gave become the file's roles.
take_roles <- function(file) {
  if (length(file$roles) == 0) {
    return(invisible())
  }
  frame <- front()
  takes <- intersect(role_names, argument_names())
  open <- takes[!was_given(takes, frame)]
  open <- setdiff(open, same_question(setdiff(takes, open)))
  roles <- with_population(file, takes)
  for (role in intersect(open, names(roles))) {
    assign(role, roles[[role]], envir = frame)
  }
}

# Whether the exported function was given its arguments `args`.
was_given <- function(args, frame = front()) {
  force(frame)
  # base::missing(), since an argument may be called `missing`.
  vapply(args, function(arg) !eval(as.call(list(base::missing, as.name(arg))), frame), NA)
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

# The records of an argument that may be an sdc_file or an sdcMicroObj: no patterns.
bare_data <- function(x) {
  data <- file_data(x)
  if (!is.null(times_of(data))) stop_needs_records("data")
  data
}

# The same, whatever its rows are.
file_data <- function(x) {
  if (is_sdcmicro(x)) {
    micro_data(micro_slots(x, "data"))
  } else if (is_pattern_table(x)) {
    pattern_file(x)$data
  } else if (inherits(x, "sdc_file")) {
    check_whole_file(x)$data
  } else {
    x
  }
}

stop_not_a_file <- function(x, arg) {
  stop_sdc(
    "bad_data",
    c(
      paste0("`", arg, "` must be a data frame, tibble, data.table, sdc_file or sdcMicroObj."),
      x = paste0("It has class ", quote_names(class(x)), "."), i = data_advice(x)
    ),
    data_class = class(x)
  )
}
