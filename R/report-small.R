# Counts of an external report that fewer than `least_alike` records, households or values
# carry. Such a count is withheld, and so is one that tells few of them together with another: the
# number of records, a count of records within it (those alone among those with few matches),
# the same count of another key set, or of the file before. A share is withheld with its count.

# In a smaller file the figures of a report leave few numbers of records per key to choose from.
least_external <- 100

warn_small_file <- function(entries) {
  n <- unlist(lapply(entries, function(entry) unclass(entry$result)$settings$n))
  if (any(n < least_external)) {
    warn_sdc(
      "small_file",
      paste("An external report should be about at least", least_external, "records."),
      x = paste0("The file has ", plural(min(n), "record"), "."),
      i = paste(
        "Counts of fewer than five records are withheld, and may follow from other figures of",
        "so small a file. Keep this report in the agency: internal = TRUE."
      )
    )
  }
}

# Whole numbers of other things: of key variables and their values, key sets, models and steps.
other_counts <- c(
  "n_cells", "n_levels", "n_keys", "n_sets", "n_nodes", "n_evaluated", "n_exceedances",
  "n_zero_margins", "n_blocks", "n_values_before", "n_values_after", "n_tables", "n_sim"
)

# Counts of records by their number of matches: each holds the former ones. Uniques are counted
# by the size of their smallest key set, too, and among records that share a sensitive value.
of_matches <- paste0(
  "^n_(unique|below|violations|few|special|records_above|pairs|homogeneous|single_before|msu|",
  "records|smallest)|^unique_change$|^best_n$|^(uio|repu|dorig|disco|tcap)$"
)

# Counts of values that a protection changed, and of the records that have them. Records that
# had too few matches are those of which it suppressed values.
of_changes <- "^n_(suppressed|blank|exchanged|changed|records_(suppressed|changed))$|^lower|^tv_"

# Measures of attribute_risk() that are shares of records.
shares_of_records <- c("uio", "repu", "dorig", "disco", "tcap")

# Figures that follow from a count, or tell it.
told_with <- list(
  n_suppressed = "^(lower_)?bound$|^gap$", lower_bound = "^gap$",
  n_records_violating = "^violations_",
  n_cell_violations = "^violations_|^prop_cells$", n_risky = "^expected_changed$",
  n_records = "^n_msu$", n_blank = "^tv_", n_exchanged = "^tv_", n_records_changed = "^tv_",
  tv_margins = "^tv_", tv_pairs = "^tv_pairs_weighted$", violations_sum = "^violations_mean$",
  # Of uniques, pairs and theta, two tell the third.
  n_unique = "^theta", n_pairs = "^theta"
)

# A loss and the bound of a suppression as counts. Records with values that changed in one of two
# variables or both, over all pairs of k variables, are k - 1 times the values less the
# records with both: distances of pairs tell these.
counts_in_ratios <- function(x) {
  e <- unclass(x)$estimates
  if (inherits(x, "sdc_suppress_cells")) {
    return(list(lower_bound = e$lower_bound))
  }
  if (inherits(x, "sdc_exhaustive_tabulation")) {
    return(list(violations_sum = e$violations_sum))
  }
  if (inherits(x, "sdc_attribute_risk")) {
    times <- ifelse(e$measure %in% shares_of_records, x$diagnostics$n_used, 1)
    return(list(value = round(e$value * times, 6)))
  }
  if (!inherits(x, "sdc_utility_loss")) {
    return(NULL)
  }
  k <- if (x$diagnostics$n_keys > 0) x$diagnostics$n_keys else nrow(x$variables)
  margins <- e$tv_margins * e$n * k
  lapply(list(
    tv_margins = margins, tv_pairs = (k - 1) * margins - e$tv_pairs * e$n * choose(k, 2),
    tv_pairs_max = e$tv_pairs_max * e$n
  ), round, 6)
}

