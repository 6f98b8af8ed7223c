# The result of recode_search(), and what it says of itself.

declare_measure(
  "recode_search",
  reference = "gionis2009",
  terms = c("risk", "cost", "cost_share", "n_suppressed", "gap", "n_nodes", "n_evaluated"),
  title = "Cheapest recodings under a limit",
  question = "which recoding meets the limit and loses least?",
  size = c(
    paste0(
      plural(n, "record"), ", ", plural(x$diagnostics$n_keys, "key variable"), "; ",
      count_words(n_nodes), " recodings. Limit: ", constraint_words(x$settings), "."
    ),
    paste0("Cheapest: ", x$best$text[[1]], ".")
  ),
  risk = figure(
    paste0("Largest risk after the cheapest recoding (limit on ", first_constraint(x), ")"),
    "risk", scenario = "prosecutor",
    limit = if (first_constraint(x) == "k") {
      promise(1 / x$settings$constraint$k, 1 / x$settings$constraint$k, limit)
    } else {
      NA
    },
    note = paste(format_percent(cost_share), "of the information lost")
  ),
  cost = figure(
    paste0("Cost, ", cost_words[[x$settings$cost]]), "count", scenario = "none",
    direction = "none", board = FALSE
  ),
  cost_share = figure(
    "Of what dropping all costs", "share", scenario = "none", direction = "none", board = FALSE,
    says = paste0(
      "It is: ", x$best$text[[1]], ", and loses %s of what dropping all key variables would lose"
    )
  ),
  n_suppressed = figure(
    if (x$settings$blanks == "cells") "Suppressed values" else "Suppressed records", "count",
    scenario = "none", direction = "none", board = FALSE
  ),
  notes = list(
    told_line(told_unasked(x$diagnostics$told_by_columns), "recoded values"),
    law_lines(x$diagnostics$law),
    frequency_words(x$hierarchies), proof_words(x)
  ),
  next_step = paste0(
    "apply_recoding(x, data", if (x$diagnostics$counted && n_suppressed > 0) ", blanks = FALSE", ")"
  ),
  measured = paste0(
    "Of ", count_words(n_nodes), " recodings of ", plural(x$diagnostics$n_keys, "key variable"),
    " in ", plural(n, "record"), ", the cheapest under a limit was sought"
  ),
  limits = paste(
    "The limit concerns these key variables alone, not other columns, nor values that all",
    "records of a class share"
  ),
  source = paste0(constraint_words(x$settings), "; ", cost_words[[x$settings$cost]]),
  assuming = if (proven) {
    "proven optimal"
  } else {
    paste("at most", format_percent(gap), "above the optimum")
  },
  frame = x$best
)

first_constraint <- function(x) intersect(names(x$settings$constraint), constraint_names)[[1]]

best_frame <- function(best, problem) {
  settings <- problem$settings
  kept <- settings$n - if (settings$blanks == "cells") 0 else best$n_suppressed
  left <- pmax(0, best$n_unique - if (settings$blanks == "cells") 0 else best$n_suppressed)
  # Under a limit on k all that violates is blanked, uniques among it.
  if (!is.null(settings$constraint$k) && settings$constraint$k > 1) left <- 0 * left
  measures <- list(
    k = 1 / best$smallest, prop_unique = left / pmax(kept, 1), qar = best$qar,
    journalist = best$journalist, tau1_rate = best$tau1_rate,
    population_uniqueness = best$population_uniqueness, l = best$l, c = best[["c"]], t = best$t
  )
  asked <- intersect(names(settings$constraint), constraint_names)
  out <- as.data.frame(best$levels)
  out$cost <- best$cost
  out$risk <- if (asked[[1]] == "l") 1 / best$l else measures[[asked[[1]]]]
  out$n_suppressed <- best$n_suppressed
  out$k <- best$smallest
  out$n_unique <- best$n_unique
  for (name in setdiff(asked, "k")) {
    out[[name]] <- measures[[name]]
  }
  out$text <- vapply(seq_len(nrow(out)), function(i) {
    recoding_words(problem, levels_at(best, i, problem), out$n_suppressed[[i]])
  }, "")
  rownames(out) <- NULL
  out
}

# Cost of dropping every variable: all information.
dropped_cost <- function(problem) {
  settings <- problem$settings
  if (settings$cost == "entropy") {
    codes <- all_codes(list(problem$table))[[1]]
    times <- times_of(problem$data)
  }
  sum(vapply(seq_along(problem$variables), function(j) {
    variable <- problem$variables[[j]]
    if (settings$cost == "entropy") {
      count <- count_over(codes[[j]] + 1L, max(codes[[j]]) + 1L, times)
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
        paste(
          "every record with at least", value, "matches (a suppressed value matches everything)"
        )
      } else {
        paste("every class of at least", value, "records")
      },
      prop_unique = paste0("sample uniques at most ", format_percent(limits[[name]])),
      qar = paste0("T(", asked$p, ", ", format_number(asked$alpha), ") at most ", value),
      journalist = paste("largest journalist risk at most", value),
      tau1_rate = paste("tau1 per record at most", value),
      population_uniqueness = paste("population uniqueness at most", value),
      l = paste("at least", value, "sensitive values in every class"),
      c = paste0("recursive (", value, ", ", format_number(limits$l), ")-diversity"),
      t = paste("t-closeness at most", value)
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
      " finished value by value: at most ", format_percent(e$gap), " of its cost above the optimum."
    ))
  }
  paste0(
    "Time ended before the proof: the first costs at most ", format_percent(e$gap),
    " of its cost more than the optimum."
  )
}

#' @export
summary.sdc_recode_search <- function(object, by = NULL, data = NULL, ...) {
  enter_verb("summary", object)
  structure(
    list(
      title = describe(object)$title, estimates = summary.sdc_result(object, by, data)$estimates,
      best = object$best[setdiff(names(object$best), "text")],
      frontier = utils::head(object$frontier, 20)
    ),
    class = "sdc_summary"
  )
}
