#' Count the matches of every record (k-anonymity)
#'
#' Counts for each record the records that agree with it on the key variables, itself included,
#' also if values are missing or only known as candidates. Use it first for any file: a record
#' with few matches is easy to find. The result has the number of matches of each record, and the
#' sample uniques and theta of each key set.
#'
#' @details Records \eqn{i} and \eqn{j} are *compatible*, \eqn{i \sim j}{i ~ j}, if in every key
#' variable one of the two is missing or their values are equal. The number of matches of record
#' \eqn{i} is
#' \deqn{m_i = \sum_j [i \sim j],}{m_i = sum_j [i ~ j],}
#' the record itself included. Without missing values \eqn{m_i} is the size \eqn{k_i} of the
#' record's equivalence class (the records with the same key, sample frequency \eqn{f_k}). With
#' missing values there are no classes: 40 matches a missing age and a missing age matches 23,
#' which does not match 40.
#'
#' With `missing = "exclude"` records that are incomplete on a key set are deleted and \eqn{k_i}
#' is counted among the rest (listwise deletion); with `"category"` a missing value matches
#' missing values only. A list names the rule of some key variables, `list(stat = "category", age =
#' "wildcard")`: in the others missing values match everything.
#'
#' **What is missing.** `NA`, `NaN`, tagged missing values, and the codes that an imported SPSS
#' column declares missing (`na_values`, `na_range`), whatever their reason. The print gives the
#' share of missing values per key variable and the declared codes among them. "Not applicable" is
#' known to anyone who knows the person, so it should not match everything: use `"category"`, or
#' remove the declaration so that it becomes a value.
#'
#' **Counting partners for less.** An incomplete partner with another pattern of known and missing
#' values counts `partial_weight` \eqn{\alpha}{alpha} instead of 1, as with `alpha` of sdcMicro's
#' `freqCalc()`. `min_overlap` is the least number of key variables that both records must know;
#' the record itself always counts.
#'
#' **Candidates.** Columns made by [candidates()] or [candidate_interval()] hold sets \eqn{S} of
#' admissible values. `rule = "first"` (the paper's): the intruder looks for the first value of
#' the target's set, and a record matches if its own set holds that value. This is not symmetric:
#' 3|4 does not match 4|5, but 4|5 matches 3|4. `"overlap"`: the two sets have a value in common,
#' which gives the most matches. `"mean"`: the average of `"first"` over the values of the
#' target's set (the whole numbers of an interval) and their combinations: the expected number of
#' matches of an intruder who knows the true values. A set of candidates is a known value; it is
#' missing if it is `NA`.
#'
#' **Households.** With `hh_id` a target matches a household if it matches any of its members, and
#' `n_matches` counts households, each once. The records behind them are counted as
#' `n_matched_records`. `n_matches_household` is the smallest `n_matches` among the members of the
#' record's own household. A record without a household counts as a household.
#'
#' **Sensitive values** measure attribute disclosure: the key can reveal the value of the column
#' `sensitive` without identifying the record. Let \eqn{p_v} be the share of value
#' \eqn{v} among the matches of a record, and \eqn{q_v} its share among all records, both without
#' missing values.
#' \describe{
#'   \item{`n_sensitive`}{the number of distinct values. If it is 1 an intruder learns the value
#'     without finding the record: the record is *homogeneous*, and unique records with a value
#'     always are}
#'   \item{`l_entropy`}{\eqn{\exp(-\sum_v p_v \ln p_v)}{exp(-sum p_v ln p_v)}, the number of
#'     equally frequent values with the same entropy}
#'   \item{`t_closeness`}{how far \eqn{p} is from \eqn{q}: total variation for values without order
#'     (text, factors), the earth mover's distance on ranks for ordered factors, numbers, Dates and
#'     logical values. Convert numbers that are codes to a factor}
#' }
#' `n_homogeneous` counts the homogeneous records; `l_distinct` and `l_entropy` of the file are
#' the smallest of the records (distinct and entropy l-diversity), and its `t_closeness` is the
#' largest. With several sensitive columns a record counts as homogeneous if it is homogeneous in at
#' least one; l and t are the worst over the columns. Missing sensitive values are ignored: a record
#' whose matches have no value at all has `n_sensitive` 0 and the others `NA`. A partner's value
#' counts in full whatever `partial_weight` is.
#'
#' **Theta** is the probability that a unique match of a person drawn from the population is
#' correct, \eqn{U / \sum F}{U / sum F} over the unique records, see [match_theta()]; it is
#' smaller than the mean of \eqn{1/F} that [loglinear_risk()] estimates. \eqn{\pi}{pi} is the
#' number of records used over the size of the population. With weights \eqn{w} alone it is
#' \deqn{\hat\theta = \frac{U}{U + \sum_{i: m_i = 2} (w_i - 1)},}{%
#'   theta = U / (U + sum over records with m = 2 of (w_i - 1)),}
#' after Skinner and Carter. With candidates, `partial_weight`, `min_overlap` or missing values
#' matching everything, use theta only to compare key sets. It is not computed for outside
#' `patterns` or for households, or if any weight is below 1.
#'
#' `min_overlap = 1` reproduces Table 2 of Mulder's paper, see `vignette("missing-matches")`.
#' Text in any encoding is compared letter by letter; see the section on spelling of
#' [link_attack()].
#'
#' @section Cost:
#' A million records and 12 key variables take three to four times as long as grouping them if 15%
#' of the values are missing, and ten times if 30% are. Weights, candidates, households,
#' tolerances and sensitive values cost a step for every pair of matches. Columns of candidates
#' keep the compatible pairs of their distinct sets, 4 bytes each: more than 100 million are an
#' error of class `sdcRisk_error_too_large`.
#' Memory beyond `data`, with five key variables and two threads: at most 90 bytes a record, and
#' what columns of candidates keep.
#'
#' @inheritParams sdcRisk-params
#' @param ... Rarely used arguments, those of `n_matches_control()`, by their full names, or
#'   together: `control = n_matches_control(...)`.
#' @param key_vars Names or positions of the key variables, or a named list of key sets that are
#'   all evaluated. `NULL`: all columns that no other argument names. A name may be that of a key
#'   group.
#' @param missing `"wildcard"`: a missing value matches everything; `"category"`: it matches
#'   missing values; `"exclude"`: incomplete records are deleted, key set by key set. Or a list of
#'   these words named by key variables.
#' @param rule How candidate sets match.
#' @param min_overlap At least this number of key variables must be observed on both sides.
#' @param partial_weight Count of an incomplete partner with another pattern, from 0 to 1.
#' @param tolerance A named list of numbers: values of these key variables match within this
#'   distance, `list(income = 50)`; days for Dates, seconds for times.
#' @param patterns A data frame of people to look up in the file instead of its own records, with
#'   the key variables as columns. A value the file does not have matches missing values only.
#' @param below Numbers of matches: `estimates` counts the records with fewer.
#' @param sensitive Names of one or several columns whose values among the matches are compared,
#'   see Details.
#' @param key_groups A named list of columns that count as one key variable each: for
#'   `min_overlap`, and if a key set names the group. Missing is judged column by column.
#'
#' @return An object of class `sdc_n_matches`, an [sdc_result] with
#' \describe{
#'   \item{`records`}{one row per record, or per row of `patterns`: `n_matches`, and if asked for
#'     `n_matches_weighted`, `n_sensitive`, `l_entropy`, `t_closeness` (of several sensitive
#'     columns `n_sensitive_<name>` and so on), `n_matched_records` and `n_matches_household`. For
#'     a list of key sets one column of matches per set, named like it, and the others with the
#'     set's name before theirs. `NA` for records deleted listwise}
#'   \item{`estimates`}{one row per key set: `key_set`, `n_deleted`, `n` (records used),
#'     `n_unique` (with one match, themselves), `n_below_5`, `n_below_10`, `prop_unique` (of `n`),
#'     `prop_unique_all` (of all records), `n_pairs`, `theta`, `theta_se`, `theta_low`,
#'     `theta_high`, `theta_status` (`"ok"`, `"unreliable"` below 10 uniques or pairs, `NA` if
#'     theta is not asked for); `n_complete`, `n_unique_complete` and `prop_unique_complete`, the
#'     figures by listwise deletion (`NA` with candidates; values that `missing` calls a category
#'     are complete); `risk_max`, `risk_q99`, `risk_q95`
#'     and `risk_mean` are of the record risks \eqn{1/m}, 0 for a pattern without a match; with
#'     `sensitive` also `n_homogeneous`, `l_distinct`, `l_entropy` and `t_closeness`}
#'   \item{`sensitive`}{with `sensitive`, these four per key set and column}
#' }
#' Weighted counts have the unit of the weights: for inverse inclusion probabilities, people in
#' the population. With `hh_id` they are sums of household weights, which must be equal within a
#' household.
#'
#' Errors: `bad_column` for columns without defined values, intervals that need whole numbers,
#' tolerances for columns that are not numbers; `bad_weights`; `bad_argument`; `too_large` for
#' candidate sets with too many combinations or compatible pairs. Messages: `identifying_key`
#' names key variables in which nearly all of at least 20 values differ, `many_excluded` is given if
#' more than 5% of the records were deleted.
#'
#' @references
#' Mulder K. *Ensuring anonymity in survey panel research*: the number of matches, its tables,
#' candidates for the month of birth.
#'
#' Machanavajjhala A, Kifer D, Gehrke J, Venkitasubramaniam M (2007). l-diversity: privacy beyond
#' k-anonymity. *ACM Transactions on Knowledge Discovery from Data* 1(1).
#' \doi{10.1145/1217299.1217302}
#'
#' Li N, Li T, Venkatasubramanian S (2007). t-closeness: privacy beyond k-anonymity and
#' l-diversity. *IEEE 23rd International Conference on Data Engineering*, 106-115.
#' \doi{10.1109/ICDE.2007.367856}
#'
#' Skinner CJ, Elliot MJ (2002). A measure of disclosure risk for microdata. *Journal of the Royal
#' Statistical Society, Series B* 64(4), 855-867. \doi{10.1111/1467-9868.00365}
#'
#' Skinner CJ, Carter RG (2003). Estimation of a measure of disclosure risk for survey microdata
#' under unequal probability sampling. *Survey Methodology* 29(2), 177-180.
#' @family matches
#' @concept k-anonymity
#' @concept equivalence class
#' @concept sample frequency
#' @concept l-diversity
#' @concept t-closeness
#' @concept attribute disclosure
#' @export
#' @examples
#' people <- data.frame(
#'   age = c(40, 36, NA, 40, 23, 23),
#'   gender = c("male", "female", "male", NA, "male", "male")
#' )
#' n_matches(people)$records$n_matches                      # 3 1 5 3 3 3
#' n_matches(people, min_overlap = 1)$records$n_matches     # 3 1 4 2 3 3, as printed
#' n_matches(people, missing = "exclude")$records$n_matches # 1 1 NA NA 2 2
#'
#' # the month of birth known as two candidates
#' people$month <- candidates(list(c(2, 3), 6, NA, c(3, 4), 6, c(6, 7)))
#' n_matches(people, rule = "overlap")$records$n_matches    # 3 1 5 3 3 3
n_matches <- function(data, key_vars = NULL, ..., missing = "wildcard",
                      rule = c("first", "overlap", "mean"), below = c(5, 10),
                      weight_var = NULL, hh_id = NULL, sensitive = NULL, pop_size = NULL,
                      sampling_fraction = NULL, key_groups = NULL) {
  ask <- enter("n_matches", patterns = TRUE)
  data <- ask$data
  check_no_dots(...)
  settings <- list(
    rule = check_choice(rule, c("first", "overlap", "mean"), "rule"),
    min_overlap = check_whole(ask$min_overlap, "min_overlap", low = 0),
    partial_weight = check_zero_to_one(ask$partial_weight, "partial_weight"),
    below = check_whole(below, "below", several = TRUE),
    level = check_probability(ask$level, "level"),
    weight_var = ask$weight_var, hh_id = ask$hh_id,
    sensitive = if (!is.null(ask$sensitive)) {
      names(data)[check_columns(ask$sensitive, data, "sensitive")]
    }
  )
  limit <- check_record_limit(ask$limit)
  tolerance <- ask$tolerance
  weights <- check_weights(data, ask$weight_var)
  squares <- weight_squares(data, ask$weight_var)
  fraction <- check_fraction(n_records(data), ask$pop_size, ask$sampling_fraction)
  check_households(data, settings, weights)
  sets <- match_key_sets(data, ask$key_vars, ask$key_groups, settings)
  settings$key_sets <- sets$sets
  settings$fraction <- fraction
  settings$missing <- check_missing_by(ask$missing, sets)
  fewest <- min(vapply(sets$sets, function(set) length(set$keys), 0L))
  if (settings$min_overlap > fewest) {
    stop_argument("min_overlap", paste("be at most the number of key variables,", fewest))
  }
  patterns <- bare_data(ask$patterns)
  check_tolerance(tolerance, data, patterns, sets)
  with_progress("Matches of records", {
    coded <- code_matches(ask$file, patterns, sets, settings)
    relations <- match_relations(coded, tolerance, data, patterns)
    found <- find_matches(coded, sets$sets, relations, settings, weights, squares)
    identifying <- identifying_keys(coded$table, names(tolerance))
    inform_identifying(identifying)
    coded$identifying <- identifying
    with_limit(new_n_matches(
      found, coded, sets, settings, weights, tolerance, data, ask$call
    ), limit)
  })
}

