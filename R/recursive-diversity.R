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
  do.call(pmax, c(unname(lapply(data[settings$sensitive], function(column) {
    values <- value_numbers(column, "sensitive")
    values[is_missing(column)] <- NA
    known <- unique(values[!is.na(values)])
    most <- rest <- numeric(nrow(data))
    above <- rep(list(most), min(settings$l - 1, length(known)))
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
  })), na.rm = TRUE))
}
