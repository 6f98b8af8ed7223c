# Figures of an external report that few records carry. A sum over few records is as good as the
# number of one of them, and so is what is left of up to four sums that are added and subtracted:
# total and part, before and after, two key sets and both. Such figures are withheld.

# By function, the sums among the figures of a result. `kind`: sums of one kind are compared.
# `figures`: columns of the estimates, or rows of a file_check(). `of`: what each record adds.
record_sums <- list(
  individual_risk = function(x, rows, times) {
    alone <- rows$frequency == 1
    by_home <- function(figure) record_sum("household", figure, unique(rows$household_risk))
    c(
      record_sum(
        "journalist", c("expected_reidentifications", "reidentification_rate", "journalist_mean"),
        rows$risk, times
      ),
      record_sum("journalist", "expected_unique", rows$risk[alone], times[alone]),
      record_sum(
        "prosecutor", c("prosecutor_mean", "n_cells", "journalist_population"), 1 / rows$frequency,
        times
      ),
      if (!is.null(rows$household_risk)) {
        c(by_home("expected_households"), by_home("expected_in_households"))
      }
    )
  },
  file_check = function(x, rows, times) {
    law_sums(
      rows$journalist_risk, rows$prob_unique, times,
      c("expected_reidentifications", "reidentification_rate"),
      c("tau1", "tau1_rate", "population_uniqueness")
    )
  },
  population_risk = function(x, rows, times) {
    law_sums(
      rows$risk, rows$prob_unique, times, c("reidentifications", "correctness"),
      c("tau1", "uniqueness")
    )
  },
  loglinear_risk = function(x, rows, times) {
    unlist(Map(tau_sums, lapply(x$fits, `[[`, "records"), seq_along(x$fits), list(x), list(times)),
           recursive = FALSE)
  },
  longitudinal_risk = function(x, rows, times) {
    unlist(Map(function(fit, row) {
      tau_sums(fit$fits[[1]]$records, row, x, judged_times(fit))
    }, x$fits, seq_along(x$fits)), recursive = FALSE)
  },
  n_matches = function(x, rows, times) {
    e <- x$estimates
    # By weights, theta is a sum of those of records with two matches.
    by_weights <- !is.null(x$settings$weight_var) && is.null(x$settings$sampling_fraction)
    theta <- grep("^theta(_|$)", names(Filter(is.numeric, e)), value = TRUE)
    unlist(Map(function(matches, row) {
      c(
        record_sum("prosecutor", "risk_mean", 1 / matches[matches > 0], times[matches > 0], row),
        if (by_weights) record_sum("theta", theta, rep(1, 2 * e$n_pairs[[row]]), row = row)
      )
    }, unname(as.list(match_columns(x))), seq_len(nrow(e))), recursive = FALSE)
  },
  household_risk = function(x, rows, times) {
    homes <- rows[!is.na(rows$n_matches), ]
    share <- 1 / homes$household_size
    c(
      record_sum("household prosecutor", c("expected_households", "risk_mean"), homes$risk, share),
      if (!is.null(homes$journalist_risk)) {
        record_sum(
          "household journalist", c("expected_reidentifications", "journalist_mean"),
          homes$journalist_risk, share
        )
      }
    )
  },
  suppress_cells = function(x, rows, times) {
    c(
      record_sum("prosecutor", "tau_before", 1 / rows$n_matches_before, times),
      record_sum("prosecutor", "tau_after", 1 / rows$n_matches, times),
      record_sum("prosecutor", "tau_intruder", 1 / rows$n_candidates, times)
    )
  },
  attribute_risk = function(x, rows, times) {
    unlist(Map(function(row, posterior) {
      record_sum("cap", "value", posterior[posterior > 0], times[posterior > 0], row)
    }, which(x$estimates$measure == "cap"), posteriors_of(rows)), recursive = FALSE)
  },
  perturbation_risk = function(x, rows, times) {
    found <- rows$prob_found > 0
    alone <- rows$tau2 > 0
    moved <- rows$prob_changed > 0
    figures <- grep("^match_|correct", names(x$estimates), value = TRUE)
    c(
      record_sum("perturbed", figures, rows$risk[found], times[found]),
      record_sum("perturbed unique", "expected_unique", rows$prob_found[found], times[found]),
      record_sum("journalist", "tau2", rows$tau2[alone], times[alone]),
      record_sum("pram", "expected_changed", rows$prob_changed[moved], times[moved])
    )
  },
  invariant_pram = function(x, rows, times) {
    record_sum("pram", "expected_changed", 1 - x$cells$stay_prob, x$cells$count)
  },
  link_attack = function(x, rows, times) {
    e <- x$estimates
    unlist(lapply(seq_len(nrow(e)), function(row) {
      own <- paste0("match_prob_", e$intruder[[row]])
      prob <- rows[[if (own %in% names(rows)) own else "match_prob"]]
      claims <- e$n_claims_90[[row]]
      c(
        record_sum(
          "link", c("expected_correct", "prop_expected", "expected_one_to_one"),
          prob[prob > 0], times[prob > 0], row
        ),
        if (!is.na(claims)) record_sum("claims", "n_right_90", rep(1, claims), row = row)
      )
    }), recursive = FALSE)
  },
  longitudinal_link = function(x, rows, times) {
    prob <- rows$match_prob
    figures <- c("expected_correct", "prop_expected", "expected_weighted")
    record_sum("link", figures, prob[prob > 0], times[prob > 0])
  }
)