#' @rdname n_matches
#' @export
n_matches_control <- function(min_overlap = 0, partial_weight = 1, tolerance = NULL, patterns =
                              NULL, level = 0.95, limit = NULL, ...) {
  new_control("n_matches_control")
}

# The key sets: `variables` are the names of all their columns, `sets` their
# names by set, `keys` the columns of every key of each set.
match_key_sets <- function(data, key_vars, key_groups, settings) {
  many <- is.list(key_vars) && !is.object(key_vars)
  named <- is.list(key_groups) && length(names(key_groups)) == length(key_groups) &&
    all(nzchar(names(key_groups))) && !anyDuplicated(names(key_groups))
  if (!is.null(key_groups) && (!named || any(lengths(key_groups) == 0))) {
    stop_argument("key_groups", "be a list of columns with a name for every group")
  }
  groups <- key_groups
  if (many && (length(key_vars) == 0 || any(lengths(key_vars) == 0))) {
    stop_argument("key_vars", "hold key sets with at least one key variable each")
  }
  position_of <- function(argument) {
    column <- settings[[argument]]
    if (!is.null(column)) check_column(column, data, argument)
  }
  roles <- c(position_of("weight_var"), position_of("hh_id"))
  used <- c(roles, match(settings$sensitive, names(data)))
  sets <- lapply(if (many) key_vars else list(key_vars), function(set) {
    if (is.character(set)) set <- columns_of_groups(set, groups, data)
    check_no_roles(data, set, roles)
    names(data)[resolve_key_vars(data, set, used)]
  })
  variables <- unique(unlist(sets))
  positions <- resolve_key_vars(data, variables, integer())
  # Groups that no key set uses do no harm.
  groups <- lapply(groups, function(group) {
    intersect(names(data)[check_columns(group, data, "key_groups")], variables)
  })
  groups <- groups[lengths(groups) > 0]
  groups <- if (length(groups)) groups
  keys <- resolve_key_groups(groups, data, positions, variables)
  of_set <- lapply(sets, function(set) {
    columns <- match(set, variables)
    of_key <- lapply(keys, function(key) {
      at <- match(key, columns)
      at[!is.na(at)]
    })
    list(columns = columns, keys = of_key[lengths(of_key) > 0])
  })
  labels <- vapply(of_set, function(set) paste(names(set$keys), collapse = " + "), "")
  names(of_set) <- if (many) name_key_sets(key_vars, labels, settings) else labels
  list(
    many = many, variables = variables, positions = positions, groups = groups,
    sets = of_set
  )
}

