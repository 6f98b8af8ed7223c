# Two waves of a survey: checked, coded with one dictionary per column, and
# joined by a known id. Used by longitudinal_link(), key_stability() and
# change_indicators().
#
# Fields of what code_waves() returns:
#   tables      the key tables of wave 1 and wave 2
#   key_vars    names of the keys
#   partners    per wave-2 record the wave-1 record with the same id, or NA;
#               NULL without `id`
#   ids         the ids of wave 2, its row numbers without `id`
#   waves       the waves, the first being wave 1: what `first_rows` of the tables count in
#   n           number of records of each
#   pairs       of tables of a database and pattern tables, the patterns of wave 2 and their
#               numbers `n` of records, which lie side by side; NULL otherwise
#   n_missing_id  records without an id, in each wave
#   fingerprints  of each wave, ids and keys in their common codes: other data, or
#               other pairs of persons, have others
#   own_fingerprint  of the keys of wave 2 alone

code_waves <- function(wave1, wave2, key_vars, id, arg, max_patterns = NULL) {
  if (are_counted_waves(wave1, wave2)) {
    return(code_counted_waves(wave1, wave2, key_vars, id, arg, max_patterns))
  }
  asked <- ask_waves(wave1, wave2, key_vars, id, arg)
  read_waves(asked, code_requests(asked$requests))
}

# Request to code two waves, after all checks.
ask_waves <- function(wave1, wave2, key_vars, id, arg) {
  waves <- list(wave1 = wave1, wave2 = wave2)
  for (name in names(waves)) check_data_frame(waves[[name]], name)
  columns <- wave_columns(waves, key_vars, id, arg)
  key_vars <- columns$key_vars
  id <- columns$id
  for (name in c(key_vars, id)) check_letters(lapply(unname(waves), `[[`, name), name)
  warn_waves_differ(waves, key_vars, id)
  positions <- match(key_vars, names(wave2))
  requests <- list(
    keys = shared_request(waves, key_vars, candidates = TRUE, fingerprint = TRUE),
    own = coding_request(
      column_sources(wave2, positions, candidates = TRUE), key_vars, positions
    )
  )
  if (!is.null(id)) {
    requests$ids <- shared_request(waves, id, fingerprint = TRUE, partners = TRUE)
  }
  list(waves = waves, key_vars = key_vars, id = id, requests = requests)
}

# The names of the key variables and of the id.
wave_columns <- function(waves, key_vars, id, arg) {
  if (!is.null(id)) {
    id <- wave_vars(waves, id, "id")
    if (length(id) != 1) stop_argument("id", "name one column of both waves")
  }
  if (is.null(key_vars)) {
    key_vars <- setdiff(intersect(names(waves$wave1), names(waves$wave2)), id)
    if (length(key_vars) == 0) stop_argument(arg, "name columns that both waves have")
  }
  key_vars <- wave_vars(waves, key_vars, arg)
  if (any(key_vars %in% id)) {
    stop_argument(
      arg, "not name the id",
      advice = "The id says which records are one person's; an intruder does not have it."
    )
  }
  list(key_vars = key_vars, id = id)
}

read_waves <- function(asked, coded) {
  release_later(unlist(unname(coded), recursive = FALSE))
  c(
    list(
      tables = coded$keys, key_vars = asked$key_vars, id = asked$id, waves = asked$waves,
      n = vapply(asked$waves, nrow, 0L),
      own_fingerprint = coded$own[[1]]$fingerprint,
      fingerprints = rlang::set_names(paste(
        vapply(coded$keys, `[[`, "", "fingerprint"),
        vapply(coded$ids, `[[`, "", "fingerprint")
      ), names(asked$waves))
    ),
    find_partners(asked$waves, asked$id, coded$ids)
  )
}

# Coded waves as the core takes them. `exact_first` says which keys of the first hold
# one value each.
core_waves <- function(coded, agreements) {
  list(
    wave1 = coded$tables[[1]]$pointer, wave2 = coded$tables[[2]]$pointer,
    agreements = agreements, partners = coded$partners,
    exact_first = unname(vapply(coded$tables[[1]]$sets, is.null, NA))
  )
}

