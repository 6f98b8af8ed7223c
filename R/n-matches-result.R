# From counted matches to the result of n_matches(): records, estimates, theta.

new_n_matches <- function(found, coded, sets, settings, weights, tolerance, data, this_call) {
  outside <- !is.null(coded$targets)
  n <- coded$table$n
  n_targets <- if (outside) coded$targets$n else n
  n_rows <- if (outside) coded$targets$n_rows else coded$table$n_rows
  weighing <- list(weights = weights, range = weight_range(data, weights))
  household <- if (!is.null(settings$hh_id)) household_codes(data[[settings$hh_id]])
  records <- lapply(found, match_records, outside, n_rows, household, settings$sensitive)
  estimates <- Map(function(found, label) {
    times <- if (!outside) coded$table$times
    if (!is.null(found$rows)) times <- times[found$rows]
    match_estimates(found, label, settings, weighing, n, n_targets, outside, times)
  }, found, names(sets$sets))
  uncertain <- vapply(sets$sets, function(set) {
    !all(vapply(coded$table$sets[set$columns], is.null, NA))
  }, NA)
  estimates[uncertain] <- lapply(estimates[uncertain], without_listwise)
  inform_excluded(
    max(vapply(estimates, function(e) as.double(e$n_deleted), 0)), n_targets,
    if (outside) "pattern" else "record"
  )
  if (sets$many) {
    records <- Map(function(columns, label) {
      names(columns) <- c(label, paste0(label, "_", names(columns)))[
        c(1, seq_along(columns)[-1] + 1)
      ]
      columns
    }, records, names(sets$sets))
  }
  columns <- unlist(unname(records), recursive = FALSE)
  new_sdc_result(
    "sdc_n_matches",
    estimates = stack_frames(estimates),
    records = do.call(frame, columns),
    settings = list(
      key_vars = sets$variables, key_groups = sets$groups,
      key_sets = lapply(sets$sets, function(set) names(set$keys)),
      named_sets = sets$many, missing = one_word(settings$missing), rule = settings$rule,
      min_overlap = settings$min_overlap, partial_weight = settings$partial_weight,
      tolerance = tolerance, patterns = outside, below = settings$below,
      weight_var = settings$weight_var, hh_id = settings$hh_id,
      sensitive = settings$sensitive, sampling_fraction = settings$fraction,
      level = settings$level, candidates = TRUE, n = n,
      fingerprint = coded$table$fingerprint,
      version = own_version()
    ),
    diagnostics = list(
      n_patterns = vapply(found, function(f) f$n_patterns, 0),
      algorithm = vapply(found, function(f) f$algorithm, ""),
      candidate_columns = coded$table$variables[!vapply(coded$table$sets, is.null, NA)],
      n_missing = rlang::set_names(coded$table$n_missing, coded$table$variables),
      missing = missing_cells(coded$table, data), identifying = coded$identifying
    ),
    call = this_call,
    sensitive = sensitive_table(found, coded$table$times, settings$sensitive)
  )
}

# A rule by column as the one word that all of them share.
one_word <- function(missing) {
  words <- unique(unname(missing))
  if (length(words) == 1) words else missing
}

# The numbers of matches: of households where these are counted.
counted_matches <- function(found) {
  if (is.null(found$n_households)) found$n_matches else found$n_households
}

# The columns of one key set, per record or outside pattern.
match_records <- function(found, outside, n_rows, household, sensitive) {
  rows <- if (outside) found$target_rows else found$rows
  by_household <- !is.null(household)
  of_values <- Map(rlang::set_names, found$sensitive, sensitive_columns(sensitive))
  columns <- c(
    list(
      n_matches = counted_matches(found),
      n_matches_weighted = if (by_household) {
        found$households_weighted
      } else {
        found$n_matches_weighted
      }
    ),
    unlist(unname(of_values), recursive = FALSE),
    list(n_matched_records = if (by_household) found$n_matches)
  )
  columns <- columns[!vapply(columns, is.null, NA)]
  columns <- lapply(columns, spread_records, rows, n_rows)
  if (by_household && !outside) {
    columns$n_matches_household <- household_minimum(columns$n_matches, household)
  }
  columns
}

# Households as numbers, NA for none, by the values that the core tells apart;
# all NA for a column it will refuse.
household_codes <- function(x) {
  source <- column_source(x, length(x))
  if (is.null(source)) {
    return(rep(NA_integer_, NROW(x)))
  }
  values <- as_bare(source$values)
  codes <- match(values, unique(values))
  none <- switch(source$kind,
    # The missing integer64 has the bits of -0.
    wide = values == 0 & 1 / values < 0,
    levels = is.na(values) | source$level_is_missing[values],
    is.na(values)
  )
  codes[none] <- NA
  codes
}

