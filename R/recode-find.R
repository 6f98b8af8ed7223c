# From a question to recodings: what the core searches, and what is judged here by
# the methods' own functions.

# The settings as the core reads them; `n_best` recodings, `blankable` records.
core_settings <- function(settings, n_best = settings$n_best,
                          blankable = floor(settings$suppress * settings$n + 1e-9),
                          frontier = TRUE) {
  asked <- settings$constraint
  or_na <- function(x) if (is.null(x)) NA_real_ else as.double(x)
  first <- intersect(names(asked), c("k", "prop_unique", "qar"))
  list(
    cost = settings$cost, blank_price = settings$blank_price,
    k = max(1, or_na(asked$k), na.rm = TRUE), prop_unique = or_na(asked$prop_unique),
    blankable = as.double(blankable), n_best = as.double(n_best),
    seconds = settings$max_seconds, qar = or_na(asked$qar), p = as.integer(or_na(asked$p)),
    alpha = or_na(asked$alpha), pi_u = or_na(asked$pi_u), pwm = "plotting", theta_one = "one",
    max_sets = .Machine$integer.max, journalist = or_na(asked$journalist),
    # Judged by loglinear_risk() itself, which knows more of weights.
    tau1_rate = NA_real_,
    pop_size = or_na(settings$pop_size),
    frontier = if (!frontier) "none" else if (length(first)) first[[1]] else "prop_unique"
  )
}

search_core <- function(problem, ...) {
  found <- core(
    rs_recode_search, problem$table$pointer, unname(problem$variables), problem$weights,
    core_settings(problem$settings, ...)
  )
  found$best <- level_frame(found$best, problem)
  found$frontier <- level_frame(found$frontier, problem)
  found$reached <- level_frame(found$reached, problem)
  found
}

# Levels, a column per key variable, before the other columns.
level_frame <- function(part, problem) {
  keys <- problem$settings$key_vars
  levels <- matrix(part$levels, ncol = length(keys), byrow = TRUE, dimnames = list(NULL, keys))
  out <- as.data.frame(levels, optional = TRUE)
  names(out) <- keys
  out[setdiff(names(part), "levels")] <- part[names(part) != "levels"]
  rownames(out) <- NULL
  out
}

# Measures that are judged here, in order of cost.
judged_here <- function(settings) {
  intersect(c("tau1_rate", "population_uniqueness", "l", "t"), names(settings$constraint))
}

# Recodings evaluated by a method of ours before the search gives up.
most_judged <- 4096

# The cheapest that the core admits, in order of cost, until enough of them keep
# the limits judged here: what is found first is the cheapest.
search_by_cost <- function(problem) {
  settings <- problem$settings
  n_asked <- max(32, settings$n_best)
  known <- list()
  began <- proc.time()[["elapsed"]]
  repeat {
    found <- search_core(problem, n_best = n_asked)
    keeps <- logical()
    judged <- NULL
    late <- FALSE
    for (i in seq_len(nrow(found$best))) {
      levels <- unlist(found$best[i, settings$key_vars, drop = FALSE])
      key <- paste(levels, collapse = " ")
      if (is.null(known[[key]])) known[[key]] <- judge_recoding(problem, levels)
      judged <- rbind(judged, known[[key]])
      keeps <- c(keeps, within_limits(known[[key]], settings))
      late <- proc.time()[["elapsed"]] - began > settings$max_seconds
      if (sum(keeps) == settings$n_best || late) break
    }
    exhausted <- nrow(found$best) < n_asked
    if (sum(keeps) == settings$n_best || exhausted || late || n_asked >= most_judged) break
    n_asked <- 4 * n_asked
  }
  found$n_evaluated <- found$n_evaluated + length(known)
  found$proven <- found$proven && (any(keeps) || exhausted)
  if (!any(keeps)) {
    found$reached <- cbind(found$best[seq_along(keeps), , drop = FALSE], judged)
    found$given_up <- !exhausted
  }
  best <- found$best[which(keeps), , drop = FALSE]
  best[colnames(judged)] <- as.data.frame(judged)[keeps, , drop = FALSE]
  found$best <- best
  found$bound <- if (nrow(best)) min(found$bound, best$cost[[1]]) else found$bound
  found
}

# Of sensitive values there may not be fewer, of all other measures not more.
within_limits <- function(risks, settings) {
  all(vapply(names(risks), function(name) {
    limit <- settings$constraint[[name]]
    !is.na(risks[[name]]) && if (name == "l") risks[[name]] >= limit else risks[[name]] <= limit
  }, NA))
}

