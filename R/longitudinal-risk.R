#' Re-identification risk of a panel wave, given earlier releases
#'
#' Estimates how much the release of earlier waves raises the risk of the latest one. Use it
#' before a new wave of a panel is released. The log-linear risk is estimated by the file alone,
#' with the changes of respondents whom an intruder can link with certainty, and with the changes
#' of all respondents of both waves.
#'
#' @details
#' An intruder who holds both files links them by variables that rarely change
#' ([longitudinal_link()]) and learns what changed in between
#' ([change_indicators()]). Of a person who is looked for, the same may be known:
#' that somebody had another child, changed the job. Changes are rare, so they
#' single people out. With \eqn{x_{iv}}{x_iv} the value of `change_vars` \eqn{v}
#' in the latest wave and \eqn{y_{iv}}{y_iv} that of the same person earlier, the
#' indicator is \eqn{c_{iv} = [x_{iv} \ne y_{iv}]}{c_iv = [x_iv differs from y_iv]},
#' 0 if either is missing or the person was not in the earlier wave. The
#' scenarios are
#' \describe{
#'   \item{`cross_sectional`}{no link: `key_vars` alone}
#'   \item{`certain_links`}{`key_vars` and \eqn{c_{iv}}{c_iv} of the respondents
#'     linked with certainty (matching probability 1); 0 for all others, which
#'     the model takes as "no change"}
#'   \item{`all_links`}{`key_vars` and \eqn{c_{iv}}{c_iv} of all respondents of both
#'     waves: an intruder who knows who is who}
#' }
#' In each, all records of the latest wave are in the table, and
#' [loglinear_risk()] estimates \eqn{\tau_1}{tau1} and \eqn{\tau_2}{tau2} with the
#' same model, with the corrected values and intervals described there. `ratio` is
#' the quotient of \eqn{\tau_1}{tau1} to that of the first scenario, `ratio_tau2`
#' that of \eqn{\tau_2}{tau2}, both of the estimates before correction; a quotient
#' to less than half an expected person says nothing, and is `NA`.
#' In the population the third scenario is at least as risky as the second, which
#' knows less; the estimates need not be, since each scenario has a fit of its own.
#' Li and others find 0.7% of the sample in the first scenario and
#' 2.7% and 3.1% in the others for the Survey of Doctorate Recipients: about
#' four times the cross-sectional risk.
#'
#' Indicators stand for what people remember of others, and keep from the intruder
#' what the earlier value was. `detail = "previous_value"` gives the intruder the earlier
#' value itself, an upper bound: the key variable is then \eqn{y_{iv}}{y_iv} if
#' it is known to differ from \eqn{x_{iv}}{x_iv}, and "no change" elsewhere. This
#' table splits the cells of the indicators, and has no fewer sample uniques; for a
#' variable of two values it is the same.
#'
#' Respondents without a known link are taken as unchanged, as in the paper. In the
#' table a change is then rarer than in the population, so that the last two
#' scenarios tend to overstate the risk of respondents who did change, the more
#' so the fewer respondents are linked.
#'
#' With several earlier releases each is linked to the latest file on its own, and
#' the changes since each of them are key variables.
#'
#' A variable without any known change adds nothing and is left out of the table; a
#' scenario that adds nothing to the one before is not fitted again, and has the
#' same estimates.
#'
#' @section Remedies:
#' A limit on the longitudinal risk is one on the file with its changes: add them by
#' [change_indicators()] and make them key variables, as the third scenario does.
#' `recode_search(constraint = , keep = )` with level 0 for the changes, and
#' `suppress_cells(importance = )` with `Inf`, leave them as they are: what earlier releases tell
#' cannot be recoded. Limits on the population such as `tau1_rate` are those of [population_risk()],
#' not of a log-linear model, which need not fit each of many recodings. A recoded variable shows
#' fewer changes: recode it in all waves and measure again.
#'
#' @section Missing values:
#' `missing` is about `key_vars`: with `"exclude"` records that miss a value of any
#' of them are left out of all scenarios; with `"category"` missing is a value of
#' its own. Links and changes have their own rule: a missing value never differs.
#'
#' @section Tables of a database:
#' All waves may be lazy tables of dbplyr, of one connection. The engine joins them by `id`
#' and counts the persons with the same values, and the same weight, in all waves; at most
#' `max_patterns` such patterns travel. R spreads them to records, in 4 or 8 bytes a
#' variable: the numbers are those of the data frames, to twelve digits. `records` is `NULL`,
#' and `patterns` has the key variables of `wave2`, the number `n` of records and the columns
#' of `records`; `link` and `fits` likewise.
#'
#' @section Cost:
#' That of one linkage per earlier release and of three fits. Each change variable
#' doubles the number of cells of the table, a previous value multiplies it by the number of
#' its values: see [loglinear_risk()] for what that costs, and take
#' `model = "independence"` or a formula if it is too much.
#'
#' @section Memory:
#' Beyond the waves, with five key variables and two threads: at most 400 bytes a record of
#' a wave.
#'
#' @param wave1 The earlier release, a data frame with one row per person, or a
#'   list of several, whose names tell them apart.
#' @param wave2 The latest file, whose risk is asked for.
#' @param key_vars Names or positions in `wave1` of the key variables.
#' @param link_vars Names, or positions in `wave1`, of the variables by which the
#'   waves are linked, columns of all of them: variables that rarely change, see
#'   [key_stability()].
#' @param change_vars Names of the variables whose changes an intruder may know,
#'   columns of all waves. With `detail = "previous_value"` they must be among
#'   `key_vars`.
#' @inheritParams sdcRisk-params
#' @param ... Rarely used arguments, those of `longitudinal_risk_control()`, by their full names, or
#'   together: `control = longitudinal_risk_control(...)`.
#' @param weight_var,pop_size,sampling_fraction,sampling,interval,level,max_cells
#'   See [loglinear_risk()]; the weights are those of `wave2`.
#' @param model One model for all scenarios, see [loglinear_risk()]; in a formula,
#'   changes are called `<variable>_changed`, previous values
#'   `<variable>_before`, with `_<release>` behind if there are several
#'   earlier releases.
#' @param detail What is known of a change: that there was one (`"indicator"`), or
#'   the earlier value (`"previous_value"`).
#' @param min_overlap,tolerance See [longitudinal_link()].
#'
#' @return An object of class `sdc_longitudinal_risk`, an [sdc_result] with
#' \describe{
#'   \item{`estimates`}{one row per scenario: `scenario`, the columns of
#'     [loglinear_risk()], `ratio` (of `tau1` to the first scenario; `NA` if that
#'     is below 0.5) and `ratio_tau2` likewise. This is `as.data.frame()`}
#'   \item{`records`}{one row per record of `wave2`: `linked` (in any earlier
#'     release), `certain` (linked with certainty to any), and per scenario
#'     `tau1_<scenario>` and `tau2_<scenario>`, 0 for records that are not sample
#'     unique in it. The risk of a record is its `tau2_all_links`}
#'   \item{`changes`}{per earlier release and variable: `release`, `variable`,
#'     `n_linked`, `n_changed` (all links), `n_certain`, `n_changed_certain`}
#'   \item{`link`}{the result of [longitudinal_link()]; a list of them for several
#'     releases}
#'   \item{`fits`}{the three results of [loglinear_risk()], by scenario}
#' }
#' Errors and warnings are those of the functions named; zero margins of the three
#' fits make one warning, and so do estimates off their corrected values.
#'
#' @references
#' Li, J., Li, L., Krenzke, T. and Chang, W.-Y. (2021). An approach to estimate
#' the re-identification risk in longitudinal survey microdata. Joint Statistical
#' Meetings 2021.
#'
#' Skinner, C. J. and Shlomo, N. (2008). Assessing identification risk in survey
#' microdata using log-linear models. Journal of the American Statistical
#' Association 103(483), 989-1001. \doi{10.1198/016214507000001328}.
#' @family log-linear risk
#' @export
#' @examples
#' keys <- c("gender", "age_group", "education", "n_children")
#' risk <- longitudinal_risk(
#'   panel_waves$wave1, panel_waves$wave2, keys,
#'   link_vars = c(
#'     "gender", "born_abroad", "education", "degree_year", "degree_field",
#'     "birth_region"
#'   ),
#'   change_vars = "n_children", id = "id", weight_var = "weight",
#'   model = "two_way"
#' )
#' risk
#' risk$estimates$ratio_tau2
#' risk$link$estimates$expected_correct # 1,582 of 5,310
#'
#' # Variables that cannot change between waves are too few to link by:
#' fixed <- c("gender", "born_abroad")
#' longitudinal_link(
#'   panel_waves$wave1, panel_waves$wave2, fixed, "id"
#' )$estimates$expected_correct # 2.8
#'
#' # A limit on the longitudinal risk: at most 1% unique, with the changes.
#' changed <- change_indicators(panel_waves$wave1, panel_waves$wave2, "n_children", "id")
#' recode_search(
#'   changed, c(keys, "n_children_changed"), constraint = list(prop_unique = 0.01),
#'   keep = list(n_children_changed = 0)
#' )
longitudinal_risk <- function(wave1, wave2, key_vars, link_vars, change_vars, id, ...,
                              weight_var = NULL, pop_size = NULL, sampling_fraction = NULL,
                              missing = "exclude", model = "two_way") {
  ask <- enter_waves("longitudinal_risk", lazy = TRUE)
  wave2 <- ask$wave2
  key_vars <- ask$key_vars
  weight_var <- ask$weight_var
  check_no_dots(...)
  for (arg in c("wave1", "wave2")) {
    if (is_pattern_table(ask[[arg]])) stop_needs_records(arg, ask[[arg]])
  }
  check_given(c("key_vars", "link_vars", "change_vars", "id"))
  detail <- check_choice(ask$detail, c("indicator", "previous_value"), "detail")
  if (length(check_models(model)) != 1) {
    stop_argument("model", "be one model, the same for all scenarios")
  }
  sampling <- check_sampling(ask$sampling)
  interval <- check_interval(ask$interval)
  min_overlap <- check_whole(ask$min_overlap, "min_overlap", low = 0)
  check_loglinear_missing(ask$missing)
  level <- check_probability(ask$level, "level")
  max_cells <- check_max_cells(ask$max_cells)
  max_patterns <- check_max_patterns(ask$max_patterns)
  check_population(weight_var, ask$pop_size, ask$sampling_fraction)
  releases <- check_releases(ask$wave1, wave2)
  lazy <- are_lazy_releases(releases, wave2)
  names_of <- list(releases = lapply(releases, wave_names), wave2 = wave_names(wave2))
  # Positions are those of the first wave.
  named <- function(x, arg) {
    first <- names_of$releases[[1]]
    if (is_plain_number(x)) names(first)[check_columns(x, first, arg)] else x
  }
  key_vars <- named(key_vars, "key_vars")
  link_vars <- named(link_vars, "link_vars")
  change_vars <- named(change_vars, "change_vars")
  id <- named(id, "id")
  weight_var <- named(weight_var, "weight_var")
  columns <- check_wave_columns(names_of$wave2, key_vars, change_vars, id, weight_var, detail)
  link_vars <- check_link_vars(link_vars, names_of$wave2, columns$id)
  check_earlier_columns(link_vars, "link_vars", names_of$releases)
  check_earlier_columns(columns$change, "change_vars", names_of$releases)
  every_key <- c(columns$keys, change_labels(columns, detail, names(releases)))
  taken <- intersect(setdiff(every_key, columns$keys), names(names_of$wave2))
  refuse_names(taken, "wave2", "have no column with a name that changes are given", "Already there")
  if (inherits(model, "formula")) formula_terms(model, every_key)
  if (lazy) {
    compared <- unique(c(link_vars, columns$change))
    spread <- spread_releases(
      releases, wave2, unique(c(columns$keys, compared, weight_var)), compared, columns$id,
      max_patterns
    )
    releases <- spread$releases
    wave2 <- spread$wave2
  }
  check_weights(wave2, weight_var)

  found <- with_progress("Linking waves", once_each(link_releases(
    code_releases(releases, wave2, link_vars, columns), releases, wave2, columns, detail,
    list(min_overlap = min_overlap, tolerance = ask$tolerance)
  )))
  tables <- scenario_tables(wave2, found, columns)
  asked <- list(
    weight_var = weight_var, pop_size = ask$pop_size,
    sampling_fraction = ask$sampling_fraction, sampling = sampling,
    missing = ask$missing, interval = interval, level = level,
    max_cells = max_cells
  )
  models <- lapply(tables, function(table) {
    check_models(scenario_model(model, table$keys, every_key))
  })
  fits <- with_progress(
    "Log-linear models",
    # Without what the three fits say one by one: signal_longitudinal() says it of all.
    suppressMessages(suppressWarnings(
      fit_scenarios(tables, models, asked),
      paste0("sdcRisk_warning_", c(
        "zero_margins", "biased_estimate", "cell_fractions", "small_weights"
      ))
    ), "sdcRisk_message_no_sample_unique")
  )
  result <- new_longitudinal_risk(fits, found, wave2, columns, list(
    weight_var = weight_var, model = names(check_models(model)), detail = detail,
    sampling = sampling, missing = ask$missing, interval = interval, level = level,
    link_vars = found[[1]]$link$settings$key_vars, min_overlap = min_overlap
  ), ask$call)
  signal_longitudinal(result)
  if (lazy) of_patterns(result, spread, columns$keys) else result
}

