# The page for the board: which figures of a result stand on it, in which words, and
# against which limit they are judged.

# One row per figure: `measure`, `value`, `low`, `high`, how it is written (`kind`),
# `limit`, `verdict`, `n_records_above`, `note`, and whether it is a probability of a
# correct match, or an expected number of them, given an attempt (`attempt`).
board_rows <- function(x, limit) {
  UseMethod("board_rows")
}

board_row <- function(measure, value, kind = "amount", low = NA_real_, high = NA_real_,
                      limit = NA_real_, n_above = NA_real_, attempt = FALSE, note = "") {
  value <- as.double(value)
  limit <- if (is.null(limit)) NA_real_ else as.double(limit)
  # A bound that is met but for rounding is met.
  verdict <- ifelse(
    is.na(value), "not determined",
    ifelse(is.na(limit), "no limit", ifelse(value <= limit + 1e-9, "ok", "above"))
  )
  data.frame(
    measure = measure, value = value, low = as.double(low), high = as.double(high), kind = kind,
    limit = limit, verdict = verdict, n_records_above = as.double(n_above), note = note,
    attempt = attempt, plain = measure, at_least = FALSE, stringsAsFactors = FALSE
  )
}

no_board_rows <- function() board_row("", 0)[0, ]

# The words of a file's other figures: the one that compare_risk() begins with.
#' @export
board_rows.default <- function(x, limit) {
  estimates <- x$estimates
  numbers <- names(estimates)[vapply(estimates, is.numeric, NA)]
  term <- order_terms(numbers)[1]
  if (nrow(estimates) == 0 || is.na(term)) {
    return(no_board_rows())
  }
  words <- if (term %in% names(measure_words)) measure_words[[term]] else gsub("_", " ", term)
  board_row(words, utils::head(estimates[[term]], 1))
}

#' @export
board_rows.sdc_qar_risk <- function(x, limit) {
  e <- x$estimates
  board_row(
    paste0("Extreme risk T(", e$p, ", ", format_number(e$alpha), ") of key sets"), e$risk, "risk",
    attempt = TRUE, note = paste0("of ", plural(e$n_sets, "key set"), status_note(e$status))
  )
}

status_note <- function(status) {
  words <- c(
    few = "from too few key sets to rely on", unreliable = "from too few records to rely on",
    no_exceedance = "no tail could be fitted", theta_one = "a key set identifies every record",
    single = "from a single key set", underfits = "the model does not fit: a rough figure",
    overfits = "the model fits too closely", biased = "the model is biased"
  )
  known <- status %in% names(words)
  ifelse(is.na(status) | status == "ok", "", paste0(
    "; ", ifelse(known, words[match(status, names(words))], gsub("_", " ", status))
  ))
}

#' @export
board_rows.sdc_risk_contribution <- function(x, limit) {
  e <- x$estimates
  board_row(
    paste0("Extreme risk T(", e$p, ", ", format_number(e$alpha), ") of key sets"), e$risk, "risk",
    attempt = TRUE, note = paste(
      "removing one record lowers it by at most", format_risk(pmax(e$contribution_max, 0))
    )
  )
}

#' @export
board_rows.sdc_removal_path <- function(x, limit) {
  e <- x$estimates
  board_row(
    paste0(
      "Extreme risk T(", e$p, ", ", format_number(e$alpha), ") without ",
      plural(e$n_removed, "record")
    ),
    e$risk, "risk", attempt = TRUE, note = paste("before:", format_risk(e$risk_before))
  )
}

#' @export
board_rows.sdc_removal_bound <- function(x, limit) {
  e <- x$estimates
  board_row(
    paste0(
      "Least ", format_number(1 - e$alpha), " quantile of the risks of key sets, whichever ",
      plural(e$n, "record"), ifelse(e$n == 1, " goes", " go")
    ),
    e$risk_empirical_least, "risk", attempt = TRUE,
    note = paste("before:", format_risk(e$risk_empirical))
  )
}

#' @export
board_rows.sdc_copula_fit <- function(x, limit) {
  board_row("Sample uniques, share", x$estimates$sample_uniqueness, "share")
}

#' @export
board_rows.sdc_uniqueness_profile <- function(x, limit) {
  board_row(
    paste(
      "Likelihood that the person is unique among", format_count(x$settings$pop_size), "people"
    ),
    x$base$xi, "risk"
  )
}

