#' Special uniques: the few values by which a record is alone
#'
#' Finds for every record its minimal sample uniques: the smallest sets of key variables on which
#' no other record agrees with it. Use it to see why records are unique: a record that is alone by
#' few values (a *special unique*) stays alone however the other variables are recoded. The result
#' has the sets by size, the scores of SUDA and DIS-SUDA, and the contributions of variables.
#'
#' @details
#' A **minimal sample unique** (MSU) of a record is a set of key variables on which the
#' record is unique in the file, while it is unique on no proper subset (Elliot, Manning and
#' Ford 2002). All MSUs of up to `max_size` variables are found, exactly.
#'
#' **Scores.** A score adds over the MSUs of a record a weight that falls with their size
#' \eqn{k}. With \eqn{d} key variables and \eqn{M = \min(}`max_size`\eqn{, d - 1)} the weights
#' are, by source,
#' \describe{
#'   \item{`score_elliot`}{\eqn{\prod_{i = k}^{M} (d - i)}{prod of d - i, i = k, ..., M}
#'     (Elliot et al. 2005, and the handbook of IHSN, whose example has 6, 12, 6 and 10)}
#'   \item{`score_sdcmicro`}{\eqn{\prod_{i = k}^{d - 1} (d - i) = (d - k)!}{prod of d - i,
#'     i = k, ..., d - 1, which is (d - k)!}: `suda2()` of sdcMicro, which always searches all
#'     sizes. If `max_size` is at least \eqn{d - 1} both scores are equal}
#'   \item{`score_ihsn`}{\eqn{(2^{d - k} - 1) \, k! (d - k)! / d!}{(2^(d - k) - 1) k! (d - k)! /
#'     d!}: `suda2(original_scores = FALSE)`, the first program of IHSN}
#' }
#' Scores of files with different numbers of key variables cannot be compared.
#'
#' **DIS-SUDA.** With \eqn{u} records that are unique on all key variables, \eqn{2 p} records with
#' one other match (\eqn{p} pairs), and the sampling fraction \eqn{f}, the probability that
#' a match with a unique record is right is
#' \deqn{\mathrm{DIS} = \frac{u f}{u f + 2 p (1 - f)}}{DIS = u f / (u f + 2 p (1 - f))}
#' (Skinner and Elliot 2002). DIS-SUDA spreads it over the \eqn{n} records with a score
#' \eqn{s_i} (`score_elliot`), as sdcMicro does:
#' \deqn{d_i = \Big(1 + \frac{n / \mathrm{DIS} - n}{s_i^Q \sum_j s_j^{-Q}}\Big)^{-1}, \quad
#'   Q = 1 + \frac{8 - d}{20},}{%
#'   d_i = 1 / (1 + (n / DIS - n) / (s_i^Q sum_j s_j^-Q)), Q = 1 + (8 - d) / 20,}
#' with \eqn{Q = 0} for more than 28 variables. If all scores are equal each record has DIS.
#' It ranks records; only DIS itself, in `diagnostics$dis`, is an estimated probability.
#'
#' **Contributions.** The contribution of a variable is the share of the file's total
#' `score_elliot` in MSUs that contain it, so that the contributions add up to more than 1.
#' That of a level is the share of its variable's contribution in records with this level.
#'
#' **Replicated uniques.** With `released`, a protected or synthetic file, an MSU is *replicated*
#' if it is one of the released file as well: a released record has the same values of the same
#' variables, is the only one, and is so by none of them less. Anyone who knows these
#' values of a person finds one record, in both files. The fewer variables it takes, the less is
#' this chance: a table of them by size says by how few values people of the original are still
#' singled out. A unique on all key variables that occurs once in both files is counted by
#' [attribute_risk()] (`repu`, which synthpop calls replicated uniques), what is learnt of it as
#' well. A synthetic file replicates some uniques by chance: see [attack_release()] for a control
#' group.
#'
#' @section Missing values:
#' By `"wildcard"`, the default, a missing value agrees with every value, as in
#' [n_matches()]: a record is unique on a set only if all others differ from it in a value that
#' both have. A variable that a record misses is in none of its MSUs. `"category"` treats
#' missing as a value of its own, and `"exclude"` leaves out records that miss a value of any
#' key variable: they have `NA`. `suda2()` does something else: a record with a missing value
#' agrees with no value of others, and the missing value itself counts for nothing.
#'
#' @section Cost:
#' One pass over the records that are not yet unique for every set of up to `max_size`
#' variables. Each record takes a bit for every set of fewer variables; if these would take more
#' than 4 GB, the error has class `sdcRisk_error_too_large`. Incomplete records are in several
#' classes with `"wildcard"`, which costs more if many values are missing. At 2 threads 11,124
#' records with 14 key variables take 0.6 s for all sizes, a million with 20 up to size 3 2.2 s.
#'
#' @inheritParams sdcRisk-params
#' @param max_size Largest number of variables of an MSU, at most that of the key
#'   variables.
#' @param missing `"wildcard"`, `"category"` or `"exclude"`, see the section on missing values.
#' @param sampling_fraction,pop_size For DIS-SUDA: the share of the population in the file, or
#'   the number of people in the population.
#' @param released A released file with the same key variables: protected, recoded alike in both
#'   files, or synthetic.
#' @param limit `NULL`, or a limit of `dis` (of `score_elliot` if the sampling fraction is not
#'   known): the print then ends with the number of records above it, and
#'   [records_at_risk()] names them.
#'
#' @return An object of class `sdc_special_uniques`, an [sdc_result] with
#' \describe{
#'   \item{`estimates`}{one row per size: `size`, `n_msu` (MSUs of this size), `n_records`
#'     (records with such an MSU), `n_smallest` (records whose smallest MSU has this size); with
#'     `released` also `n_replicated` (MSUs that the released file has, too) and
#'     `n_smallest_replicated` (records whose smallest replicated MSU has this size)}
#'   \item{`records`}{one row per record: `n_msu` (of all sizes), `smallest` (size of the
#'     smallest MSU, `NA` for a record without one), `variables` (of the smallest MSU, joined by
#'     `" + "`; the first one in the order of `combn()` if there are several), `score_elliot`,
#'     `score_sdcmicro`, `score_ihsn`, and `dis` (`NA` without a sampling fraction); with
#'     `released` also `n_replicated` and `smallest_replicated`, as `n_msu` and `smallest`; this is
#'     `as.data.frame()`}
#'   \item{`variables`}{one row per key variable: `variable`, `n_msu` (MSUs that contain it),
#'     `contribution`}
#'   \item{`pairs`}{one row per pair of key variables: `variable`, `other`, `contribution` (share
#'     of the total score in MSUs with both)}
#'   \item{`levels`}{one row per level: `variable`, `level`, `contribution`}
#'   \item{`riskiest`}{for up to 50 records with the highest scores: `record`, `variable`,
#'     `contribution` (share of the record's score)}
#' }
#' `diagnostics` has `n_unique`, `n_pairs` and `dis`, known with a sampling fraction.
#'
#' `interpret(x, record = 12)` says by which variables record 12 is alone, and with `data`, the
#' data the result was made from, by which values: do not publish that.
#'
#' Errors: `bad_argument`, `too_large`.
#' @references
#' Elliot, M. J., Manning, A. M. and Ford, R. W. (2002). A computational algorithm for handling
#' the special uniques problem. International Journal of Uncertainty, Fuzziness and
#' Knowledge-Based Systems 10(5), 493-509. \doi{10.1142/S0218488502001600}
#'
#' Elliot, M. J., Manning, A., Mayes, K., Gurd, J. and Bane, M. (2005). SUDA: a program for
#' detecting special uniques. Joint UNECE/Eurostat Work Session on Statistical Data
#' Confidentiality, Geneva.
#'
#' Skinner, C. J. and Elliot, M. J. (2002). A measure of disclosure risk for microdata. Journal
#' of the Royal Statistical Society B 64(4), 855-867. \doi{10.1111/1467-9868.00365}
#' @family risk of keys
#' @concept SUDA
#' @concept special uniques
#' @concept sample unique
#' @export
#' @examples
#' keys <- c("BORNUSA", "CENREG", "DAGE3", "DRACE3", "EDUC3", "GENDER")
#' special <- special_uniques(nals_prison, keys, sampling_fraction = 0.001)
#' special
#' special$estimates$n_msu # 0, 9, 37
#' special$variables
#' head(records_at_risk(special, 0.01), 3)
#' interpret(special, record = 1)
#'
#' # Records that are alone by few values after one in two has lost the region
#' released <- nals_prison
#' released$CENREG[c(TRUE, FALSE)] <- NA
#' special_uniques(nals_prison, keys, released = released)$estimates$n_replicated # 0, 4, 17
special_uniques <- function(data, key_vars = NULL, ..., max_size = 3, missing = "wildcard",
                            sampling_fraction = NULL, pop_size = NULL, released = NULL,
                            limit = NULL) {
  ask <- enter("special_uniques", patterns = TRUE)
  data <- ask$data
  check_no_dots(...)
  check_choice(ask$missing, c("category", "exclude", "wildcard"), "missing")
  all_sizes <- !was_given("max_size")
  max_size <- check_whole(max_size, "max_size")
  fraction <- check_fraction(n_records(data), ask$pop_size, ask$sampling_fraction)
  limit <- check_record_limit(limit, !is.null(fraction))
  with_progress("Special uniques", {
    table <- key_table(
      ask$file, ask$key_vars,
      listwise = ask$missing == "exclude",
      check_keys = function(keys) {
        if (all_sizes) max_size <<- min(max_size, length(keys))
        check_largest_size(max_size, length(keys))
      }
    )
    # The other file, if the file has records to be found in it.
    if (!is.null(released) && !is.null(table$times)) {
      stop_argument(
        "released", "be compared with records", "`data` is a table of patterns.",
        "Take the data frame that the patterns were counted in."
      )
    }
    released <- attribute_release(released, table$variables, character())
    identifying <- identifying_keys(table)
    inform_identifying(identifying)
    inform_excluded(table$n_all - table$n, table$n_all)
    found <- core(rs_special_uniques, table$pointer, list(
      missing = ask$missing, max_size = max_size, n_top = 50L, pairs = !is.null(fraction)
    ))
    settings <- file_settings(
      table, missing = ask$missing, max_size = max_size, sampling_fraction = fraction,
      released = !is.null(released)
    )
    found$replicated <- find_replicated(table, data, released, settings)
    checks <- list(
      missing = missing_cells(table, data), identifying = identifying,
      n_incomplete = table$n_incomplete
    )
    with_limit(new_special_uniques(found, table, data, settings, checks, ask$call), limit)
  })
}

