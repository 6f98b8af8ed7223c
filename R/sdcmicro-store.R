#' Use sdcMicro objects
#'
#' Explains how functions of this package work with an `sdcMicroObj`: every function takes one as
#' `data`, protections return it changed, and results can be stored in it.
#'
#' @details
#' **What the object brings.** Its key variables, weights, household id, strata and
#' sensitive variables are the roles of an [sdc_file()]; an argument that is given to a
#' function comes before them. The data are those that would be released now:
#' the original data with the columns in `manipKeyVars`, `manipNumVars`,
#' `manipPramVars` and `manipGhostVars`. `sdc_file(object, state = "original")` is the
#' file before anything was done to it. Further:
#'
#' * Suppressed values are missing values. [n_matches()] and [individual_risk()] let
#'   them match everything, as sdcMicro does. Other functions follow their own rule,
#'   and a message (`suppressed_values`) says which.
#' * `alpha` is `partial_weight` of [n_matches()]. [individual_risk()] counts as with
#'   `alpha = 1` and says so (`alpha_ignored`) if that makes a difference.
#' * `numVars` are the role `num_vars`. Functions that count equal values do not examine them,
#'   and the summary of the file and [file_check()] say so. [interval_disclosure()],
#'   [microaggregate()] and [link_attack()] do.
#' * `pramVars` are columns like others, as they are after `pram()`. A
#'   message (`perturbed_keys`) names the key variables that were perturbed.
#' * `ghostVars` are `linked` of [suppress_cells()]: suppressed with their key variable.
#' * sdcMicro deletes variables (`excludeVars`), never records. `records` of a result
#'   are in the order of the object, which `randomizeRecords` may have shuffled when
#'   it was made.
#' * With `hhId`, [n_matches()] counts households; `n_matched_records` is then `fk`,
#'   and `n_matches(object, hh_id = NULL)` counts records. [suppress_cells()] takes
#'   household and strata into account, `localSuppression()` strata alone.
#'   [invariant_pram()] keeps households together if `hh_vars` is given.
#'
#' **Protected objects.** `x$data` of [invariant_pram()] and [suppress_cells()], and
#' the value of [apply_recoding()], are the object with the new columns, as sdcMicro's
#' own functions leave it: the state before is kept for `undolast()`,
#' `calcRisks()` has been called, suppressed values are counted in `print(object, "ls")`,
#' perturbed variables in `print(object, "pram")`, where the expected share of each
#' value that becomes each other one replaces the transition matrix. Ghost variables are
#' suppressed with their key variable. Columns that have no place in the object are
#' with the PRAM variables. `release_data(x)` gives the data to be released;
#' `extractManipData(x$data)` the same data in the order of the object, with all levels,
#' which can reveal suppressed values. With missing values calcRisks() takes time: sdcMicro
#' counts every pattern of missing values by itself.
#'
#' **Stored results.** `store_result()` puts results in `risk$sdcRisk`, under the
#' name of their function or the one they are given by. They stay there through
#' `calcRisks()`, `kAnon()` and whatever else sdcMicro does, and go with
#' `undolast()` when they are younger than the state it returns to. A result of
#' a protection is kept without its data, which are the object's. Stored results are
#' as confidential as the object.
#'
#' @section Agreement with sdcMicro, and differences:
#' Compared with sdcMicro 5.8.1 on its `testdata`, `francdat` and `free1`, and on small
#' random files with missing values; the tests of this package do it again if
#' sdcMicro is installed.
#'
#' \tabular{lll}{
#'   **sdcMicro** \tab **here** \tab **difference** \cr
#'   `freqCalc()`: `fk`, `Fk` \tab [n_matches()]: `n_matches`, `n_matches_weighted` \tab
#'     none for any `alpha`, but for records that miss all of two or more key variables:
#'     sdcMicro counts the whole file for them, and leaves them out of the counts of
#'     complete records; here they count `alpha` for every other record, and
#'     complete records in full for them. With one key variable there is no
#'     difference \cr
#'   `indivRisk()`, `measure_risk()`: `risk` \tab [individual_risk()]: `risk` \tab none for
#'     `fk` of 1 and 2; from 3 on sdcMicro takes a series by default, 0.03% off in the
#'     sum on `testdata`. With `indivRisk(method = "exact")` none, if that
#'     gives a number \cr
#'   `measure_risk()`: `hier_risk` \tab [individual_risk()]: `household_risk` \tab the same
#'     formula, of these risks. sdcMicro counts every person of a household \cr
#'   `suda2()`: `score` \tab [special_uniques()]: `score_sdcmicro` (`score_ihsn` if
#'     `original_scores = FALSE`) \tab none for complete data. SUDA skips the missing values of
#'     the record, and takes those of others for values that differ \cr
#'   `ldiversity()`: distinct \tab [n_matches()]: `n_sensitive`; [attribute_risk()]: the least of
#'     it, `l_distinct` \tab none for complete data.
#'     In sdcMicro 5.8.1 a missing key value matches missing ones alone: equal with
#'     `missing = "category"`; and a missing sensitive value counts as one, here
#'     not \cr
#'   `freqCalc()` of text \tab [n_matches()] \tab sdcMicro makes text missing, so that all
#'     records agree; `createSdcObj()` makes factors of text first \cr
#'   `extractManipData()` \tab [release_data()] \tab a number that was recoded to classes comes
#'     out of sdcMicro as the numbers of the classes; here with their labels. Of a key
#'     variable that is named in `pramVars` too, sdcMicro releases the copy there,
#'     without the suppression by `kAnon()`: a warning (`unsafe_copy`) says so
#' }
#'
#' @param data,object An sdcMicroObj.
#' @param key_vars,weight_var,hh_id,strata_var,sensitive,pop_size Roles that come before
#'   those of the object, see [sdc_file()].
#' @param sampling_fraction,key_groups,missing The same.
#' @param state `"current"`: the data as they would be released now; `"original"`: as
#'   they were before.
#' @param ... Results to be stored, by name or under the name of their function;
#'   `NULL` under the name of one to take out. Nothing else for `sdc_file()`.
#' @param name The name of one stored result. `NULL`: a list of all.
#' @return `store_result()`: the object. `stored_results()`: a named list of results, or
#'   one of them; a message (`stale_result`) names those that were made from other data
#'   than the object has now. `sdc_file()`: an [sdc_file].
#'
#'   Errors: `missing_package` without sdcMicro; `bad_data` for an object that is
#'   damaged or of a version of sdcMicro with other parts; `bad_argument`. Warning:
#'   `risks_not_computed`, if `calcRisks()` failed on a protected object.
#' @references
#' Templ M, Kowarik A, Meindl B (2015). Statistical disclosure control for micro-data
#' using the R package sdcMicro. *Journal of Statistical Software* 67(4), 1-36.
#' \doi{10.18637/jss.v067.i04}
#' @family data
#' @export
#' @examples
#' if (requireNamespace("sdcMicro", quietly = TRUE)) {
#'   data("testdata", package = "sdcMicro", envir = environment())
#'   object <- sdcMicro::createSdcObj(
#'     testdata, c("urbrur", "roof", "walls", "water", "sex"),
#'     weightVar = "sampling_weight"
#'   )
#'   sdc_file(object)
#'   found <- n_matches(object)
#'   identical(as.numeric(found$records$n_matches), as.numeric(sdcMicro::freq(object))) # TRUE
#'   object <- store_result(object, found)
#'   object <- sdcMicro::kAnon(object, k = 3)
#'   suppressMessages(stored_results(object, "n_matches"))$estimates$n_unique # 12
#'   n_matches(object)$estimates$n_unique # 0
#' }
store_result <- function(object, ...) {
  announce("store_result")
  check_sdcmicro(object)
  results <- list(...)
  given <- names(results)
  if (is.null(given)) given <- rep("", length(results))
  wrong <- !vapply(results, inherits, NA, c("sdc_result", "sdc_comparison")) &
    !(vapply(results, is.null, NA) & nzchar(given))
  if (length(results) == 0 || any(wrong)) {
    stop_argument(
      "...", "hold results of sdcRisk, or NULL under the name of one to take out",
      found = if (length(results)) given_words(results[wrong][[1]]) else "Nothing was given.",
      advice = "store_result(object, n_matches(object))"
    )
  }
  lapply(Filter(function(x) inherits(x, "sdc_result"), results), check_result)
  own <- vapply(results, function(x) sub("^sdc_", "", class(x)[[1]]), "")
  names <- ifelse(nzchar(given), given, own)
  if (anyDuplicated(names)) {
    stop_argument(
      "...", "have a name of its own for every result",
      found = paste0("Several are named ", quote_names(unique(names[duplicated(names)])), ".")
    )
  }
  kept <- kept_results(object)
  for (i in seq_along(results)) {
    kept[[names[[i]]]] <- without_data(results[[i]])
  }
  risk <- get_slot(object, "risk")
  risk$sdcRisk <- if (length(kept)) kept
  set_slot(object, "risk", risk)
}