# Names of columns that both waves have; positions are those of wave 1.
wave_vars <- function(waves, vars, arg) {
  if (is_plain_number(vars)) vars <- names(waves$wave1)[check_columns(vars, waves$wave1, arg)]
  if (!is.character(vars) || length(vars) == 0) {
    stop_argument(arg, "hold names of columns of both waves")
  }
  absent <- lapply(waves, function(wave) vars[!vars %in% names(wave) | is.na(vars)])
  missing <- absent[lengths(absent) > 0]
  if (length(missing)) {
    stop_sdc(
      "unknown_key_var", paste0("`", arg, "` must name columns of both waves."),
      rlang::set_names(
        paste0("Not found in `", names(missing), "`: ", vapply(missing, quote_names, ""), "."),
        "x"
      ),
      i = nearest_names(unlist(missing), intersect(names(waves$wave1), names(waves$wave2))),
      i = paste0(
        "Columns of both: ",
        quote_names(intersect(names(waves$wave1), names(waves$wave2)), 8), "."
      ),
      unknown = unique(unlist(missing))
    )
  }
  for (wave in waves) check_columns(vars, wave, arg)
  vars
}

find_partners <- function(waves, id, ids) {
  if (is.null(id)) {
    return(list(partners = NULL, ids = seq_len(nrow(waves$wave2)), n_missing_id = c(0L, 0L)))
  }
  found <- attr(ids, "partners")
  check_ids_once(found$n_repeated, names(waves), id)
  if (all(is.na(found$rows))) warn_no_common_ids(id)
  list(
    partners = found$rows, ids = waves$wave2[[id]],
    n_missing_id = c(ids[[1]]$n_missing, ids[[2]]$n_missing)
  )
}

# `n_repeated` records of each of the `waves` have an id that one before them has.
check_ids_once <- function(n_repeated, waves, id) {
  repeated <- n_repeated > 0
  if (any(repeated)) {
    stop_sdc(
      "bad_data", "Every id must occur once in each wave.",
      rlang::set_names(paste0(
        plural(n_repeated[repeated], "record"), " of `", waves[repeated],
        "` with an id that another record has."
      ), "x"),
      i = "One row per person and wave is needed to know the true links.",
      names = id
    )
  }
}

warn_no_common_ids <- function(id) {
  warn_sdc(
    "no_common_ids", "The waves should have ids in common.",
    x = paste0("No value of ", quote_names(id), " occurs in both waves."),
    i = "Nobody's match can be right: check that the ids are those of the same persons.",
    columns = id
  )
}

# Columns that are not the same kind of thing in both waves are compared as
# values, and named.
warn_waves_differ <- function(waves, key_vars, id) {
  found <- vapply(c(id, key_vars), function(name) {
    column_difference(waves$wave1[[name]], waves$wave2[[name]], name %in% id)
  }, "")
  found <- found[nzchar(found)]
  if (length(found) == 0) {
    return(invisible())
  }
  shown <- utils::head(found, 5)
  warn_sdc(
    "waves_differ", "Columns should have the same type and levels in both waves.",
    rlang::set_names(paste0(encodeString(names(shown), quote = "\""), " ", shown, "."), "x"),
    if (length(found) > 5) c(x = paste0("And ", length(found) - 5, " more.")),
    i = "Their values are compared as values: equal text or equal numbers agree.",
    columns = names(found)
  )
}

# Difference between two columns of one name, "" if they agree.
column_difference <- function(x, y, is_id) {
  if (is_candidates(x) || is_candidates(y)) {
    return("")
  }
  # Ids are often counted in whole numbers here and as numbers there.
  same_numbers <- is_id && is_plain_number(x) && is_plain_number(y)
  if (class_of_column(x) != class_of_column(y) && !same_numbers) {
    return(paste(
      "has class", class_of_column(x), "in wave 1 and", class_of_column(y), "in wave 2"
    ))
  }
  if (is.factor(x) && !is_id) level_difference(x, y) else label_difference(x, y)
}

class_of_column <- function(column) {
  if (is.factor(column)) "factor" else paste(class(column), collapse = "/")
}

level_difference <- function(x, y) {
  only <- c(sum(!levels(x) %in% levels(y)), sum(!levels(y) %in% levels(x)))
  if (any(only > 0)) {
    paste0("has ", plural(only[[1]], "level"), " only in wave 1 and ", only[[2]], " only in wave 2")
  } else if ((is.ordered(x) || is.ordered(y)) && !identical(levels(x), levels(y))) {
    "has its levels in another order in each wave"
  } else {
    ""
  }
}

# Value labels of labelled columns.
label_difference <- function(x, y) {
  one <- attr(x, "labels", exact = TRUE)
  two <- attr(y, "labels", exact = TRUE)
  both <- intersect(one, two)
  if (identical(names(one)[match(both, one)], names(two)[match(both, two)])) {
    ""
  } else {
    "has other labels for the same values in each wave"
  }
}

