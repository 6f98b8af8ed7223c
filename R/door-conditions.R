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
#' | `damaged_result` | a saved result of an older version, or a changed object of sdcRisk | |
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
#' | `ignores_case`, `ignores_blanks` | warning | [pattern_table()] |
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
#' | `few_records`, `models_differ`, `overstated` | warning | [copula_uniqueness()] |
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
stop_sdc <- function(kind, message, ...) {
  call <- bare_call()
  rlang::abort(message, class = condition_class("error", kind), ..., call = call)
}

warn_sdc <- function(kind, message, ...) {
  call <- bare_call()
  rlang::warn(message, class = condition_class("warning", kind), ..., call = call)
}

inform_sdc <- function(kind, message, ...) {
  call <- bare_call()
  rlang::inform(message, class = condition_class("message", kind), ..., call = call)
}

# The function at whose door we are is found where it is needed, and never handed on:
# it is the innermost one on the stack that is exported or a method.
front <- function() {
  at <- front_at()
  if (at > 0) sys.frame(at)
}

front_at <- function() {
  here <- sys.nframe()
  own <- parent.env(environment())
  for (at in rev(seq_len(here))) {
    f <- sys.function(at)
    # Most are functions of R or of others, which cost no call to tell.
    if (identical(environment(f), own) && is_front(f)) {
      return(at)
    }
  }
  # One that was changed, by trace() for instance: it was called from outside.
  own <- vapply(seq_len(here), function(at) {
    identical(environment(sys.function(at)), topenv())
  }, NA)
  c(rev(which(own & !c(FALSE, own[-here]))), 0L)[[1]]
}

is_front <- function(f) !is.null(front_name(f))

# The name under which a user calls the function: of a method, that of its generic
# function. NULL for one that is not for users.
front_name <- function(f) {
  # This is asked of every frame of the stack: most are functions of R or of others.
  if (!identical(environment(f), parent.env(environment()))) {
    return(NULL)
  }
  if (is.null(fronts$noted)) note_fronts()
  same <- fronts[[rlang::obj_address(body(f))]]
  for (i in seq_along(same)) {
    if (identical(same[[i]], f)) {
      return(names(same)[[i]])
    }
  }
}

# Exported functions and methods by the address of their bodies, each a list of
# functions by name.
fronts <- new.env(parent = emptyenv())

note_fronts <- function() {
  here <- topenv()
  fronts$noted <- TRUE
  note <- function(f, name) {
    key <- rlang::obj_address(body(f))
    fronts[[key]] <- c(fronts[[key]], rlang::set_names(list(f), name))
  }
  for (name in getNamespaceExports(here)) note(get(name, envir = here), name)
  methods <- getNamespaceInfo(here, "S3methods")
  for (i in seq_len(nrow(methods))) {
    # Others may have registered methods of theirs.
    name <- methods[[i, 3]]
    f <- if (is.character(name)) get0(name, here, inherits = FALSE)
    if (!is.null(f)) note(f, methods[[i, 1]])
  }
}

# The call that the user made, without its arguments: after do.call() they are the
# data themselves.
bare_call <- function() {
  at <- front_at()
  if (at == 0) {
    return(NULL)
  }
  # One function of ours may have called another.
  parents <- sys.parents()
  from <- parents[[at]]
  # do.call() into an environment that is no frame gives a frame itself as parent.
  while (from > 0 && parents[[from]] < from) {
    if (is_front(sys.function(from))) at <- from
    from <- parents[[from]]
  }
  name <- front_name(sys.function(at))
  if (is.null(name)) sys.call(at)[1] else as.call(list(as.name(name)))
}

# A matched call as a result keeps it: code, never data. Code may hold data too:
# do.call(quote = TRUE) puts quote(<data>) in place of an argument.
call_without_data <- function(call, name) {
  if (is.function(call[[1]])) {
    call[[1]] <- as.name(name)
  }
  for (i in seq_along(call)[-1]) {
    if (holds_objects(call[[i]])) call[[i]] <- as.name(names(call)[[i]])
  }
  call
}

holds_objects <- function(code) {
  if (is.call(code)) {
    for (i in seq_along(code)) {
      # What is left out, as in x[1, ], is no part that can be looked at.
      if (!identical(code[[i]], rlang::missing_arg()) && holds_objects(code[[i]])) {
        return(TRUE)
      }
    }
    return(FALSE)
  }
  !is.language(code) && !is.null(code) && (!is.atomic(code) || length(code) > 100)
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
