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