# By record and size, the minimal sample uniques that the released file has as well.
find_replicated <- function(table, data, released, settings) {
  if (is.null(released)) {
    return(NULL)
  }
  keys <- table$variables
  data <- as.data.frame(data)[keys]
  if (settings$missing == "exclude") {
    released <- released[stats::complete.cases(released[keys]), keys, drop = FALSE]
  }
  # Values that are missing in all records of the released file are no other values.
  apart <- Filter(function(key) {
    values <- as.character(unique(released[[key]]))
    values <- values[!is.na(values)]
    length(values) > 0 && !any(values %in% as.character(unique(data[[key]])))
  }, keys)
  if (length(apart)) {
    warn_sdc("no_matches", c(
      "The released file should have values of the original.",
      x = paste0("It has none in ", quote_names(apart), "."),
      i = "Was a key variable recoded in one of the files only? Recode it in both alike."
    ))
  }
  files <- list(if (is.null(table$rows)) data else data[table$rows, , drop = FALSE], released)
  coded <- code_requests(list(shared_request(files, keys)))[[1]]
  release_later(coded)
  found <- core(rs_replicated_uniques, coded[[1]]$pointer, coded[[2]]$pointer, list(
    missing = settings$missing, max_size = settings$max_size
  ))
  matrix(found, ncol = settings$max_size)
}