#' @rdname store_result
#' @export
stored_results <- function(object, name = NULL) {
  announce("stored_results")
  check_sdcmicro(object)
  kept <- kept_results(object)
  if (!is.null(name)) {
    if (!is.character(name) || length(name) != 1 || !name %in% names(kept)) {
      stop_argument(
        "name", "be the name of a stored result",
        found = if (length(kept)) {
          paste0("Stored: ", quote_names(names(kept)), ".")
        } else {
          "Nothing is stored in this object."
        },
        advice = nearest_names(name, names(kept))
      )
    }
    kept <- kept[name]
  }
  inform_stale(kept, object)
  if (is.null(name)) kept else kept[[1]]
}

check_sdcmicro <- function(object) {
  check_given("object")
  if (!is_sdcmicro(object)) {
    stop_argument("object", "be an sdcMicroObj", given_words(object), micro_advice(object))
  }
  micro_slots(object, "object")
}

kept_results <- function(object) {
  kept <- get_slot(object, "risk")$sdcRisk
  if (is.null(kept)) list() else kept
}

# The protected data are those of the object that a result is kept in.
without_data <- function(result) {
  if (!is_sdcmicro(result$data)) {
    return(result)
  }
  result["data"] <- list(NULL)
  result
}

# Results of data that are the object's no longer: it was recoded or suppressed since.
inform_stale <- function(results, object) {
  data <- micro_data(micro_slots(object, "object"))
  stale <- names(results)[vapply(results, function(x) {
    print <- x$settings$fingerprint
    length(print) == 1 && !identical(fingerprint_of(data, x$settings), print)
  }, NA)]
  if (length(stale)) {
    inform_sdc(
      "stale_result", "The data have changed since some of these results were made.",
      x = paste0("Of other data: ", quote_names(stale), "."),
      names = stale
    )
  }
}