# The most that an intruder may know, of all sizes.
#' @export
board_rows.sdc_uniqueness_by_size <- function(x, limit) {
  e <- x$estimates[which.max(x$estimates$n_keys), ]
  board_row(
    paste(
      "People unique on", plural(e$n_keys, "key variable"), "among",
      format_count(x$settings$pop_size)
    ),
    e$uniqueness_mean, "share",
    note = if (e$n_subsets > 1) paste("mean of", plural(e$n_subsets, "key set")) else ""
  )
}

#' @export
board_rows.sdc_uniqueness_validation <- function(x, limit) {
  e <- x$estimates
  rbind(
    board_row("People unique in the population", e$population_uniqueness, "share"),
    board_row("The same by the model", e$estimated_uniqueness, "share")
  )
}

#' @export
board_rows.sdc_n_matches <- function(x, limit) {
  e <- x$estimates
  parts <- lapply(seq_len(nrow(e)), function(i) {
    on <- if (nrow(e) > 1) paste0(" on ", e$key_set[[i]]) else ""
    k <- limit$k
    # A figure about households has a name of its own: it is not one about records.
    households <- !is.null(x$settings$hh_id)
    alone <- if (households) "Records that match one household only" else "Sample uniques"
    fewer <- if (households) paste(k, "matching households") else paste(k, "matches")
    rows <- list(board_row(
      paste0(alone, on), e$n_unique[[i]], "count",
      limit = if (isTRUE(k >= 2)) 0, n_above = e$n_unique[[i]],
      note = paste0(format_percent(e$prop_unique[[i]]), " of ", format_count(e$n[[i]]))
    ))
    below <- if (isTRUE(k > 2)) matched_below(x, i, k)
    if (!is.null(below)) {
      rows <- c(rows, list(board_row(
        paste0("Records with fewer than ", fewer, on), below, "count", limit = 0,
        n_above = below
      )))
    }
    c(rows, list(
      board_row(
        paste0("Probability to pick the right ", match_unit(x, 1), on, ", mean"), e$risk_mean[[i]],
        "risk",
        attempt = TRUE,
        note = format_spread(e$risk_max[[i]], e$risk_q99[[i]], e$risk_q95[[i]])
      ),
      if (!is.na(e$theta[[i]])) {
        board_row(
          paste0("Share of unique matches that are correct (theta)", on), e$theta[[i]], "risk",
          e$theta_low[[i]], e$theta_high[[i]], attempt = TRUE,
          note = sub("^; ", "", status_note(e$theta_status[[i]]))
        )
      },
      if (!is.null(e$n_homogeneous)) {
        board_row(
          paste0("Records all of whose matches share a sensitive value", on),
          e$n_homogeneous[[i]], "count"
        )
      }
    ))
  })
  do.call(rbind, unlist(parts, recursive = FALSE))
}

# Records with fewer than `k` matches on the key set number `i`.
matched_below <- function(x, i, k) {
  column <- paste0("n_below_", k)
  if (column %in% names(x$estimates)) {
    return(x$estimates[[column]][[i]])
  }
  column <- if (isTRUE(x$settings$named_sets)) x$estimates$key_set[[i]] else "n_matches"
  counts <- judged_rows(x)[[column]]
  times <- judged_times(x)
  if (is.null(times)) times <- rep(1, length(counts))
  if (!is.null(counts)) sum(times[which(counts < k)])
}

#' @export
board_rows.sdc_household_risk <- function(x, limit) {
  e <- x$estimates
  board_row(
    "Persons in households whose composition is unique", e$n_persons_unique, "count",
    note = paste(plural(e$n_unique, "household"), "of", format_count(e$n_households))
  )
}

#' @export
board_rows.sdc_individual_risk <- function(x, limit) {
  e <- x$estimates
  journalist <- limit$journalist
  above <- if (!is.null(journalist) && !is.null(x$records)) {
    sum(x$records$risk > journalist, na.rm = TRUE)
  } else {
    NA
  }
  rbind(
    board_row(
      "Expected re-identifications, every record tried", e$expected_reidentifications,
      attempt = TRUE, note = paste0(format_percent(e$reidentification_rate), " of the records")
    ),
    board_row(
      "Largest risk of a record, target not known to be in the file", e$journalist_max, "risk",
      limit = journalist, n_above = above, attempt = TRUE,
      note = format_spread(e$journalist_max, e$risk_q99, e$risk_q95)
    ),
    board_row(
      "Largest risk of a record, target known to be in the file", e$prosecutor_max, "risk",
      attempt = TRUE, note = paste("mean", format_risk(e$prosecutor_mean))
    )
  )
}

