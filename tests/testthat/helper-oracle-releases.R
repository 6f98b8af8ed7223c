# Slow and obvious versions of joint_release_risk(), change_moments() and perturbation_risk().

# Of each row the rows that agree with it on all key variables, a missing value with every value.
slow_wildcard_matches <- function(data) {
  text <- lapply(data, as.character)
  vapply(seq_len(nrow(data)), function(i) {
    agrees <- lapply(text, function(x) is.na(x) | is.na(x[[i]]) | x == x[[i]])
    sum(Reduce(`&`, agrees))
  }, 0L)
}

# Links of `from` to `to` if the intruder takes any record that agrees wherever both are known and
# no value is missing or wrong: expected and certain ones, and the probability of each.
slow_release_links <- function(from, to, keys, id) {
  right <- vapply(seq_len(nrow(from)), function(i) {
    agrees <- Reduce(`&`, lapply(keys, function(v) {
      as.character(to[[v]]) == as.character(from[[v]][[i]])
    }))
    own <- to[[id]] == from[[id]][[i]]
    if (any(own)) sum(own & agrees) / max(sum(agrees), 1) else NA_real_
  }, 0)
  list(right = right, expected = sum(right, na.rm = TRUE), certain = sum(right == 1, na.rm = TRUE))
}

# The changes of one person, wave by wave: how many, when the last was seen, and the waves in
# which it can have happened.
slow_changes <- function(values, waves) {
  known <- which(!is.na(values))
  out <- list(n = 0L, seen = "no change", moment = "no change")
  for (i in seq_along(known)[-1]) {
    before <- known[[i - 1]]
    now <- known[[i]]
    if (as.character(values[[before]]) != as.character(values[[now]])) {
      out <- list(n = out$n + 1L, seen = waves[[now]], moment = waves[(before + 1):now])
    }
  }
  out
}

# All releases of a file whose records move independently, by the probabilities of `move` (cells
# by cells): per cell the probability that one record is released in it, and that a given record
# of the cell is that one.
slow_unique_matches <- function(cell, move) {
  n_cells <- nrow(move)
  outcomes <- as.matrix(expand.grid(rep(list(seq_len(n_cells)), length(cell))))
  prob <- apply(outcomes, 1, function(z) prod(move[cbind(cell, z)]))
  one <- vapply(seq_len(n_cells), function(j) {
    counts <- rowSums(outcomes == j)
    own <- match(j, cell)
    c(sum(prob[counts == 1]), sum(prob[counts == 1 & outcomes[, own] == j]))
  }, c(0, 0))
  list(unique = one[1, ], alone = one[2, ])
}
