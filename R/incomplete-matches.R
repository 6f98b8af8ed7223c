# Matches without incomplete records. A missing value matches every value, but who finds a record
# with all values of the target takes it for no other. `asked` has `codes` of the key variables, 0
# for missing, `times` that each record stands for, the `limit` on k, and what covering() gives.

# The codes of the key variables of which some record has a value: others tell nobody apart.
codes_there <- function(codes) {
  there <- vapply(codes, function(code) any(code > 0L), NA)
  if (any(there)) codes[there] else codes
}

# Number of key variables that each record has.
n_known <- function(codes) Reduce(`+`, lapply(codes, function(code) code > 0L))

# Number of complete records with too few matches among themselves, or of incomplete ones.
n_resting <- function(asked) {
  asked$codes <- codes_there(asked$codes)
  known <- n_known(asked$codes)
  complete <- known == length(asked$codes)
  if (all(complete)) {
    return(0)
  }
  n <- n_with_few_matches(asked, complete)
  if (n > 0) n else n_resting_incomplete(asked, known)
}

# TRUE if the page of the file would not take its `k` for kept, as it rests on incomplete records.
rests_on_incomplete <- function(data, settings) {
  codes <- codes_there(lapply(as.list(data)[settings$key_vars], function(column) {
    replace(match(column, unique(column)), is_missing(column), 0L)
  }))
  known <- n_known(codes)
  asked <- c(
    list(codes = codes, times = rep(1, length(known)), limit = settings$constraint["k"]),
    covering(data, settings)["stratum"]
  )
  n_resting(asked) > 0 || any(known == 0) && n_with_few_matches(asked, known > 0) > 0 ||
    !is.null(sparse_cover(asked, known))
}

# Number of incomplete records with too few matches among those that have all values they have, of
# the eight commonest patterns of missing values: if no record has more values than these, or if
# they are most of the incomplete ones, 0 otherwise. Under the rule "own" a quarter of the records
# with suppressed values has too few such matches at most.
n_resting_incomplete <- function(asked, known) {
  p <- length(asked$codes)
  pattern <- Reduce(function(pattern, code) {
    both <- 2 * pattern + (code > 0L)
    match(both, unique(both))
  }, asked$codes, 0)
  first <- which(!duplicated(pattern))
  has <- matrix(unlist(lapply(asked$codes, function(code) code[first] > 0L)), ncol = p)
  n <- rowsum(asked$times, pattern)[, 1]
  open <- known[first] > 0 & known[first] < p
  commonest <- utils::head(order(-n * open), min(8, sum(open)))
  n_few <- vapply(commonest, function(i) {
    keys <- which(has[i, ])
    kept <- Reduce(`&`, lapply(asked$codes[keys], function(code) code > 0L))
    few <- few_matches(matches_among(replace(asked, "codes", list(asked$codes[keys])), kept),
                       asked$limit$k)
    sum(asked$times[kept][few & pattern[kept] == i])
  }, 0)
  exceeded <- function(i) {
    any(known[first] > known[first[i]] & rowSums(has[, has[i, ], drop = FALSE]) == known[first[i]])
  }
  on_top <- sum(n_few[!vapply(commonest, exceeded, NA)])
  if (2 * sum(n_few) > sum(n[commonest])) sum(n_few) else on_top
}

# Numbers of what records have in common that are no matches of each other, `units` by name: of a
# household or a person; and of those that alone can match, the `stratum`, 0 for missing.
covering <- function(data, roles) {
  number <- function(name) {
    x <- as_bare(data[[name]])
    replace(match(x, unique(x)), is.na(x), 0L)
  }
  there <- function(names) rlang::set_names(intersect(as.character(names), names(data)))
  # Who lives with whom is not known without a number.
  people <- c(roles$hh_id, of_persons(data, roles$id_vars))
  units <- lapply(there(people), function(name) {
    code <- number(name)
    replace(code, code == 0L, -which(code == 0L))
  })
  repeated <- vapply(units, anyDuplicated, 0L) > 0
  strata <- there(roles$strata_var)
  list(units = units[repeated], stratum = if (length(strata)) number(strata))
}

# Number of records that have too few matches without those that miss at least so many key variables
# as one of `levels` says, if these carry more than 3% of the records and each of them more than 10
# (or 100, if at most half of the key variables are missing), NULL otherwise. Suppression spreads
# its values: in five real files at most one record rests on each under the rule "own".
sparse_cover <- function(asked, known, levels = seq_along(asked$codes)[-c(1, p)]) {
  p <- length(asked$codes)
  n <- sum(asked$times)
  for (n_missing in levels) {
    sparse <- p - known >= n_missing
    n_sparse <- sum(asked$times[sparse])
    each <- if (n_missing > p / 2) 10 else 100
    if (n_sparse == 0) break
    if (n_sparse * each < n) {
      alone <- n_with_few_matches(asked, !sparse)
      if (alone > 0.03 * n && alone > each * n_sparse) {
        return(list(n = alone, n_sparse = n_sparse))
      }
      if (alone <= 0.03 * n) break
    }
  }
}

# Number of the records `kept` that have too few matches among themselves.
n_with_few_matches <- function(asked, kept) {
  if (!any(kept)) {
    return(0)
  }
  units <- if (length(asked$units)) asked$units else list(NULL)
  few <- lapply(units, function(unit) {
    few_matches(matches_among(asked, kept, unit = unit, stratum = asked$stratum), asked$limit$k)
  })
  sum(asked$times[kept][Reduce(`|`, few)])
}

few_matches <- function(matches, k) judged_rows(matches)$n_matches < max(2, k)

matches_among <- function(asked, kept, sensitive = NULL, unit = NULL, stratum = NULL) {
  data <- coded_keys(asked, kept)
  # A missing stratum is any.
  data$stratum <- if (!is.null(stratum)) replace(stratum, stratum == 0L, NA)[kept]
  keys <- names(data)
  times <- asked$times[kept]
  # These columns are no names of the user's.
  names <- sprintf("sensitive%d", seq_along(sensitive))
  data[names] <- lapply(asked$coded[sensitive], function(column) {
    replace(column$codes, column$codes == 0L, NA)[kept]
  })
  data$unit <- unit[kept]
  # Different values are as many whatever the number of records that have them.
  if (any(times > 1) && length(names) == 0) {
    data$n <- as_count(times)
    data <- new_pattern_table(data, keys, NULL, NULL, NULL)
  }
  suppressMessages(n_matches(
    data, keys, sensitive = if (length(names)) names, hh_id = if (!is.null(unit)) "unit"
  ))
}

# The key variables of the records `kept` as codes, NA if missing.
coded_keys <- function(asked, kept = TRUE) {
  keys <- lapply(asked$codes, function(code) replace(code, code == 0L, NA)[kept])
  do.call(frame, rlang::set_names(keys, paste0("key", seq_along(keys))))
}