#' @rdname longitudinal_risk
#' @export
longitudinal_risk_control <- function(detail = c("indicator", "previous_value"), sampling =
                                      c("overall", "cell", "raked"), interval = c("corrected",
                                      "none"), level = 0.95, max_cells = 2e9, min_overlap = 0,
                                      tolerance = NULL, max_patterns = 5e6, ...) {
  new_control("longitudinal_risk_control")
}

# The earlier releases as a named list.
check_releases <- function(wave1, wave2) {
  check_wave <- function(wave, arg) if (!is_lazy_table(wave)) check_data_frame(wave, arg)
  check_wave(wave2, "wave2")
  if (is.data.frame(wave1) || is_lazy_table(wave1)) {
    check_wave(wave1, "wave1")
    return(list(wave1 = wave1))
  }
  if (!is.list(wave1) || length(wave1) == 0) {
    stop_sdc(
      "bad_data", "`wave1` must be a data frame, or a list of data frames.",
      x = paste0("It has class ", quote_names(class(wave1)), "."),
      data_class = class(wave1)
    )
  }
  for (wave in wave1) check_wave(wave, "wave1")
  rlang::set_names(wave1, release_labels(wave1, "wave1"))
}

# Labels of the releases in a list: their names, or numbers.
release_labels <- function(releases, arg) {
  labels <- names(releases)
  if (is.null(labels)) {
    return(as.character(seq_along(releases)))
  }
  if (!all(nzchar(labels)) || anyDuplicated(labels)) {
    stop_argument(
      arg, "have a name of its own for every release, or none",
      "A name is missing or repeated."
    )
  }
  labels
}

