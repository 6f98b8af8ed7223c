# The result of recode_search(), and what it says of itself.

new_recode_search <- function(found, problem, this_call) {
  settings <- problem$settings
  keys <- settings$key_vars
  best <- best_frame(found$best, problem)
  frontier <- found$frontier[c(keys, "cost", "risk", "n_suppressed")]
  dropped <- dropped_cost(problem)
  proven <- isTRUE(found$proven)
  bound <- if (proven) best$cost[[1]] else max(0, found$bound, na.rm = TRUE)
  new_sdc_result(
    "sdc_recode_search",
    estimates = frame(
      n = settings$n, n_nodes = found$n_nodes, n_evaluated = found$n_evaluated,
      proven = proven,
      gap = if (best$cost[[1]] > 0) max(0, (best$cost[[1]] - bound) / best$cost[[1]]) else 0,
      cost = best$cost[[1]], cost_share = if (dropped > 0) best$cost[[1]] / dropped else 0,
      risk = best$risk[[1]], n_suppressed = best$n_suppressed[[1]], bound = bound
    ),
    records = NULL, settings = settings,
    diagnostics = list(
      n_keys = length(keys), measure = risk_measure(settings),
      frontier_of = core_settings(settings)$frontier, whole_frontier = found$whole_frontier,
      n_finished = found$n_finished,
      proposed = keys[vapply(problem$hierarchies, `[[`, "", "kind") == "proposal"]
    ),
    call = this_call,
    best = best, frontier = frontier,
    code = lapply(seq_len(nrow(best)), function(i) {
      recoding_code(problem, unlist(best[i, keys, drop = FALSE]), best$n_suppressed[[i]])
    }),
    hierarchies = problem$hierarchies
  )
}

# The first constraint is the risk of a row.
risk_measure <- function(settings) {
  intersect(names(settings$constraint), constraint_names)[[1]]
}

best_frame <- function(best, problem) {
  settings <- problem$settings
  keys <- settings$key_vars
  kept <- settings$n - if (settings$blanks == "cells") 0 else best$n_suppressed
  left <- pmax(0, best$n_unique - if (settings$blanks == "cells") 0 else best$n_suppressed)
  # Under a limit on k all that violates is blanked, uniques among it.
  if (!is.null(settings$constraint$k) && settings$constraint$k > 1) left <- 0 * left
  measures <- list(
    k = 1 / best$smallest, prop_unique = left / pmax(kept, 1), qar = best$qar,
    journalist = best$journalist, tau1_rate = best$tau1_rate,
    population_uniqueness = best$population_uniqueness
  )
  asked <- intersect(names(settings$constraint), constraint_names)
  out <- best[keys]
  out$cost <- best$cost
  out$risk <- measures[[asked[[1]]]]
  out$n_suppressed <- best$n_suppressed
  out$k <- best$smallest
  out$n_unique <- best$n_unique
  for (name in setdiff(asked, "k")) {
    out[[name]] <- measures[[name]]
  }
  out$text <- vapply(seq_len(nrow(out)), function(i) {
    recoding_words(problem, unlist(out[i, keys, drop = FALSE]), out$n_suppressed[[i]])
  }, "")
  rownames(out) <- NULL
  out
}

# What dropping every variable costs: all that can be lost.
dropped_cost <- function(problem) {
  settings <- problem$settings
  if (settings$cost == "entropy") {
    codes <- all_codes(list(problem$table))[[1]]
  }
  sum(vapply(seq_along(problem$variables), function(j) {
    variable <- problem$variables[[j]]
    if (settings$cost == "entropy") {
      count <- tabulate(codes[[j]] + 1L)
      count <- count[count > 0]
      variable$weight * sum(count * log2(settings$n / count))
    } else {
      variable$weight * settings$n
    }
  }, 0))
}

cost_words <- c(
  entropy = "bits lost, non-uniform entropy", loss = "share of values no longer told apart",
  levels = "level over highest level"
)

