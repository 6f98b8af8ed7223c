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
    max_sets = .Machine$integer.max,
    frontier = if (!frontier) "none" else if (length(first)) first[[1]] else "prop_unique"
  )
}

search_core <- function(problem, ...) {
  found <- core(
    rs_recode_search, problem$table$pointer, unname(problem$variables),
    core_settings(problem$settings, ...)
  )
  found$best <- level_frame(found$best, problem)
  found$frontier <- level_frame(found$frontier, problem)
  found$reached <- level_frame(found$reached, problem)
  found
}

# Levels in one column, a matrix, so that a key variable may have any name.
level_frame <- function(part, problem) {
  keys <- problem$settings$key_vars
  out <- as.data.frame(part[names(part) != "levels"])
  out$levels <- matrix(part$levels, nrow(out), length(keys), TRUE, list(NULL, keys))
  out
}

# Measures that are judged here, in order of cost.
judged_here <- function(settings) {
  intersect(c("l", "c", "t", law_limits), names(settings$constraint))
}

# Recodings listed before the search gives up.
most_judged <- 4096

# The cheapest that the core admits, in order of cost, until enough of them keep
# the limits judged here: what is found first is the cheapest.
search_by_cost <- function(problem) {
  judge <- recoding_judge(problem)
  looked <- look_by_cost(problem, judge)
  found <- looked$found
  keeps <- looked$keeps
  found$proven <- found$proven && (any(keeps) || looked$exhausted)
  if (!any(keeps) && !looked$exhausted) {
    # All that were looked at cost less than this one.
    found$bound <- found$best$cost[[length(keeps)]]
    found$best <- search_certain(problem)
    rows <- seq_len(nrow(found$best))
    keeps <- vapply(rows, function(i) judge$keeps(levels_at(found$best, i, problem)), NA)
  }
  found$n_evaluated <- found$n_evaluated + judge$n()
  found$best <- found$best[which(keeps), , drop = FALSE]
  if (!any(keeps)) {
    found$reached <- judge$reached()
    return(found)
  }
  rows <- lapply(seq_len(nrow(found$best)), function(i) {
    judge$risks(levels_at(found$best, i, problem))
  })
  found$best <- cbind(found$best, do.call(rbind, rows))
  found$bound <- min(found$bound, found$best$cost[[1]])
  found
}

# Asks the core for more recodings until enough keep the limits, none is left, or time is up.
look_by_cost <- function(problem, judge) {
  settings <- problem$settings
  n_asked <- max(32, settings$n_best)
  began <- proc.time()[["elapsed"]]
  repeat {
    found <- search_core(problem, n_best = n_asked)
    keeps <- logical()
    late <- FALSE
    for (i in seq_len(nrow(found$best))) {
      keeps <- c(keeps, judge$keeps(levels_at(found$best, i, problem)))
      late <- proc.time()[["elapsed"]] - began > settings$max_seconds
      if (sum(keeps) == settings$n_best || late) break
    }
    exhausted <- nrow(found$best) < n_asked
    if (sum(keeps) == settings$n_best || exhausted || late || n_asked >= most_judged) break
    n_asked <- 4 * n_asked
  }
  list(found = found, keeps = keeps, exhausted = exhausted)
}

levels_at <- function(nodes, i, problem) {
  rlang::set_names(nodes$levels[i, ], problem$settings$key_vars)
}

# Few recodings under limits that keep those of the population for certain, or nearly: a key has as
# many people as records, and no more sample uniques are unique in the population than there are.
search_certain <- function(problem) {
  asked <- problem$settings$constraint
  most_unique <- c(asked$prop_unique, asked$tau1_rate, asked$population_uniqueness)
  asked$k <- max(asked$k, if (!is.null(asked$journalist)) ceiling(1 / asked$journalist - 1e-9), 1)
  if (asked$k > problem$settings$n) asked$k <- problem$settings$n
  asked$prop_unique <- if (length(most_unique)) min(most_unique)
  problem$settings$constraint <- asked
  search_core(problem, n_best = problem$settings$n_best, frontier = FALSE)$best
}

# Judges recodings, each once. If all records are kept, the true figures of the population never
# rise when a variable is coarsened: a recoding that is finer than one that breaks such a limit is
# not looked at. Coarser ones are tried first, since they settle many.
recoding_judge <- function(problem) {
  settings <- problem$settings
  known <- list()
  refused <- kept <- matrix(0L, 0, length(settings$key_vars))
  monotone <- settings$suppress == 0 && any(law_limits %in% names(settings$constraint))
  top <- vapply(problem$variables, function(v) max(v$allowed) - 1L, 0L)
  risks <- function(levels) {
    key <- paste(levels, collapse = " ")
    if (is.null(known[[key]])) {
      found <- known[[key]] <<- judge_recoding(problem, levels)
      if (monotone && isTRUE(found[["kept"]] == 0)) refused <<- rbind(refused, levels)
      if (monotone && isTRUE(found[["kept"]] == 1)) kept <<- rbind(kept, levels)
    }
    known[[key]]
  }
  finer <- function(levels, than) {
    colSums(t(than) >= levels) == length(levels)
  }
  keeps <- function(levels) {
    above <- kept[finer(levels, kept), , drop = FALSE]
    high <- if (nrow(above)) above[which.min(rowSums(above)), ] else top
    while (monotone && !any(finer(levels, refused))) {
      middle <- allowed_levels(problem, (levels + high) %/% 2, levels)
      if (all(middle == levels)) break
      if (risks(middle)[["kept"]] == 0) break
      high <- middle
    }
    !(monotone && any(finer(levels, refused))) && within_limits(risks(levels), settings)
  }
  reached <- function() as.data.frame(do.call(rbind, unname(known)))
  list(keeps = keeps, risks = risks, reached = reached, n = function() length(known))
}