# Admissible changes ---------------------------------------------------------

# Number of times that the two records of one person break the rule of a key; NULL without rules or
# ids. A rule that many break is probably not the intended one.
broken_rules <- function(changes, coded, tolerance) {
  if (is.null(tolerance) || is.null(coded$partners)) {
    return(NULL)
  }
  at <- match(names(tolerance), coded$key_vars)
  rules <- frame(
    variable = names(tolerance), n_compared = changes$n_compared[at],
    n_excluded = changes$n_changed[at]
  )
  rules$prop_excluded <- ifelse(
    rules$n_compared > 0, rules$n_excluded / rules$n_compared, NA_real_
  )
  warn_broken_rules(rules)
  rules
}

warn_broken_rules <- function(rules) {
  broken <- rules[which(rules$prop_excluded > 0.1), ]
  if (nrow(broken)) warn_sdc(
    "broken_rules", "The rules of `tolerance` should hold for nearly all true partners.",
    rlang::set_names(paste0(
      "The rule for ", vapply(broken$variable, quote_names, ""), " excludes ",
      format_percent(broken$prop_excluded), " of the ",
      plural(broken$n_compared, "pair"), " of true partners."
    ), "x"),
    i = paste(
      "A rule goes from wave 1, the earlier one, to wave 2: are the waves swapped,",
      "or is the rule too narrow?"
    ),
    columns = broken$variable, prop_excluded = broken$prop_excluded
  )
}

# Per key NULL, where values agree when they are equal, or the ranges of wave-1
# codes that every wave-2 code agrees with.
code_agreements <- function(coded, waves, tolerance) {
  agreements <- lapply(coded$tables[[1]]$sets, set_agreement)
  names(agreements) <- coded$key_vars
  if (is.null(tolerance)) {
    return(unname(agreements))
  }
  check_named_list(
    tolerance, "tolerance", "be a list with the name of a key for every entry", coded$key_vars,
    advice = "For instance `tolerance = list(age = c(0, 2))`."
  )
  for (name in names(tolerance)) {
    rule <- tolerance[[name]]
    if (!is.null(agreements[[name]])) {
      stop_argument(
        "tolerance", "name keys without candidates",
        found = paste0(quote_names(name), " holds sets of admissible values.")
      )
    }
    # The values behind the codes of one key, as two columns: a value stands in that of the wave
    # where it was first seen.
    rows <- coded$tables[[1]]$first_rows[[match(name, coded$key_vars)]]
    n1 <- nrow(waves$wave1)
    values <- list(
      in_wave1 = rows <= n1,
      one = waves$wave1[[name]][rows[rows <= n1]],
      two = waves$wave2[[name]][rows[rows > n1] - n1]
    )
    agreements[[name]] <- if (is.matrix(rule)) {
      matrix_agreement(rule, values, waves, name)
    } else {
      interval_agreement(rule, values, name)
    }
  }
  unname(agreements)
}

# Candidates agree where a value is admissible in both; NULL for other keys.
set_agreement <- function(known) {
  if (is.null(known)) {
    return(NULL)
  }
  n <- length(known$sets)
  if (n > 5000) {
    stop_sdc(
      "too_large", "A key of candidates can have at most 5,000 different sets.",
      x = paste0("One has ", format_count(n), ".")
    )
  }
  if (known$interval) {
    lower <- vapply(known$sets, function(set) as.double(set[[1]]), 0)
    upper <- vapply(known$sets, function(set) as.double(set[[2]]), 0)
    return(as_ranges(outer(lower, upper, "<=") & outer(upper, lower, ">=")))
  }
  members <- unlist(known$sets)
  values <- unique(members)
  holds <- matrix(0, n, length(values))
  holds[cbind(rep(seq_len(n), lengths(known$sets)), match(members, values))] <- 1
  as_ranges(tcrossprod(holds) > 0)
}

# A logical matrix over the codes of wave 1 (rows) and wave 2 (columns) as the
# core takes it: per wave-2 code the ranges of wave-1 codes.
as_ranges <- function(agrees) {
  edges <- diff(rbind(FALSE, agrees, FALSE))
  list(
    starts = c(0L, cumsum(as.integer(colSums(edges == 1)))),
    first = row(edges)[edges == 1],
    last = row(edges)[edges == -1] - 1L
  )
}