# Sums of one law for the population: of the risks of all records, those of sample uniques, and
# the chances that these are unique. Uniqueness of a file of everybody is tau1 over the number of
# people.
law_sums <- function(risk, prob_unique, times, found, unique) {
  alone <- which(prob_unique > 0)
  c(
    record_sum("journalist", found, risk, times),
    record_sum("journalist", "tau2", risk[alone], times[alone]),
    record_sum("tau1", unique, prob_unique[alone], times[alone])
  )
}

# tau1 and tau2 of one fit, with all that is computed from them.
tau_sums <- function(records, row, x, times) {
  alone <- records$sample_unique %in% TRUE
  unlist(lapply(c("tau1", "tau2"), function(tau) {
    figures <- grep(paste0("^(households_)?", tau), names(x$estimates), value = TRUE)
    ratio <- if (tau == "tau1") "ratio" else "ratio_tau2"
    record_sum(tau, c(figures, ratio), records[[tau]][alone], times[alone], row)
  }), recursive = FALSE)
}

# A sum with how many records add each of its numbers.
record_sum <- function(kind, figures, of, times = NULL, row = 1) {
  if (is.null(times)) times <- rep(1, length(of))
  known <- !is.na(of)
  values <- signif(as.double(of[known]), 9)
  distinct <- sort(unique(values))
  n <- as.vector(rowsum(as.double(times[known]), factor(values, distinct)))
  list(list(kind = kind, figures = figures, row = row, of = frame(value = distinct, n = n)))
}

# Results whose figures are no sums of what records have: counts, figures of key sets, and models
# of the sizes of cells.
no_record_sums <- c(
  "attack_release", "copula_fit", "copula_uniqueness", "exhaustive_tabulation",
  "interval_disclosure", "joint_release_risk", "key_overview", "key_stability",
  "population_uniqueness", "pram_audit", "qar_risk", "recode_search", "removal_bound",
  "removal_path", "risk_contribution", "special_uniques", "uniqueness_by_size",
  "uniqueness_profile", "uniqueness_validation", "utility_loss"
)

# The sums of a result, NULL if nothing tells them: it has lost its records, or nobody said here
# what its figures are.
sums_of <- function(x) {
  fun <- sub("^sdc_", "", class(x)[[1]])
  if (fun %in% no_record_sums) {
    list()
  } else if (fun %in% names(record_sums) && !is.null(judged_rows(x))) {
    record_sums[[fun]](x, judged_rows(x), judged_times(x))
  } else {
    unclass(x)[["sums"]]
  }
}

are_few <- function(n) n > 1e-9 & n < least_alike - 1e-9

