# Two waves or files that are tables of a database, or pattern tables: their patterns travel,
# not their records. The core codes the patterns and spreads them to records again, as many
# as there are, in one to four bytes a key variable: what follows is what it does for data
# frames.
#
# With `id` the engine joins the two and counts the pairs of patterns of one person. Which
# record of a pattern is whose makes no difference to a linkage.

# TRUE if both are tables of a database or pattern tables; one of them alone is an error.
are_counted_waves <- function(wave1, wave2) {
  counted <- c(is_counted_wave(wave1), is_counted_wave(wave2))
  if (any(counted) && !all(counted)) {
    patterns <- is_pattern_table(if (counted[[1]]) wave1 else wave2)
    stop_argument(
      c("wave1", "wave2")[!counted],
      paste("be", if (patterns) "a pattern table" else "a table of a database",
            "too, as the other one is"),
      advice = if (patterns) {
        "pattern_table() makes one of a data frame."
      } else {
        "Or bring both into R: dplyr::collect(wave)."
      }
    )
  }
  all(counted)
}

# As code_waves(), of tables of a database and pattern tables.
code_counted_waves <- function(wave1, wave2, key_vars, id, arg, max_patterns) {
  waves <- list(wave1 = wave1, wave2 = wave2)
  # Patterns hold no ids: who is who is not in them.
  if (!is.null(id) && any(vapply(waves, is_pattern_table, NA))) {
    stop_argument(
      "id", "be NULL for pattern tables", "They do not say which records are one person's.",
      "Give tables of a database, or data frames: then true partners are known."
    )
  }
  waves <- lapply(waves, function(wave) if (is_lazy_table(wave)) dplyr::ungroup(wave) else wave)
  columns <- wave_columns(
    lapply(waves, function(wave) {
      name_frame(if (is_pattern_table(wave)) wave$key_vars else colnames(wave))
    }), key_vars, id, arg
  )
  keys <- columns$key_vars
  check_reserved(keys, NULL)
  for (wave in Filter(is_lazy_table, waves)) check_engine_names(wave, c(keys, columns$id))
  if (!is.null(columns$id)) {
    check_same_engine(waves)
    check_joined_ids(waves, columns$id)
  }
  counted <- list(wave1 = wave_patterns(waves$wave1, keys, max_patterns, "wave1"))
  counted$wave2 <- if (is.null(columns$id)) {
    wave_patterns(waves$wave2, keys, max_patterns, "wave2")
  } else {
    ids <- lapply(waves, ids_of_engine, columns$id)
    check_ids_once(vapply(ids, `[[`, 0, "n_repeated"), names(waves), columns$id)
    joined_patterns(waves, keys, columns$id, max_patterns)
  }
  check_waves_text(waves, counted, keys)
  n <- vapply(counted, function(one) sum(one$n), 0)
  check_spread(n)
  asked <- ask_waves(counted$wave1$patterns, counted$wave2$patterns[keys], keys, NULL, arg)
  coded <- read_waves(asked, code_requests(asked$requests))
  times <- lapply(counted, `[[`, "n")
  coded$tables <- Map(spread_table, coded$tables, times)
  release_later(coded$tables)
  coded$n <- rlang::set_names(as_count(n), names(n))
  coded$ids <- rep(NA_integer_, n[["wave2"]])
  coded$id <- columns$id
  coded$own_fingerprint <- NA_character_
  coded$fingerprints[] <- NA_character_
  coded$pairs <- list(patterns = counted$wave2$patterns[keys], n = times$wave2)
  if (!is.null(columns$id)) {
    partners <- partner_rows(counted, keys)
    if (all(is.na(partners))) warn_no_common_ids(columns$id)
    coded$partners <- partners
    coded$n_missing_id <- as_count(unname(n - vapply(ids, `[[`, 0, "n")))
  }
  coded
}

# Tables can only be joined in one engine.
check_same_engine <- function(waves) {
  if (!dplyr::same_src(waves$wave1, waves$wave2)) {
    stop_argument(
      "id", "be NULL for tables of two connections",
      found = "To find the records of one person the engine must join the two.",
      advice = "Copy one to the connection of the other: dplyr::copy_to(), dplyr::compute()."
    )
  }
}

# Distinct patterns of some columns and their counts, sorted by value.
wave_patterns <- function(data, keys, max_patterns, arg = NULL) {
  table <- if (is_pattern_table(data)) {
    pattern_table(data, keys, max_patterns = max_patterns)
  } else {
    engine_patterns(data, list(key_vars = keys, arg = arg), max_patterns)
  }
  list(patterns = table$patterns[keys], n = as.double(table$patterns$n))
}

