# longitudinal_risk() of tables of a database. The engine joins the waves by the ids and
# counts who has which values in all of them: persons with the same are the same to
# everything that follows. They are spread to records under ids of our own, so that what
# follows is what it does for data frames; what it says of records is then said of patterns.

# TRUE if all waves are tables of a database; some of them alone are an error.
are_lazy_releases <- function(releases, wave2) {
  lazy <- vapply(releases, is_lazy_table, NA)
  if (!any(lazy) && !is_lazy_table(wave2)) {
    return(FALSE)
  }
  if (!all(lazy) || !is_lazy_table(wave2)) {
    stop_argument(
      if (all(lazy)) "wave2" else "wave1", "be a table of a database, as the other ones are",
      advice = "Or bring all into R: dplyr::collect(wave)."
    )
  }
  TRUE
}

# The names of the columns of a wave are what its checks look at.
wave_names <- function(wave) if (is_lazy_table(wave)) name_frame(colnames(wave)) else wave

# Data frames with the records of all waves, and the patterns of wave 2 whose records lie
# side by side in it. `used` are the columns of wave 2, `compared` those of the earlier ones.
spread_releases <- function(releases, wave2, used, compared, id, max_patterns) {
  wave2 <- dplyr::ungroup(wave2)
  releases <- lapply(releases, dplyr::ungroup)
  check_reserved(used, NULL)
  for (wave in c(releases, list(wave2))) check_engine_names(wave, c(used, compared, id))
  for (earlier in releases) check_same_engine(list(wave1 = earlier, wave2 = wave2))
  all_waves <- c(releases, list(wave2 = wave2))
  check_joined_ids(all_waves, id)
  repeated <- vapply(all_waves, function(wave) ids_of_engine(wave, id)$n_repeated, 0)
  check_ids_once(repeated, names(all_waves), id)
  at <- seq_along(releases)
  before <- lapply(at, function(k) paste0("sdc_", k, "_", seq_along(compared)))
  there <- paste0("sdc_in_", at)
  x <- as.name(id)
  no_id <- list(sdc_no_id = rlang::expr(ifelse(is.na(!!x), 1L, 0L)))
  joined <- dplyr::transmute(wave2, !!x, !!!rlang::syms(used), !!!no_id)
  for (k in at) {
    columns <- rlang::set_names(rlang::syms(c(id, compared)), c(id, before[[k]]))
    one <- dplyr::transmute(
      releases[[k]], !!!columns, !!!rlang::set_names(list(1L), there[[k]])
    )
    joined <- dplyr::left_join(joined, one, by = id)
  }
  persons <- wave_patterns(
    joined, c(used, "sdc_no_id", unlist(before), there), max_patterns, "wave2"
  )
  check_releases_text(releases, wave2, persons, used, compared, before)
  check_spread(sum(persons$n))
  rows <- rep.int(seq_along(persons$n), persons$n)
  ids <- seq_along(rows)
  in_wave2 <- numbered_rows(persons$patterns[used], rows)
  in_wave2[[id]] <- replace(ids, persons$patterns$sdc_no_id[rows] == 1, NA)
  earlier <- lapply(at, function(k) {
    linked <- which(!is.na(persons$patterns[[there[[k]]]][rows]))
    part <- numbered_rows(persons$patterns[before[[k]]], rows[linked])
    names(part) <- compared
    part[[id]] <- ids[linked]
    rest <- unlinked_records(releases[[k]], wave2, compared, id, max_patterns, length(ids))
    if (is.null(rest)) part else unite_records(part, rest)
  })
  list(
    releases = rlang::set_names(earlier, names(releases)), wave2 = in_wave2,
    patterns = persons$patterns, n = persons$n
  )
}

# As for two waves, see check_waves_text(); of the earlier ones what has a partner is looked at.
check_releases_text <- function(releases, wave2, persons, used, compared, before) {
  check_waves_text(list(wave2 = wave2), list(wave2 = persons), used)
  patterns <- lapply(before, function(columns) {
    list(patterns = rlang::set_names(persons$patterns[columns], compared))
  })
  check_waves_text(releases, rlang::set_names(patterns, names(releases)), compared)
}

# The records of an earlier release of persons who are not in wave 2; NULL where there are
# none.
unlinked_records <- function(earlier, wave2, compared, id, max_patterns, n_ids) {
  x <- as.name(id)
  # Not an anti join, for which some engines go through all pairs.
  there <- dplyr::transmute(wave2, !!x, sdc_there = 1L)
  rest <- dplyr::select(earlier, !!!rlang::syms(unique(c(id, compared))))
  rest <- dplyr::left_join(rest, there, by = id)
  rest <- dplyr::filter(rest, is.na(!!as.name("sdc_there")))
  rest <- dplyr::transmute(
    rest, !!!rlang::syms(compared), sdc_no_id = ifelse(is.na(!!x), 1L, 0L)
  )
  if (rows_of_engine(rest) == 0) {
    return(NULL)
  }
  counted <- wave_patterns(rest, c(compared, "sdc_no_id"), max_patterns)
  check_spread(n_ids + sum(counted$n))
  rows <- rep.int(seq_along(counted$n), counted$n)
  records <- numbered_rows(counted$patterns[compared], rows)
  records[[id]] <- replace(n_ids + seq_along(rows), counted$patterns$sdc_no_id[rows] == 1, NA)
  records
}

# Two parts of a wave, one below the other. A column without any value has no type.
unite_records <- function(one, two) {
  columns <- Map(function(x, y, name) {
    if (all(is.na(x))) x <- rep(y[NA_integer_], length(x))
    if (all(is.na(y))) y <- rep(x[NA_integer_], length(y))
    unite_columns(list(x, y), name)
  }, as.list(one), as.list(two), names(one))
  do.call(frame, columns)
}

# Replaces results for records by results for patterns, in the result and its parts.
of_patterns <- function(result, spread, keys) {
  converted <- function(x, columns) {
    if (inherits(x, "sdc_result")) {
      judged <- by_wave_pattern(
        x$records, list(pairs = list(patterns = spread$patterns[columns], n = spread$n))
      )
      x["records"] <- list(NULL)
      x$patterns <- judged$patterns
      x$settings$fingerprint <- NA_character_
      return(x)
    }
    lapply(x, converted, columns)
  }
  result$link <- converted(result$link, result$settings$link_vars)
  result$fits <- converted(result$fits, keys)
  converted(result, keys)
}