# The measures of our own functions for the records that a recoding leaves.
judge_recoding <- function(problem, levels) {
  settings <- problem$settings
  keys <- settings$key_vars
  recoded <- as.data.frame(lapply(keys, function(name) {
    recode_column(problem$data[[name]], problem$hierarchies[[name]], levels[[name]])
  }))
  names(recoded) <- keys
  kept <- !blanked_records(problem, levels)
  if (!is.null(settings$weight_var)) recoded[[settings$weight_var]] <- problem$weights
  judged_risks(problem, with_sensitive(recoded, problem)[kept, , drop = FALSE])
}

with_sensitive <- function(recoded, problem) {
  for (name in problem$settings$sensitive) recoded[[name]] <- problem$data[[name]]
  recoded
}

judged_risks <- function(problem, recoded, missing = "category") {
  settings <- problem$settings
  keys <- settings$key_vars
  c(
    tau1_rate = if ("tau1_rate" %in% judged_here(settings)) {
      quietly(loglinear_risk(
        recoded, keys, weight_var = settings$weight_var, pop_size = settings$pop_size,
        model = settings$model, missing = "category"
      )$estimates$tau1_rate)
    },
    population_uniqueness = if ("population_uniqueness" %in% judged_here(settings)) {
      quietly(population_uniqueness(
        recoded, keys, settings$pop_size, "pitman"
      )$estimates$population_uniqueness)
    },
    sensitive_limits(recoded, settings, missing)
  )
}

# The least diverse of all sensitive variables.
sensitive_limits <- function(recoded, settings, missing) {
  asked <- intersect(c("l", "t"), judged_here(settings))
  if (length(asked)) {
    told <- quietly(n_matches(
      recoded, settings$key_vars, sensitive = settings$sensitive, missing = missing,
      weight_var = NULL, hh_id = NULL
    )$estimates)
    # No estimate if every record is blanked.
    if (!is.data.frame(told)) told <- list(l_distinct = NA_real_, t_closeness = NA_real_)
    c(l = told[["l_distinct"]], t = told[["t_closeness"]])[asked]
  }
}

# A measure of one recoding of many: its signals are about none the user made.
quietly <- function(expr) {
  suppressMessages(suppressWarnings(
    tryCatch(expr, sdcRisk_error = function(e) NA_real_)
  ))
}

blanked_records <- function(problem, levels) {
  core(
    rs_recode_blanks, problem$table$pointer, unname(problem$variables),
    core_settings(problem$settings, frontier = FALSE), as.integer(levels)
  )
}

# The limits that the coarsest recoding, and those evaluated, reach.
stop_no_recoding <- function(found, problem) {
  settings <- problem$settings
  asked <- intersect(names(settings$constraint), constraint_names)
  reached <- found$reached
  if (nrow(reached) == 0 || isFALSE(found$proven)) {
    stop_sdc(
      "not_converged",
      c(
        "A recoding that meets `constraint` must be found within `max_seconds`.",
        x = paste0("None was found in ", format_number(settings$max_seconds), " s."),
        i = "Give more time, hierarchies with coarser levels, or a larger `suppress`."
      ),
      constraint = settings$constraint
    )
  }
  words <- vapply(asked, function(name) reach_words(name, reached, settings), "")
  words <- c(words, if (length(found$fewest_cells)) {
    paste("at least", plural(found$fewest_cells, "suppressed value"))
  })
  stop_sdc(
    "unprotectable",
    c(
      "`constraint` must be within reach of the hierarchies.",
      x = paste0(
        "No recoding meets it", if (settings$suppress > 0) {
          paste0(
            " with at most ", format_percent(settings$suppress), " of the ",
            if (settings$blanks == "cells") "key values" else "records", " suppressed"
          )
        }, "."
      ),
      x = paste0("Best reachable: ", paste(words, collapse = "; "), "."),
      i = "Allow coarser levels (hierarchies, `keep`), a larger `suppress`, or a weaker limit."
    ),
    constraint = settings$constraint
  )
}

reach_words <- function(name, reached, settings) {
  wanted <- settings$constraint[[name]]
  n <- settings$n
  switch(name,
    k = if (all(is.na(reached$violating))) {
      paste0("k (", wanted, ") by suppression")
    } else {
      paste0(
        "k (", wanted, ") leaves ", plural(min(reached$violating), "record"),
        " in smaller classes"
      )
    },
    prop_unique = paste0(
      "prop_unique ", format_risk(min(reached$n_unique) / n), " before suppression (limit ",
      format_number(wanted), ")"
    ),
    l = paste0("l ", max(c(reached$l, 0), na.rm = TRUE), " (limit ", wanted, ")"),
    paste0(
      name, " ", format_risk(min(c(reached[[name]], Inf), na.rm = TRUE)), " (limit ",
      format_number(wanted), ")"
    )
  )
}
