# Slow and obvious versions of birth_month(), latest_values() and key_overview().

# The admissible months of one person, pair by pair as the help page defines it.
oracle_months <- function(year, month, age, birth_year = NULL) {
  time <- 12 * year + month - 1
  pairs <- expand.grid(i = seq_along(time), j = seq_along(time))
  pairs <- pairs[
    time[pairs$i] < time[pairs$j] |
      (time[pairs$i] == time[pairs$j] & age[pairs$i] <= age[pairs$j]),
  ]
  which(vapply(1:12, function(b) {
    all(mapply(oracle_pair, time[pairs$i], time[pairs$j], age[pairs$i], age[pairs$j], b)) &&
      (is.null(birth_year) || all(oracle_answer(year - birth_year - age, month, b)))
  }, NA))
}

# Whether month b agrees with two answers.
oracle_pair <- function(s, t, age_s, age_t, b) {
  is_b <- function(time) time %% 12 + 1 == b
  between <- if (t - s > 1) (s + 1):(t - 1) else numeric()
  c <- sum(is_b(between))
  e <- is_b(s) + (s != t && is_b(t))
  age_t - age_s >= c && age_t - age_s <= c + e
}

# Whether month b agrees with answers, given the year of birth.
oracle_answer <- function(had, month, b) {
  (had == 0 & b <= month) | (had == 1 & b >= month)
}

# The months for which some birthday, day by day, explains every answer: true
# ages, without reasoning about changes. Answers are on any day of their month.
oracle_simulated_months <- function(year, month, age) {
  which(vapply(1:12, function(b) {
    any(vapply(seq(min(year - age) - 1, max(year - age)), function(y) {
      all(vapply(seq_along(year), function(i) {
        age[i] %in% (year[i] - y - (if (month[i] > b) 0 else if (month[i] < b) 1 else 0:1))
      }, NA))
    }, NA))
  }, NA))
}

expected_uniques <- function(data) {
  if (length(data) == 0) {
    return(as.integer(nrow(data) == 1))
  }
  key <- do.call(paste, c(unname(lapply(data, as.character)), sep = "\r"))
  sum(!(duplicated(key) | duplicated(key, fromLast = TRUE)))
}

oracle_v <- function(x, y) {
  counts <- table(x, y)
  counts <- counts[rowSums(counts) > 0, colSums(counts) > 0, drop = FALSE]
  n <- sum(counts)
  r <- nrow(counts)
  c <- ncol(counts)
  if (n < 2 || r < 2 || c < 2) {
    return(NA_real_)
  }
  expected <- outer(rowSums(counts), colSums(counts)) / n
  phi2 <- sum((counts - expected)^2 / expected) / n
  phi2 <- max(0, phi2 - (r - 1) * (c - 1) / (n - 1))
  room <- min(r - (r - 1)^2 / (n - 1), c - (c - 1)^2 / (n - 1)) - 1
  if (room < 1e-9) NA_real_ else min(1, sqrt(phi2 / room))
}

oracle_key_overview <- function(data) {
  rows <- lapply(seq_along(data), function(v) {
    x <- data[[v]]
    share <- table(as.character(x)) / sum(!is.na(x))
    v_with <- vapply(seq_along(data), function(w) {
      if (v == w) NA_real_ else oracle_v(x, data[[w]])
    }, 0)
    best <- if (all(is.na(v_with))) NA_integer_ else which.max(v_with)
    data.frame(
      variable = names(data)[v], n_levels = length(share), n_missing = sum(is.na(x)),
      prop_missing = mean(is.na(x)), entropy = -sum(share * log(share)),
      largest_share = if (length(share)) max(share) else NA_real_,
      association = v_with[best],
      n_unique_without = expected_uniques(data[-v]),
      unique_change = expected_uniques(data[-v]) - expected_uniques(data)
    )
  })
  do.call(rbind, rows)
}
