#' sdcRisk: re-identification risk of microdata files
#'
#' How easily could someone in a microdata file be re-identified, and what can
#' be done about it? sdcRisk answers with methods from the literature on
#' statistical disclosure control, computed exactly by a core written in Rust.
#'
#' Start with [qar_risk()], the extreme risk of a file over all sets of key
#' variables of one size. Results print in words, [plot()], give one citable
#' sentence by [interpret()] and can be set side by side by [compare_risk()].
#'
#' @section Terms:
#' \describe{
#'   \item{key variable}{a variable an intruder may know about a person, also
#'     called quasi-identifier}
#'   \item{key set}{a set of key variables that are known together}
#'   \item{key}{the combination of values a record has on a key set}
#'   \item{equivalence class}{the records that share a key}
#'   \item{sample unique}{a record alone in its equivalence class}
#'   \item{prosecutor scenario}{the intruder knows that the target is in the
#'     file}
#'   \item{journalist scenario}{the intruder does not know it}
#' }
#' Every risk is the risk given an attempt at re-identification.
#'
#' @keywords internal
"_PACKAGE"