check_wave_columns <- function(wave2, key_vars, change_vars, id, weight_var, detail) {
  absent <- vapply(list(key_vars, change_vars, id), is.null, NA)
  if (any(absent)) {
    stop_argument(c("key_vars", "change_vars", "id")[absent][[1]], "name columns of `wave2`")
  }
  named <- function(x, arg) names(wave2)[check_columns(x, wave2, arg)]
  keys <- named(key_vars, "key_vars")
  change <- named(change_vars, "change_vars")
  if (length(keys) == 0 || length(change) == 0) {
    arg <- if (length(keys) == 0) "key_vars" else "change_vars"
    stop_argument(arg, "name at least one column of `wave2`")
  }
  if (length(id) != 1) {
    stop_argument(
      "id", "name one column of `wave2`",
      found = paste0(plural(length(id), "name"), " given.")
    )
  }
  id <- named(id, "id")
  weight <- if (!is.null(weight_var)) named(weight_var, "weight_var")
  for (part in list(list(keys, "key_vars"), list(change, "change_vars"))) {
    clash <- intersect(part[[1]], c(id, weight))
    refuse_names(clash, part[[2]], "leave out the columns that other arguments name", "In both")
  }
  outside <- setdiff(change, keys)
  if (detail == "previous_value" && length(outside)) {
    stop_argument(
      "change_vars", "be among `key_vars` if `detail` is \"previous_value\"",
      found = paste0("Not in `key_vars`: ", quote_names(outside), ".")
    )
  }
  list(keys = keys, change = change, id = id)
}