# The key variables of a set in which groups may stand for their columns.
columns_of_groups <- function(set, groups, data) {
  of_group <- set %in% names(groups) & !set %in% names(data)
  as.character(unlist(lapply(seq_along(set), function(i) {
    if (of_group[[i]]) {
      names(data)[check_columns(groups[[set[[i]]]], data, "key_groups")]
    } else {
      set[[i]]
    }
  })))
}

# The names of key sets: those given, and for the others what they hold.
name_key_sets <- function(key_vars, labels, settings) {
  given <- if (is.null(names(key_vars))) character(length(key_vars)) else names(key_vars)
  labels <- ifelse(nzchar(given), given, labels)
  refuse_names(
    unique(labels[duplicated(labels)]), "key_vars", "name every key set differently", "Repeated"
  )
  taken <- intersect(labels, outer(labels, added_columns(settings), paste, sep = "_"))
  refuse_names(
    taken, "key_vars", "name no key set like a column that is made of another set's name", "Found"
  )
  labels
}

# Columns of `records` that carry the name of their key set before their own.
added_columns <- function(settings) {
  c(
    "n_matches_weighted", "n_matched_records", "n_matches_household",
    unlist(sensitive_columns(settings$sensitive))
  )
}

# File and outside patterns as coded columns, labels as columns of their own.
code_matches <- function(file, patterns, sets, settings) {
  data <- file$data
  sensitive <- match(settings$sensitive, names(data))
  labels <- as.list(sensitive)
  names(labels) <- sprintf("sensitive_%d", seq_along(labels))
  if (!is.null(settings$hh_id)) {
    labels$households <- check_column(settings$hh_id, data, "hh_id")
  }
  if (!is.null(patterns)) {
    if (!is.data.frame(patterns)) stop_argument("patterns", "be a data frame")
    check_records(patterns, "patterns")
    absent <- setdiff(sets$variables, names(patterns))
    refuse_names(absent, "patterns", "have the key variables as columns", "Not found")
    tables <- list(data, patterns)
    own <- coding_request(
      column_sources(patterns, match(sets$variables, names(patterns)), TRUE),
      sets$variables, match(sets$variables, names(patterns))
    )
    if (!is.null(times_of(data))) {
      stop_argument(
        "patterns", "be NULL if `data` is a pattern table",
        advice = "Outside patterns are looked up in the records."
      )
    }
    together <- shared_request(
      tables, sets$variables,
      key_groups = sets$groups, candidates = TRUE
    )
    coded <- code_requests(
      c(list(own = own, together = together), label_requests(labels, data))
    )
    release_later(unlist(unname(coded), recursive = FALSE))
    table <- coded$together[[1]]
    table$labels <- lapply(coded[names(labels)], `[[`, 1)
    table$fingerprint <- coded$own[[1]]$fingerprint
    targets <- coded$together[[2]]
  } else {
    table <- key_table(
      file, sets$variables,
      key_groups = sets$groups, candidates = TRUE, labels = labels,
      roles = role_columns(data, settings)
    )
    targets <- NULL
  }
  list(
    table = table, targets = targets,
    sensitive = unname(table$labels[sprintf("sensitive_%d", seq_along(sensitive))]),
    households = table$labels$households
  )
}

