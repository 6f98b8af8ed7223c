# The parts of a result of qar_risk().

# Shares of key sets above the threshold at which its influence is shown.
threshold_grid <- seq(2, 20) / 100

# Key sets that identify every record and are named.
most_listed <- 20L

# Key sets the core draws a sample from.
most_sets <- 1e8

check_p <- function(p, n_keys) {
  if (any(p > n_keys)) {
    stop_argument("p", paste0("be at most the number of key variables (", n_keys, ")"))
  }
  n_sets <- choose(n_keys, p)
  if (any(n_sets > most_sets)) {
    stop_sdc(
      "too_large", "There must not be more key sets than can be sampled.",
      x = paste0(
        n_keys, " key variables have ", format(max(n_sets), digits = 4, big.mark = big_mark()),
        " key sets of size ", p[[which.max(n_sets)]], "; the limit is ",
        format_count(most_sets), "."
      ),
      i = "Take a smaller `p` or fewer `key_vars`.",
      n_sets = max(n_sets)
    )
  }
}

# `counted`: what the core found for every p, a list of data frames.
new_qar_risk <- function(counted, settings, key_names, n_records, sets, this_call) {
  found <- counted[[1]]
  if (length(counted) > 1) {
    parts <- setdiff(unlist(lapply(counted, names)), c("n_distinct", "share_counted"))
    found <- lapply(rlang::set_names(parts), function(part) {
      stack_frames(lapply(counted, `[[`, part))
    })
  }
  listed <- numbered_rows(found$sets, order(-found$sets$n_distinct))
  identifying <- listed$key_set[listed$n_distinct == n_records]
  new_sdc_result(
    "sdc_qar_risk",
    estimates = found$estimates, records = NULL, settings = settings,
    diagnostics = list(
      threshold = if (sets) found$threshold, sampling = found$sampling,
      identifying_sets = utils::head(identifying, most_listed), identifying = found$identifying,
      identifying_variables = found$identifying_variables,
      without_theta_one = found$without_theta_one, fit = found$fit,
      feasible = found$fit[c("p", "alpha", "feasible")],
      share_counted = rlang::set_names(vapply(counted, `[[`, 0, "share_counted"), settings$p),
      n_excluded = settings$n - n_records,
      n_distinct = rlang::set_names(counted[[1]]$n_distinct, key_names)
    ),
    call = this_call,
    sets = if (sets) listed, variables = if (sets) found$variables
  )
}
