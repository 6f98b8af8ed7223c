#' Errors, warnings and messages of sdcRisk
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
#' | `no_key_vars` | key variables that nobody named among other columns | `columns`, `proposed` |
#' | `missing_package` | a suggested package is needed and not installed | `package` |
#' | `mismatched_data` | a result was given other data than it was made from | |
#' | `damaged_result` | a saved result of an older version, or a changed object of sdcRisk | |
#' | `ambiguous_analysis` | a result holds several analyses and one must be chosen | |
#' | `too_large` | more work or memory than a stated limit | |
#' | `not_converged` | an iteration did not reach its tolerance | |
#' | `unprotectable` | a protection cannot be reached on this file | |
#' | `no_client` | no editor for [language_server()] or [check_script_addin()], or it ends early | |
#' | `internal` | a failure in the compiled core, to be reported | |
#'
#' Warnings and messages:
#'
#' | kind | severity | signalled by |
#' |---|---|---|
#' | `few_exceedances`, `no_exceedance`, `theta_one` | warning | [qar_risk()] |
#' | `constant_column` | warning | [qar_risk()] |
#' | `ignores_case`, `ignores_blanks` | warning | [pattern_table()] |
#' | `sampled_sets` | warning, message | [qar_risk()] |
#' | `single_set`, `equal_excesses` | message | [qar_risk()] |
#' | `many_removed` | message | [removal_path()] |
#' | `small_weights` | warning | [individual_risk()], [loglinear_risk()], [longitudinal_risk()] |
#' | `small_weights` | warning | [household_risk()] |
#' | `waves_differ`, `no_common_ids` | warning | [longitudinal_link()], [key_stability()] |
#' | `waves_differ`, `no_common_ids` | warning | [link_attack()] |
#' | `no_matches` | warning | [attribute_risk()], [attack_release()] |
#' | `empty_records` | warning | [longitudinal_link()] |
#' | `no_distances` | warning | [link_attack()] |
#' | `not_learned` | warning | [link_attack()] |
#' | `broken_rules` | warning | [longitudinal_link()], [key_stability()] |
#' | `partial_candidates`, `unsplit_candidates` | message | [candidates()] |
#' | `identifying_key` | message | [n_matches()], [individual_risk()], [household_risk()] |
#' | `identifying_key` | message | [exhaustive_tabulation()], [key_overview()] |
#' | `identifying_key`, `many_excluded` | message | [special_uniques()], [attribute_risk()] |
#' | `many_excluded` | message | [n_matches()], [individual_risk()], [household_risk()] |
#' | `zero_margins`, `search_limited` | warning | [loglinear_risk()], [longitudinal_risk()] |
#' | `biased_estimate`, `cell_fractions` | warning | [loglinear_risk()], [longitudinal_risk()] |
#' | `no_sample_unique` | message | [loglinear_risk()], [longitudinal_risk()] |
#' | `weighted_shift`, `unprotected_cells` | warning | [invariant_pram()] |
#' | `nothing_to_do`, `identifying_key`, `repeated_id` | message | [suppress_cells()] |
#' | `resting_records` | message | [suppress_cells()] |
#' | `nothing_to_do` | message | [global_recode()], [top_code()], [bottom_code()] |
#' | `equal_groups` | message | [microaggregate()] |
#' | `nothing_to_do`, `merged_levels` | message | [invariant_pram()] |
#' | `determined_keys` | message | [suppress_cells()], [invariant_pram()], [recode_search()] |
#' | `determined_keys` | message | [apply_recoding()], [release_data()] |
#' | `told_by_order` | message | [invariant_pram()], [suppress_cells()], [apply_recoding()] |
#' | `told_by_order` | message | [file_check()] of an sdcMicroObj |
#' | `identifier_left_out`, `shuffled` | message | [release_data()] |
#' | `unlisted_records` | message | [records_at_risk()] |
#' | `other_order` | warning | [utility_loss()] |
#' | `small_file` | warning | [sdc_report()] |
#' | `bounded_correlation`, `moved_correlation`, `identifying_key` | warning | [copula_fit()] |
#' | `few_records`, `models_differ`, `overstated` | warning | [copula_uniqueness()] |
#' | `not_calibrated`, `weak_calibration`, `no_refits` | message | [copula_uniqueness()] |
#' | `zero_margins`, `rough_fit`, `search_limited` | warning | [loglinear_risk()] |
#' | `no_sample_unique` | message | [loglinear_risk()] |
#' | `unseen_categories` | message | [copula_uniqueness()], `predict()` |
#' | `dropped_level` | message | [hierarchy()] |
#' | `proposed_hierarchy` | message | [recode_search()] |
#' | `suppressed_values`, `alpha_ignored` | message | functions given an sdcMicroObj |
#' | `suppressed_values` | message | functions given a result of [suppress_cells()] |
#' | `perturbed_keys` | message | functions given an sdcMicroObj |
#' | `perturbed_keys` | message | functions given a result of [invariant_pram()] |
#' | `known_sensitive` | message | [sdc_file()] |
#' | `file_part`, `file_grown`, `role_lost` | message | verbs of R and dplyr on an [sdc_file()] |
#' | `unsafe_copy` | warning | functions given an sdcMicroObj |
#' | `risks_not_computed` | warning | [invariant_pram()], [suppress_cells()], [apply_recoding()] |
#' | `columns_left_out` | message | [sdc_file()], [file_check()] |
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

