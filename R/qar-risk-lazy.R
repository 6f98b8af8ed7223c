# qar_risk() on a table of a database whose patterns are too many to travel: one small
# query per key set, which brings three numbers.

# More key sets than this would take an engine longer than anybody waits.
most_queries <- 20000

# As read_file(); without a file if `data` is such a table.
read_or_query <- function(ask) {
  tryCatch(read_file(ask, patterns = TRUE), sdcRisk_error_too_large = function(e) {
    if (is.null(e$n_patterns) || !is_lazy_table(argument("data"))) stop(e)
    ask$data <- argument("data")
    remember(ask)
  })
}

# `asked` holds the arguments of qar_risk() that were checked; the result is its own.
qar_by_queries <- function(data, key_vars, key_groups, asked, sets, max_sets, this_call) {
  found <- lazy_columns(data, key_vars, NULL, NULL)$key_vars
  columns <- name_frame(found)
  keys <- resolve_key_groups(key_groups, columns, seq_along(found), found)
  check_p(asked$p, length(keys))
  check_queries(sum(choose(length(keys), asked$p)), max_sets)
  data <- dplyr::ungroup(data)
  n_all <- rows_of_engine(data)
  if (asked$missing == "exclude") {
    known <- lapply(rlang::syms(found), function(x) rlang::expr(!is.na(!!x)))
    data <- dplyr::filter(data, !!!known)
  }
  n <- if (asked$missing == "exclude") rows_of_engine(data) else n_all
  check_some_complete(n)
  check_most_records(n)
  of_keys <- lapply(keys, function(columns) found[columns])
  members <- lapply(c(1L, asked$p), function(p) utils::combn(length(keys), p, simplify = FALSE))
  total <- length(unlist(members, recursive = FALSE))
  done <- 0
  count <- function(members) {
    counts <- with_engine(key_set_counts(data, unlist(of_keys[members])))
    done <<- done + 1
    if (!is.null(running$tick)) running$tick(done, total)
    counts
  }
  counts <- lapply(members, function(sets) vapply(sets, count, numeric(3)))
  tail <- c(
    asked[c("alpha", "pi_u", "pwm", "theta_one")],
    list(
      max_sets = max_sets, thresholds = threshold_grid, key_distinct = counts[[1]][1, ],
      n_records = n, names = enc2utf8(names(keys))
    )
  )
  counted <- Map(function(p, of) {
    core(rs_qar_risk_counted, c(
      tail, list(p = p, distinct = of[1, ], unique = of[2, ], pairs = of[3, ])
    ))
  }, asked$p, counts[-1])
  settings <- c(
    list(
      key_vars = found, key_groups = lapply(keys[lengths(keys) > 1], function(v) found[v])
    ),
    asked,
    list(n = as_count(n_all), fingerprint = NA_character_, version = own_version())
  )
  new_qar_risk(counted, settings, names(keys), as_count(n), sets, this_call)
}

check_queries <- function(n_sets, max_sets) {
  most <- min(most_queries, max_sets)
  if (n_sets > most) {
    stop_sdc(
      "too_large", "There must not be more key sets than queries can be made for.",
      x = paste0(
        format_count(n_sets), " key sets, and too many patterns to do without queries; ",
        "the limit is ", format_count(most), "."
      ),
      i = "Take fewer or coarser `key_vars`, or a smaller `p`.",
      n_sets = n_sets
    )
  }
}

# Numbers of distinct keys, of keys of one record and of two.
key_set_counts <- function(data, columns) {
  counts <- dplyr::summarise(
    dplyr::group_by(data, !!!rlang::syms(columns)), !!!list(sdc_n = quote(n())),
    .groups = "drop"
  )
  of <- function(size) {
    rlang::expr(sum(ifelse((!!as.name("sdc_n")) == !!size, 1L, 0L), na.rm = TRUE))
  }
  found <- collect_one_row(
    counts, list(sdc_distinct = quote(n()), sdc_unique = of(1L), sdc_pairs = of(2L))
  )
  vapply(found, engine_counts, 0, USE.NAMES = FALSE)
}