check_largest_size <- function(max_size, n_keys) {
  if (max_size > n_keys) {
    stop_argument(
      "max_size", paste0("be at most the number of key variables (", n_keys, ")"),
      given_words(max_size)
    )
  }
}

# Weight of an MSU by size and source of the score.
score_weights <- function(n_keys, max_size) {
  last <- min(max_size, n_keys - 1)
  k <- seq_len(max_size)
  list(
    elliot = vapply(k, function(k) prod(n_keys - k + 1 - seq_len(max(last - k + 1, 0))), 0),
    sdcmicro = factorial(n_keys - k),
    ihsn = (2^(n_keys - k) - 1) / choose(n_keys, k)
  )
}

new_special_uniques <- function(found, table, data, settings, checks, this_call) {
  n_keys <- length(table$variables)
  n_msu <- matrix(found$n_msu, ncol = settings$max_size)
  n_found <- rowSums(n_msu)
  some <- which(n_found > 0)
  scores <- lapply(score_weights(n_keys, settings$max_size), function(w) {
    replace(numeric(nrow(n_msu)), some, n_msu[some, , drop = FALSE] %*% w)
  })
  texts <- vapply(found$sets, function(set) paste(table$variables[set], collapse = " + "), "")
  dis <- file_dis(found$uniques_and_paired, settings$sampling_fraction)
  smallest <- lengths(found$sets)[found$smallest]
  records <- list(
    n_msu = as_count(n_found), smallest = smallest, variables = texts[found$smallest],
    score_elliot = scores$elliot, score_sdcmicro = scores$sdcmicro, score_ihsn = scores$ihsn,
    dis = dis_suda(scores$elliot, dis, n_keys)
  )
  estimates <- frame(
    size = seq_len(settings$max_size), n_msu = as_count(colSums(n_msu)),
    n_records = as_count(colSums(n_msu > 0)),
    n_smallest = tabulate(smallest, settings$max_size)
  )
  if (settings$released) {
    records$n_replicated <- as_count(rowSums(found$replicated))
    of_sizes <- lapply(seq_len(settings$max_size), function(size) {
      ifelse(found$replicated[, size] > 0, size, NA_integer_)
    })
    records$smallest_replicated <- do.call(pmin, c(of_sizes, na.rm = TRUE))
    estimates$n_replicated <- as_count(colSums(found$replicated))
    estimates$n_smallest_replicated <- tabulate(records$smallest_replicated, settings$max_size)
  }
  total <- sum(scores$elliot)
  share <- function(x, of) if (of > 0) x / of else rep(0, length(x))
  top <- scores$elliot[found$top]
  rows <- if (is.null(table$rows)) found$top else table$rows[found$top]
  new_sdc_result(
    "sdc_special_uniques",
    estimates = estimates,
    records = do.call(frame, lapply(records, spread_records, table$rows, table$n_rows)),
    settings = settings,
    diagnostics = list(
      n_keys = n_keys, n_used = table$n, n_excluded = table$n_all - table$n,
      n_unique = found$uniques_and_paired[1], n_pairs = found$uniques_and_paired[2] / 2,
      dis = dis,
      n_incomplete = checks$n_incomplete, missing = checks$missing,
      identifying = checks$identifying,
      sets = rlang::set_names(lapply(found$sets, function(set) table$variables[set]), texts)
    ),
    call = this_call,
    variables = frame(
      variable = table$variables, n_msu = as_count(found$n_by_variable),
      contribution = share(found$by_variable, total)
    ),
    pairs = special_pairs(matrix(found$by_pair, n_keys), table$variables, share, total),
    levels = special_levels(found$by_level, table, data, share, settings$missing),
    riskiest = frame(
      record = rep(rows, each = n_keys), variable = rep(table$variables, length(rows)),
      contribution = found$top_contributions / rep(top, each = n_keys)
    )
  )
}

