#' sdcRisk: re-identification risk of microdata files
#'
#' Statistical disclosure control for microdata: sdcRisk measures the risk of re-identification,
#' protects files, and reports both. Start with four steps:
#'
#' 1. **Measure.** Give each column its role once, by [sdc_file()]: key variable, weight,
#'    household. [file_check()] compares the risk of the file with limits.
#' 2. **Look.** [records_at_risk()] names the records above a limit.
#' 3. **Protect.** [recode_search()] finds the cheapest global recoding, [suppress_cells()]
#'    the fewest suppressed values, [invariant_pram()] exchanges values with a stated bound
#'    on correct matches.
#' 4. **Release and report.** [release_data()] gives the file to release,
#'    [utility_loss()] measures the information lost, [sdc_report()] writes the report, and
#'    [replay()] computes its figures again.
#'
#' `file_check()` takes the result of a protection instead of a file, so the second
#' check needs no roles:
#'
#' ```r
#' file <- sdc_file(nals_prison, c("CENREG", "DAGE3", "EDUC3", "GENDER"), weight_var = "WEIGHT")
#' check <- file_check(file)
#' protected <- suppress_cells(file, k = 3)
#' file_check(protected)
#' utility_loss(file, protected)
#' public <- release_data(protected)
#' ```
#'
#' | further questions | function |
#' |---|---|
#' | What could an intruder know, and what does each key variable add? | [key_overview()] |
#' | How risky are the worst sets of p key variables? | [qar_risk()] |
#' | Which records are risky, and does removal help? | [risk_contribution()], [removal_path()] |
#' | How many records match each record if values are missing? | [n_matches()] |
#' | Which few values make a record unique (SUDA)? | [special_uniques()] |
#' | What does a key reveal of a sensitive value? | [attribute_risk()] |
#' | Can people be attacked through a released or synthetic file? | [attack_release()] |
#' | Which households can be identified by their composition? | [household_risk()] |
#' | Is a record unique in the population? | [population_risk()], [copula_uniqueness()] |
#' | Which combinations of two or three values are rare? | [exhaustive_tabulation()] |
#' | Which released numbers are too close to the original ones? | [interval_disclosure()] |
#' | Can respondents be followed without ids? | [longitudinal_link()], [longitudinal_risk()] |
#' | Is a match with a perturbed sample correct? | [perturbation_risk()] |
#' | Are releases that are safe alone safe together? | [joint_release_risk()] |
#'
#' Results have a print and a [plot()]. [interpret()] gives sentences to cite, and
#' [compare_risk()] compares results.
#'
#' Vignettes are listed by `browseVignettes("sdcRisk")`.
#'
#' @section Terms:
#' \describe{
#'   \item{key variable}{a variable an intruder may know about a person, also
#'     called quasi-identifier}
#'   \item{key set}{a set of key variables that are known together}
#'   \item{key}{the combination of values a record has on a key set}
#'   \item{equivalence class}{the records that share a key; their number is the sample frequency
#'     f, the count in a cell of the table of the key variables}
#'   \item{sample unique}{a record that is alone in its class}
#'   \item{population unique}{a person who is alone with this key in the population}
#'   \item{local suppression}{replacing single values by missing ones}
#'   \item{global recoding}{coarsening a variable in all records}
#'   \item{attribute disclosure}{learning a sensitive value without finding the record}
#'   \item{information loss}{the difference between the original and the protected file for users}
#'   \item{prosecutor scenario}{the intruder knows that the target is in the
#'     file}
#'   \item{journalist scenario}{the intruder does not know whether the target is in the file}
#' }
#' Every risk is conditional on an attempt at re-identification.
#'
#' @concept statistical disclosure control
#' @concept quasi-identifier
#' @concept re-identification
#' @concept k-anonymity
#' @keywords internal
"_PACKAGE"
