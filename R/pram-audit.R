# A released design seen from outside: other intruders, and analysts.

declare_measure(
  "pram_audit",
  reference = "nayak", ids = "max_match_prob",
  terms = c("worst_match_prob", "worst_match_prob_before", "n_above", "hit_rate"),
  worst_match_prob = figure(
    "Largest probability of a correct match, audited", "risk", scenario = "prosecutor",
    attempt = TRUE, limit = promise(max_match_prob, max_match_prob, limit), n_above = n_above,
    note = paste("before:", format_risk(worst_match_prob_before)),
    says = paste0(
      "this intruder is right with a probability of at most %s, given the number of ",
      pram_units_word(x), "s found (before: ", format_risk(worst_match_prob_before), ")"
    )
  ),
  worst_match_prob_before = figure(
    "Match probability before", "risk", scenario = "prosecutor", attempt = TRUE, board = FALSE
  ),
  max_match_prob = figure(
    "Bound asked for", "risk", scenario = "prosecutor", direction = "none", board = FALSE
  ),
  n_above = figure("Records above the bound", "count", scenario = "prosecutor", board = FALSE),
  hit_rate = figure(
    "Simulated unique matches that were right", "share", scenario = "prosecutor", attempt = TRUE,
    board = FALSE, absent = if (n_sim == 0) "not simulated" else "", says = paste(
      "in", plural(n_sim, "simulated release"), "unique matches were right in %s of the attempts"
    )
  ),
  title = "Audit of a file perturbed by invariant PRAM",
  question = paste0("how often is an intruder right who knows ", audited_words(x), "?"),
  size = paste0(
    plural(nrow(x$records), "record"), " in ", plural(x$diagnostics$n_groups, "group"),
    " that this intruder can tell apart",
    if (x$diagnostics$units == "households") "; households are counted and matched", "."
  ),
  spread = "Match probability of the records",
  measured = paste0(
    "The perturbed file of ", plural(nrow(x$records), "record"),
    " was attacked by an intruder who knows ", audited_words(x),
    " of a person known to be in the file"
  ),
  limits = "other knowledge than these key variables can do better",
  source = "exact calculation", frame = x$records
)

audited_words <- function(x) {
  if (is.null(x$settings$known_keys)) known_words(x) else known_keys_words(x)
}

