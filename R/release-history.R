# History of a file, step by step: `history`, a list of steps in words, and `states`, a data frame
# with a row for each column that was changed. Both go with every release. They hold counts and
# settings, no values and no record numbers.

# The step that a remedy's result is, and the states of its columns.
remedy_step <- function(x) {
  if (inherits(x, "sdc_suppress_cells")) {
    done <- x$variables[x$variables$n_suppressed > 0, ]
    list(
      words = paste0(
        "suppress_cells(k = ", x$settings$k, "): ", plural(x$estimates$n_suppressed, "value"),
        " suppressed"
      ),
      states = new_states(done$variable, "suppressed", done$n_suppressed, done$n_missing)
    )
  } else {
    unchanged <- x$estimates$theta_max <= 0
    list(
      words = paste0(
        "invariant_pram(max_match_prob = ", format_risk(x$settings$max_match_prob), ")",
        if (unchanged) ": no value exchanged"
      ),
      states = new_states(if (!unchanged) x$settings$key_vars, "randomised")
    )
  }
}

# What is known of the `n` records of a suppression whose originals had all values: at least `k`
# originals match each of them in the `keys`, `n_missing` of whose values were suppressed.
kept_by <- function(x, keys) {
  complete <- all(x$variables$n_missing == 0) && length(x$settings$key_sets) == 1
  if (x$settings$rule != "shared" && complete) {
    n_missing <- sum(x$variables$n_suppressed[x$variables$variable %in% x$settings$key_sets[[1]]])
    list(
      k = x$settings$k, keys = keys, n = x$settings$n, n_missing = n_missing,
      hh_id = x$settings$hh_id
    )
  }
}

new_states <- function(variable, state, n_suppressed = 0, n_missing_before = NA) {
  n <- length(variable)
  frame(
    variable = as.character(variable), state = rep(state, n),
    n_suppressed = as_count(rep_len(n_suppressed, n)),
    n_missing_before = as.integer(rep_len(n_missing_before, n))
  )
}

# The history of a file after one more step. A column that was changed twice has both words.
with_step <- function(past, remedy, words, states) {
  past$history <- c(past$history, words)
  both <- rbind(past$states, states)
  past$states <- do.call(rbind, unname(lapply(split(both, factor(
    both$variable, unique(both$variable)
  )), function(rows) {
    known <- rows$n_missing_before[!is.na(rows$n_missing_before)]
    new_states(
      rows$variable[[1]], paste(unique(rows$state), collapse = ", "), sum(rows$n_suppressed),
      if (length(known)) known[[1]] else NA
    )
  })))
  # Of a file that was perturbed once, counts stay without meaning.
  exchanged <- identical(past$remedy, "invariant_pram") ||
    any(grepl("randomised", past$states$state))
  past$remedy <- if (exchanged) "invariant_pram" else setdiff(remedy, "invariant_pram")
  past
}

# A result with the steps before it. Data that came with roles leave with them.
with_past <- function(result, file) {
  if (!is.null(file$before)) result <- with_weak(result, file$before)
  kept <- c("history", "states", "remedy", if (isTRUE(file$forgotten)) "told")
  attr(result, "past") <- if (length(file$history)) unclass(file)[kept]
  if (length(file$roles) && (is.data.frame(result$data) || is_lazy_table(result$data))) {
    result$data <- close_file(uncounted_release(result, "data"))
  }
  result
}