# The share of the score in MSUs with both variables of each pair, in the order of combn().
special_pairs <- function(sums, names, share, total) {
  pairs <- lower.tri(sums)
  frame(
    variable = names[col(sums)[pairs]], other = names[row(sums)[pairs]],
    contribution = share(sums[pairs], total)
  )
}

# The share of each level in the contribution of its variable.
special_levels <- function(by_level, table, data, share, missing) {
  labels <- category_labels(table, data)
  rows <- Map(function(sums, labels, name, n_missing) {
    known <- seq_along(labels)
    # Missing as a category has the last code.
    missing <- if (missing == "category" && n_missing > 0) sum(sums[-(known + 1)])
    frame(
      variable = rep(name, length(labels) + length(missing)),
      level = c(labels, NA_character_[length(missing)]),
      contribution = share(c(sums[known + 1], missing), sum(sums))
    )
  }, by_level, labels, table$variables, table$n_missing)
  do.call(rbind, unname(rows))
}

# The probability that a match with a sample unique is right; NULL if it is not known.
file_dis <- function(uniques_and_paired, fraction) {
  if (is.null(fraction)) {
    return(NA_real_)
  }
  right <- uniques_and_paired[[1]] * fraction
  if (right == 0) 0 else right / (right + uniques_and_paired[[2]] * (1 - fraction))
}

dis_suda <- function(score, dis, n_keys) {
  if (is.na(dis)) {
    return(rep(NA_real_, length(score)))
  }
  exponent <- max(0, 1 + (8 - n_keys) / 20)
  scored <- score > 0
  powers <- score[scored]^exponent
  n <- length(powers)
  out <- rep(0, length(score))
  out[scored] <- 1 / (1 + (n / dis - n) / (powers * sum(1 / powers)))
  out
}

# Costs of suppression, such that variables that make records unique are suppressed first.
special_importance <- function(x) {
  contribution <- x$variables$contribution
  cost <- ifelse(contribution > 0, max(contribution) / contribution, Inf)
  rlang::set_names(pmin(cost, 10), x$variables$variable)
}