#' Audit the bound of a perturbed file
#'
#' Checks the bound of [invariant_pram()], including for an intruder who knows only some key
#' variables. Use it before release. The file is released many times at random and attacked, and
#' the worst match probability is computed exactly.
#'
#' @details
#' An intruder with `known_keys` sees groups of keys. With \eqn{S} records
#' released in the target's group, the exact worst case over all \eqn{S = a} and
#' all records of the group is one over the number of records that cannot leave
#' the group, if there are such; otherwise it is that of \eqn{S = 1}, for the
#' record with the largest odds of being there. Equal to full enumeration.
#'
#' At a bound of at least 1/2 it holds for every such intruder: two records of a
#' block in one group are found with a probability of at most 1/2 each, and one
#' alone is found no more easily than under its own key. Below 1/2 a group can be
#' worse than the bound: keys of 1, 1 and 9 records at 0.4 leave a group of the first
#' two at 0.4284.
#'
#' With `hh_id` the number of records of the target's household is known to every intruder,
#' since the release shows it. If households are units the groups, \eqn{S} and `match_prob`
#' are of households of that size; as these have equally many records, counting records is
#' equivalent: an intruder who finds \eqn{a} households of \eqn{s} has found \eqn{a s}
#' records, and picks one of the target's household with the same probability, the target
#' with one \eqn{s}-th of it.
#'
#' The simulation draws `n_sim` releases by the transition probabilities of `x`.
#' In each, every key that records can leave has one target, drawn from it; the
#' intruder picks at random one of the records in the target's group. Attempts
#' are independent between releases and not inside one, and standard errors
#' respect that.
#'
#' A missing value is a value like any other, as in [invariant_pram()].
#'
#' @section Cost:
#' Grouping both files, and `n_sim` draws of what the intruder picks, in work that grows with
#' the records: 100,000 records and 100 draws take 0.6 seconds of one processor.
#'
#' @section Memory:
#' Beyond `data`, with five key variables: at most 300 bytes a record.
#'
#' @param x A result of [invariant_pram()].
#' @param data The data `x` was made from, not the released ones.
#' @param n_sim Number of simulated releases; 0 for none.
#' @param known_keys Key variables that the intruder knows; `NULL` for all, and
#'   the variables of `within` besides. Naming all key variables leaves out
#'   what `within` adds. With `hh_id` the size of the household is always known.
#' @param ... Must be empty.
#' @return An object of class `sdc_pram_audit`, an [sdc_result] with
#' \describe{
#'   \item{`estimates`}{one row: `max_match_prob`, `worst_match_prob` (exact),
#'     `worst_match_prob_before`, `n_above` (records above the bound), `n_sim`,
#'     `hit_rate` and `hit_rate_se` (attempts that found one record)}
#'   \item{`groups`}{the groups the intruder sees: `count`, `match_prob_before`,
#'     `match_prob`}
#'   \item{`simulation`}{`count` (of the target's group before, `"11+"` for more
#'     than 10), `found` (records released there, `"3+"`), `n_attempts`, `n_hits`,
#'     `hit_rate`, `std_error`, and `exact`, the largest exact match probability
#'     of a group of that count}
#'   \item{`records`}{`group`, `match_prob_before`, `match_prob`}
#' }
#'
#'   Errors: an `x` of another function or about a table of a database (`bad_argument`);
#'   `known_keys` that `data` does not have (`unknown_key_var`); data that `x` was not made
#'   from (`mismatched_data`).
#' @inherit invariant_pram references
#' @family perturbation
#' @export
#' @examples
#' keys <- c("CENREG", "DAGE3", "EDUC3", "GENDER", "BORNUSA", "DRACE3")
#' file <- nals_prison[keys]
#' secret <- invariant_pram(file)
#' pram_audit(secret, file, n_sim = 0)
#' pram_audit(secret, file, n_sim = 0, known_keys = keys[1:4])
pram_audit <- function(x, data, n_sim = 1000, known_keys = NULL, ...) {
  ask <- announce("pram_audit")
  check_no_dots(...)
  check_given(c("x", "data"))
  data <- bare_data(data)
  remember(ask)
  check_pram_result(x)
  check_has_records(x)
  n_sim <- check_whole(n_sim, "n_sim", low = 0, high = 1e7)
  table <- check_same_data(x, data)
  known <- pram_key_names(known_keys, "known_keys", x, data)
  with_progress("Audit", {
    extra <- pram_extra(x)
    group <- if (is.null(known)) {
      seq_len(nrow(x$cells))
    } else {
      codes <- all_codes(list(table))[[1]][match(known, table$variables)]
      match_groups(x, codes, x$cells$household_size)$group
    }
    found <- margin_inflation(extra, list(group))[[1]]
    units <- as.vector(rowsum(x$cells$count, group))
    simulated <- pram_simulation(x, extra, group, units, found$match_prob, n_sim)
    new_pram_audit(x, group, units, found$match_prob, known, n_sim, simulated, ask$call)
  })
}

check_pram_result <- function(x) {
  if (!inherits(x, "sdc_invariant_pram")) {
    stop_argument("x", "be a result of `invariant_pram()`")
  }
  check_result(x)
}

# A result about a table of a database does not have the keys of its records.
check_has_records <- function(x) {
  if (is.null(x$records)) {
    stop_argument(
      "x", "be a result about data in R", "It is one about a table of a database.",
      "`x$cells` has the exact match probability of every key."
    )
  }
}

# Names of key variables from names or positions.
pram_key_names <- function(vars, arg, x, data) {
  if (is.null(vars)) {
    return(NULL)
  }
  names <- names(data)[check_columns(vars, data, arg)]
  outside <- setdiff(names, x$settings$key_vars)
  if (length(outside) || length(names) == 0) {
    stop_argument(
      arg, "name key variables of `x`",
      found = if (length(outside)) paste0("Not among them: ", quote_names(outside), ".")
    )
  }
  names
}

# Group of every cell by the codes of some key variables and, where it is seen
# (`sizes`), the size of the household; and a record of each.
match_groups <- function(x, codes, sizes = NULL) {
  first <- x$diagnostics$first_record
  group <- joint_numbers(c(lapply(codes, function(codes) codes[first]), list(sizes))) + 1L
  list(group = group, record = first[!duplicated(group)])
}

pram_simulation <- function(x, extra, group, units, exact, n_sim) {
  empty <- frame(
    count = character(), found = character(), n_attempts = double(), n_hits = double(),
    hit_rate = double(), std_error = double(), exact = double()
  )
  if (n_sim == 0) {
    return(empty)
  }
  found <- core(rs_pram_simulate, list(
    counts = x$cells$count, block = x$cells$block, thetas = extra$design$thetas,
    group = as.integer(group), n_sim = n_sim, seed = draw_seed()
  ))
  counts <- c(1:10, "11+")
  class <- pmin(units, 11)
  worst <- vapply(seq_along(counts), function(class_number) {
    of_class <- class == class_number
    if (any(of_class)) max(exact[of_class]) else NA_real_
  }, 0)
  table <- frame(
    count = rep(counts, each = 3), found = rep(c("1", "2", "3+"), length(counts)),
    n_attempts = found$n, n_hits = found$hits, hit_rate = found$rate,
    std_error = found$std_error, exact = rep(worst, each = 3)
  )
  table <- table[table$n_attempts > 0, ]
  rownames(table) <- NULL
  table
}

