#' Confidential objects
#'
#' Lists the objects of this package that hold values of records, and those that hold only
#' numbers about them. Read it before you save or share a result. Only `release_data()` and
#' an external [sdc_report()] are made for publication.
#'
#' @section Objects that hold values of the file:
#' They are as confidential as the file itself.
#' \tabular{ll}{
#'   **object** \tab **where the values are** \cr
#'   [sdc_file()] \tab the data themselves \cr
#'   [pattern_table()] \tab `patterns`: every combination of values of the key variables \cr
#'   a result about a pattern table \tab `patterns`, the same \cr
#'   [file_check()] \tab `roles$missing_codes`: values that may stand for a missing one \cr
#'   [copula_fit()] \tab `levels`: every value of the key variables; the two-way tables
#'     count single persons \cr
#'   [copula_uniqueness()] \tab `fit`, the same \cr
#'   [uniqueness_profile()] \tab `values`, and the record that was asked for \cr
#'   [exhaustive_tabulation()] \tab `cells` and `categories`: values, those of single
#'     records among them \cr
#'   [special_uniques()] \tab `levels`: every value of the key variables \cr
#'   [hierarchy()], [recode_search()] \tab the table of levels: every value; `code` names
#'     them \cr
#'   [invariant_pram()] \tab `data` is the release; `records` and `diagnostics` say which
#'   records were changed, and from what: the object undoes its
#'     own protection \cr
#'   [suppress_cells()] \tab `data` is the release; `cells` lists where values were
#'     suppressed, not the values \cr
#'   [latest_values()], [change_moments()], [panel_members()], [birth_month()] \tab values, ids \cr
#'   [longitudinal_link()], [link_attack()], [joint_release_risk()] \tab `records$id` \cr
#'   [longitudinal_risk()] \tab `link$records$id` \cr
#'   [apply_recoding()], [change_indicators()], `augment()` \tab the data \cr
#'   [pram_variance()], [pram_transitions()] \tab levels of key variables, if `data` are
#'     given \cr
#'   `simulate()` of a fit \tab records that are drawn, of values that are real \cr
#'   an sdcMicroObj by [store_result()] \tab the object's data
#' }
#'
#' @section Objects that hold numbers about records: All other results hold no values:
#' counts, risks, names of variables and of key sets. Their `records` have one row per
#' record in the order of the file. Together with the file they identify the records at
#' risk, as do the row numbers in [records_at_risk()], [removal_path()] and an internal
#' report. Show them only to people who may see the file. So is the log of an internal
#' report, which holds values if they were arguments, such as the tables of [hierarchy()]. A
#' result keeps the call as code, without data, and fingerprints of what it was made from;
#' someone who guesses a whole file can confirm the guess by it.
#'
#' @section What is printed and said:
#' Prints, sentences of [interpret()], pictures, errors, warnings and messages name variables,
#' levels of risk and numbers of records, never a record's values. Not so what is asked for as
#' values: a print of [candidates()], of [hierarchy()], of [uniqueness_profile()] and of data
#' frames. [exhaustive_tabulation()] names categories, but none that fewer records hold than
#' its threshold. Names of columns are taken to be public.
#'
#' @section What may leave:
#' `release_data(x)`, which is the protected file and nothing else, and the report of
#' `sdc_report(internal = FALSE)` with its log, which has no row numbers, categories or seeds
#' and at most a quarter of the fingerprint.
#'
#' @name confidential
#' @examples
#' file <- data.frame(town = c("Aix", "Aix", "Brest"), age = c(30, 30, 41))
#' holds <- function(x) grepl("Brest", rawToChar(serialize(x, NULL, ascii = TRUE)))
#' holds(n_matches(file)) # FALSE
#' holds(suppressMessages(exhaustive_tabulation(file, 1:2))) # TRUE
NULL