#' @export
board_rows.sdc_loglinear_risk <- function(x, limit) {
  e <- x$estimates
  label <- if (is.null(e$scenario)) e$key_set else gsub("_", " ", e$scenario)
  on <- if (nrow(e) > 1) paste0(" (", label, ", ", e$model, ")") else ""
  corrected <- !is.null(e$tau1_corrected) & !is.na(e$tau1_corrected)
  pick <- function(name) ifelse(corrected, e[[paste0(name, "_corrected")]], e[[name]])
  note <- paste0(
    ifelse(corrected, "corrected for bias", ""), status_note(e$status)
  )
  note <- sub("^; ", "", note)
  rbind(
    board_row(
      paste0("Sample uniques expected to be unique in the population (tau1)", on), pick("tau1"),
      "amount", e$tau1_low, e$tau1_high, note = note
    ),
    board_row(
      paste0("Expected correct matches of sample uniques (tau2)", on), pick("tau2"), "amount",
      e$tau2_low, e$tau2_high, attempt = TRUE, note = note
    )
  )
}

#' @export
board_rows.sdc_longitudinal_risk <- function(x, limit) board_rows.sdc_loglinear_risk(x, limit)

#' @export
board_rows.sdc_copula_uniqueness <- function(x, limit) {
  e <- x$estimates
  board_row(
    paste0("People unique among ", format_count(e$pop_size), " (copula)"),
    e$population_uniqueness, "share", e$uniqueness_low, e$uniqueness_high
  )
}

#' @export
board_rows.sdc_population_uniqueness <- function(x, limit) {
  e <- x$estimates
  board_row(
    paste0("People unique among ", format_count(e$pop_size), " (", e$method, ")"),
    e$population_uniqueness, "share", note = sub("^; ", "", status_note(e$status))
  )
}

#' @export
board_rows.sdc_invariant_pram <- function(x, limit) {
  e <- x$estimates
  board_row(
    "Largest probability of a correct match in the perturbed file", e$worst_match_prob, "risk",
    limit = e$max_match_prob, n_above = e$n_unprotected, attempt = TRUE,
    note = paste0(format_count(e$n_changed), " of ", plural(e$n_records, "record"), " changed")
  )
}

#' @export
board_rows.sdc_pram_audit <- function(x, limit) {
  e <- x$estimates
  board_row(
    "Largest probability of a correct match, audited", e$worst_match_prob, "risk",
    limit = e$max_match_prob, n_above = e$n_above, attempt = TRUE,
    note = paste("before:", format_risk(e$worst_match_prob_before))
  )
}

#' @export
board_rows.sdc_suppress_cells <- function(x, limit) {
  e <- x$estimates
  rbind(
    board_row(
      paste0("Records with fewer than ", e$k, " matches after blanking (rule \"", e$rule, "\")"),
      e$n_violations_after, "count", limit = 0, n_above = e$n_violations_after,
      note = paste0(
        format_count(e$n_violations_before), " before; ", plural(e$n_suppressed, "cell"), " blanked"
      )
    ),
    board_row(
      "Expected correct matches after blanking, every record tried", e$tau_after,
      attempt = TRUE, note = paste("before:", format_risk(e$tau_before))
    )
  )
}

#' @export
board_rows.sdc_recode_search <- function(x, limit) {
  asked <- x$settings$constraint
  first <- intersect(names(asked), constraint_names)[[1]]
  board_row(
    paste0("Largest risk after the cheapest recoding (limit on ", first, ")"), x$estimates$risk,
    "risk", limit = if (first == "k") 1 / asked$k else asked[[first]],
    note = paste0(format_percent(x$estimates$cost_share), " of the information lost")
  )
}

#' @export
board_rows.sdc_exhaustive_tabulation <- function(x, limit) {
  e <- x$estimates
  board_row(
    "Records in a small cell of at least one table", e$n_records_violating, "count",
    note = paste0(
      plural(e$n_tables, "table"), ", ", format_percent(e$prop_records), " of the records"
    )
  )
}

#' @export
board_rows.sdc_longitudinal_link <- function(x, limit) {
  e <- x$estimates
  rbind(
    board_row(
      "Respondents of both waves expected to be linked correctly", e$expected_correct,
      attempt = TRUE, note = paste("of", format_count(e$n_linked))
    ),
    board_row("Respondents linked with certainty", e$n_certain, "count")
  )
}