# c(lo, hi): lo <= wave 2 - wave 1 <= hi; one number: that much up or down.
interval_agreement <- function(rule, values, name) {
  if (is_tolerance(rule)) rule <- c(-rule, rule)
  if (!is_plain_number(rule) || length(rule) != 2 || anyNA(rule) || rule[[1]] > rule[[2]]) {
    stop_argument(
      "tolerance", paste0(
        "give for ", quote_names(name), " the largest admissible change, the smallest and ",
        "the largest, or a logical matrix"
      ),
      found = if (is.numeric(rule) && length(rule) == 2) {
        paste(paste(vapply(rule, format_number, ""), collapse = " and "), "were given.")
      } else {
        given_words(rule)
      }
    )
  }
  numbers <- dictionary_numbers(values, name)
  # Differences of decimal fractions are not exact.
  fuzz <- 1e-9 * max(1, abs(rule[is.finite(rule)]))
  from <- if (rule[[2]] == Inf) rep(-Inf, length(numbers)) else numbers - rule[[2]] - fuzz
  to <- if (rule[[1]] == -Inf) rep(Inf, length(numbers)) else numbers - rule[[1]] + fuzz
  first <- findInterval(from, numbers, left.open = TRUE) + 1L
  last <- findInterval(to, numbers)
  some <- first <= last
  list(starts = c(0L, cumsum(as.integer(some))), first = first[some], last = last[some])
}

dictionary_numbers <- function(values, name) {
  parts <- values[c("one", "two")]
  if (all(vapply(parts, is.ordered, NA))) {
    levels <- lapply(parts, levels)
    if (identical(levels[[1]], levels[[2]])) {
      return(spread_values(values, lapply(parts, as.integer)))
    }
  } else if (!any(vapply(parts, is.factor, NA))) {
    sources <- lapply(parts, function(x) column_source(x, length(x)))
    scales <- unique(vapply(sources, `[[`, "", "scale"))
    if (length(scales) == 1 && scales != "text" && !any(vapply(parts, is.logical, NA))) {
      return(spread_values(values, lapply(sources, function(s) as.double(s$values))))
    }
  }
  stop_sdc(
    "bad_column", "Admissible changes as numbers need a key that is a number in both waves.",
    x = paste0(quote_names(name), " is not."),
    i = paste(
      "Numbers, dates and ordered factors of equal levels will do;",
      "give a logical matrix for other key variables."
    ),
    columns = name, classes = class(values$one)
  )
}

# One vector in the order of the codes from the parts of both waves.
spread_values <- function(values, parts) {
  out <- vector(typeof(parts[[1]]), length(values$in_wave1))
  out[values$in_wave1] <- parts[[1]]
  out[!values$in_wave1] <- parts[[2]]
  out
}

# A logical matrix, wave-1 levels x wave-2 levels.
matrix_agreement <- function(rule, values, waves, name) {
  labels <- dimnames(rule)
  usable <- is.logical(rule) && !anyNA(rule) && length(labels) == 2 &&
    !any(vapply(labels, is.null, NA)) && !any(vapply(labels, anyDuplicated, 0L) > 0)
  if (!usable) {
    stop_argument(
      "tolerance", paste0(
        "give for ", quote_names(name), " a logical matrix without NA whose row names are ",
        "wave-1 values and whose column names are wave-2 values, or two numbers"
      )
    )
  }
  as_text <- function(x) source_text(column_source(x, length(x)), name)
  occurring <- lapply(waves, function(wave) unique(stats::na.omit(as_text(wave[[name]]))))
  absent <- Map(function(text, names) sum(!enc2utf8(text) %in% enc2utf8(names)), occurring, labels)
  if (any(unlist(absent) > 0)) {
    stop_argument(
      "tolerance", paste0(
        "have the wave-1 values of ", quote_names(name), " as row names and the wave-2 values ",
        "as column names of its matrix"
      ),
      found = paste0(
        "Without a name: ", plural(absent[[1]], "value"), " of wave 1 and ", absent[[2]],
        " of wave 2."
      )
    )
  }
  text <- spread_values(values, lapply(values[c("one", "two")], as_text))
  rows <- match(enc2utf8(text), enc2utf8(labels[[1]]))
  columns <- match(enc2utf8(text), enc2utf8(labels[[2]]))
  # A value that does not occur in a wave may have no name there.
  agrees <- rule[rows, columns, drop = FALSE]
  agrees[is.na(agrees)] <- FALSE
  as_ranges(agrees)
}
