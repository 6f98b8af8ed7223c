# What the columns of a file look like: roles that nobody gave. Nothing here
# decides anything; it is said, and the user decides.

# One row per column of `data`: what is known of its values, the role it was
# given, and what it looks like ("" where like nothing in particular).
look_at_columns <- function(file) {
  data <- file$data
  usable <- which(vapply(seq_along(data), function(v) {
    is_candidates(data[[v]]) || !is.null(column_source(data[[v]], nrow(data)))
  }, NA))
  named <- usable[!duplicated(names(data)[usable]) & nzchar(names(data)[usable])]
  counts <- count_values(file, named)
  roles <- roles_of_columns(file)
  looks <- vapply(seq_along(data), function(v) {
    at <- match(v, named)
    if (is.na(at)) {
      return("no usable type")
    }
    look_of(
      data[[v]], names(data)[[v]], n_records(data) - counts$n_missing[[at]], counts$n_values[[at]]
    )
  }, "")
  at <- match(seq_along(data), named)
  codes <- lapply(data, missing_codes)
  frame(
    variable = names(data), role = roles, looks_like = looks,
    type = vapply(seq_along(data), function(v) {
      if (v %in% usable) key_type(data[[v]]) else paste(class(data[[v]]), collapse = "/")
    }, ""),
    n_values = counts$n_values[at], n_missing = counts$n_missing[at],
    missing_codes = unname(vapply(codes, paste, "", collapse = ", ")),
    n_missing_codes = unname(lengths(codes))
  )
}

# Numbers of values and of missing cells of some columns.
count_values <- function(file, columns) {
  if (length(columns) == 0) {
    return(list(n_values = integer(), n_missing = integer()))
  }
  table <- key_table(file, columns, candidates = TRUE)
  list(n_values = table$n_values, n_missing = table$n_missing)
}

roles_of_columns <- function(file) {
  names <- names(file$data)
  role <- rep("", length(names))
  words <- c(
    key_vars = "key variable", strata_var = "stratum", sensitive = "sensitive",
    hh_id = "household", weight_var = "weight"
  )
  for (given in names(words)) {
    role[names %in% file$roles[[given]]] <- words[[given]]
  }
  role
}

# A word for what a column looks like. `n` values are known, `n_values` differ.
look_of <- function(x, name, n, n_values) {
  if (is_candidates(x) || n < 20) {
    return("")
  }
  number <- is.numeric(x) && !is.factor(x)
  whole <- is_whole_column(x)
  looks <- c(
    weight = number && named_like(name, weight_words) && is_positive(x),
    household = repeats_as_households(n, n_values) && named_like(name, household_words),
    identifier = n_values > 0.9 * n && (whole || !number),
    "continuous variable" = number && n_values > 0.2 * n && (!whole || n_values > 100)
  )
  c(names(looks)[looks], "")[[1]]
}

# A few records for every value, and more than a few values.
repeats_as_households <- function(n, n_values) {
  n_values > 10 && n > 1.1 * n_values && n <= 12 * n_values
}

# Parts of names, in the languages of statistical offices, that say what a column
# is: whole words, or words up to a digit.
weight_words <- c(
  "w", "wt", "wgt", "wght", "weight", "weights", "gewicht", "hochrechnungsfaktor", "poids",
  "pond", "ponderacion", "peso", "factor", "pweight", "finalwt", "fnlwgt", "rb050", "pb040",
  "db090", "dwt", "swt"
)
household_words <- c(
  "hh", "hid", "hhid", "household", "hhno", "hhnr", "haushalt", "menage", "hogar", "famiglia",
  "db030", "rx030", "px030", "family", "famid", "serial"
)

named_like <- function(name, words) {
  parts <- strsplit(tolower(gsub("([a-z])([A-Z])", "\\1_\\2", name)), "[^a-z0-9]+")[[1]]
  any(parts %in% words) || any(sub("[0-9]+$", "", parts) %in% setdiff(words, "w"))
}

is_whole_column <- function(x) {
  if (is.integer(x) || is.logical(x) || inherits(x, "integer64")) {
    return(!is.factor(x))
  }
  is.double(x) && !inherits(x, c("Date", "POSIXct")) && {
    values <- as_bare(x)
    all(values == round(values), na.rm = TRUE)
  }
}

is_positive <- function(x) {
  values <- bare_weights(x)
  !is.null(values) && all(values > 0, na.rm = TRUE) && all(is.finite(values[!is.na(values)]))
}

# Values that stand for missing to people and not to R, as text: numbers such as
# 9, 99, 998 or -9 that stand apart from all others, and texts such as "NA".
missing_codes <- function(x) {
  if (is_candidates(x) || length(dim(x)) > 0) {
    return(character())
  }
  if (is.factor(x) || is.character(x)) {
    values <- if (is.factor(x)) levels(x)[unique(as_bare(x))] else unique(as_bare(x))
    found <- values[!is.na(values) & tolower(trimws(values)) %in% missing_texts]
    return(encodeString(sort(found), quote = "\""))
  }
  if (inherits(x, "haven_labelled")) {
    x <- drop_user_missing(x)
  }
  if (is.object(x) || !is.numeric(x) || !is_whole_column(x)) {
    return(character())
  }
  values <- sort(unique(as.double(x)))
  format_number(c(low_codes(values), high_codes(values)))
}

