# Recodings that are finished by suppress_cells(), ranked by the joint cost.

# Roles of the file by which they do so.
cell_roles <- c("hh_id", "strata_var")

# Recodings finished at most: each takes a call of suppress_cells().
most_finished <- 100

# A blank adds to the cost of a recoding, so that recodings are finished in the
# order of what they cost without blanks, until the next one alone costs more than
# the best with theirs: then these are the cheapest of all, proven. The cheapest
# with whole records blanked go first, since they may be far down in that order.
search_cells <- function(problem) {
  settings <- problem$settings
  k <- settings$constraint$k
  if (is.null(k) || k < 2) {
    stop_argument(
      "constraint", "have a `k` of 2 or more if `blanks` is \"cells\"",
      found = if (is.null(k)) "It has no `k`." else "`k` is 1."
    )
  }
  most <- floor(settings$suppress * settings$n * length(settings$key_vars) + 1e-9)
  # Every violator loses a cell at least; a missing value matches all, which the
  # search does not know.
  complete <- all(problem$table$n_missing == 0)
  blankable <- if (complete) min(most, settings$n) else settings$n
  began <- proc.time()[["elapsed"]]
  listed_at <- function(price, n_best) {
    plain <- problem
    plain$settings$constraint <- settings$constraint["k"]
    plain$settings$blank_price <- price
    search_core(plain, n_best = n_best, blankable = blankable, frontier = FALSE)
  }
  tried <- NULL
  # A record that violates loses about one of its cells, half of them none.
  for (share in c(0.5 / length(settings$key_vars), 1)) {
    found <- listed_at(share * settings$blank_price, settings$n_best)
    tried <- finish_some(tried, found$best, most, problem)
  }
  n_asked <- 4 * settings$n_best
  repeat {
    listed <- listed_at(1e-9, n_asked)
    done <- finish_in_order(listed$best, tried, most, began, problem)
    tried <- done$tried
    if (done$stopped || nrow(listed$best) < n_asked) break
    n_asked <- 4 * n_asked
  }
  if (is.infinite(nth_cost(tried, most, settings, 1))) {
    tried <- finish_some(tried, without_suppression(problem), most, problem)
  }
  new_cells_search(found, listed, tried, done$next_base, most, problem)
}

# Recodings finished in the order of their costs without blanks, until the next one
# cannot be among the best, or there is no time for it: `next_base` is its cost.
finish_in_order <- function(nodes, tried, most, began, problem) {
  settings <- problem$settings
  for (i in seq_len(nrow(nodes))) {
    base <- recoding_cost(problem, levels_at(nodes, i, problem))
    enough <- nth_cost(tried, most, settings) <= base * (1 + 1e-9)
    late <- sum(tried$finished) >= most_finished ||
      proc.time()[["elapsed"]] - began > settings$max_seconds
    if (enough || late) {
      return(list(tried = tried, stopped = TRUE, next_base = base))
    }
    tried <- finish_some(tried, nodes[i, , drop = FALSE], most, problem)
  }
  list(tried = tried, stopped = nrow(nodes) == 0, next_base = Inf)
}

# The cheapest recoding that keeps all limits by itself, if there is one.
without_suppression <- function(problem) {
  problem$settings[c("suppress", "blanks", "n_best")] <- list(0, "records", 1)
  if (length(judged_here(problem$settings))) {
    search_by_cost(problem)$best
  } else {
    search_core(problem)$best
  }
}

# The cost that a further recoding must stay below to be among the best.
nth_cost <- function(tried, most, settings, nth = settings$n_best) {
  cost <- if (NROW(tried)) sort(tried$cost[tried$within & tried$n_suppressed <= most])
  if (length(cost) < nth) Inf else cost[[nth]]
}

# `tried` with those of `nodes` that it does not hold yet, each finished.
finish_some <- function(tried, nodes, most, problem) {
  for (i in seq_len(NROW(nodes))) {
    levels <- levels_at(nodes, i, problem)
    if (NROW(tried) == 0 || all(colSums(t(tried$levels) != levels) > 0)) {
      beyond <- nth_cost(tried, most, problem$settings) * (1 + 1e-9)
      finished <- finish_cells(problem, levels, most, beyond)
      finished$levels <- nodes$levels[i, , drop = FALSE]
      tried <- rbind(tried, finished)
    }
  }
  tried
}

new_cells_search <- function(found, listed, tried, next_base, most, problem) {
  settings <- problem$settings
  best <- if (NROW(tried)) {
    tried[tried$within & tried$n_suppressed <= most, , drop = FALSE]
  } else {
    found$best
  }
  at <- best$levels
  rank <- do.call(order, c(list(signif(best$cost, 10), rowSums(at)), unname(as.data.frame(at))))
  best <- utils::head(best[rank, , drop = FALSE], settings$n_best)
  rownames(best) <- NULL
  whole <- isTRUE(listed$proven)
  bound <- if (whole) next_base else listed$bound
  if (nrow(best)) bound <- min(bound, best$cost[[1]])
  without <- search_core(problem, n_best = 1, blankable = 0)
  list(
    best = best, frontier = without$frontier, whole_frontier = without$whole_frontier,
    n_nodes = found$n_nodes, n_evaluated = found$n_evaluated + listed$n_evaluated,
    n_finished = sum(tried$finished), gave_up = sum(tried$finished) >= most_finished, bound = bound,
    proven = whole && (nrow(best) == 0 && is.infinite(next_base) ||
      nrow(best) > 0 && bound >= best$cost[[1]] * (1 - 1e-9)),
    reached = if (NROW(tried)) tried else found$reached,
    fewest_cells = if (any(tried$finished)) min(tried$n_suppressed[tried$finished])
  )
}

