# Looks of a column: a weight, a household, an identifier.

# A word for what a column looks like. `n` values are known, `n_values` differ.
look_of <- function(x, name, n, n_values) {
  if (is_candidates(x) || n < 20) {
    return("")
  }
  number <- is.numeric(x) && !is.factor(x)
  whole <- is_whole_column(x)
  looks <- c(
    weight = number && named_like(name, weight_words) && is_positive(x),
    household = repeats_as_households(n, n_values) && named_like(name, household_words) &&
      (!number || whole),
    identifier = n_values > 0.9 * n && (!number || whole && is_numbering(x, name)),
    "continuous variable" = number && is_amount(x, n, n_values, whole)
  )
  c(names(looks)[looks], "")[[1]]
}

# Amounts have more values than codes: fractions soon, whole numbers that are not equally long, as
# codes are, if there are many.
is_amount <- function(x, n, n_values, whole) {
  if (whole) {
    n_values > 100 && n_values > 0.2 * n || n_values > 1000 && !are_equally_long(x)
  } else {
    n_values > min(30, 0.2 * n)
  }
}

are_equally_long <- function(x) {
  length(unique(floor(log10(abs(as.double(x[!is.na(x)])) + 0.5)))) == 1
}

# Whole numbers that count records or persons rather than measure something: their name
# says so, they are in the order of the records, lie close together, or are equally long.
is_numbering <- function(x, name) {
  x <- as.double(x[!is.na(x)])
  named_like(name, identifier_words) || all(diff(x) > 0) || all(diff(x) < 0) ||
    diff(range(x)) < 2 * length(x) || are_equally_long(x)
}

# A few records for every value, and more than a few values.
repeats_as_households <- function(n, n_values) {
  n_values > 10 && n > 1.1 * n_values && n <= most_members * n_values
}

# Records of a household on average, above which the column asks who lives there.
most_members <- 12

# The roles that columns look like: all others are key variables.
roles_by_looks <- function(data, looks) {
  like <- function(look) names(looks)[looks == look]
  hh_id <- utils::head(like("household"), 1)
  list(
    key_vars = like(""), weight_var = persons_weight(data, like("weight"), hh_id), hh_id = hh_id,
    num_vars = like("continuous variable")
  )
}

# Of several weights the one that is not that of households, by its name or by its values.
persons_weight <- function(data, weights, hh_id) {
  if (length(weights) > 1) {
    of_homes <- vapply(weights, named_like, NA, c(household_words, "db090"))
    constant <- vapply(weights, function(name) {
      length(hh_id) == 1 &&
        nrow(unique(as.data.frame(data)[c(hh_id, name)])) == length(unique(data[[hh_id]]))
    }, NA)
    weights <- weights[order(of_homes, constant)]
  }
  utils::head(weights, 1)
}

# Asked at every door through which a household column comes, once for functions that call
# each other. What is not a column is for the function itself to refuse.
inform_odd_households <- function(data, hh_id) {
  x <- if (length(hh_id) == 1) tryCatch(data[[hh_id]], error = function(e) NULL)
  if (is.null(x) || !is.atomic(x) || !is.null(times_of(data)) || length(running_asked())) {
    return(invisible())
  }
  each <- length(x) / length(unique(as_bare(x)))
  if (each > most_members) {
    inform_households(
      "large_households", data, hh_id,
      paste0(
        "Each value of %s has ", format_amount(each),
        " records on average: is it an enterprise, a school or a region?"
      ),
      paste(
        "If its records do not know each other, leave `hh_id` out: it makes risks those of whole",
        "groups, and suppression costs many more values."
      )
    )
  } else if (each == 1 && length(x) >= 20) {
    inform_households(
      "single_households", data, hh_id,
      "Every record has a value of its own of %s: does it identify persons?",
      "Name the column that the members of a household share, or leave `hh_id` out."
    )
  }
}

inform_households <- function(class, data, hh_id, found, advice) {
  name <- if (is.character(hh_id)) hh_id else names(data)[[hh_id]]
  inform_sdc(
    class,
    c("`hh_id` should identify households.", x = sprintf(found, quote_names(name)), i = advice),
    columns = name
  )
}

# Parts of names, in the languages of statistical offices, that say what a column
# is: whole words, or words up to a digit.
weight_words <- c(
  "w", "wt", "wts", "pw", "pwt", "wgt", "wght", "weight", "weights", "gewicht",
  "hochrechnungsfaktor", "poids", "pond", "ponderacion", "peso", "factor", "pweight", "finalwt",
  "fnlwgt", "rb050", "pb040", "db090", "dwt", "swt"
)

identifier_words <- c(
  "id", "pid", "nr", "no", "num", "number", "person", "pers", "case", "caseid", "serial", "record",
  "row", "index", "ssn", "rb030", "pb030", "px030"
)

household_words <- c(
  "hh", "hid", "hhid", "household", "hhno", "hhnr", "haushalt", "menage", "hogar", "famiglia",
  "db030", "rx030", "px030", "family", "famid", "serial"
)

named_like <- function(name, words) {
  parts <- strsplit(tolower(gsub("([a-z])([A-Z])", "\\1_\\2", name)), "[^a-z0-9]+")[[1]]
  any(parts %in% words) || any(sub("[0-9]+$", "", parts) %in% setdiff(words, "w"))
}

is_positive <- function(x) {
  values <- bare_weights(x)
  !is.null(values) && all(values > 0, na.rm = TRUE) && all(is.finite(values[!is.na(values)]))
}

# "id" an identifier; "w" a weight: the columns of each look, some at most by name.
looks_words <- function(names, looks, which) {
  words <- c(
    identifier = "an identifier", weight = "a weight", household = "a household",
    "continuous variable" = "a continuous variable", "no usable type" = "no usable type"
  )
  paste0(vapply(intersect(names(words), looks[which]), function(look) {
    paste(quote_names(names[which & looks == look], 3), words[[look]])
  }, ""), collapse = "; ")
}