# Signal a classed condition. The message consists of what must hold, which has no name, and of
# bullets named "x" (what was found) and "i" (what to do); other arguments are fields of the
# condition. Texts are taken as they are: a brace or a percent sign in a column name is harmless.
stop_sdc <- function(kind, ...) signal_sdc("error", kind, list(...))

warn_sdc <- function(kind, ...) signal_sdc("warning", kind, list(...))

inform_sdc <- function(kind, ...) signal_sdc("message", kind, list(...))

# Warnings and messages are what rlang::warn() and rlang::inform() signal, in a quarter of the
# time: rlang looks up versions of packages for every text.
signal_sdc <- function(severity, kind, parts) {
  of_message <- rlang::names2(parts) %in% c("", "x", "i")
  text <- with_bullets(do.call(c, parts[of_message]))
  class <- condition_class(severity, kind)
  fields <- parts[!of_message]
  if (severity == "error") rlang::abort(text, class, !!!fields, call = bare_call())
  condition <- structure(
    c(list(message = text), fields, list(call = bare_call())),
    class = c(class, paste0("rlang_", severity), severity, "condition")
  )
  if (severity == "warning") {
    old <- options(warning.length = 8170)
    on.exit(options(old))
    return(warning(condition))
  }
  withRestarts(muffleMessage = function() NULL, {
    signalCondition(condition)
    as_answer <- rlang::is_interactive() && sink.number() == 0 && sink.number("message") == 2
    cat(text, "\n", sep = "", file = if (as_answer) stdout() else stderr())
  })
  invisible()
}

# Lines of a condition as rlang shows them.
with_bullets <- function(lines) {
  ascii <- identical(getOption("cli.condition_unicode_bullets"), FALSE)
  old <- options(
    cli.num_colors = cli::num_ansi_colors(),
    cli.unicode = if (ascii) FALSE else getOption("cli.unicode")
  )
  on.exit(options(old))
  symbol <- cli::symbol
  marks <- c(x = paste(cli::col_red(symbol$cross), ""), i = paste(cli::col_blue(symbol$info), ""))
  marks <- marks[rlang::names2(lines)]
  marks[is.na(marks)] <- ""
  paste0(marks, lines, collapse = "\n")
}

# The call that the user made, without its arguments: after do.call() they are the
# data themselves.
bare_call <- function() if (!is.null(running$ask)) as.call(list(as.name(running$ask$.said)))

# A matched call as a result keeps it: code, never data. Code may hold data too:
# do.call(quote = TRUE) puts quote(<data>) in place of an argument.
call_without_data <- function(call, name) {
  call[[1]] <- as.name(name)
  names <- rlang::names2(call)
  names[!nzchar(names)] <- "..."
  for (i in seq_along(call)[-1]) {
    if (holds_objects(call[[i]])) call[[i]] <- as.name(names[[i]])
  }
  call
}

holds_objects <- function(code) {
  if (is.call(code)) {
    for (i in seq_along(code)) {
      # An omitted argument, as in x[1, ], has no value to look at.
      if (!identical(code[[i]], rlang::missing_arg()) && holds_objects(code[[i]])) {
        return(TRUE)
      }
    }
    return(FALSE)
  }
  !is.language(code) && !is.null(code) && (!is.atomic(code) || length(code) > 100)
}

stop_not_whole <- function(what) {
  stop_sdc(
    "damaged_result", paste0("The ", what, " must be whole, as it was made."),
    x = "It has lost parts.", i = "Make it again."
  )
}