# Patterns of wave 2 with those that the same persons have in wave 1: the columns
# `sdc_1`, `sdc_2`, ... and `sdc_partner`, missing without a partner.
joined_patterns <- function(waves, keys, id, max_patterns) {
  before <- paste0("sdc_", seq_along(keys))
  columns <- rlang::set_names(lapply(c(id, keys), as.name), c(id, before))
  one <- dplyr::transmute(waves$wave1, !!!columns, sdc_partner = 1L)
  two <- dplyr::select(waves$wave2, !!!lapply(c(id, keys), as.name))
  # Missing ids join nobody.
  joined <- dplyr::left_join(two, one, by = id)
  wave_patterns(joined, c(keys, before, "sdc_partner"), max_patterns, "wave2")
}

# Text that compares without regard to case, or to blanks, makes one value of two.
check_waves_text <- function(waves, counted, keys) {
  for (name in names(waves)) {
    wave <- waves[[name]]
    if (is_lazy_table(wave)) {
      stop_ignored_text(
        columns_ignoring(wave, list(patterns = counted[[name]]$patterns, key_vars = keys))
      )
    }
  }
}

# Records that have an id, and those whose id another record has before them.
ids_of_engine <- function(wave, id) {
  x <- as.name(id)
  counts <- dplyr::summarise(
    dplyr::group_by(dplyr::filter(wave, !is.na(!!x)), !!x), !!!list(sdc_n = quote(n())),
    .groups = "drop"
  )
  found <- with_engine(collect_one_row(counts, list(
    sdc_records = quote(sum(sdc_n, na.rm = TRUE)), sdc_ids = quote(n())
  )))
  n <- engine_counts(found[[1]])
  # A sum of nothing is missing.
  n[is.na(n)] <- 0
  list(n = n, n_repeated = n - engine_counts(found[[2]]))
}

check_spread <- function(n) {
  if (any(n > .Machine$integer.max)) {
    stop_sdc(
      "too_large", "Linkage takes at most 2,147,483,647 records of each file.",
      x = paste0("There are ", format_count(max(n)), "."), i = "Link a sample, or by region."
    )
  }
}

# The coded table with a row for every record.
spread_table <- function(table, times) {
  table$pointer <- core(rs_rows, table$pointer, rep.int(seq_along(times), times))
  table
}

# Per record of wave 2 the record of wave 1 that is the same person's: the records of a
# pattern lie side by side, and its pairs take one after the other.
partner_rows <- function(counted, keys) {
  pairs <- counted$wave2
  before <- pairs$patterns[paste0("sdc_", seq_along(keys))]
  names(before) <- keys
  known <- which(!is.na(pairs$patterns$sdc_partner))
  partners <- rep(NA_integer_, sum(pairs$n))
  if (length(known) == 0) {
    return(partners)
  }
  n1 <- counted$wave1$n
  at <- places_of_patterns(counted$wave1$patterns, before[known, , drop = FALSE])
  n <- pairs$n[known]
  taken <- stats::ave(n, at, FUN = function(n) cumsum(n) - n)
  if (any(at > length(n1)) || any(taken + n > n1[at])) {
    stop_sdc("bad_data", c(
      "The tables must not change while they are read.",
      x = "Two queries on wave 1 found different records.", i = "Copy it first: dplyr::compute()."
    ))
  }
  ends <- cumsum(pairs$n)[known]
  first <- (cumsum(n1) - n1)[at] + taken + 1
  partners[sequence(n, ends - n + 1)] <- as.integer(sequence(n, first))
  partners
}

# Results for records as results for patterns of wave 2. `records` is as in a result, NULL if they
# are to stay. A pattern whose records differ has a row for each kind.
by_wave_pattern <- function(records, coded) {
  pairs <- coded$pairs
  if (is.null(pairs)) {
    return(list(records = records))
  }
  first <- cumsum(pairs$n) - pairs$n + 1
  records <- lapply(as.list(records)[names(records) != "id"], `[`, first)
  patterns <- as.list(pairs$patterns)
  # The column names stay: prints and verbs read them.
  taken <- names(patterns) %in% c(names(records), "n")
  names(patterns)[taken] <- paste0(names(patterns)[taken], ".key")
  both <- c(patterns, records)
  some <- both[!vapply(both, function(x) all(is.na(x)), NA)]
  groups <- group_records(key_table(do.call(frame, some)))
  rows <- groups$first_rows
  n <- as.vector(rowsum(pairs$n, groups$row_group, reorder = TRUE))
  columns <- c(lapply(patterns, `[`, rows), list(n = as_count(n)), lapply(records, `[`, rows))
  list(records = NULL, patterns = do.call(frame, columns))
}
