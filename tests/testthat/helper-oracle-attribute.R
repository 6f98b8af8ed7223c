# Oracles of attribute disclosure: the matches of every record, one by one.

# Logical matrix: which records of `file` the rows of `targets` match.
slow_agree <- function(targets, file, keys, missing = "wildcard") {
  one <- function(v) {
    a <- as.character(targets[[v]])
    b <- as.character(file[[v]])
    same <- outer(a, b, "==")
    same[is.na(same)] <- missing == "wildcard"
    if (missing == "category") same[outer(is.na(a), is.na(b), "&")] <- TRUE
    same
  }
  Reduce(`&`, lapply(keys, one))
}

# The most frequent of some values over all from the l-th most frequent one on.
slow_recursive <- function(values, l) {
  counts <- sort(table(values), decreasing = TRUE)
  max(counts) / sum(counts[seq_along(counts) >= l])
}

slow_attribute <- function(data, keys, sensitive, missing = "wildcard", ordered = FALSE,
                           released = NULL) {
  use <- function(d) {
    if (missing == "exclude") d[stats::complete.cases(d[keys]), , drop = FALSE] else d
  }
  data <- use(data)
  values <- as.character(data[[sensitive]])
  levels <- sort(unique(data[[sensitive]]))
  q <- table(factor(values, levels)) / sum(!is.na(values))
  own <- slow_agree(data, data, keys, missing)
  spread <- apply(own, 1, function(m) {
    counts <- table(factor(values[m], levels))
    p <- counts / sum(counts)
    top <- max(counts)
    c(
      l_distinct = sum(p > 0), l_entropy = exp(-sum(p[p > 0] * log(p[p > 0]))),
      l_recursive = top / (sum(counts) - top),
      t = if (ordered) sum(abs(cumsum(p - q))) / max(length(q) - 1, 1) else sum(abs(p - q)) / 2,
      alpha = top / sum(counts), beta_basic = max((p - q) / q),
      delta = max(abs(log((p / q)[p > 0])))
    )
  })
  worst <- c(
    apply(spread[c("l_distinct", "l_entropy"), ], 1, min),
    apply(spread[-(1:2), ], 1, max)
  )
  file <- if (is.null(released)) data else use(released)
  theirs <- as.character(file[[sensitive]])
  agree <- slow_agree(data, file, keys, missing)
  of <- lapply(seq_along(values), function(i) {
    found <- theirs[agree[i, ]]
    found <- found[!is.na(found)]
    list(
      posterior = if (is.na(values[[i]])) NA else sum(found == values[[i]]) / max(1, length(found)),
      told = length(unique(found)) == 1, found = length(found) > 0
    )
  })
  posterior <- vapply(of, function(x) as.double(x$posterior), 0)
  told <- vapply(of, `[[`, NA, "told")
  known <- !is.na(posterior)
  right <- told & posterior > 0
  c(
    as.list(worst), beta_enhanced = min(worst[["beta_basic"]], -log(min(q))),
    uio = mean(rowSums(own) == 1),
    dorig = mean(apply(spread, 2, function(s) s[["l_distinct"]] == 1)),
    cap = mean(posterior[known]), guess = sum(q^2), disco = mean(right[known]),
    tcap = mean(right[known & vapply(of, `[[`, NA, "found")]),
    repu = mean(rowSums(own) == 1 & rowSums(agree) == 1),
    list(posterior = posterior, right = right)
  )
}
