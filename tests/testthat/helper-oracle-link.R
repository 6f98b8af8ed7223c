# Oracles of linkage: pair by pair, value by value, in base R.

quiet_link <- function(...) quietly(longitudinal_link(...))

# Whether values of one key differ, element by element. `rule` is NULL,
# c(lo, hi) or a matrix.
slow_differs <- function(one, two, rule = NULL) {
  differs <- if (is.null(rule)) {
    as.character(one) != as.character(two)
  } else if (is.matrix(rule)) {
    !rule[cbind(as.character(one), as.character(two))]
  } else {
    change <- as.numeric(two) - as.numeric(one)
    change < rule[[1]] | change > rule[[2]]
  }
  differs & !is.na(one) & !is.na(two)
}

# What longitudinal_link() returns, by its definition: all pairs.
slow_link <- function(wave1, wave2, keys, id = NULL, min_overlap = 0, tolerance = NULL) {
  n1 <- nrow(wave1)
  n2 <- nrow(wave2)
  i <- rep(seq_len(n2), n1)
  j <- rep(seq_len(n1), each = n2)
  d <- shared <- 0
  for (v in keys) {
    one <- wave1[[v]][j]
    two <- wave2[[v]][i]
    d <- d + slow_differs(one, two, tolerance[[v]]) %in% TRUE
    shared <- shared + (!is.na(one) & !is.na(two))
  }
  d <- matrix(ifelse(shared < min_overlap, Inf, d), n2, n1)
  smallest <- apply(d, 1, min)
  n_best <- ifelse(is.finite(smallest), rowSums(d == smallest), 0)
  partner <- if (is.null(id)) rep(NA, n2) else match(wave2[[id]], wave1[[id]], incomparables = NA)
  own <- d[cbind(seq_len(n2), partner)]
  prob <- ifelse(is.finite(own) & own == smallest, 1 / n_best, 0)
  prob[is.na(partner)] <- NA
  list(
    n_diff = as.integer(ifelse(is.finite(smallest), smallest, NA)),
    n_best = as.integer(n_best), match_prob = as.double(prob), own = own,
    n_single_best = sum(n_best == 1),
    n_linked = sum(!is.na(partner)), n_certain = sum(prob == 1, na.rm = TRUE),
    expected_correct = sum(prob, na.rm = TRUE)
  )
}

# Two small waves with missing values, ties, shifting numbers and changing
# categories. Types vary with the seed.
random_waves <- function(seed) {
  set.seed(seed)
  n <- sample(2:25, 1)
  k <- sample(2:4, 1)
  missing_rate <- sample(c(0, 0.05, 0.3), 1)
  columns <- Map(random_column, sample(column_types, k, replace = TRUE), n, sample(1:7, k, TRUE), 0)
  names(columns) <- paste0("v", seq_len(k))
  people <- data.frame(columns, age = sample(20:26, n, TRUE), stringsAsFactors = FALSE)
  people$sex <- factor(sample(c("f", "m", "x"), n, TRUE))
  people$id <- sample(100, n)
  keys <- setdiff(names(people), "id")
  wave1 <- people[sort(sample(n, sample(n, 1))), ]
  wave2 <- people[sample(n, sample(n, 1)), ]
  wave2$age <- wave2$age + sample(0:2, nrow(wave2), TRUE)
  for (v in keys) {
    moved <- stats::runif(nrow(wave2)) < 0.15
    wave2[[v]][moved] <- people[[v]][sample(n, sum(moved), TRUE)]
    wave1[[v]][stats::runif(nrow(wave1)) < missing_rate] <- NA
    wave2[[v]][stats::runif(nrow(wave2)) < missing_rate] <- NA
  }
  list(wave1 = wave1, wave2 = wave2, keys = keys)
}
