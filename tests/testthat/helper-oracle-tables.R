# Slow and obvious versions of exhaustive tabulation and of the individual
# risk, in base R.

# Every table by table(), cell by cell.
slow_tabulation <- function(data, dims, threshold = NULL, weight_threshold = NULL,
                            combine = "or", weights = rep(1, nrow(data)),
                            missing = "exclude") {
  codes <- lapply(data, function(x) {
    text <- as.character(x)
    if (missing == "category") ifelse(is.na(text), "(missing)", text) else text
  })
  violations <- integer(nrow(data))
  cells <- list()
  tables <- list()
  for (dim in dims) {
    for (set in utils::combn(names(data), dim, simplify = FALSE)) {
      complete <- stats::complete.cases(as.data.frame(codes[set]))
      key <- do.call(paste, c(unname(codes[set]), sep = "\r"))
      few <- light <- rep(FALSE, nrow(data))
      for (i in which(complete)) {
        same <- complete & key == key[[i]]
        few[[i]] <- !is.null(threshold) && sum(same) < threshold
        light[[i]] <- !is.null(weight_threshold) &&
          sum(weights[same]) < weight_threshold * (1 - 1e-9)
      }
      bad <- if (is.null(threshold) || is.null(weight_threshold) || combine == "or") {
        few | light
      } else {
        few & light
      }
      violations <- violations + bad
      first <- which(complete & !duplicated(ifelse(complete, key, NA)))
      cells[[length(cells) + 1]] <- do.call(rbind, lapply(set, function(v) {
        data.frame(
          dim = rep(dim, length(first)), variable = rep(v, length(first)),
          category = codes[[v]][first], bad = bad[first]
        )
      }))
      tables[[length(tables) + 1]] <- data.frame(
        key_set = paste(set, collapse = " + "), n_cells = length(first),
        n_violations = sum(bad[first]), n_records = sum(bad)
      )
    }
  }
  list(violations = violations, cells = do.call(rbind, cells), tables = do.call(rbind, tables))
}

# E(1/F | f) by adding up the negative binomial distribution of F, for
# sampling fractions that are not tiny.
slow_expected_inverse <- function(f, population) {
  p <- min(f / population, 1)
  if (p == 1) {
    return(1 / f)
  }
  more <- 0:stats::qnbinom(1e-18, f, p, lower.tail = FALSE)
  sum(stats::dnbinom(more, f, p) / (f + more))
}

# The same as an integral, for any fraction: with s = exp(-u), of a function
# that decays from a plateau.
slow_expected_integral <- function(f, population) {
  x <- population / f - 1
  g <- function(u) exp(-f * u) / (1 + x * exp(-u))
  knee <- log1p(x)
  ends <- c(
    0, c(0.1, 1, 3, 8, 20, 50, 800) / f, 800,
    knee + c(-40, -20, -8, -3, -1, 0, 1, 3, 8, 20, 40)
  )
  ends <- sort(unique(pmax(ends, 0)))
  parts <- vapply(seq_along(ends)[-1], function(i) {
    stats::integrate(g, ends[[i - 1]], ends[[i]], rel.tol = 1e-11, abs.tol = 0,
                     stop.on.error = FALSE)$value
  }, 0)
  sum(parts)
}

slow_individual <- function(data, weights, hh = seq_len(nrow(data))) {
  key <- do.call(paste, c(lapply(data, function(x) {
    text <- as.character(x)
    ifelse(is.na(text), "(missing)", text)
  }), sep = "\r"))
  frequency <- as.vector(table(key)[key])
  population <- as.vector(tapply(weights, key, sum)[key])
  risk <- mapply(slow_expected_inverse, frequency, population)
  household <- vapply(hh, function(h) 1 - prod(1 - risk[hh == h]), 0)
  data.frame(frequency, population, risk, household)
}