# TRUE if few records are left of a sum (`own`) after up to three sums that are shown were added
# or subtracted: how many records add each value, of both signs.
leaves_few <- function(own, shown) {
  values <- unique(unlist(lapply(c(list(own), shown), `[[`, "value")))
  of <- function(x) replace(numeric(length(values)), match(x$value, values), x$n)
  own <- of(own)
  others <- matrix(vapply(shown, of, own), length(values))
  few <- function(rest) are_few(max(sum(pmax(rest, 0)), sum(pmax(-rest, 0))))
  most <- min(if (length(shown) <= most_combined) 3 else 1, length(shown))
  few(own) || any(vapply(seq_len(most), function(n) {
    sets <- utils::combn(length(shown), n)
    signs <- as.matrix(expand.grid(rep(list(c(-1, 1)), n)))
    # Few are left only if the numbers of records nearly cancel.
    sizes <- sum(own) + signs %*% matrix(colSums(others)[sets], n)
    near <- which(abs(sizes) < least_alike, arr.ind = TRUE)
    any(vapply(seq_len(nrow(near)), function(i) {
      few(own + others[, sets[, near[i, 2]], drop = FALSE] %*% signs[near[i, 1], ])
    }, NA))
  }, NA))
}

# Beyond this many sums of one kind they are compared one by one, and beyond the other number each
# is looked at alone.
most_combined <- 30
most_compared <- 200

# The results of an external report without what few records carry. Sums of the file before and
# larger ones are shown rather than others. Of results whose sums are not known no figure that is
# not whole is shown.
withhold_few <- function(entries) {
  sums <- lapply(entries, function(entry) sums_of(entry$exact))
  lost <- vapply(sums, is.null, NA)
  entries[lost] <- lapply(entries[lost], function(entry) {
    e <- entry$result$estimates
    reals <- vapply(e, function(x) is.double(x) && any(x != round(x), na.rm = TRUE), NA)
    entry$result$estimates[reals] <- NA_real_
    entry
  })
  sums <- unlist(lapply(seq_along(entries), function(i) {
    lapply(sums[[i]], c, list(entry = i, stage = entries[[i]]$stage))
  }), recursive = FALSE)
  of <- function(name, type) vapply(sums, `[[`, type, name)
  sizes <- vapply(sums, function(s) sum(s$of$n), 0)
  shown <- list()
  for (s in sums[order(of("stage", "") != "before", of("entry", 1L), -sizes)]) {
    others <- shown[[s$kind]]
    if (leaves_few(s$of, if (length(others) <= most_compared) others)) {
      entries[[s$entry]]$result <- without_figures(entries[[s$entry]]$result, s)
    } else {
      shown[[s$kind]] <- c(others, list(s$of))
    }
  }
  lapply(entries, without_told)
}

without_figures <- function(x, sum) {
  if (has_measures(x)) {
    x$estimates[x$estimates$measure %in% sum$figures, c("value", "low", "high")] <- NA_real_
  } else {
    for (name in intersect(sum$figures, names(x$estimates))) {
      x$estimates[[name]][sum$row] <- NA
    }
    if (sum$row == 1) x$estimates[intersect(sum$figures, c("ratio", "ratio_tau2"))] <- NA_real_
  }
  x
}

# TRUE if the figures of a result are rows with their names.
has_measures <- function(x) inherits(x, c("sdc_file_check", "sdc_population_risk"))

# Sums in steps of what the five records of the largest numbers add, so that few sample uniques do
# not follow from one whose number is withheld; NA if a sum has not two steps. The ends of an
# interval have the steps of their figure.
coarse_sums <- function(x, exact) {
  for (s in if (has_few_uniques(exact)) sums_of(exact)) {
    share <- least_alike * max(0, s$of$value) / max(sum(s$of$value * s$of$n), 1e-300)
    e <- exact$estimates
    if (has_measures(x)) {
      at <- which(e$measure %in% s$figures)
      for (name in intersect(c("value", "low", "high"), names(e))) {
        x$estimates[[name]][at] <- in_steps(x$estimates[[name]][at], share, e$value[at])
      }
    } else {
      for (name in setdiff(intersect(s$figures, names(e)), "n_right_90")) {
        of <- sub("_(low|high|se)$", "", name)
        of <- e[[if (of %in% s$figures) of else name]][s$row]
        x$estimates[[name]][s$row] <- in_steps(x$estimates[[name]][s$row], share, of)
      }
    }
  }
  # T is the number of groups by that of records.
  if (inherits(x, "sdc_file_check") && has_few_uniques(exact)) {
    of_sets <- exact$estimates$measure %in% c("qar", "set_risk")
    value <- x$estimates$value[of_sets]
    n_groups <- value * exact$settings$n
    x$estimates$value[of_sets] <- in_steps(value, least_alike / n_groups, value)
  }
  x
}