constraint_words <- function(settings) {
  asked <- settings$constraint
  limits <- asked[intersect(names(asked), constraint_names)]
  words <- vapply(names(limits), function(name) {
    value <- format_number(limits[[name]])
    switch(name,
      k = if (identical(settings$blanks, "cells")) {
        paste0("every record with at least ", value, " matches (a blank matches everything)")
      } else {
        paste("every cell of at least", value, "records")
      },
      prop_unique = paste0("sample uniques at most ", format_percent(limits[[name]])),
      qar = paste0("T(", asked$p, ", ", format_number(asked$alpha), ") at most ", value),
      journalist = paste("largest journalist risk at most", value),
      tau1_rate = paste("tau1 per record at most", value),
      population_uniqueness = paste("population uniqueness at most", value)
    )
  }, "")
  paste(words, collapse = "; ")
}

count_words <- function(n) {
  if (n > 1e15) format(n, digits = 2) else format_count(n)
}

proof_words <- function(x) {
  e <- x$estimates
  if (e$proven) {
    return("The first is the optimum: proven.")
  }
  if (x$settings$blanks == "cells") {
    return(paste0(
      "The cheapest of ", plural(x$diagnostics$n_finished, "recoding"),
      " finished cell by cell: at most ", format_percent(e$gap), " of its cost above the optimum."
    ))
  }
  paste0(
    "Time ended before the proof: the first costs at most ", format_percent(e$gap),
    " of its cost more than the optimum."
  )
}

#' @export
describe.sdc_recode_search <- function(x) {
  e <- x$estimates
  settings <- x$settings
  best <- utils::head(x$best, 5)
  description(
    title = "Cheapest recodings under a limit",
    question = "which recoding meets the limit and loses least?",
    size = paste0(
      plural(e$n, "record"), ", ", plural(x$diagnostics$n_keys, "key variable"), "; ",
      count_words(e$n_nodes), " recodings, ", count_words(e$n_evaluated),
      " evaluated in whole or in part."
    ),
    answer = c(
      fact("Limit: ", constraint_words(settings), ".", keep = "always"),
      fact(
        "Cost (", cost_words[[settings$cost]], "): ", format_amount(e$cost), ", ",
        format_percent(e$cost_share), " of what dropping all costs. ", proof_words(x),
        keep = "always"
      ),
      fact(
        seq_len(nrow(best)), ". ", format_amount(best$cost), ": ", best$text, ".", starts = TRUE
      )
    ),
    scenario = scenario("prosecutor"),
    notes = c(
      if (length(x$diagnostics$proposed)) {
        fact(
          "Proposed hierarchies (frequencies, not meaning): ",
          quote_names(x$diagnostics$proposed, 4), ".", keep = "detail"
        )
      }
    ),
    more = "x$best, x$code, apply_recoding(x, data), plot(x), interpret(x)",
    sentence = cited(
      measured = paste0(
        "Of ", count_words(e$n_nodes), " recodings of ",
        plural(x$diagnostics$n_keys, "key variable"), " in ", plural(e$n, "record"),
        ", the cheapest under a limit was sought"
      ),
      found = paste0(
        "It is: ", x$best$text[[1]], ", and loses ", format_percent(e$cost_share),
        " of what dropping all key variables would lose"
      ),
      limits = paste(
        "The limit concerns these key variables alone, not other columns, nor values",
        "that all records of a cell share"
      ),
      source = paste0(constraint_words(settings), "; ", cost_words[[settings$cost]]),
      assuming = if (e$proven) {
        "proven optimal"
      } else {
        paste("at most", format_percent(e$gap), "above the optimum")
      }
    )
  )
}

#' @export
as.data.frame.sdc_recode_search <- function(x, ...) check_result(x)$best

#' @export
summary.sdc_recode_search <- function(object, by = NULL, data = NULL, ...) {
  check_result(object)
  base <- summary.sdc_result(object, by, data)
  structure(
    list(
      title = describe(object)$title, estimates = base$estimates,
      best = object$best[setdiff(names(object$best), "text")],
      frontier = utils::head(object$frontier, 20)
    ),
    class = "sdc_summary"
  )
}

#' @export
tidy_terms.sdc_recode_search <- function(x) {
  list(ids = character(), terms = c(
    "cost", "cost_share", "risk", "n_suppressed", "gap", "n_nodes", "n_evaluated"
  ))
}

#' @rdname sdc_result
#' @usage NULL
#' @export
glance.sdc_recode_search <- function(x, ...) {
  check_result(x)
  cbind(x$estimates, frame(
    n_keys = x$diagnostics$n_keys, measure = x$diagnostics$measure, cost_kind = x$settings$cost,
    fingerprint = x$settings$fingerprint
  ))
}