# The cost of a recoding and of the blank cells that finish it, and the measures
# that are limited, of the file so made. It is not finished if it takes more than `most` cells or
# costs more than `beyond`, whichever they are.
finish_cells <- function(problem, levels, most, beyond) {
  settings <- problem$settings
  # Other columns stay out of the way of suppress_cells().
  columns <- unique(c(settings$key_vars, unlist(settings[c(cell_roles, "sensitive")])))
  keys <- as.data.frame(problem$data)[columns]
  recoded <- recode_columns(keys, problem$hierarchies, levels)
  judged <- c("qar", "l", "c", "t", law_limits, "kept")
  measures <- rlang::set_names(as.list(rep(NA_real_, length(judged))), judged)
  matches <- quietly(
    n_matches(recoded, settings$key_vars, hh_id = settings$hh_id)
  )$records$n_matches
  price <- cost_parts(problem, levels)
  violators <- which(matches < settings$constraint$k)
  least <- least_lift(price$lift, violators, recoded[settings$key_vars])
  if (length(violators) > most || price$base + settings$blank_price * least > beyond) {
    return(cbind(
      frame(
        cost = Inf, n_suppressed = as.double(length(violators)), violating = NA_real_, n_unique = 0,
        smallest = NA_real_, within = FALSE, finished = FALSE
      ),
      as.data.frame(measures)
    ))
  }
  finished <- quietly_suppress(recoded, settings)
  # Per key variable, the records whose cell was blanked.
  blanks <- lapply(rlang::set_names(settings$key_vars), function(name) {
    which(is_missing(finished$data[[name]]) & !is_missing(recoded[[name]]))
  })
  lift <- sum(unlist(Map(`[`, price$lift, blanks)))
  risks <- cells_risks(problem, finished$data)
  measures[names(risks)] <- risks
  cbind(
    frame(
      cost = price$base + settings$blank_price * lift,
      n_suppressed = as.double(sum(lengths(blanks))), violating = NA_real_, n_unique = 0,
      smallest = as.double(min(finished$records$n_matches)),
      within = within_limits(risks, settings) && !rests_on_incomplete(finished$data, settings),
      finished = TRUE
    ),
    as.data.frame(measures)
  )
}

# Limits beside k, of the finished file.
cells_risks <- function(problem, finished) {
  settings <- within <- problem$settings
  within$key_vars <- c(settings$key_vars, settings$strata_var)
  asked <- settings$constraint
  c(
    qar = if (!is.null(asked$qar)) {
      quietly(qar_risk(
        finished, settings$key_vars, p = asked$p, alpha = asked$alpha, pi_u = asked$pi_u
      )$estimates$risk)
    },
    sensitive_limits(with_sensitive(finished, problem), within, "wildcard"),
    law_risks(problem, finished)
  )
}

quietly_suppress <- function(recoded, settings) {
  old <- options(sdcRisk.cells_alone = TRUE)
  on.exit(options(old))
  suppressMessages(suppressWarnings(do.call(
    suppress_cells, c(list(recoded, settings$key_vars), suppression_asked(settings))
  )))
}

# What suppress_cells() is asked that completes a recoding. It takes limits on sensitive values for
# files without households; others are judged on what it gives.
suppression_asked <- function(settings) {
  roles <- Filter(length, settings[cell_roles])
  limits <- Filter(length, settings$constraint[c("l", "c", "t")])
  takes <- length(limits) && is.null(settings$hh_id) &&
    length(settings$key_vars) <= most_diverse_keys
  others <- if (takes) c(limits, settings["sensitive"]) else Filter(length, settings["rule"])
  c(settings$constraint["k"], roles, others)
}

# Cost of a recoding without suppression.
recoding_cost <- function(problem, levels) cost_parts(problem, levels)$base

# Cost of a recoding, and by variable what blanking the value of each record adds.
cost_parts <- function(problem, levels) {
  codes <- all_codes(list(problem$table))[[1]]
  parts <- Map(function(variable, codes, level) {
    price_variable(variable, problem, codes, level)
  }, problem$variables, codes, levels[problem$settings$key_vars])
  list(base = sum(vapply(parts, `[[`, 0, "base")), lift = lapply(parts, `[[`, "lift"))
}

# Cost of a variable at a level, and what blanking adds.
price_variable <- function(variable, problem, codes, level) {
  settings <- problem$settings
  at <- level + 1L
  code <- codes + 1L
  n <- length(code)
  group <- variable$groups[[at]][code]
  of_code <- tabulate(code, length(variable$groups[[1]]))[code]
  of_group <- tabulate(match(group, unique(group)))[match(group, unique(group))]
  loss <- switch(settings$cost,
    entropy = log2(of_group / of_code),
    loss = (variable$leaves[[at]][code] - 1) / max(variable$n_leaves - 1, 1),
    levels = rep(level / max(length(variable$groups) - 1, 1), n)
  )
  whole <- if (settings$cost == "entropy") log2(n / of_code) else rep(1, n)
  list(base = variable$weight * sum(loss), lift = variable$weight * (whole - loss))
}

# What the cells cost at least that must be blanked: one of each of these records, the cheapest that
# is known and not the same in all records.
least_lift <- function(lift, rows, recoded) {
  by_key <- Map(function(lift, x) {
    lift[is_missing(x)] <- Inf
    if (length(unique(x)) == 1) Inf else lift[rows]
  }, lift, recoded)
  sum(do.call(pmin, unname(by_key)))
}