# All waves coded at once: per release the waves by `link_vars` and by the variables that
# change.
code_releases <- function(releases, wave2, link_vars, columns) {
  asked <- lapply(releases, function(earlier) {
    waves <- list(wave1 = earlier, wave2 = wave2)
    link <- ask_waves(earlier, wave2, link_vars, columns$id, "link_vars")
    change <- wave_vars(waves, columns$change, "change_vars")
    warn_waves_differ(waves, change, columns$id)
    list(link = link, requests = c(
      link$requests, list(change = shared_request(waves, change, candidates = TRUE))
    ))
  })
  requests <- unlist(lapply(unname(asked), `[[`, "requests"), recursive = FALSE)
  coded <- split(
    unname(code_requests(requests)),
    rep(seq_along(asked), vapply(asked, function(a) length(a$requests), 0L))
  )
  Map(function(asked, coded) {
    names(coded) <- names(asked$requests)
    release_later(coded$change)
    link <- read_waves(asked$link, coded[names(coded) != "change"])
    list(link = link, change = list(
      tables = coded$change, key_vars = columns$change, partners = link$partners
    ))
  }, asked, unname(coded))
}

# Per release its link, and what is known of changes since then by all links and by the
# certain ones.
link_releases <- function(coded, releases, wave2, columns, detail, rules) {
  Map(function(coded, earlier) {
    waves <- list(wave1 = earlier, wave2 = wave2)
    link <- link_coded(
      coded$link, rules$min_overlap, rules$tolerance, FALSE,
      rlang::call2(
        "longitudinal_link", as.name("wave1"), as.name("wave2"), coded$link$key_vars, columns$id,
        !!!rules
      )
    )
    changed <- core(
      rs_changed, core_waves(coded$change, code_agreements(coded$change, waves, NULL)),
      list(values = detail == "previous_value")
    )
    list(
      link = link,
      all = known_changes(changed, !is.na(coded$link$partners), columns, detail),
      certain = known_changes(changed, link$records$certain, columns, detail)
    )
  }, coded, releases)
}

