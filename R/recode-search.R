#' Find the global recoding with the least information loss
#'
#' Searches all global recodings of the key variables for those that meet a limit with the least
#' information loss. Use it if many records are above the limit. Every variable has a hierarchy of
#' levels, see [hierarchy()]; a recoding chooses one level of each. The result has the best
#' recodings, with a proof of optimality or a bound.
#'
#' @details
#' **Cost.** A record with value a, recoded to group G at level l, loses with
#' `"entropy"` (the default) \eqn{\log_2(n_G / n_a)}{log2(n_G / n_a)} bits,
#' where \eqn{n_a} records have the value and \eqn{n_G} the group: the information
#' needed to restore the value. With `"loss"` it loses the share (values in G - 1)
#' over (values - 1), counted in the hierarchy; with `"levels"` l over the highest
#' level, which makes it cheap to drop one variable and keep the others. Losses
#' are summed over records and variables. A suppressed record has lost all values,
#' \eqn{\log_2(n / n_a)}{log2(n / n_a)} bits, or 1 each; its loss in addition to the
#' recoding's own is multiplied by `blank_price`.
#'
#' **Constraints**, on the records that are not suppressed; all must hold:
#' * `k`: no key has fewer records.
#' * `prop_unique`: the largest share of sample uniques.
#' * `qar`: the largest extreme risk T of [qar_risk()], with `p`, `alpha` and `pi_u` as
#'   further elements (3, 0.01, 0.05).
#' * `journalist`, `tau1_rate`, `population_uniqueness`: the largest record risk, the expected
#'   population uniques per record and the share of unique people, of [population_risk()], which
#'   needs `weight_var` or a population size. They are judged as by [file_check()]: a recoding
#'   keeps the limit if all of the interval does and the status is `"ok"`.
#' * `l`, `t`: the fewest values of each `sensitive` variable among the records of a key
#'   (distinct l-diversity), and the largest distance of their distribution from the file's
#'   (t-closeness), as [attribute_risk()] measures them.
#' * `c`, with `l`: recursive (c, l)-diversity. In every key the most frequent value has less than
#'   `c` times as many records as all from the `l`-th most frequent one on. One count of matches for
#'   each sensitive value.
#'
#' **Suppression.** `suppress` is the share of the records that may be suppressed on all key
#' variables: all records of keys below `k`, or the number of sample uniques that
#' `prop_unique` requires, starting with those that cost least. The other constraints are
#' judged on the remaining records. With `blanks = "cells"` the cheapest recodings are each
#' completed by `suppress_cells()` instead, which suppresses single values by the file's `hh_id` and
#' `strata_var`, and by `l`, `c` and `t` unless there is `hh_id`; they are ranked by the joint
#' cost; `suppress` is then the largest share of key values.
#'
#' **Search.** Keys only merge if a variable is coarsened. If a partial choice of levels breaks the
#' limit even when all other variables are fully coarsened, no completion of it can meet the limit,
#' so the whole branch is skipped. Branch and bound over the variables proves the optimum while
#' only a small part of the recodings is evaluated. T of QaR can rise when a variable is coarsened:
#' it, `l`, `c` and `t` never prune; recodings are judged by the measure itself in order of cost. So
#' are limits of the population, whose true figures cannot rise when a variable is coarsened: if
#' nothing is suppressed, a recoding that is finer than one that breaks such a limit is not tried.
#' If none is found in time, recodings are tried whose keys have enough records to keep the limit.
#' Ties: the smaller sum of levels comes first, then the smaller level of the first variable.
#'
#' @section Missing values:
#' Missing is a value of its own up to the level that joins all values. With `blanks = "cells"` it
#' is, too, for the suppression of an incomplete file (`rule = "strict"`). With `l`, `c` or `t` it
#' matches every value. Recodings whose complete records rest on incomplete ones are passed over.
#'
#' @section Tables of a database:
#' They and pattern tables are searched by their counts, for the limits `k`, `prop_unique` and
#' `qar`. [apply_recoding()] recodes the table where it lies. Single records cannot be suppressed
#' in a query: give `blanks = FALSE` there and `suppress_cells()` the result.
#'
#' @section Cost of the search:
#' The file is reduced to its distinct rows once. Thousands of recodings of some
#' ten thousand distinct rows take well under a second; limits that are not monotone, such
#' as T, cost an evaluation for every cheap recoding. Results do not depend on the
#' number of threads, unless `max_seconds` ends the search.
#'
#' @section Memory:
#' Beyond `data`, with five key variables and two threads: at most 3300 bytes a record.
#'
#' @inheritParams sdcRisk-params
#' @param ... Rarely used arguments, those of `recode_search_control()`, by their full names, or
#'   together: `control = recode_search_control(...)`.
#' @param hierarchies A list named by key variable: results of [hierarchy()], or
#'   tables of levels. For variables without one a hierarchy is proposed, with a
#'   message (`sdcRisk_message_proposed_hierarchy`).
#' @param constraint One or several constraints, see Details.
#' @param k The size of the smallest class: short for `k` in `constraint`.
#' @param cost `"entropy"`, `"loss"` or `"levels"`, see Details.
#' @param suppress Largest share of the records, or of key values with
#'   `blanks = "cells"`, that may be suppressed.
#' @param blanks `"records"` or `"cells"` (single values): the unit of suppression.
#' @param blank_price Factor of the cost of suppression.
#' @param keep Levels that may be chosen, a list named by key variable:
#'   `list(sex = 0, age = 0:2)`.
#' @param n_best Number of the cheapest recodings to return.
#' @param importance Factors of the costs of variables, a vector named by
#'   key variable.
#' @param sensitive Names of the sensitive variables that `l`, `c` and `t` are about.
#' @param max_seconds Time limit; the best recoding found until then is returned, with its gap.
#'
#' @return An object of class `sdc_recode_search`, an [sdc_result] with
#' \describe{
#'   \item{`best`}{one row per recoding, cheapest first: a column per key variable
#'     with its level, `cost`, `risk` (that of the first constraint; 1/k for `k`),
#'     `n_suppressed` records (with `blanks = "cells"`, values), `k` (fewest records of a
#'     key), `n_unique` (before suppression), a column per further
#'     constraint, `text`; this is `as.data.frame()`}
#'   \item{`frontier`}{the recodings that no other one beats in both risk and cost: a
#'     column per key variable, `cost`, `risk`, `n_suppressed`}
#'   \item{`estimates`}{one row: `n`, `n_nodes` (recodings), `n_evaluated` (prefixes
#'     and recodings), `proven`, `gap` (largest share of the cost by which the first
#'     can exceed the optimum), `cost`, `cost_share` (of what dropping everything
#'     costs), `risk`, `n_suppressed`, `bound`}
#'   \item{`code`}{per recoding the lines of R that do the same to `data`}
#'   \item{`hierarchies`}{those used}
#' }
#' Errors name the variable or the constraint: a value that a hierarchy does not
#' cover, levels that are not nested, k above the number of records, a key variable with the name
#' of a column of `best` (`bad_argument`). If no recoding meets the constraint (`unprotectable`),
#' the error gives the best that can be reached.
#' @references
#' El Emam, K. et al. (2009). A globally optimal k-anonymity method for the
#' de-identification of health data. Journal of the American Medical Informatics
#' Association 16, 670-682. \doi{10.1197/jamia.M3144}.
#'
#' Gionis, A. and Tassa, T. (2009). k-Anonymization with minimal loss of
#' information. IEEE Transactions on Knowledge and Data Engineering 21, 206-219.
#' \doi{10.1109/TKDE.2008.129}.
#' @family recoding
#' @concept global recoding
#' @concept k-anonymity
#' @concept generalization
#' @concept recursive diversity
#' @export
#' @examples
#' keys <- c("age", "education", "marital_status", "sex")
#' keys <- intersect(keys, names(adult))
#' found <- recode_search(
#'   adult, keys, list(age = hierarchy(adult$age, widths = c(5, 10, 20))),
#'   constraint = list(k = 3), suppress = 0.02
#' )
#' found
#' recoded <- apply_recoding(found, adult)
#'
#' # In region 0 three have the flu and one has a cold: the ratio is 3, not below c = 3.
#' ill <- data.frame(
#'   region = rep(0:3, each = 4),
#'   illness = c("flu", "flu", "flu", "cold", rep(c("flu", "cold"), 6))
#' )
#' levels <- list(region = hierarchy(ill$region, widths = 2))
#' search <- function(...) recode_search(ill, "region", levels, sensitive = "illness", ...)
#' search(constraint = list(l = 2))$best$region[[1]]        # 0
#' search(constraint = list(l = 2, c = 3))$best[1, ]        # level 1: c is 5 / 3
recode_search <- function(data, key_vars = NULL, hierarchies = NULL, ...,
                          constraint = list(k = 3), k = NULL, cost = c("entropy", "loss", "levels"),
                          suppress = 0, blanks = c("records", "cells"), weight_var = NULL,
                          pop_size = NULL, sampling_fraction = NULL) {
  ask <- enter("recode_search", patterns = TRUE)
  data <- ask$data
  weight_var <- ask$weight_var
  check_no_dots(...)
  settings <- list(
    cost = check_choice(cost, c("entropy", "loss", "levels"), "cost"),
    suppress = check_zero_to_one(suppress, "suppress"),
    blanks = check_choice(blanks, c("records", "cells"), "blanks"),
    blank_price = check_positive(ask$blank_price, "blank_price", finite = TRUE),
    n_best = check_whole(ask$n_best, "n_best", high = 10000),
    max_seconds = check_positive(ask$max_seconds, "max_seconds")
  )
  roles <- check_roles(data, ask$key_vars, weight_var, NULL)
  if (!is.null(ask$sensitive)) {
    settings$sensitive <- names(data)[check_columns(ask$sensitive, data, "sensitive")]
  }
  # Single values are suppressed within households and strata, as by suppress_cells().
  if (settings$blanks == "cells") {
    settings[cell_roles] <- ask$file$roles[cell_roles]
    if (any(settings$strata_var %in% ask$key_vars)) settings["strata_var"] <- list(NULL)
  }
  with_progress("Search for recodings", {
    table <- key_table(
      ask$file, ask$key_vars,
      exclude = c(roles$positions, match(settings$sensitive, names(data))),
      roles = role_columns(
        data, c(
          list(weight_var = roles$weight_at, sensitive = settings$sensitive),
          settings[cell_roles]
        )
      )
    )
    settings <- c(settings, file_settings(
      table,
      weight_var = names(data)[roles$weight_at][!is.null(weight_var)],
      constraint = check_constraint(with_k(constraint, k), table),
      importance = check_cost_importance(ask$importance, table$variables)
    ))
    if (is.null(weight_var)) settings["weight_var"] <- list(NULL)
    # Otherwise incomplete records would be all that keeps complete ones from being rare.
    if (any(table$n_missing > 0)) settings$rule <- "strict"
    check_result_names(settings)
    if (!is.null(times_of(data))) check_counts_do(settings, ask$file$table)
    fraction <- check_fraction(table$n, ask$pop_size, ask$sampling_fraction)
    settings$pop_size <- if (is.null(ask$pop_size) && !is.null(fraction)) {
      table$n / fraction
    } else {
      ask$pop_size
    }
    check_recode_population(settings)
    hierarchies <- find_hierarchies(hierarchies, data, table)
    settings$keep <- check_keep(ask$keep, hierarchies)
    variables <- search_variables(hierarchies, data, table, settings)
    problem <- list(
      table = table, variables = variables, hierarchies = hierarchies, data = data,
      settings = settings
    )
    people <- searched_roles(ask$file, settings)$roles
    problem$roles <- people
    problem$of_people <- as.data.frame(data)[c(people$weight_var, people$hh_id)]
    found <- search_recodings(problem)
    result <- new_recode_search(found, problem, ask$call)
    # Held weakly, for apply_recoding(x): a saved result has no data.
    key <- new.env(parent = emptyenv())
    attr(result, "file") <- list(key = key, file = rlang::new_weakref(key, value = ask$file))
    result$diagnostics$law <- judged_recoding(result, ask$file)
    result
  })
}