# The counts of an entry, those in its ratios from exact figures: where they stand, and which of
# them are compared.
counts_of <- function(x, exact) {
  found <- lapply(c("estimates", "drivers"), function(table) {
    columns <- as.list(unclass(x)[[table]])
    ratios <- if (table == "estimates") counts_in_ratios(exact)
    columns[names(ratios)] <- ratios
    by_measure <- all(c("measure", "value") %in% names(columns))
    names <- grep("^n$|^n_|^unique_change$|^best_n$", names(columns), value = TRUE)
    names <- c(setdiff(names, other_counts), setdiff(names(ratios), "value"))
    parts <- lapply(c(names, if (by_measure) "value"), function(column) {
      name <- if (column == "value") columns$measure else rep(column, length(columns[[column]]))
      value <- abs(as.double(columns[[column]]))
      known <- column != "value" | name %in% shares_of_records |
        grepl("^n_", name) & !name %in% other_counts
      at <- which(known & !is.na(value))
      # Rows of one file, or one per variable.
      of_rows <- by_measure || is.null(columns$variable)
      frame(
        table = rep(table, length(at)), column = rep(column, length(at)), row = at,
        name = name[at], value = value[at],
        group = if (of_rows) rep("", length(at)) else as.character(at),
        # Counts of other entries that are about the same records, or a part of them.
        about = ifelse(
          grepl(of_matches, name[at]), "matches",
          ifelse(name[at] == "n_missing", paste("missing", columns$variable[at]), ifelse(
            grepl(of_changes, name[at]), "changes", ifelse(name[at] == "n", "n", "")
          ))
        )
      )
    })
    do.call(rbind, parts)
  })
  do.call(rbind, found)
}

is_few_of <- function(value, others) any(are_few(abs(value - c(0, others))), na.rm = TRUE)

# Counts without those of few records, alone or together with others.
without_few <- function(counts, others) {
  for (i in which(counts > 0)) {
    if (is_few_of(counts[[i]], c(others, counts[seq_len(i - 1)]))) counts[[i]] <- NA
  }
  counts
}

# The counts of an entry that are not shown; `shown` are counts of entries before by what they are
# about, `ever` those of all entries. Uniques without a variable are compared with all of them: what
# is shown of them stands in no other comparison.
few_counts <- function(counts, n, shown, ever) {
  gone <- logical(nrow(counts))
  for (i in seq_len(nrow(counts))) {
    about <- counts$about[[i]]
    rows <- seq_len(i - 1)
    rows <- rows[!gone[rows] & counts$table[rows] == counts$table[[i]] &
                   counts$group[rows] == counts$group[[i]]]
    others <- c(
      n, counts$value[rows], if (nzchar(about)) shown[[about]],
      if (nzchar(about) && nzchar(counts$group[[i]])) ever[[about]],
      if (about == "changes") c(shown$matches, shown$missing),
      # Of the records whose values were suppressed, some were incomplete before.
      if (grepl("^n_records_(suppressed|changed)$", counts$name[[i]])) {
        abs(outer(shown$missing, shown$missing, `-`))
      },
      if (startsWith(about, "missing ")) shown$missing
    )
    of <- function(name) counts$value[rows][counts$name[rows] == name]
    value <- counts$value[[i]]
    value <- switch(counts$name[[i]],
      # Records in pairs, and those alone together with them.
      n_pairs = 2 * value + c(0, of("n_unique")),
      # Records of cells with one or two, and the cells of one.
      violations_sum = c(value, abs(2 * of("n_cell_violations") - value)),
      value
    )
    gone[[i]] <- are_few(counts$value[[i]]) || any(vapply(value, is_few_of, NA, others))
    # Uniques without one variable and without another one are no parts of each other.
    alone <- nzchar(about) && !gone[[i]] && (about != "matches" || counts$group[[i]] == "")
    if (alone) shown[[about]] <- union(shown[[about]], value)
  }
  # A number of uniques and its change tell each other.
  linked <- counts$name %in% c("n_unique_without", "unique_change")
  at <- paste(counts$table, counts$row)
  gone[linked] <- at[linked] %in% at[linked & gone]
  for (name in counts$name[gone]) {
    if (name %in% names(told_with)) gone <- gone | grepl(told_with[[name]], counts$name)
  }
  list(gone = gone, shown = shown)
}