# Columns of what is known of changes since one earlier release, of the records that
# are `known`: whether there was one, or the code of the earlier value; `n_changed`
# counts the changes in each.
known_changes <- function(found, known, columns, detail) {
  of_known <- function(x) {
    x[!known] <- 0L
    x
  }
  changed <- lapply(found$changed, of_known)
  values <- if (detail == "indicator") changed else lapply(found$before, of_known)
  suffix <- if (detail == "indicator") "_changed" else "_before"
  list(
    columns = rlang::set_names(values, paste0(columns$change, suffix)),
    n_changed = vapply(changed, sum, 0L)
  )
}

# Labels of the key variables that represent changes, by release.
change_labels <- function(columns, detail, releases) {
  labels <- paste0(columns$change, if (detail == "indicator") "_changed" else "_before")
  if (length(releases) == 1) {
    return(labels)
  }
  unlist(lapply(releases, function(release) paste(labels, release, sep = "_")))
}

check_link_vars <- function(link_vars, wave2, id) {
  if (length(link_vars) == 0) stop_argument("link_vars", "name columns of all waves")
  link_vars <- names(wave2)[check_columns(link_vars, wave2, "link_vars")]
  if (id %in% link_vars) {
    stop_argument(
      "link_vars", "not name the id",
      advice = "The id says which records are one person's; an intruder does not have it."
    )
  }
  link_vars
}