#' @rdname recode_search
#' @export
recode_search_control <- function(blank_price = 1, keep = NULL, n_best = 10, importance = NULL,
                                  max_seconds = 60, sensitive = NULL, ...) {
  new_control("recode_search_control")
}

# The verdicts of the page on limits of the population after the cheapest recoding.
judged_recoding <- function(x, file) {
  if (any(law_limits %in% names(x$settings$constraint))) {
    released <- as_file(quietly(apply_recoding(x, file)), "data")$data
    quietly(law_verdicts(released, searched_roles(file, x$settings)$roles, x$settings$constraint))
  }
}

check_cost_importance <- function(importance, variables) {
  if (is.null(importance)) {
    return(NULL)
  }
  leave <- "keep = list(age = 0) leaves a variable as it is."
  cost <- check_importance(importance, variables, leave)
  if (any(is.infinite(cost))) {
    stop_argument(
      "importance", "be finite",
      found = paste0("Not so for ", quote_names(names(cost)[is.infinite(cost)]), "."),
      advice = leave
    )
  }
  cost
}

# The constraints as numbers, in the order given, with the settings of QaR.
check_constraint <- function(constraint, table) {
  if (is.numeric(constraint) && length(names(constraint))) constraint <- as.list(constraint)
  known <- c(constraint_names, "p", "alpha", "pi_u")
  named <- is.list(constraint) && length(names(constraint)) == length(constraint) &&
    length(constraint) > 0
  wrong <- setdiff(names(constraint), known)
  if (!named || length(wrong) || !any(names(constraint) %in% constraint_names) ||
        anyDuplicated(names(constraint))) {
    stop_argument(
      "constraint", paste0("be a list of one or several of ", quote_names(constraint_names, Inf)),
      if (length(wrong)) paste0("Unknown: ", quote_names(wrong), ".") else given_words(constraint),
      nearest_names(wrong, known)
    )
  }
  constraint <- spread_qar(constraint)
  for (name in intersect(names(constraint), constraint_names)) {
    constraint[[name]] <- check_limit(constraint, name, table$n)
  }
  if (is.null(constraint$qar)) constraint else check_qar_tail(constraint, table)
}