# A result without these counts, and without their shares. `exact`: its estimates before they were
# rounded.
without_counts <- function(x, exact, counts, gone, n, shown) {
  lost <- counts[gone, , drop = FALSE]
  for (i in seq_len(nrow(lost))) {
    columns <- if (lost$column[[i]] == "value") c("value", "low", "high") else lost$column[[i]]
    x[[lost$table[[i]]]][lost$row[[i]], columns] <- NA
  }
  if (inherits(x, "sdc_file_check")) {
    x$diagnostics$withheld <- union(x$diagnostics$withheld, lost$name)
    # One of its reasons has a count.
    counted <- grepl("n_unique", x$contradictions$measures) & "n_unique" %in% lost$name
    x$contradictions <- x$contradictions[!counted, , drop = FALSE]
    # Cells of tables are those of the few, too.
    if ("n_unique" %in% lost$name) {
      x$estimates$value[x$estimates$measure %in% c("small_cells", "small_cell_records")] <- NA_real_
    }
  }
  for (told in unlist(told_with[lost$name])) {
    x$estimates[grep(told, names(x$estimates))] <- NA_real_
  }
  e <- unclass(x)$estimates
  # Incomplete records may be left out.
  of <- c(if (inherits(x, "sdc_file_check")) n_judged(x), e$n_in_tables, n)[[1]]
  is_share <- function(name) {
    grepl("^prop_|_above$|^small_cell_records$", name) & !grepl("^n_", name)
  }
  # Records alone among those with few matches, of which a share is given.
  kept <- counts$value[!gone & counts$table == "estimates" & grepl(of_matches, counts$name)]
  kept <- c(kept, shown$matches)
  told <- function(name, value) {
    own <- sub("^prop_", "n_", name) %in% lost$name
    records <- value * of
    own | are_few(ceiling(records - 0.5)) | are_few(ceiling(of - records - 0.5)) |
      name == "prosecutor_above" & vapply(round(records), is_few_of, NA, kept) |
      vapply(records, function(r) any(abs(r - lost$value) < 0.5), NA)
  }
  if (all(c("measure", "value") %in% names(e))) {
    at <- which(is_share(e$measure) & !is.na(e$value))
    at <- at[told(e$measure[at], e$value[at])]
    x$estimates[at, intersect(c("value", "low", "high"), names(e))] <- NA_real_
  }
  if (inherits(x, "sdc_attack_release")) {
    at <- unique(lost$row)
    x$estimates[at, intersect(c("rate", "low", "high"), names(e))] <- NA_real_
  }
  for (name in names(e)[is_share(names(e))]) {
    at <- which(is.numeric(e[[name]]) & !is.na(e[[name]]))
    count <- sub("^prop_", "n_", name)
    tells <- if (count != name && count %in% counts$column) {
      # A share and its count say of how many.
      all <- exact[[count]][at] / exact[[name]][at]
      at %in% lost$row[lost$column == count] | are_few(all - exact[[count]][at]) |
        abs(all - n) > 0.5 & vapply(all, function(a) any(abs(a - lost$value) < 0.5), NA)
    } else {
      told(name, e[[name]][at])
    }
    x$estimates[[name]][at[tells %in% TRUE]] <- NA
  }
  x
}

# TRUE if few records are incomplete and left out: their number follows from a count and its share
# of the others.
leaves_out_few <- function(x) {
  left_out <- if (inherits(x, "sdc_file_check")) n_left_out(x)
  any(are_few(c(left_out, x$diagnostics$n_excluded, unclass(x)$estimates$n_deleted)))
}

without_shares <- function(x) {
  of_records <- paste0(
    "^(?!n_).*(^prop_|_above$|_rate$|_mean$|^small_cell_records$|^sample_uniqueness$|",
    "^correctness$|^(", paste(shares_of_records, collapse = "|"), ")$)"
  )
  shares <- function(names) grepl(of_records, names, perl = TRUE)
  e <- x$estimates
  if (!is.null(e$measure)) {
    x$estimates[shares(e$measure), intersect(c("value", "low", "high"), names(e))] <- NA_real_
  }
  x$estimates[shares(names(e))] <- NA_real_
  x
}