check_earlier_columns <- function(x, arg, releases) {
  for (release in names(releases)) {
    absent <- setdiff(x, names(releases[[release]]))
    if (length(absent)) {
      stop_sdc(
        "unknown_key_var", paste0("`", arg, "` must name columns of all waves."),
        x = paste0("Not found in ", quote_names(release), ": ", quote_names(absent), "."),
        unknown = absent
      )
    }
  }
}

# Per scenario the file with what is known of changes, and all its key variables.
scenario_tables <- function(wave2, found, columns) {
  with_changes <- function(which) {
    data <- wave2
    keys <- columns$keys
    for (release in names(found)) {
      known <- found[[release]][[which]]
      labels <- names(known$columns)
      if (length(found) > 1) labels <- paste(labels, release, sep = "_")
      for (v in which(known$n_changed > 0)) {
        data[[labels[[v]]]] <- known$columns[[v]]
        keys <- c(keys, labels[[v]])
      }
    }
    list(data = data, keys = keys)
  }
  list(
    cross_sectional = list(data = wave2, keys = columns$keys),
    certain_links = with_changes("certain"), all_links = with_changes("all")
  )
}

# The fits of all scenarios. One that knows no more than the one before is not fitted
# again.
fit_scenarios <- function(tables, models, asked) {
  at <- seq_along(tables)
  for (i in at[-1]) {
    before <- tables[[i - 1]]
    now <- tables[[i]]
    same <- identical(before$keys, now$keys) &&
      all(vapply(now$keys, function(k) identical(before$data[[k]], now$data[[k]]), NA))
    if (same) at[[i]] <- at[[i - 1]]
  }
  own <- unique(at)
  weights <- check_weights(tables[[1]]$data, asked$weight_var)
  coded <- code_requests(lapply(tables[own], function(table) {
    key_request(
      table$data, table$keys,
      roles = role_columns(table$data, asked["weight_var"]),
      listwise = asked$missing == "exclude"
    )
  }))
  coded <- lapply(coded, `[[`, 1)
  release_later(coded)
  requests <- Map(function(table, models) {
    check_some_complete(table$n)
    set <- paste(table$variables, collapse = " + ")
    terms <- lapply(models, model_terms, parts = rlang::set_names(list(table$keys), set))
    loglinear_requests(table, set, table$variables, weights, NULL, terms, asked)[[1]]
  }, coded, models[own])
  found <- fit_loglinear(requests)
  fits <- Map(function(found, table, models) {
    settings <- file_settings(
      table,
      weight_var = asked$weight_var, model = names(models), sampling = asked$sampling,
      missing = asked$missing, interval = asked$interval, level = asked$level
    )
    fit <- new_loglinear_risk(
      list(found), settings, equal_weights(weights),
      rlang::call2("loglinear_risk", as.name("wave2"), table$variables, model = names(models))
    )
    signal_loglinear(fit)
    fit
  }, found, coded, models[own])
  rlang::set_names(fits[match(at, own)], names(tables))
}

# The model of one scenario: the interactions of a formula whose variables it has.
scenario_model <- function(model, keys, every_key) {
  if (!inherits(model, "formula")) {
    return(model)
  }
  terms <- formula_terms(model, every_key)
  terms <- terms[vapply(terms, function(t) all(t %in% keys), NA)]
  product <- lapply(terms, function(t) Reduce(function(a, b) call(":", a, b), lapply(t, as.name)))
  sum <- if (length(product)) Reduce(function(a, b) call("+", a, b), product) else 1
  stats::as.formula(call("~", sum), env = globalenv())
}

# Evaluates `expr`; a warning that repeats an earlier one is dropped.
once_each <- function(expr) {
  seen <- character()
  withCallingHandlers(expr, sdcRisk_warning = function(w) {
    if (conditionMessage(w) %in% seen) tryInvokeRestart("muffleWarning")
    seen <<- c(seen, conditionMessage(w))
  })
}
