#' Indicators of change between two waves
#'
#' Adds indicators to the second wave that show which variables of a respondent changed since the
#' first. Use them as key variables of a risk assessment, such as [longitudinal_risk()], instead
#' of the earlier values.
#'
#' @details
#' `<var>_changed` is 1 if a record's partner in wave 1 has another value,
#' and 0 otherwise: also if either value is missing or there is no
#' partner, as in the paper. Values are compared as in [longitudinal_link()].
#'
#' `scope` says what the intruder knows. `"all"`: changes of all respondents of
#' both waves, a conservative view. `"certain"`: only of those whom `link`
#' matched with certainty; all others have 0, which a model reads as "no
#' change".
#'
#' @section Memory:
#' Beyond the waves, with five key variables and two threads: at most 300 bytes a record of
#' a wave.
#'
#' @inheritParams longitudinal_link
#' @param vars Names of columns of both waves, or their positions in `wave1`.
#' @inheritParams sdcRisk-params
#' @param link A result of [longitudinal_link()] on these waves, with `id`;
#'   needed for `scope = "certain"`.
#' @param scope Whose changes are known: `"all"` or `"certain"`.
#' @return `wave2`, in its own class, with one more integer column of 0 and 1
#'   per variable. A column of that name in `wave2` is an error of class
#'   `sdcRisk_error_bad_argument`. `link` must be made from the same `wave1` and
#'   `wave2`: if ids or keys of the linkage differ in either, that is an error
#'   of class `sdcRisk_error_mismatched_data`.
#' @references
#' Li, J., Li, L., Krenzke, T. and Chang, W.-Y. (2021). An approach to estimate
#' the re-identification risk in longitudinal survey microdata. Joint Statistical
#' Meetings 2021. Section 3.2, Table 4.
#' @export
#' @examples
#' wave1 <- data.frame(id = 1:3, children = c(0, 2, 1), sex = c("f", "f", "m"))
#' wave2 <- data.frame(id = c(3, 1, 4), children = c(1, 1, 5), sex = c("m", "f", "f"))
#' change_indicators(wave1, wave2, "children", id = "id")$children_changed # 0 1 0
change_indicators <- function(wave1, wave2, vars, id, link = NULL,
                              scope = c("all", "certain"), ...) {
  ask <- enter_waves("change_indicators")
  wave2 <- ask$wave2
  check_no_dots(...)
  check_given(c("vars", "id"))
  scope <- check_choice(scope, c("all", "certain"), "scope")
  if (missing(id) || is.null(id)) stop_argument("id", "name one column of both waves")
  if (missing(vars) || is.null(vars)) stop_argument("vars", "name columns of both waves")
  coded <- code_waves(ask$wave1, wave2, vars, id, "vars")
  known <- known_links(coded, list(wave1 = ask$wave1, wave2 = wave2), id, link, scope)
  agreements <- code_agreements(coded, list(ask$wave1, wave2), NULL)
  columns <- paste0(coded$key_vars, "_changed")
  taken <- intersect(columns, names(wave2))
  refuse_names(taken, "vars", "give columns that `wave2` does not have", "Already there")
  changed <- core(
    rs_changed, core_waves(coded, agreements), list(values = FALSE)
  )$changed
  for (v in seq_along(columns)) {
    changed[[v]][!known] <- 0L
    wave2[[columns[[v]]]] <- changed[[v]]
  }
  wave2
}

# The wave-2 records whose changes are known.
known_links <- function(coded, waves, id, link, scope) {
  if (!inherits(link, "sdc_longitudinal_link") && (scope == "certain" || !is.null(link))) {
    stop_argument("link", "be a result of `longitudinal_link()` if `scope` is \"certain\"")
  }
  if (scope == "all") {
    return(!is.na(coded$partners))
  }
  check_result(link)
  if (anyNA(link$records$certain)) {
    stop_argument("link", "be made with `id`, so that certain links are known")
  }
  check_linked_waves(waves, id, link)
  link$records$certain
}

# TRUE if `link` was made from these waves: a `certain` of other ones is wrong.
check_linked_waves <- function(waves, id, link) {
  now <- tryCatch(
    {
      linked <- suppressWarnings(
        code_waves(waves$wave1, waves$wave2, link$settings$key_vars, id, "link")
      )
      linked$fingerprints
    },
    sdcRisk_error = function(e) c(wave1 = NA_character_, wave2 = NA_character_)
  )
  same <- mapply(identical, now, as.list(link$settings$wave_fingerprints)[names(now)])
  if (!all(same)) {
    stop_sdc(
      "mismatched_data", "`link` must be made from the same `wave1` and `wave2`.",
      x = paste0(
        "Ids or keys of the linkage differ in ",
        paste0("`", names(now)[!same], "`", collapse = " and "), "."
      ),
      i = "Was a wave sorted, filtered or recoded since? Link them again."
    )
  }
}
