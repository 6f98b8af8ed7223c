# Oracles of link_attack(): all pairs, in base R.

quiet_attack <- function(...) quietly(link_attack(...))

# The level of two values: 1 equal, 2 within tolerance, 3 beyond (2 without a
# tolerance), 0 where either is missing.
slow_level <- function(one, two, rule = NULL) {
  equal <- as.character(one) == as.character(two)
  if (is.null(rule)) {
    level <- ifelse(equal, 1L, 2L)
  } else {
    change <- as.numeric(two) - as.numeric(one)
    level <- ifelse(change < rule[[1]] | change > rule[[2]], 3L, ifelse(equal, 1L, 2L))
  }
  level[is.na(level)] <- 0L
  level
}

# Whether values of both files can be equal and can be within tolerance: a level
# that no two values are at is left out.
has_three_levels <- function(known, released, rule) {
  if (is.null(rule)) {
    return(FALSE)
  }
  values <- unique(stats::na.omit(c(as.numeric(known), as.numeric(released))))
  change <- outer(values, values, function(one, two) two - one)
  within <- change >= rule[[1]] & change <= rule[[2]]
  any(within & change == 0) && any(within & change != 0)
}

# Levels 1 to 3 as the two that are left.
merge_levels <- function(level, three, rule) {
  if (is.null(rule) || three) level else c(0L, 1L, 1L, 2L)[level + 1L]
}

# Weights of one key for all pairs, known x released. `m` by level; `links` are the
# levels of the true links, NULL where u is that of all pairs.
slow_key <- function(known, released, rule, m, by_value, links = NULL) {
  three <- has_three_levels(known, released, rule)
  n_levels <- if (three) 3L else 2L
  level <- outer(seq_along(known), seq_along(released), function(j, i) {
    merge_levels(slow_level(known[j], released[i], rule), three, rule)
  })
  if (!is.null(links)) links <- merge_levels(links, three, rule)
  pairs <- tabulate(level[level > 0], n_levels)
  if (!is.null(links)) {
    own <- tabulate(links[links > 0], n_levels)
    pairs <- pairs - own
    if (is.null(m)) m <- (own + 0.5) / (sum(own) + n_levels / 2)
  }
  u <- (pairs + 0.5) / (sum(pairs) + n_levels / 2)
  weights <- c(0, log(m / u))[level + 1]
  dim(weights) <- dim(level)
  if (by_value) {
    values <- c(as.character(known), as.character(released))
    both <- c(as.numeric(factor(values)))
    for (i in seq_along(released)) {
      for (l in seq_len(n_levels - 1)) {
        at <- which(level[, i] == l)
        if (length(at)) {
          all <- if (is.null(rule)) values else c(as.numeric(known), as.numeric(released))
          of <- merge_levels(slow_level(all, rep(released[i], length(all)), rule), three, rule)
          weights[at, i] <- log(m[[l]] / (sum(of == l) / sum(!is.na(values))))
        }
      }
    }
  }
  # All observed pairs alike: the key says nothing.
  if (length(unique(level[level > 0])) < 2) weights[] <- 0
  list(weights = weights, m = m, u = u)
}

# What link_attack() returns of one intruder. `m` is a list by key, NULL for
# calibrated weights.
slow_attack <- function(known, released, keys, id, m = NULL, by_value = TRUE, rules = list(),
                        coverage = 1) {
  partner <- match(released[[id]], known[[id]])
  linked <- which(!is.na(partner))
  parts <- lapply(keys, function(v) {
    rule <- rules[[v]]
    links <- if (is.null(m)) {
      slow_level(known[[v]][partner[linked]], released[[v]][linked], rule)
    }
    slow_key(known[[v]], released[[v]], rule, m[[v]], by_value, links)
  })
  total <- Reduce(`+`, lapply(parts, `[[`, "weights"))
  best <- apply(total, 2, max)
  # Sums of the same weights in another order.
  ties <- abs(sweep(total, 2, best)) < 1e-9
  n_best <- colSums(ties)
  own <- rep(NA, length(partner))
  own[linked] <- ties[cbind(partner[linked], linked)]
  outside <- nrow(known) * (1 - coverage) / coverage
  posterior <- exp(best) / (colSums(exp(total)) + outside)
  list(
    n_best = as.integer(n_best), match_prob = as.double(ifelse(own, 1 / n_best, 0)),
    posterior = posterior, expected = sum(ifelse(own, 1 / n_best, 0), na.rm = TRUE),
    own_estimate = sum(posterior), m = vapply(parts, function(p) sum(utils::head(p$m, -1)), 0),
    u = vapply(parts, function(p) sum(utils::head(p$u, -1)), 0), weights = total,
    log_likelihood = mean(log(coverage / nrow(known) * (colSums(exp(total)) + outside)))
  )
}

# Share of linked records whose partner is the only one with its pattern.
slow_ceiling <- function(known, released, keys, id, rules = list()) {
  partner <- match(released[[id]], known[[id]])
  sum(vapply(which(!is.na(partner)), function(i) {
    cell <- vapply(keys, function(v) {
      level <- slow_level(known[[v]], rep(released[[v]][i], nrow(known)), rules[[v]])
      level[is.na(known[[v]]) & !is.na(released[[v]][i])] <- 9L
      level
    }, integer(nrow(known)))
    cell <- matrix(cell, nrow(known))
    same <- apply(cell, 1, function(row) all(row == cell[partner[i], ]))
    1 / sum(same)
  }, 0))
}
