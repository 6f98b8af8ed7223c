# Recursive (c, l)-diversity, a limit of local suppression and of recodings.

# c of recursive (c, l)-diversity.
check_with_l <- function(c, l, arg) {
  if (is.null(l)) {
    stop_argument(
      arg, "come with `l`", found = "It is not given.", advice = "Such as l = 2, c = 3."
    )
  }
  check_positive(c, arg, finite = TRUE)
}

matches_of <- function(data, keys, ...) {
  suppressMessages(n_matches(
    as.data.frame(data), keys, ..., weight_var = NULL, hh_id = NULL
  ))$records
}

# Of the matches of every record, how many have the most frequent sensitive value, over how many
# have the l-th most frequent one or a rarer one; the largest of several variables.
recursive_ratio <- function(data, keys, settings, missing = "wildcard") {
  data <- as.data.frame(data)
  class <- key_classes(data, keys, missing)
  do.call(pmax, c(unname(lapply(data[settings$sensitive], function(column) {
    values <- value_numbers(column, "sensitive")
    values[is_missing(column)] <- NA
    if (is.null(class)) {
      ratio_of_matches(data, keys, values, settings$l, missing)
    } else {
      ratio_of_classes(class, values, settings$l)[class]
    }
  })), na.rm = TRUE))
}

# Number of the equivalence class of every record, NULL if a record can match those of several.
key_classes <- function(data, keys, missing) {
  codes <- if (!any(vapply(data[keys], is_candidates, NA))) order_codes(data, keys)
  whole <- identical(missing, "category") || !any(vapply(codes, function(x) any(x == 0L), NA))
  if (length(codes) && whole) {
    Reduce(function(class, x) {
      both <- class * (max(x, 0) + 1) + x
      match(both, unique(both))
    }, codes, 0)
  }
}

ratio_of_classes <- function(class, values, l) {
  at <- which(!is.na(values))
  at <- at[order(class[at], values[at], method = "radix")]
  first <- which(!duplicated(complex(real = class[at], imaginary = values[at])))
  count <- diff(c(first, length(at) + 1))
  of <- class[at][first]
  ranked <- order(of, -count, method = "radix")
  rank <- sequence(tabulate(of))
  sums <- function(chosen) {
    tail <- ranked[chosen]
    as.vector(tapply(count[tail], factor(of[tail], seq_len(max(class, 0))), sum, default = 0))
  }
  sums(rank == 1) / sums(rank >= l)
}

# The same by counting the matches of every record that have each value.
ratio_of_matches <- function(data, keys, values, l, missing) {
  known <- unique(values[!is.na(values)])
  most <- rest <- numeric(nrow(data))
  above <- rep(list(most), min(l - 1, length(known)))
  for (value in known) {
    n <- matches_of(
      data[which(values == value), ], keys, patterns = data[keys], missing = missing
    )$n_matches
    most <- pmax(most, n)
    for (i in seq_along(above)) {
      smaller <- pmin(above[[i]], n)
      above[[i]] <- pmax(above[[i]], n)
      n <- smaller
    }
    rest <- rest + n
  }
  most / rest
}