missing_texts <- c("", "na", "n/a", ".", "-", "?", "null", "none", "missing", "unknown", "refused")

# Negative codes below values that are not negative: a few, or with gaps between
# them, or it is a scale.
low_codes <- function(values) {
  codes <- values[values %in% c(-1:-9, -99:-97, -999:-997, -9999:-9997)]
  rest <- setdiff(values, codes)
  few <- length(codes) <= 3 || any(diff(c(codes, min(rest))) > 1)
  if (length(codes) && length(rest) >= 2 && all(rest >= 0) && few) codes else numeric()
}

# 7 to 9, 97 to 99 and so on above a gap: the largest other value lies more than one
# below, farther than other values lie from each other, and below what the digits leave
# room for.
high_codes <- function(values) {
  for (top in c(9, 99, 999, 9999, 99999, 999999)) {
    codes <- values[values %in% (top - 2:0)]
    rest <- values[values < top - 2]
    if (length(codes) && max(values) == max(codes) && length(rest) >= 2 &&
          max(codes) == top && min(codes) - max(rest) > max(1, diff(rest))) {
      return(codes)
    }
  }
  numeric()
}

# Print -----------------------------------------------------------------------

#' @export
describe.sdc_file <- function(x) {
  check_whole_file(x)
  seen <- look_at_columns(x)
  n <- n_records(x$data)
  keys <- seen[match(x$roles$key_vars, seen$variable), ]
  description(
    title = paste0(
      "File of ", plural(n, "record"),
      if (!is.null(times_of(x$data))) paste0(" in ", plural(nrow(x$data), "pattern")),
      " and ", plural(length(x$data), "column")
    ),
    question = NULL, size = paste0(plural(nrow(keys), "key variable"), ":"),
    answer = c(
      grid(key_table_of(keys, x$data), nrow(keys), rest = "more in x$roles$key_vars"),
      fact(role_lines(x, n), starts = TRUE), fact(look_lines(seen), starts = TRUE)
    )
  )
}

key_table_of <- function(keys, data, most = 8) {
  shown <- utils::head(keys, most)
  declared <- vapply(shown$variable, function(name) declared_missing(data[[name]])$codes, "")
  table <- frame(
    "key variable" = shown$variable, type = shown$type, levels = shown$n_values,
    missing = shown$n_missing
  )
  if (any(nzchar(declared))) table$declared <- unname(declared)
  table
}

#' @export
format.sdc_file <- function(x, ..., width = console_width(), rows = 16) {
  format_description(describe(x), width, rows)
}

role_lines <- function(x, n) {
  roles <- x$roles
  one <- function(role, word) if (!is.null(role)) paste(word, quote_names(role))
  said <- c(
    one(roles$weight_var, "weights"), one(roles$hh_id, "households"),
    one(roles$strata_var, "strata"), one(roles$sensitive, "sensitive"),
    if (length(roles$key_groups)) paste("key groups", quote_names(names(roles$key_groups))),
    if (!is.null(roles$missing)) paste0("missing = \"", roles$missing, "\"")
  )
  people <- with_population(x, "pop_size")$pop_size
  c(
    micro_line(x),
    paste0(
      "Roles: ", if (length(said)) paste(said, collapse = ", ") else "key variables alone", "."
    ),
    paste0("Population: ", if (is.null(people) && !is.null(roles$weight_var)) {
      weights <- check_weights(x$data, roles$weight_var)
      paste0("size not given; the weights sum to ", format_count(round(sum(weights))), ".")
    } else if (is.null(people)) {
      "size not given."
    } else {
      paste0(
        if (people != round(people)) "about ", format_count(round(people)),
        " people, sampling fraction ", format_percent(n / people), "."
      )
    })
  )
}

# What nobody gave a role for. A key variable that looks like an identifier is one
# to look at, too.
look_lines <- function(seen) {
  surprising <- (seen$role == "" & nzchar(seen$looks_like)) |
    (seen$role == "key variable" & nzchar(seen$looks_like))
  words <- c(
    identifier = "an identifier", weight = "a weight", household = "a household",
    "continuous variable" = "a continuous variable", "no usable type" = "no usable type"
  )
  lines <- unlist(lapply(names(words), function(look) {
    names <- seen$variable[surprising & seen$looks_like == look]
    if (length(names)) paste0(quote_names(names, 3), " ", words[[look]])
  }))
  codes <- seen[nzchar(seen$missing_codes) & seen$role %in% c("", "key variable", "sensitive"), ]
  shown <- utils::head(codes, 3)
  c(
    if (length(lines)) {
      paste0(
        "Looks like: ", paste(lines, collapse = "; "),
        ". No role follows from it: give one, or leave the column out."
      )
    },
    if (nrow(codes)) {
      paste0(
        "Missing codes? ",
        paste0(
          plural(shown$n_missing_codes, "value"), " of ", quote_names_each(shown$variable),
          collapse = ", "
        ),
        if (nrow(codes) > 3) paste0(", and ", plural(nrow(codes) - 3, "more column")),
        ". They count as values; `roles` of file_check() says which."
      )
    }
  )
}

quote_names_each <- function(x) vapply(x, quote_names, "", USE.NAMES = FALSE)

#' @export
print.sdc_file <- function(x, ...) {
  cat(format(x, ...), sep = "\n")
  invisible(x)
}