# Per column, what the core needs to know of values that match others than
# themselves; NULL for nothing.
match_relations <- function(coded, tolerance, data, patterns) {
  table <- coded$table
  Map(function(name, sets) {
    if (!is.null(tolerance[[name]])) {
      values <- lapply(list(data, patterns), function(d) number_values(d[[name]]))
      values <- sort(unique(unlist(values)))
      return(list(kind = "within", values = values, tolerance = as.double(tolerance[[name]])))
    }
    if (is.null(sets)) {
      return(NULL)
    }
    values <- do.call(c, sets$sets)
    if (sets$interval) {
      ends <- as.double(values)
      return(list(
        kind = "pieces", low = every_other(ends, 1), high = every_other(ends, 2),
        sizes = as.integer(lengths(sets$sets) / 2L)
      ))
    }
    codes <- match(values, unique(values))
    list(kind = "sets", sets = unname(cut_values(codes, lengths(sets$sets))))
  }, table$variables, table$sets)
}

# A column of numbers, Dates or times as numbers.
number_values <- function(x) {
  if (!is.null(x)) as.double(as_bare(column_source(x, length(x))$values))
}

# Matches on every key set. Numbers are per record in use.
find_matches <- function(coded, sets, relations, settings, weights, squares) {
  found <- core(rs_n_matches, coded$table$pointer, list(
    targets = coded$targets$pointer,
    sets = lapply(unname(sets), function(set) {
      list(
        columns = set$columns, keys = unname(set$keys),
        relations = unname(relations[set$columns]),
        missing = unname(settings$missing[set$columns])
      )
    }),
    rule = settings$rule, min_overlap = settings$min_overlap,
    partial_weight = settings$partial_weight, weights = weights, squares = squares,
    sensitive = lapply(coded$sensitive, function(table) {
      list(table = table$pointer, ordered = table$ordered)
    }),
    households = coded$households$pointer
  ))
  rlang::set_names(found, names(sets))
}
