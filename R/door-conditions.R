#' Conditions that sdcRisk signals
#'
#' Every error, warning and message of the package has classes, so that
#' scripts can react to them by [tryCatch()] or [withCallingHandlers()] without
#' reading texts.
#'
#' An error inherits from `sdcRisk_error` and from `sdcRisk_error_<kind>`; a
#' warning and a message likewise from `sdcRisk_warning`,
#' `sdcRisk_warning_<kind>`, `sdcRisk_message` and `sdcRisk_message_<kind>`.
#' Fields of the condition carry what the text names: columns, arguments,
#' counts. Neither fields nor texts ever hold a record's values. An interrupt
#' is R's own `interrupt` condition.
#'
#' Errors:
#'
#' | kind | meaning | fields |
#' |---|---|---|
#' | `bad_data` | `data` is not a data frame, or has no records left | `data_class`, `names` |
#' | `unknown_key_var` | a name or position is not a column of `data` | `unknown` |
#' | `bad_argument` | an argument outside its domain, or one that does not exist | `argument` |
#' | `bad_column` | a key variable has no defined values, or no order | `columns`, `classes` |
#' | `bad_weights` | weights that are missing, negative, not finite or too small | `column` |
#' | `missing_package` | a suggested package is needed and not installed | `package` |
#' | `mismatched_data` | a result was given other data than it was made from | |
#' | `ambiguous_analysis` | a result holds several analyses and one must be chosen | |
#' | `too_large` | more work or memory than a stated limit | |
#' | `not_converged` | an iteration did not reach its tolerance | |
#' | `unprotectable` | a protection cannot be reached on this file | |
#' | `internal` | a failure in the compiled core, to be reported | |
#'
#' Warnings and messages:
#'
#' | kind | severity | signalled by |
#' |---|---|---|
#' | `few_exceedances`, `no_exceedance`, `theta_one` | warning | [qar_risk()] |
#' | `constant_column` | warning | [qar_risk()] |
#' | `sampled_sets` | warning, message | [qar_risk()] |
#' | `single_set`, `equal_excesses` | message | [qar_risk()] |
#' | `many_removed` | message | [removal_path()] |
#' | `small_weights` | warning | [individual_risk()], [loglinear_risk()], [longitudinal_risk()] |
#' | `small_weights` | warning | [household_risk()] |
#' | `waves_differ`, `no_common_ids` | warning | [longitudinal_link()], [key_stability()] |
#' | `waves_differ`, `no_common_ids` | warning | [link_attack()] |
#' | `empty_records` | warning | [longitudinal_link()] |
#' | `not_learned` | warning | [link_attack()] |
#' | `broken_rules` | warning | [longitudinal_link()], [key_stability()] |
#' | `partial_candidates`, `unsplit_candidates` | message | [candidates()] |
#' | `identifying_key` | message | [n_matches()], [individual_risk()], [household_risk()] |
#' | `identifying_key` | message | [exhaustive_tabulation()], [key_overview()] |
#' | `many_excluded` | message | [n_matches()], [individual_risk()], [household_risk()] |
#' | `zero_margins`, `search_limited` | warning | [loglinear_risk()], [longitudinal_risk()] |
#' | `biased_estimate`, `cell_fractions` | warning | [loglinear_risk()], [longitudinal_risk()] |
#' | `no_sample_unique`, `replaced_interval` | message | [loglinear_risk()], [longitudinal_risk()] |
#' | `weighted_shift`, `unprotected_cells` | warning | [invariant_pram()] |
#' | `nothing_to_do`, `identifying_key` | message | [suppress_cells()] |
#' | `nothing_to_do`, `merged_levels`, `determined_keys` | message | [invariant_pram()] |
#' | `bounded_correlation`, `moved_correlation`, `identifying_key` | warning | [copula_fit()] |
#' | `few_records`, `models_differ` | warning | [copula_uniqueness()] |
#' | `not_calibrated`, `weak_calibration`, `no_refits` | message | [copula_uniqueness()] |
#' | `zero_margins`, `rough_fit`, `search_limited` | warning | [loglinear_risk()] |
#' | `no_sample_unique` | message | [loglinear_risk()] |
#' | `renamed` | message | every function that was given an argument by its former name |
#' | `unseen_categories` | message | [copula_uniqueness()], `predict()` |
#' | `dropped_level` | message | [hierarchy()] |
#' | `proposed_hierarchy` | message | [recode_search()] |
#' | `suppressed_values`, `alpha_ignored` | message | functions given an sdcMicroObj |
#' | `perturbed_keys` | message | functions given an sdcMicroObj |
#' | `unsafe_copy` | warning | functions given an sdcMicroObj |
#' | `risks_not_computed` | warning | [invariant_pram()], [suppress_cells()], [apply_recoding()] |
#' | `stale_result` | message | [stored_results()] |
#'
#' @name sdcRisk_conditions
#' @examples
#' outcome <- tryCatch(
#'   qar_risk(adult, key_vars = c("age", "height")),
#'   sdcRisk_error_unknown_key_var = function(e) e$unknown
#' )
#' outcome # "height"
NULL

condition_class <- function(severity, kind) {
  paste0("sdcRisk_", severity, c(paste0("_", kind), ""))
}

# Signal a classed condition. `message` is a character vector: first what must
# hold, then bullets named "x" (what was found) and "i" (what to do). Texts are
# taken as they are: a brace or a percent sign in a column name is harmless.
stop_sdc <- function(kind, message, ..., call = rlang::caller_env()) {
  rlang::abort(
    message,
    class = condition_class("error", kind), ..., call = bare_call(call)
  )
}

warn_sdc <- function(kind, message, ..., call = rlang::caller_env()) {
  rlang::warn(
    message,
    class = condition_class("warning", kind), ..., call = bare_call(call)
  )
}

inform_sdc <- function(kind, message, ..., call = rlang::caller_env()) {
  rlang::inform(
    message,
    class = condition_class("message", kind), ..., call = bare_call(call)
  )
}

# The call of a function of ours without its arguments: after do.call() they are
# the data themselves.
bare_call <- function(frame) {
  frames <- sys.frames()
  at <- which(vapply(frames, identical, NA, frame))
  if (length(at) == 0) {
    return(NULL)
  }
  name <- sys.call(at[[1]])[[1]]
  if (is.function(name)) {
    exports <- getNamespaceExports("sdcRisk")
    same <- vapply(exports, function(e) identical(getExportedValue("sdcRisk", e), name), NA)
    name <- as.name(c(exports[same], "sdcRisk")[[1]])
  }
  as.call(list(name))
}

# A matched call as a result keeps it: code, never data.
call_without_data <- function(call, name) {
  if (is.function(call[[1]])) {
    call[[1]] <- as.name(name)
  }
  for (i in seq_along(call)[-1]) {
    if (!is.language(call[[i]]) && (!is.atomic(call[[i]]) || length(call[[i]]) > 100)) {
      call[[i]] <- as.name(names(call)[[i]])
    }
  }
  call
}

# Names that fit a line.
shorten <- function(x, width = 40) {
  long <- !is.na(x) & nchar(x, "chars", allowNA = TRUE) > width
  long <- long & !is.na(long)
  x[long] <- paste0(substr(x[long], 1, width - 3), "...")
  x
}

# "a", "b" and 3 more; long names are cut.
quote_names <- function(x, most = 5) {
  quoted <- encodeString(shorten(as.character(utils::head(x, most))), quote = "\"")
  rest <- length(x) - most
  if (rest > 0) {
    paste0(paste(quoted, collapse = ", "), " and ", rest, " more")
  } else {
    paste(quoted, collapse = ", ")
  }
}