#' @export
board_rows.sdc_link_attack <- function(x, limit) {
  e <- x$estimates
  board_row(
    paste0("Expected correct matches of an intruder (", e$intruder, ")"),
    ifelse(is.na(e$expected_correct), e$own_estimate, e$expected_correct), attempt = TRUE,
    note = ifelse(
      is.na(e$expected_correct), "by the intruder's own estimate",
      paste("of", plural(e$n_linked, "person"), "in both files")
    )
  )
}

# What a protection costs stands elsewhere.
#' @export
board_rows.sdc_utility_loss <- function(x, limit) no_board_rows()

#' @export
board_rows.sdc_key_overview <- function(x, limit) board_rows.sdc_utility_loss(x, limit)

#' @export
board_rows.sdc_key_stability <- function(x, limit) board_rows.sdc_utility_loss(x, limit)

# Measures that were judged already; those with no meaning on the file stand elsewhere.
#' @export
board_rows.sdc_file_check <- function(x, limit) {
  e <- x$estimates
  e <- e[e$verdict != "not applicable", , drop = FALSE]
  about <- check_catalogue()
  about <- about[match(e$measure, about$measure), ]
  kinds <- c(matches = "count", count = "amount", share = "share", risk = "risk")
  label <- paste0(about$label, ifelse(grepl("_corrected$", e$measure), ", corrected", ""))
  # What stands below another measure on the page of the check stands alone here.
  label[e$measure == "pitman"] <- "population uniqueness by Pitman"
  asks <- grepl("?", e$question, fixed = TRUE)
  above <- ifelse(is.na(e$n_records_above) | e$n_records_above == 0, "", paste(
    plural(e$n_records_above, "record"),
    ifelse(about$unit == "matches", "beyond the limit", "above the limit")
  ))
  rows <- board_row(
    paste0(ifelse(asks, paste0(e$question, " "), ""), capitalised(label)),
    e$value, unname(kinds[about$unit]), e$low, e$high,
    n_above = e$n_records_above, attempt = e$measure %in% attempted_measures,
    note = ifelse(is_misfit(x, e$measure), "the model does not fit", above)
  )
  rows$limit <- e$limit
  rows$verdict <- e$verdict
  rows <- with_limit_on_uniques(rows, e$measure, x$settings$limit)
  rows$plain <- capitalised(label)
  rows$at_least <- about$unit == "matches"
  who <- c(
    prosecutor = "What can an intruder do who knows that the target is in the file?",
    journalist = "What can an intruder do who does not know this?",
    tables = "What do tables of a few key variables show?"
  )
  rows$question <- unname(ifelse(e$scenario %in% names(who), who[e$scenario], e$scenario))
  rows$scenario <- ifelse(e$scenario == "tables", "", e$scenario)
  rows
}

# Where every key must be shared, a record alone is one too many, as n_matches() says in the
# same table; a limit on uniques that was given stays.
with_limit_on_uniques <- function(rows, measure, limit) {
  at <- measure == "n_unique"
  if (isTRUE(limit$k >= 2) && !any(c("n_unique", "prop_unique") %in% names(limit))) {
    rows$limit[at] <- 0
    rows$verdict[at] <- ifelse(rows$value[at] > 0, "above", "ok")
  }
  rows
}

# Figures of a log-linear model that does not fit this file.
is_misfit <- function(x, measure) {
  found <- any(grepl("log-linear model does not fit", x$diagnostics$notes, fixed = TRUE))
  found & grepl("^tau[12]", measure)
}

# Probabilities of a correct match, and expected numbers of them.
attempted_measures <- c(
  "qar", "set_risk", "journalist", "expected_reidentifications", "reidentification_rate",
  "household", "tau2", "tau2_corrected"
)

# A figure in the words of its kind.
kind_text <- function(x, kind) {
  out <- character(length(x))
  tiny <- !is.na(x) & x > 0 & x < 1e-6
  of <- function(k, f) out[kind == k] <<- f(x[kind == k])
  of("count", format_amount)
  of("amount", format_amount)
  of("risk", format_risk)
  of("share", format_percent)
  out[tiny & kind != "share"] <- paste("below", chartr(".", getOption("OutDec"), "0.000001"))
  out[is.na(x)] <- "\u2013"
  out
}
