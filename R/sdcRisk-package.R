#' sdcRisk: re-identification risk of microdata files
#'
#' How easily could someone in a microdata file be re-identified, and what can
#' be done about it? sdcRisk answers with methods from the literature on
#' statistical disclosure control, computed exactly by a core written in Rust.
#'
#' @section Where to start:
#' | question | function |
#' |---|---|
#' | What could an intruder know, and what does each key variable add? | [key_overview()] |
#' | How far do p known key variables single out records, in the worst key sets? | [qar_risk()] |
#' | Which records are risky, and what does removal buy? | [risk_contribution()], [removal_path()] |
#' | How many records match each record when values are missing? | [n_matches()] |
#' | Which households stand out by who lives together? | [household_risk()] |
#' | Is a record unique in the population? | [copula_uniqueness()], [individual_risk()] |
#' | Which combinations of two or three values are rare? | [exhaustive_tabulation()] |
#' | Can respondents be followed without ids? | [longitudinal_link()], [longitudinal_risk()] |
#' | How to release key variables with a stated bound on correct matches? | [invariant_pram()] |
#'
#' Results print in words, [plot()], give sentences to cite by [interpret()]
#' and can be set side by side by [compare_risk()].
#'
#' @section Terms:
#' \describe{
#'   \item{key variable}{a variable an intruder may know about a person, also
#'     called quasi-identifier}
#'   \item{key set}{a set of key variables that are known together}
#'   \item{key}{the combination of values a record has on a key set}
#'   \item{cell}{a combination of values of the key variables, and the records that share it}
#'   \item{sample unique}{a record alone in its cell}
#'   \item{prosecutor scenario}{the intruder knows that the target is in the
#'     file}
#'   \item{journalist scenario}{the intruder does not know it}
#' }
#' Every risk is conditional on an attempt at re-identification.
#'
#' @keywords internal
"_PACKAGE"