# The results of an external report without counts of few records.
withhold_small_counts <- function(entries) {
  first <- without_small_counts(entries, list())
  found <- without_small_counts(entries, first$shown)
  shown <- found$shown
  hides <- any(vapply(found$entries, function(entry) isTRUE(entry$hides), NA))
  lapply(found$entries, function(entry) {
    entry$result <- without_groups(entry$result, entry$exact, entry$n, hides)
    # All records, and those that are complete, or not.
    c(entry, list(
      near = c(entry$n, shown$matches), all = c(entry$n, entry$n - shown$n, shown$missing)
    ))
  })
}

without_small_counts <- function(entries, ever) {
  shown <- list()
  entries <- lapply(entries, function(entry) {
    x <- entry$result
    n <- unclass(x)$settings$n
    if (is.null(n)) n <- unclass(x)$estimates$n
    if (is.null(n)) n <- unclass(x)$diagnostics$n_linked
    entry$n <- n <- if (length(n)) as.double(n[[1]]) else 0
    counts <- counts_of(x, entry$exact)
    if (NROW(counts)) {
      found <- few_counts(counts, n, shown, ever)
      shown <<- found$shown
      entry$hides <- any(found$gone)
      exact <- unclass(entry$exact)$estimates
      entry$result <- without_counts(x, exact, counts, found$gone, n, shown)
    }
    if (leaves_out_few(entry$exact)) {
      entry$hides <- TRUE
      entry$result <- without_shares(entry$result)
    }
    others <- numeric()
    if (inherits(x, "sdc_file_check")) {
      # Complete records are those that other methods take. Of those with too few matches, whose
      # values were suppressed, some were incomplete before.
      missing <- unlist(shown[grepl("^missing", names(shown))])
      before <- outer(c(0, missing), c(0, shown$matches, shown$changes), `+`)
      others <- c(n, n - shown$n, before)
      entry$result <- without_few_in_words(entry$result, others)
      shown$n <<- union(shown$n, n - x$diagnostics$n_incomplete)
      shown$missing <<- union(shown$missing, x$diagnostics$n_incomplete)
    }
    entry$result <- without_few_told(entry$result, others)
    attr(entry$result, "fields") <- fields_of(entry$result)
    entry
  })
  list(entries = entries, shown = shown)
}

# A page without counts of few records or values in its reasons, alone or together with `others`.
without_few_in_words <- function(x, others) {
  x$estimates$reason <- few_as_na(x$estimates$reason, others)
  x
}

# A result without shares of few values, alone or together with `others`, that columns or the order
# reveal.
without_few_told <- function(x, others) {
  orders <- c("told_by_order", "order_until_release")
  tables <- c(
    "told_missing", "told_before", "told_others", "told_by_columns", "told_by_ids",
    "finer_columns", orders
  )
  for (name in Filter(function(name) NROW(unclass(x)$diagnostics[[name]]) > 0, tables)) {
    told <- x$diagnostics[[name]]
    # Of an order `n` has all values, of a column those that it reveals.
    all <- if (name %in% orders) told$n else round(told$n / told$share)
    back <- round(told$share * all)
    few <- are_few(all - back) | vapply(back, is_few_of, NA, others) |
      vapply(all, is_few_of, NA, others)
    x$diagnostics[[name]]$n[few] <- NA
    # The chance of guessing is that of the few values.
    x$diagnostics[[name]]$share[few & (told$share < 1 | name %in% orders)] <- NA
    if (name %in% orders) x$diagnostics[[name]]$chance <- signif(told$chance, 1)
  }
  x
}

# "NA records" for "2 records (0.1%)", and "NA of NA values" for "90 of 92 values". The 1 of
# "wave-1 records" is part of a name.
few_as_na <- function(text, others) {
  number <- "[0-9]+(?:[.,][0-9]{3})*"
  counted <- paste0(
    "(?<![\\w.,-])(?<!than )(?<!least )(?<!most )", number, "(?: of ", number,
    ")?(?= (?:[a-z]+ )?(?:records?|values?)\\b)"
  )
  at <- gregexpr(counted, text, perl = TRUE)
  regmatches(text, at) <- lapply(regmatches(text, at), function(found) {
    vapply(strsplit(found, " of "), function(numbers) {
      value <- as.double(gsub("[.,]", "", numbers))
      few <- is_few_of(value[[1]], value[-1]) || any(vapply(value, is_few_of, NA, others))
      paste(if (few) rep("NA", length(numbers)) else numbers, collapse = " of ")
    }, "")
  })
  gsub("(\\bNA (?:[a-z]+ )?(?:records?|values?)) [(][0-9.,]+%[)]", "\\1", text, perl = TRUE)
}

