# Reading a result of removal_path(): words, tables, one sentence.

declare_measure(
  "removal_path",
  reference = "bera2023", ids = c("p", "alpha"),
  terms = c("risk", "reduction", "best_reduction", "threshold", "shape", "risk_empirical"),
  risk = figure(
    paste("Extreme risk T without", plural(n_removed, "record")), "risk",
    scenario = "prosecutor", attempt = TRUE, note = paste("before:", format_risk(risk_before))
  )
)

#' @export
describe.sdc_removal_path <- function(x) {
  estimates <- x$estimates
  description(
    title = "Removal of records and the extreme re-identification risk",
    question = paste0(
      "what does removing ", plural(estimates$n_removed, "record"), " ",
      removal_orders[[estimates$by]],
      if (x$settings$block > 1) paste0(" in blocks of ", format_count(x$settings$block)),
      " buy?"
    ),
    size = analysis_size_line(x, estimates$n_records),
    answer = c(
      path_grid(estimates),
      fact(fit_moved_line(x)),
      fact(path_reduction_line(estimates), keep = "detail"),
      fact(path_band_line(x), keep = "aside"),
      fact(path_pls_line(x), keep = "aside"),
      fact(path_left_out_line(x), keep = "aside")
    ),
    scenario = scenario("prosecutor"),
    notes = fact("T describes this file: no sampling error.", keep = "detail"),
    more = "summary(x), plot(x), interpret(x)",
    sentence = path_cited(x)
  )
}

path_left_out_line <- function(x) {
  left_out <- x$diagnostics$left_out
  if (is.null(left_out) || left_out[["after"]] == left_out[["before"]]) {
    return(NULL)
  }
  paste0(
    "Left out as they identify every record left: ", plural(left_out[["before"]], "key set"),
    " before, ", format_count(left_out[["after"]]), " after."
  )
}

path_grid <- function(estimates) {
  terms <- c("risk", "threshold", "shape", "risk_empirical")
  of <- function(suffix) {
    vapply(paste0(terms, suffix), function(column) {
      format_t(estimates[[column]])
    }, "", USE.NAMES = FALSE)
  }
  change <- vapply(terms, function(term) {
    after <- estimates[[term]]
    before <- estimates[[paste0(term, "_before")]]
    if (term == "shape") "" else format_change(after / before - 1)
  }, "", USE.NAMES = FALSE)
  table <- frame(
    " " = c(
      paste0(name_of_t(estimates)), "threshold u", "shape",
      paste0("empirical ", format_number(1 - estimates$alpha), " quantile")
    ),
    before = of("_before"), after = of(""), change = change
  )
  grid(table, least = nrow(table))
}

format_change <- function(x) {
  rounded <- round(100 * x, 1)
  # No sign before nothing.
  shown <- ifelse(
    rounded == 0, formatC(0, digits = 1, format = "f"),
    formatC(rounded, digits = 1, format = "f", flag = "+")
  )
  ifelse(is.finite(x), paste(shown, "%"), "")
}

path_reduction_line <- function(estimates) {
  if (is.na(estimates$reduction)) {
    return("The reduction is not determined: see ?qar_risk for the status.")
  }
  ahead <- estimates$best_n < estimates$n_removed
  paste0(
    "T ", change_in_words(estimates$risk_before, estimates$risk), " with ",
    format_percent(estimates$prop_removed), " of the records removed",
    if (isTRUE(ahead) && estimates$best_reduction > 0) {
      paste0(
        "; it was lowest, by ", format_percent(estimates$best_reduction), ", after ",
        format_count(estimates$best_n)
      )
    },
    "."
  )
}

fit_moved_line <- function(x) {
  if (!x$diagnostics$fit_moved) {
    return(NULL)
  }
  estimates <- x$estimates
  paste0(
    "Careful: T fell by its fit, not by the tail. The empirical quantile ",
    change_in_words(estimates$risk_empirical_before, estimates$risk_empirical),
    ", the threshold ", change_in_words(estimates$threshold_before, estimates$threshold), "."
  )
}

# -1 for a fall, 1 for a rise, 0 for no change but by rounding.
change_direction <- function(before, after) {
  change <- after / before - 1
  if (!is.finite(change) || abs(change) < 1e-12) 0 else sign(change)
}

# "fell by 3 %", "rose by 3 %" or "stayed"
change_in_words <- function(before, after) {
  switch(change_direction(before, after) + 2,
    paste("fell by", format_percent(1 - after / before)),
    "stayed",
    paste("rose by", format_percent(after / before - 1))
  )
}