# The number of keys in steps, and what tells it, where few uniques would follow.
coarse_classes <- function(x, exact) {
  of <- function(name) inherits(exact, paste0("sdc_", name))
  e <- exact$estimates
  coarser <- function(name, share) {
    x$estimates[[name]] <<- in_steps(x$estimates[[name]], share, e[[name]])
  }
  # How many uniques are among the violations of tables is not known here.
  if (of("exhaustive_tabulation") || of("invariant_pram") && has_few_uniques(exact)) {
    coarser("n_cells", least_alike / e$n_cells)
  }
  if (of("exhaustive_tabulation")) x$estimates$prop_cells <- NA_real_
  # The number of cells follows from the key variables.
  if (of("file_check")) x$estimates$value[e$measure == "small_cells"] <- NA_real_
  # theta, which is the number of unique people where alpha is 0, has the number of keys.
  if (of("population_uniqueness") && has_few_uniques(exact)) {
    for (name in c("population_uniqueness", "n_population_unique", "theta")) {
      coarser(name, 2 * least_alike / exact$diagnostics$n_cells)
    }
  }
  # The population has the keys of the file at least.
  if (of("population_risk") && has_few_uniques(exact)) {
    x$estimates$low[e$measure == "correctness"] <- NA_real_
  }
  x
}

has_few_uniques <- function(x) {
  e <- x$estimates
  n_unique <- if (inherits(x, "sdc_population_risk")) {
    alone <- judged_rows(x)$prob_unique > 0
    sum((if (is.null(x$records)) judged_times(x) else 1) * alone, na.rm = TRUE)
  } else if (inherits(x, "sdc_population_uniqueness")) {
    round(x$diagnostics$sample_uniqueness * x$diagnostics$n)
  } else if (inherits(x, "sdc_invariant_pram")) {
    sum(x$cells$count == 1)
  } else if (has_measures(x)) {
    e$value[e$measure == "n_unique"]
  } else {
    c(e$n_unique, e$n_single_before, e$n_single_candidate)
  }
  # Those with few matches are uniques, pairs and so on.
  few <- if (has_measures(x)) {
    e$n_records_above[e$measure == "k"]
  } else {
    unlist(e[grep("^n_below_|^n_violations_before$", names(e))])
  }
  apart <- outer(n_unique, as.double(few), `-`)
  any(are_few(abs(c(n_unique, x$settings$n - n_unique, apart))), na.rm = TRUE)
}

# Numbers as multiples of 1, 2 or 5 times a power of ten, at least a `share` of what they are about.
in_steps <- function(x, share, of) {
  least <- share * abs(of)
  power <- 10^floor(log10(least))
  step <- power * c(1, 2, 5, 10)[findInterval(least / power, c(0, 1, 2, 5), left.open = TRUE)]
  # Whole numbers are stated with all their digits.
  stated <- ifelse(x == round(x), 1, 10^(floor(log10(abs(of))) - stated_digits + 1))
  fine <- !(least > 0) | step <= stated
  ifelse(fine, x, ifelse(step > abs(of) / 2, NA_real_, signif(round(x / step) * step, 12)))
}

# Rounds the figures in sentences of a file_check(), and leaves out withheld ones.
without_told <- function(entry) {
  if (entry$fun == "file_check") {
    told <- entry$exact
    withheld <- withheld_in(entry, "value")
    # Nor with more digits than in the table.
    exact <- told$estimates$value
    gone <- exact[withheld | entry$result$estimates$value != coarse(exact)]
    gone <- gone[!is.na(gone)]
    entry$result$diagnostics$withheld <- told$estimates$measure[withheld]
    if (NROW(told$contradictions)) {
      entry$result$contradictions$reason <- coarse_text(told$contradictions$reason, gone)
    }
    entry$result$diagnostics$notes <- coarse_text(told$diagnostics$notes, gone)
  }
  attr(entry$result, "fields") <- fields_of(entry$result)
  entry
}

# Numbers that an external report withholds: of a column of a table, or a row of a file_check().
# Those of a model that does not fit are no figures.
withheld_in <- function(entry, name, table = "estimates") {
  exact <- unclass(without_misfit_figures(entry$exact))[[table]]
  shown <- unclass(entry$result)[[table]]
  if (!name %in% names(exact) && "measure" %in% names(exact)) {
    at <- exact$measure == name
    return(is.na(shown$value[at]) & !is.na(exact$value[at]))
  }
  is.na(shown[[name]]) & !is.na(exact[[name]])
}