# The levels that may be chosen next to those wanted, not below `low`.
allowed_levels <- function(problem, wanted, low) {
  at <- Map(function(variable, wanted, low) {
    levels <- variable$allowed - 1L
    max(levels[levels <= max(wanted, low)])
  }, problem$variables, wanted, low)
  rlang::set_names(unlist(at), names(low))
}

# Of sensitive values there may not be fewer, of all other measures not more, of c less; of limits
# of the population the page judges.
within_limits <- function(risks, settings) {
  all(vapply(names(risks), function(name) {
    limit <- settings$constraint[[name]]
    if (name == "kept") {
      risks[[name]] == 1
    } else if (name %in% law_limits) {
      TRUE
    } else {
      risk <- risks[[name]]
      isTRUE(switch(name, l = risk >= limit, c = risk < limit, risk <= limit))
    }
  }, NA))
}

# The measures of our own functions for the records that a recoding leaves.
judge_recoding <- function(problem, levels) {
  keys <- problem$settings$key_vars
  recoded <- as.data.frame(lapply(keys, function(name) {
    recode_column(problem$data[[name]], problem$hierarchies[[name]], levels[[name]])
  }))
  names(recoded) <- keys
  blanked <- blanked_records(problem, levels)
  kept <- with_sensitive(recoded, problem)[!blanked, , drop = FALSE]
  recoded[blanked, keys] <- NA
  c(sensitive_limits(kept, problem$settings, "category"), law_risks(problem, recoded))
}

# The limits of the population in a release: their values, and whether the page finds all kept.
law_risks <- function(problem, released) {
  limit <- problem$settings$constraint
  if (any(law_limits %in% names(limit))) {
    released[names(problem$of_people)] <- problem$of_people
    law <- quietly(law_verdicts(released, problem$roles, limit))
    c(rlang::set_names(law$value, law$measure), kept = all(law$verdict == "ok"))
  }
}

with_sensitive <- function(recoded, problem) {
  for (name in problem$settings$sensitive) recoded[[name]] <- problem$data[[name]]
  recoded
}

# The least diverse of all sensitive variables.
sensitive_limits <- function(recoded, settings, missing) {
  asked <- intersect(c("l", "c", "t"), judged_here(settings))
  if (length(asked)) {
    told <- quietly(n_matches(
      recoded, settings$key_vars, sensitive = settings$sensitive, missing = missing,
      weight_var = NULL, hh_id = NULL
    )$estimates)
    # No estimate if every record is blanked.
    if (!is.data.frame(told)) told <- list(l_distinct = NA_real_, t_closeness = NA_real_)
    ratio <- if ("c" %in% asked) {
      with_l <- list(sensitive = settings$sensitive, l = settings$constraint$l)
      quietly(max(recursive_ratio(recoded, settings$key_vars, with_l, missing), na.rm = TRUE))
    }
    c(l = told[["l_distinct"]], c = ratio, t = told[["t_closeness"]])[asked]
  }
}

# A measure of one recoding of many: its signals are about none the user made.
quietly <- function(expr) {
  suppressMessages(suppressWarnings(tryCatch(expr, sdcRisk_error = function(e) NA_real_)))
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
      "not_converged", "A recoding that meets `constraint` must be found within `max_seconds`.",
      x = if (isTRUE(found$gave_up)) {
        paste0("It was not met by the ", found$n_finished, " recodings that were completed.")
      } else {
        paste0("None was found in ", format_number(settings$max_seconds), " s.")
      },
      i = paste0(
        "Give ", if (!isTRUE(found$gave_up)) "more time, ",
        "hierarchies with coarser levels, or a larger `suppress`."
      ),
      constraint = settings$constraint
    )
  }
  words <- vapply(asked, function(name) reach_words(name, reached, settings), "")
  words <- c(words, if (length(found$fewest_cells)) {
    paste("at least", plural(found$fewest_cells, "suppressed value"))
  })
  stop_sdc(
    "unprotectable", "`constraint` must be within reach of the hierarchies.",
    x = paste0(
      "No recoding meets it", if (settings$suppress > 0) {
        paste0(
          " with at most ", format_percent(settings$suppress), " of the ",
          if (settings$blanks == "cells") "key values" else "records", " suppressed"
        )
      }, "."
    ),
    x = paste0("Best reachable: ", paste(words, collapse = "; "), "."),
    i = "Allow coarser levels (hierarchies, `keep`), a larger `suppress`, or a weaker limit.",
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