check_limit <- function(constraint, name, n) {
  arg <- paste0("constraint$", name)
  switch(name,
    k = check_smallest_cell(constraint$k, n),
    l = check_whole(constraint$l, arg),
    c = check_with_l(constraint[["c"]], constraint$l, arg),
    check_zero_to_one(constraint[[name]], arg)
  )
}

# `qar = list(0.1, p = 2)` is `qar = 0.1, p = 2`.
spread_qar <- function(constraint) {
  more <- constraint$qar
  if (!is.list(more)) {
    return(constraint)
  }
  at <- which(names(more) %in% c("", "limit", "risk", "T"))
  constraint$qar <- if (length(at)) more[[at[[1]]]]
  tail <- intersect(names(more), c("p", "alpha", "pi_u"))
  constraint[tail] <- more[tail]
  constraint
}

# The settings of QaR, with the defaults of qar_risk().
check_qar_tail <- function(constraint, table) {
  n_keys <- length(table$variables)
  given <- function(name, default) {
    if (is.null(constraint[[name]])) default else constraint[[name]]
  }
  constraint$p <- check_whole(given("p", min(3, n_keys)), "constraint$p", high = n_keys)
  constraint$alpha <- check_probability(given("alpha", 0.01), "constraint$alpha")
  constraint$pi_u <- check_probability(given("pi_u", 0.05), "constraint$pi_u")
  if (constraint$alpha > constraint$pi_u) {
    stop_argument("constraint$alpha", "be at most `pi_u`")
  }
  constraint
}