new_pram_audit <- function(x, group, units, match_prob, known, n_sim, simulated, this_call) {
  groups <- frame(count = units, match_prob_before = 1 / units, match_prob = match_prob)
  of_record <- group[x$records$cell]
  unique_matches <- simulated[simulated$found == "1", ]
  attempts <- sum(unique_matches$n_attempts)
  rate <- if (attempts > 0) sum(unique_matches$n_hits) / attempts else NA_real_
  bound <- x$estimates$max_match_prob
  new_sdc_result(
    "sdc_pram_audit",
    estimates = frame(
      max_match_prob = bound, worst_match_prob = max(match_prob),
      worst_match_prob_before = max(1 / units),
      n_above = sum(match_prob[of_record] > bound + 1e-9), n_sim = n_sim,
      hit_rate = rate,
      # Attempts of one release hardly depend on each other.
      hit_rate_se = sqrt(sum((unique_matches$std_error * unique_matches$n_attempts)^2)) /
        if (attempts > 0) attempts else NA_real_
    ),
    records = frame(
      group = of_record, match_prob_before = 1 / units[of_record],
      match_prob = match_prob[of_record]
    ),
    settings = c(
      x$settings[c("key_vars", "key_groups", "max_match_prob", "within", "n", "fingerprint",
                   "missing", "version")],
      list(known_keys = known)
    ),
    diagnostics = list(units = x$diagnostics$units, n_groups = length(units)),
    call = this_call, groups = groups, simulation = simulated
  )
}

# The names of the keys that are known, and what shows besides.
known_keys_words <- function(x) {
  paste(c(
    x$settings$known_keys, if (x$diagnostics$units != "records") "household size"
  ), collapse = ", ")
}

#' @export
record_risk.sdc_pram_audit <- function(x) {
  x$records$match_prob
}

#' @rdname pram_audit
#' @param object For `autoplot()`, which `plot()` draws: the match probability of
#'   every group that the intruder sees, before and after.
#' @param ... None.
#' @exportS3Method ggplot2::autoplot
autoplot.sdc_pram_audit <- function(object, ...) {
  enter_picture(object)
  known <- object$settings$known_keys
  plot_match_prob(
    object$groups, object$estimates$max_match_prob,
    paste0(
      "Intruder who knows ", if (is.null(known)) {
        "all key variables"
      } else {
        paste(length(known), "of", length(object$settings$key_vars), "key variables")
      }
    ),
    before = "before: 1 / count of the group", unit = "groups"
  )
}

#' Variance that perturbation adds to counts
#'
#' Computes for every level of one or several key variables the standard error that perturbation
#' adds to its count, and the growth of the standard error of its proportion. Give it to the
#' analysts of a perturbed file.
#'
#' @details
#' A record with key \eqn{i} is released in group \eqn{c} with probability
#' \eqn{\alpha_i}{alpha_i}, so that \eqn{Var(S_c \mid T) = \sum_i T_i
#' \alpha_i (1 - \alpha_i)}{Var(S_c | T) = sum_i T_i alpha_i (1 - alpha_i)}, at
#' most \eqn{2\theta}{2 theta} for a key. With \eqn{n} records and a share
#' \eqn{p}, sampling alone has variance \eqn{p (1 - p) / n}; the factor is
#' \eqn{\sqrt{1 + Var(S_c) / (n p (1 - p))}}{sqrt(1 + Var(S_c) / (n p (1 - p)))}.
#' A missing value is a level of its own.
#'
#' @section Cost:
#' Grouping the records by key: 100,000 records take 0.2 seconds
#' of one processor.
#'
#' @section Memory:
#' Beyond `data`, with five key variables: at most 300 bytes a record.
#'
#' @param x A result of [invariant_pram()].
#' @param data The data `x` was made from.
#' @param vars Key variables whose joint levels are counted, one or several.
#'   `NULL`: the margin of every key variable by itself.
#' @param ... Must be empty.
#' @return A data frame with a row per level. With `vars`: their values, `count`
#'   (records before), `std_error` (of the released count, from perturbation),
#'   `se_inflation`. Without: `variable`, `level` and the same.
#'
#'   Errors: an `x` of another function or about a table of a database (`bad_argument`);
#'   `vars` that `data` does not have (`unknown_key_var`); data that `x` was not made from
#'   (`mismatched_data`).
#' @inherit invariant_pram references
#' @family perturbation
#' @export
#' @examples
#' keys <- c("CENREG", "DAGE3", "EDUC3", "GENDER", "BORNUSA", "DRACE3")
#' file <- nals_prison[keys]
#' secret <- invariant_pram(file)
#' pram_variance(secret, file, c("DAGE3", "EDUC3"))
pram_variance <- function(x, data, vars = NULL, ...) {
  announce("pram_variance")
  check_no_dots(...)
  check_given(c("x", "data"))
  data <- bare_data(data)
  check_pram_result(x)
  check_has_records(x)
  table <- check_same_data(x, data)
  vars <- pram_key_names(vars, "vars", x, data)
  sets <- if (is.null(vars)) x$settings$key_vars else list(vars)
  margins <- pram_margins(x, table, sets)
  if (!is.null(vars)) {
    margin <- margins[[1]]
    values <- as.data.frame(lapply(rlang::set_names(vars), function(v) {
      data[[v]][margin$record]
    }), optional = TRUE)
    out <- cbind(values, margin$numbers)
    out <- out[do.call(order, unname(lapply(values, value_rank))), , drop = FALSE]
    rownames(out) <- NULL
    return(out)
  }
  parts <- Map(function(v, margin) {
    values <- data[[v]][margin$record]
    out <- cbind(
      frame(variable = rep(v, length(values)), level = value_names(values)), margin$numbers
    )
    out[order(value_rank(values)), , drop = FALSE]
  }, sets, margins)
  out <- do.call(rbind, unname(parts))
  rownames(out) <- NULL
  out
}