# The smallest number among the members of the record's household.
household_minimum <- function(matches, household) {
  known <- !is.na(matches) & !is.na(household)
  least <- rep(NA_integer_, max(0L, household, na.rm = TRUE))
  order <- order(matches[known], decreasing = TRUE)
  # The last assignment stays: that of the smallest.
  least[household[known][order]] <- matches[known][order]
  out <- least[household]
  out[is.na(household)] <- matches[is.na(household)]
  out
}

match_estimates <- function(found, label, settings, weighing, n_all, n_targets, outside, times) {
  spread <- match_counts(counted_matches(found), times)
  n <- sum(spread$n)
  with <- function(k) sum(spread$n[abs(spread$matches - k) < 1e-9])
  n_unique <- with(1)
  below <- lapply(settings$below, function(b) sum(spread$n[spread$matches < b - 1e-9]))
  names(below) <- paste0("n_below_", settings$below)
  counts <- list(n_unique = n_unique, n_pairs = with(2) / 2, n_triples = with(3) / 3)
  at <- function(p) if (n) counted_quantile(spread$risk, spread$n, p) else NA_real_
  theta <- if (outside) {
    no_theta()
  } else {
    match_set_theta(counts, found, settings, weighing, n, n_all, times)
  }
  do.call(frame, c(
    list(key_set = label, n_deleted = n_targets - n, n = n, n_unique = n_unique),
    below,
    list(
      prop_unique = if (n) n_unique / n else NA_real_, prop_unique_all = n_unique / n_targets,
      n_pairs = counts$n_pairs
    ),
    theta,
    list(
      n_complete = found$n_complete, n_unique_complete = found$n_unique_complete,
      prop_unique_complete = if (found$n_complete > 0) {
        found$n_unique_complete / found$n_complete
      } else {
        NA_real_
      },
      risk_max = at(1), risk_q99 = at(0.99), risk_q95 = at(0.95),
      risk_mean = if (n) sum(spread$risk * spread$n) / n else NA_real_
    ),
    sensitive_estimates(found$sensitive, times)
  ))
}

# Frequency of each number of matches, by ascending risk 1/m; a pattern without a match has no risk.
match_counts <- function(matches, times = NULL) {
  if (!is.null(times)) {
    values <- sort(unique(matches))
    times <- as.vector(rowsum(times, match(matches, values)))
  } else if (is.integer(matches)) {
    times <- tabulate(matches + 1L)
    values <- which(times > 0)
    times <- times[values]
    values <- values - 1
  } else {
    runs <- rle(sort(matches))
    values <- runs$values
    times <- runs$lengths
  }
  risk <- ifelse(values > 0, 1 / values, 0)
  order <- order(risk)
  list(matches = values[order], n = as.double(times[order]), risk = risk[order])
}

# Listwise deletion cannot use candidates: a set of them is no value.
without_listwise <- function(estimate) {
  estimate$n_unique_complete <- NA_real_
  estimate$prop_unique_complete <- NA_real_
  estimate
}

no_theta <- function() {
  list(
    theta = NA_real_, theta_se = NA_real_, theta_low = NA_real_, theta_high = NA_real_,
    theta_status = NA_character_
  )
}

# Theta of one key set, with its status.
match_set_theta <- function(counts, found, settings, weighing, n, n_all, times) {
  asked <- !is.null(settings$fraction) || (!is.null(weighing$weights) && weighing$range[[1]] >= 1)
  if (n == 0 || !asked || !is.null(settings$hh_id)) {
    return(no_theta())
  }
  theta <- if (!is.null(settings$fraction)) {
    match_theta(
      counts$n_unique, counts$n_pairs, settings$fraction * n / n_all, counts$n_triples,
      settings$level
    )
  } else {
    weighted_theta(counts, found, weighing$weights, settings$level, times)
  }
  few <- counts$n_unique < 10 || counts$n_pairs < 10
  c(as.list(theta), theta_status = if (few) "unreliable" else "ok")
}

# Theta where records enter the sample with unequal probabilities: records with
# two matches stand for their partner's further people in the population. The weights
# of `times` records with one pattern are their sum.
weighted_theta <- function(counts, found, weights, level, times = NULL) {
  own <- if (is.null(found$rows)) weights else weights[found$rows]
  among <- function(k) abs(found$n_matches - k) < 1e-9
  pairs <- among(2)
  sums <- found$n_matches_weighted
  n <- if (is.null(times)) rep(1, length(own)) else times
  expected <- sum(own[pairs] - n[pairs])
  triples <- among(3)
  # Of a triple: the sum of w - 1 and of its squares give the mixed products.
  # Partners that count in part need not make three, and the products may then
  # be below 0, as no variance is.
  first <- sums[triples] - 3
  second <- found$weighted_squares[triples] - 2 * sums[triples] + 3
  mixed <- max(0, sum(n[triples] * (first^2 - second)))
  variance <- expected + sum(n[pairs] * (sums[pairs] - 2)^2) / 2 + mixed / 3
  theta_table(
    counts$n_unique, counts$n_pairs, expected / counts$n_unique,
    sqrt(variance) / counts$n_unique, sqrt(variance) / expected, level
  )
}