check_smallest_cell <- function(k, n) {
  k <- check_whole(k, "constraint$k")
  if (k > n) {
    stop_argument(
      "constraint$k", "be at most the number of records",
      paste0(format_count(k), " was given for ", plural(n, "record"), ".")
    )
  }
  k
}

check_result_names <- function(settings) {
  taken <- intersect(settings$key_vars, c(names_in_best, names(settings$constraint)))
  refuse_names(
    taken, "key_vars", "not have the name of a figure of the result",
    "Found", "Rename the column first."
  )
}

# What else a limit or single missing values need is asked of records.
check_counts_do <- function(settings, table) {
  if (settings$blanks == "cells" || length(judged_here(settings))) stop_needs_records("data", table)
}

check_recode_population <- function(settings) {
  needs <- function(name, what, met) {
    if (!is.null(settings$constraint[[name]]) && !met) {
      stop_argument(
        paste0("constraint$", name), paste("come with", what),
        found = "It is not given."
      )
    }
  }
  people <- !is.null(settings$pop_size)
  weights <- !is.null(settings$weight_var)
  for (name in law_limits) {
    needs(name, "`weight_var`, `pop_size` or `sampling_fraction`", weights || people)
  }
  for (name in c("l", "c", "t")) needs(name, "`sensitive`", length(settings$sensitive) > 0)
}