# For every set of key variables a record of each of its combinations of values,
# and the numbers of these combinations.
pram_margins <- function(x, table, sets) {
  codes <- all_codes(list(table))[[1]]
  groups <- lapply(sets, function(set) match_groups(x, codes[match(set, table$variables)]))
  found <- margin_inflation(pram_extra(x), lapply(groups, `[[`, "group"))
  Map(function(groups, found) {
    list(record = groups$record, numbers = frame(
      count = found$count, std_error = sqrt(found$variance), se_inflation = found$se_inflation
    ))
  }, groups, found)
}

#' Transition probabilities of a key
#'
#' Lists the keys that a record with a given key can get, with their probabilities. Use it to
#' correct a table or a likelihood for the perturbation.
#'
#' @details
#' A record with key \eqn{i} keeps it with probability \eqn{1 - \theta / T_i}{1 - theta / T_i},
#' where \eqn{\theta}{theta} is that of its block, and gets each of the remaining \eqn{k - 1}
#' keys of the block with \eqn{\theta / (T_i (k - 1))}{theta / (T_i (k - 1))}. Records with a
#' key outside all blocks keep it.
#'
#' @param x A result of [invariant_pram()].
#' @param cell Rows of `x$cells`, as in `x$records$cell`.
#' @param data The data `x` was made from, to add the values of the key
#'   variables to the result.
#' @param ... Must be empty.
#' @return A data frame with a row per key and possible new key: `from`,
#'   `to` (rows of `x$cells`), `prob`, and the values of the key variables at `to`
#'   if `data` is given. Probabilities of one `from` add up to 1.
#'
#'   Errors: an `x` of another function, and a `cell` that is not a row of `x$cells`
#'   (`bad_argument`); data that `x` was not made from (`mismatched_data`).
#' @inherit invariant_pram references
#' @family perturbation
#' @export
#' @examples
#' keys <- c("CENREG", "DAGE3", "EDUC3", "GENDER", "BORNUSA", "DRACE3")
#' secret <- invariant_pram(nals_prison[keys])
#' unique_cell <- which(secret$cells$count == 1)[[1]]
#' pram_transitions(secret, unique_cell) # stays with 0.667, moves with 0.333
pram_transitions <- function(x, cell, data = NULL, ...) {
  announce("pram_transitions")
  check_no_dots(...)
  check_given(c("x", "cell"))
  check_pram_result(x)
  cell <- check_whole(cell, "cell", high = nrow(x$cells), several = TRUE)
  if (!is.null(data)) {
    check_has_records(x)
    check_same_data(x, data)
    data <- bare_data(data)
  }
  members <- split(seq_len(nrow(x$cells)), factor(x$cells$block, x$blocks$block))
  parts <- lapply(cell, function(from) {
    block <- x$cells$block[[from]]
    to <- if (is.na(block)) from else members[[block]]
    stay <- x$cells$stay_prob[[from]]
    prob <- ifelse(to == from, stay, (1 - stay) / max(length(to) - 1, 1))
    frame(from = rep(from, length(to)), to = to, prob = prob)
  })
  out <- do.call(rbind, parts)
  if (is.null(data)) {
    return(out)
  }
  records <- x$diagnostics$first_record[out$to]
  cbind(out, as.data.frame(lapply(
    rlang::set_names(x$settings$key_vars), function(v) data[[v]][records]
  ), optional = TRUE))
}
