# Households, slow and obvious: every household against every other.

# Whether `other` has distinct members with all keys of `wanted`.
oracle_holds <- function(other, wanted) {
  all(vapply(unique(wanted), function(key) sum(other == key) >= sum(wanted == key), NA))
}

# Per record, the households that fit its household by the worst choice of known
# members. Keys are texts; a missing value is one of its own.
oracle_household_matches <- function(data, keys, hh_id, known) {
  text <- do.call(paste, c(lapply(data[keys], as.character), sep = "\r"))
  homes <- split(text, data[[hh_id]])
  fits <- function(own) {
    if (known == "all") {
      return(sum(vapply(homes, function(other) identical(sort(other), sort(own)), NA)))
    }
    n_known <- min(as.integer(known), length(own))
    choices <- utils::combn(length(own), n_known, simplify = FALSE)
    min(vapply(choices, function(choice) {
      sum(vapply(homes, oracle_holds, NA, wanted = own[choice]))
    }, 0L))
  }
  matches <- vapply(homes, fits, 0L)
  unname(matches[match(as.character(data[[hh_id]]), names(homes))])
}

# The share of distinct compositions among the households.
oracle_composition_risk <- function(data, keys, hh_id) {
  text <- do.call(paste, c(lapply(data[keys], as.character), sep = "\r"))
  homes <- vapply(split(text, data[[hh_id]]), function(own) {
    paste(sort(own), collapse = "\n")
  }, "")
  c(n = length(unique(homes)), unique = sum(table(homes) == 1), risk = length(unique(homes)) /
      length(homes))
}

# l and t of a set of sensitive values beside all of them, value by value.
oracle_diversity <- function(values, all, ordered) {
  values <- values[!is.na(values)]
  all <- all[!is.na(all)]
  if (length(values) == 0) {
    return(list(n_sensitive = 0L, l_entropy = NA_real_, t_closeness = NA_real_))
  }
  domain <- sort(unique(all))
  p <- vapply(domain, function(v) mean(values == v), 0)
  q <- vapply(domain, function(v) mean(all == v), 0)
  list(
    n_sensitive = sum(p > 0), l_entropy = exp(-sum(ifelse(p > 0, p * log(p), 0))),
    t_closeness = if (!ordered) {
      sum(abs(p - q)) / 2
    } else if (length(domain) == 1) {
      0
    } else {
      sum(abs(cumsum(p - q))) / (length(domain) - 1)
    }
  )
}