path_band_line <- function(x) {
  draws <- x$diagnostics$draws
  if (is.null(draws)) {
    return(NULL)
  }
  last <- draws[draws$step == max(draws$step), ]
  paste0(
    "The path shows the first of ", nrow(last), " random orders; over all, T ends between ",
    format_t(min(last$risk)), " and ", format_t(max(last$risk)), "."
  )
}

path_pls_line <- function(x) {
  quality <- x$diagnostics$pls
  if (is.null(quality)) {
    return(NULL)
  }
  paste0(
    "PLS: R2 ", paste(format_risk(quality$r_squared), collapse = " (train) and "),
    " (test); AUC for a positive contribution ",
    paste(format_risk(quality$auc), collapse = " and "), "."
  )
}

#' @export
as.data.frame.sdc_removal_path <- function(x, ...) {
  enter_verb("as.data.frame", x)
  x$path
}

#' @export
summary.sdc_removal_path <- function(object, by = NULL, data = NULL, ...) {
  enter_verb("summary", object)
  if (!is.null(by)) {
    stop_argument(
      "by", "be NULL for this result",
      found = "It has no risk per record."
    )
  }
  new_summary(
    object,
    estimates = object$estimates, on_the_way = path_milestones(object$path),
    pls = object$diagnostics$pls
  )
}

# Ten looks at a path, at ends of blocks.
path_milestones <- function(path) {
  ends <- which(!duplicated(path$step, fromLast = TRUE))
  shown <- unique(ends[round(seq(1, length(ends), length.out = min(10, length(ends))))])
  cbind(frame(n_removed = shown), path[shown, setdiff(names(path), c("step", "record"))])
}

path_cited <- function(x) {
  estimates <- x$estimates
  cited(
    measured = paste0(
      "From the file of ", plural(estimates$n_records, "record"), " and ",
      plural(x$diagnostics$n_keys, "key variable"), ", ",
      plural(estimates$n_removed, "record"), ", ", format_percent(estimates$prop_removed),
      " of the file, ", if (estimates$n_removed == 1) "was" else "were", " removed ",
      removal_orders[[estimates$by]]
    ),
    found = paste0(
      "this ", path_change_words(estimates),
      if (x$diagnostics$fit_moved) {
        paste0(
          "; T fell because the fitted tail moved rather than the risks of the riskiest ",
          "key sets"
        )
      }
    ),
    limits = paste(
      "these figures describe this file, and what removal does to analyses is not measured"
    ),
    source = qar_source, assuming = c(qar_missing_clause(x), path_left_out_clause(x))
  )
}

# T and its empirical quantile before and after, each with its own verb.
path_change_words <- function(estimates) {
  name <- long_name_of_t(estimates)
  quantile <- c(estimates$risk_empirical_before, estimates$risk_empirical)
  if (is.na(estimates$reduction)) {
    return(paste("changes", name, "by an amount that cannot be determined"))
  }
  of_risk <- change_direction(estimates$risk_before, estimates$risk)
  of_quantile <- change_direction(quantile[[1]], quantile[[2]])
  from_to <- function(before, after) paste("from", format_t(before), "to", format_t(after))
  verb <- switch(of_risk + 2, "lowers", "leaves", "raises")
  of_t <- paste(
    verb, name,
    if (of_risk == 0) {
      paste("at", format_t(estimates$risk))
    } else {
      paste0(
        from_to(estimates$risk_before, estimates$risk), " (by ",
        format_percent(abs(estimates$reduction)), ")"
      )
    }
  )
  if (anyNA(quantile)) {
    return(of_t)
  }
  if (of_quantile == of_risk) {
    return(paste0(
      of_t, " and its empirical quantile ",
      if (of_quantile == 0) {
        paste("at", format_t(quantile[[2]]))
      } else {
        from_to(quantile[[1]], quantile[[2]])
      }
    ))
  }
  paste0(
    of_t, ", while its empirical quantile ",
    switch(of_quantile + 2,
      paste("falls", from_to(quantile[[1]], quantile[[2]])),
      paste("stays at", format_t(quantile[[2]])),
      paste("rises", from_to(quantile[[1]], quantile[[2]]))
    )
  )
}

path_left_out_clause <- function(x) {
  left_out <- x$diagnostics$left_out
  if (is.null(left_out) || all(left_out == 0)) {
    return(analysis_clauses(x)[-1])
  }
  paste0(
    "key sets that identify every record are left out (", format_count(left_out[["before"]]),
    " before, ", format_count(left_out[["after"]]), " after)"
  )
}