# Numbers of groups with equal keys, and the figures from which they follow. Small groups tell the
# number of uniques by it, and so do groups that are few less than the records.
group_figures <- list(
  sdc_n_matches = list(risk_mean = function(e) e$risk_mean * e$n),
  sdc_individual_risk = rlang::set_names(
    rep(list(function(e) e$prosecutor_mean * e$n), 3),
    c("n_cells", "prosecutor_mean", "journalist_population")
  ),
  sdc_invariant_pram = list(n_cells = function(e) e$n_cells),
  sdc_suppress_cells = list(
    tau_before = function(e) e$tau_before, tau_after = function(e) e$tau_after
  )
)

without_groups <- function(x, exact, n, hides) {
  tell <- function(groups) are_few(n - groups) | hides & groups * least_alike > n
  of <- group_figures[[class(x)[[1]]]]
  for (name in names(of)) x$estimates[[name]][tell(of[[name]](exact$estimates))] <- NA
  # Keys with one or two records, beside the number of these records, give those with one.
  if (hides && inherits(x, "sdc_invariant_pram")) {
    x$estimates[c("n_risky", "expected_changed")] <- NA_real_
  }
  # The risk of a key set is its number of groups by that of records.
  if (hides && inherits(x, "sdc_qar_risk")) {
    told <- exact$estimates$n_sets == 1 | tell(exact$estimates$risk * n)
    for (name in c("risk", "risk_empirical", "threshold")) {
      value <- exact$estimates[[name]]
      # In steps of five groups, as the means of other results.
      x$estimates[[name]] <- in_steps(x$estimates[[name]], least_alike / (value * n), value)
      x$estimates[[name]][told] <- NA_real_
    }
  }
  # The error of theta tells the groups of three, beside which those of four follow.
  if (inherits(x, "sdc_n_matches")) {
    x$estimates[is.na(x$estimates$risk_mean), grep("^theta", names(x$estimates))] <- NA
  }
  if (inherits(x, "sdc_file_check")) {
    # Without a variable of no influence the risk is that of the riskiest key set; that of the only
    # key set is its number of groups.
    groups <- exact$drivers$risk_without * n
    lost <- is.na(x$drivers$n_unique_without) & abs(groups - round(groups)) < 1e-6
    x$drivers$risk_without[(tell(groups) | lost) %in% TRUE] <- NA_real_
    of_sets <- exact$estimates$measure %in% c("qar", "set_risk")
    x$estimates$value[of_sets & tell(exact$estimates$value * n) %in% TRUE] <- NA_real_
  }
  x
}

# TRUE if a picture draws, or says, how few records have something.
draws_few <- function(entry) {
  isTRUE(entry$hides) || any(are_few(drawn_counts(entry$exact, entry$n)))
}

drawn_counts <- function(x, n) {
  of_sizes <- function(sizes) {
    few <- seq_len(least_alike - 1)
    few * tabulate(sizes[sizes < least_alike], length(few))
  }
  unlist(switch(class(x)[[1]],
    sdc_n_matches = lapply(match_columns(x), function(matches) {
      found <- which(matches > 0)
      rowsum(picture_times(x)[found], matches[found])
    }),
    sdc_population_uniqueness = x$diagnostics$sample_uniqueness * n,
    sdc_utility_loss = x$variables$prop_exchanged * n,
    sdc_key_overview = x$diagnostics$n_unique,
    sdc_link_attack = abs(c(diff(x$curve$n_claimed), diff(x$curve$n_right))),
    sdc_pram_audit = of_sizes(x$groups$count),
    sdc_household_risk = x$sizes$n_unique
  ))
}