# A hierarchy for every key variable; what nobody gave is proposed.
find_hierarchies <- function(hierarchies, data, table) {
  variables <- table$variables
  if (inherits(hierarchies, "sdc_hierarchy")) {
    hierarchies <- rlang::set_names(list(check_whole_hierarchy(hierarchies)), hierarchies$name)
  }
  if (length(hierarchies)) {
    check_named_list(
      hierarchies, "hierarchies", "be a list with the name of a key variable for every entry",
      variables
    )
  }
  proposed <- setdiff(variables, names(hierarchies))
  out <- lapply(rlang::set_names(variables), function(name) {
    about <- list(name = name, origin = 0)
    given <- hierarchies[[name]]
    if (inherits(given, "sdc_hierarchy")) {
      check_whole_hierarchy(given)
      given$name <- name
      given
    } else if (is.null(given)) {
      column <- data[[table$positions[[match(name, variables)]]]]
      proposed_hierarchy(hierarchy_values(column, about, times_of(data)), about)
    } else {
      table_hierarchy(given, NULL, TRUE, about)
    }
  })
  note_hierarchies(out[setdiff(variables, proposed)])
  if (length(proposed)) {
    look <- frequency_words(out)
    inform_sdc(
      "proposed_hierarchy",
      paste0("Hierarchies were proposed for ", quote_names(proposed, 10), "."),
      if (length(look)) rlang::set_names(look, rep("i", length(look))),
      i = "See `x$hierarchies` for their levels, and ?hierarchy for your own.",
      variables = proposed
    )
  }
  out
}

check_keep <- function(keep, hierarchies) {
  if (is.null(keep)) {
    return(NULL)
  }
  check_named_list(
    keep, "keep", "be a list of levels named by key variable", names(hierarchies)
  )
  Map(function(levels, name) {
    high <- length(hierarchies[[name]]) - 1L
    sort(check_whole(levels, paste0("keep$", name), 0, high, several = TRUE))
  }, keep, names(keep))
}

search_recodings <- function(problem) {
  settings <- problem$settings
  found <- if (settings$blanks == "cells") {
    search_cells(problem)
  } else if (length(judged_here(settings))) {
    search_by_cost(problem)
  } else {
    search_core(problem)
  }
  if (nrow(found$best) == 0) stop_no_recoding(found, problem)
  found
}

new_recode_search <- function(found, problem, this_call) {
  settings <- problem$settings
  keys <- settings$key_vars
  best <- best_frame(found$best, problem)
  frontier <- found$frontier
  frontier <- cbind(as.data.frame(frontier$levels), frontier[c("cost", "risk", "n_suppressed")])
  dropped <- dropped_cost(problem)
  proven <- isTRUE(found$proven)
  bound <- if (proven) best$cost[[1]] else max(0, found$bound, na.rm = TRUE)
  recoded <- recode_columns(problem$data, problem$hierarchies, levels_at(found$best, 1, problem))
  told <- told_by_columns(problem$data, recoded, keys, units_of(problem)$ids)
  inform_told_recoded(told_unasked(told))
  new_sdc_result(
    "sdc_recode_search",
    estimates = frame(
      n = settings$n, n_nodes = found$n_nodes, n_evaluated = found$n_evaluated,
      proven = proven,
      gap = if (best$cost[[1]] > 0) max(0, (best$cost[[1]] - bound) / best$cost[[1]]) else 0,
      cost = best$cost[[1]], cost_share = if (dropped > 0) best$cost[[1]] / dropped else 0,
      risk = best$risk[[1]], n_suppressed = best$n_suppressed[[1]], bound = bound
    ),
    records = NULL, settings = settings,
    diagnostics = list(
      n_keys = length(keys), measure = first_constraint(problem),
      frontier_of = core_settings(settings)$frontier, whole_frontier = found$whole_frontier,
      n_finished = found$n_finished, told_by_columns = told,
      counted = !is.null(times_of(problem$data)),
      proposed = of_kind(problem$hierarchies, proposed_kinds)
    ),
    call = this_call,
    best = best, frontier = frontier,
    code = lapply(seq_len(nrow(best)), function(i) {
      recoding_code(problem, levels_at(found$best, i, problem), best$n_suppressed[[i]])
    }),
    hierarchies = problem$hierarchies
  )
}
