# Statements of file_check() on several measures: contradictions, the measure to report, and the
# code to run next.

# One row per disagreement: the measures, why they differ, which to report when.
check_contradictions <- function(rows, facts) {
  at <- function(measure, field = "value") {
    value <- rows[[field]][match(measure, rows$measure)]
    if (length(value)) value else NA
  }
  all <- c(who_knows(at), sample_or_census(at, facts), beyond_all_sets(at))
  of <- function(field) vapply(all, `[[`, "", field)
  frame(measures = of("measures"), reason = of("reason"), report = of("report"))
}

disagreement <- function(measures, reason, report) {
  list(list(measures = measures, reason = reason, report = report))
}

who_knows <- function(at) {
  both_kept <- at("k", "verdict") %in% "ok" && at("journalist", "verdict") %in% "ok"
  if (both_kept || !isTRUE(1 / at("k") > 2 * at("journalist"))) {
    return(NULL)
  }
  disagreement(
    "k and journalist",
    paste0(
      "prosecutor or journalist. Largest risk if it is known that the target is in the ",
      "file ", format_risk(1 / at("k")), ", if it is not ", format_risk(at("journalist"))
    ),
    "k if anyone can know who took part (census, register, panel), else journalist"
  )
}

sample_or_census <- function(at, facts) {
  people <- at("tau1")
  if (facts$census || !isTRUE(at("n_unique") > 2 * people)) {
    return(NULL)
  }
  disagreement(
    "n_unique and tau1",
    paste0(
      "sample or population. ", plural(at("n_unique"), "record"), " alone in a file of ",
      format_percent(facts$n / facts$pop_size), " of the people, ",
      if (people < 0.01) "hardly any" else paste("about", format_amount(people)),
      " alone among all people"
    ),
    "n_unique if taking part is known, else tau1"
  )
}

beyond_all_sets <- function(at) {
  if (!isTRUE(at("qar") > at("set_risk"))) {
    return(NULL)
  }
  disagreement(
    "qar and set_risk",
    "extrapolation. Of few key sets 1% is less than one, and T lies above all of them",
    "set_risk"
  )
}

# Notes that change the meaning of figures of the population.
check_notes <- function(facts) {
  c(
    if (populations_differ(facts)) paste0(
      "The weights sum to ", format_count(round(facts$sum_weights)),
      " people, and the population was given as ", format_count(round(facts$pop_size)),
      ": do not report the journalist's measures before these agree."
    ),
    if (!is.null(facts$scale)) {
      paste0("The weights were multiplied by ", format_number(signif(facts$scale, 3)),
             " to sum to the population.")
    },
    if (facts$from == "given" && is.null(facts$sum_weights) && !facts$census) {
      "No weights: every record stands for as many people."
    }
  )
}

# The measures by which a release of such a file is judged.
report_line <- function(facts) {
  both <- paste(c("Report k", facts$extreme), collapse = " and ")
  if (facts$census) {
    paste0(both, ": the file is the whole population, its uniques are population uniques.")
  } else if (facts$from == "unknown" || !facts$expands) {
    paste(
      both, "as if taking part were known, or give the size of the population",
      "for the risk to people of whom it is not."
    )
  } else {
    paste0(
      both, " if anyone can know who is in the file (panel, register), ",
      "the journalist risk and tau1 if nobody can, and both for a public file."
    )
  }
}

# Next steps -----------------------------------------------------------------------

# Lines of code that can be run as is if `data` exists, which was `given` as a file, as a result or
# an object of sdcMicro, which have the roles of a file, or as other data.
check_next_steps <- function(x, file, given) {
  made <- made_as(x, given)
  roles <- file$roles
  data <- file$data
  # Remedies take records, of a database too, with one value each.
  takes_values <- !any(vapply(as.list(data)[roles$key_vars], is_candidates, NA))
  protects <- takes_values && (is.null(times_of(data)) || !is.null(file$table))
  above <- function(measures) {
    "above" %in% x$estimates$verdict[x$estimates$measure %in% measures]
  }
  apart <- grepl("(sensitive values within their|within the) strata$", x$estimates$reason)
  alike <- above("l") || any(apart)
  told_step <- without_told_step(x, roles, file)
  steps <- c(
    looks_step(x, roles), if (is_in_vain(x)) told_step,
    if (above(rare_measures)) c(matches_step(roles, k_of(x)), special_step(x)),
    if (is_few_elsewhere(x)) few_step(x, roles),
    if (protects) protect_steps(
      x, roles, data, above(rare_measures) || is_few_elsewhere(x) || rests_on_others(x, data), alike
    ),
    told_step, in_other_order_step(x, file),
    if (above("journalist")) {
      journalist_steps(
        x$settings$limit$journalist, protects && !above(rare_measures) && can_be_searched(x)
      )
    },
    if (length(roles$key_vars) > 1) c(
      if (takes_values && above(c(rare_measures, "qar", "set_risk"))) paste0(
        "qar_risk(file", if (x$settings$p < 3) paste0(", p = ", x$settings$p), ")$variables"
      ),
      if (above(x$estimates$measure)) without_driver_step(x, file)
    ),
    if (NROW(x$diagnostics$told_by_ids)) "release_data(file)"
  )
  roles <- if (made != "result") c(roles, rule_role(x$settings$missing))
  c(
    audit_step(x$call$data, given),
    file_code(x$call$data, roles, x$roles$variable, made == "file"),
    with_last_steps(unique(steps), x)
  )
}

# Every page has a step that can be run without further thought.
with_last_steps <- function(steps, x) {
  later <- later_steps(x)
  ends <- is_within_limits(x) || all(is_doubtful_step(c(steps, later), x))
  c(steps, if (ends) {
    paste0("sdc_report(file_check(file", page_code(x$settings), "), file = \"report.html\")")
  }, later)
}

made_as <- function(x, given) {
  if (any(role_names %in% names(x$call))) {
    "data"
  } else if (is_file(given)) {
    "file"
  } else if (inherits(given, c("sdc_result", "sdcMicroObj"))) {
    "result"
  } else {
    "data"
  }
}

# What judges a file of exchanged values takes the file before, too.
audit_step <- function(data, given) {
  if (inherits(given, "sdc_invariant_pram") && is.symbol(data) && is.symbol(given$call$data)) {
    code_text(call("pram_audit", data, given$call$data))
  }
}

# Whether columns reveal what was protected before, and nothing else is above a limit for rare keys.
is_in_vain <- function(x) {
  above <- x$estimates$verdict[x$estimates$measure %in% rare_measures] %in% "above"
  NROW(x$diagnostics$told_missing) + NROW(x$diagnostics$told_before) > 0 && !any(above)
}

# Whether values are missing at random needs thought.
is_doubtful_step <- function(steps, x) {
  endsWith(steps, "(file, missing = \"exclude\")") & x$settings$missing != "exclude"
}

rare_measures <- c("k", "n_unique", "prop_unique")

k_of <- function(x) if (is.null(x$settings$limit$k)) 3 else max(2, x$settings$limit$k)

# Code that protects records that are rare, or alike in sensitive values.
protect_steps <- function(x, roles, data, rare, alike) {
  # suppress_cells() takes l for files of records without households only.
  few <- x$diagnostics$few_elsewhere
  alike <- alike && is.null(unlist(roles[c("hh_id", "key_groups")])) && is.null(times_of(data)) &&
    length(roles$key_vars) <= most_diverse_keys && !"unit_id" %in% names(few)
  linked <- if (alike) {
    paste("l =", number_code(x$settings$limit$l))
  } else {
    looks <- rlang::set_names(x$roles$looks_like, x$roles$variable)
    told <- x$diagnostics$told_by_columns
    # A link suppresses beside new missing values only.
    past <- c(x$diagnostics$told_missing$variable, x$diagnostics$told_before$variable)
    told <- told[!told$variable %in% past, ]
    linked_text(told, data, unlist(roles), looks)
  }
  if (!alike && rests_on_others(x, data)) linked <- c(linked, "rule = \"strict\"")
  # A stratum cannot be a key variable: each has its own rules.
  if (any(roles$strata_var %in% roles$key_vars)) linked <- c(linked, "strata_var = NULL")
  linked <- c(linked, unit_argument(x, data))
  if (alike || rare && is.null(roles$key_groups)) remedy_steps(x, k_of(x), linked)
}

# The id of persons whose records cover each other, as an argument. A first name is shared by many
# people. The ids of a table are not known here.
unit_argument <- function(x, data) {
  id <- if ("unit_id" %in% names(x$diagnostics$few_elsewhere)) x$diagnostics$unit_id
  n_values <- if (length(id)) length(unique(as_bare(data[[id]])))
  if (length(id) && (n_values == 0 || x$settings$n <= most_members * n_values)) {
    paste("hh_id =", dput_text(id))
  }
}

# Few matches of some records are cured by values, a risk to many by coarser ones.
journalist_steps <- function(limit, recodes) {
  limit <- number_code(limit)
  c(
    if (recodes) c(
      paste0(
        "recoding <- recode_search(file, constraint = list(journalist = ", limit,
        "), suppress = 0.02)"
      ),
      "released <- apply_recoding(recoding, file)"
    ),
    paste0("records_at_risk(population_risk(file), limit = ", limit, ")")
  )
}

# The page of the records in a random order, if theirs reveals values.
in_other_order_step <- function(x, file) {
  if (is.null(file$table) && anyNA(x$diagnostics$told_by_order$by)) {
    other <- if (length(file$history)) "release_data(file)" else "file[sample(nrow(file)), ]"
    paste0("file_check(", other, page_code(x$settings), ")")
  }
}

# The page of a release without the key variable that drives it most.
without_driver_step <- function(x, file) {
  if (NROW(x$drivers) && length(x$settings$key_groups) == 0) {
    without_columns_step(x, file, x$drivers$variable[[1]])
  }
}

without_columns_step <- function(x, file, columns) {
  gone <- lapply(columns, as.name)
  gone <- code_text(call("-", if (length(gone) == 1) gone[[1]] else as.call(c(quote(c), gone))))
  # Patterns are of all their columns.
  if (!is.null(times_of(file$data)) && is.null(file$table)) {
    left <- paste0("setdiff(sdc_roles(file)$key_vars, ", dput_text(columns), ")")
    return(paste0("file_check(file, ", left, page_code(x$settings), ")"))
  }
  left <- if (is.null(file$table)) "subset(file, select = " else "dplyr::select(file, "
  paste0("file_check(", left, gone, ")", page_code(x$settings), ")")
}

is_within_limits <- function(x) {
  verdicts <- x$estimates$verdict[!is.na(x$estimates$limit)]
  length(verdicts) > 0 && all(verdicts == "ok")
}

# The page without the columns that reveal protected values or are more detailed than a key. Columns
# whose records may be of one person, and would be too few if each value counted once, get a role.
without_told_step <- function(x, roles, file) {
  told <- c("told_missing", "told_before", "told_others", "finer_columns")
  told <- do.call(rbind, x$diagnostics[told])
  kept <- unlist(roles[setdiff(names(roles), "id_vars")])
  columns <- if (NROW(told)) setdiff(telling_columns(told, file$data), kept)
  units <- Filter(function(name) few_of_unit(file, name, k_of(x)), setdiff(columns, roles$id_vars))
  if (length(units)) {
    given <- paste0("id_vars = ", dput_text(units))
    paste0("file_check(sdc_file(file, ", given, ")", page_code(x$settings), ")")
  } else if (length(columns)) {
    without_columns_step(x, file, columns)
  }
}

# The rule for missing values as a role of the file, if it is not the default.
rule_role <- function(missing) if (missing != "wildcard") list(missing = missing)

# Arguments of a page that differ from the defaults.
page_code <- function(settings) {
  default <- identical(settings$limit, list(k = 3, journalist = 0.05))
  paste0(
    if (!default) paste0(", limit = ", code_text(as.call(c(quote(list), settings$limit)))),
    if (settings$missing != "wildcard") paste0(", missing = ", dput_text(settings$missing))
  )
}

# The page counts records.
matches_step <- function(roles, k) {
  paste0(
    "records_at_risk(n_matches(file", if (!is.null(roles$hh_id)) ", hh_id = NULL", "), k = ",
    number_code(k), ")"
  )
}

# Whether more records have too few matches within strata, or in other households.
is_few_elsewhere <- function(x) {
  verdict <- x$estimates$verdict[x$estimates$measure == "k"]
  length(x$diagnostics$few_elsewhere) > 0 && any(verdict %in% c("above", "unclear"))
}

# Whether complete records are rare but for incomplete ones, which other rules than "strict" count
# as matches. Tables of a database have no such rule.
rests_on_others <- function(x, data) {
  is.null(times_of(data)) &&
    any(grepl(" would have too few matches .*without [0-9,]+ ", x$estimates$reason))
}

# The call that lists these records.
few_step <- function(x, roles) {
  few <- x$diagnostics$few_elsewhere
  counted <- switch(names(which.max(few)),
    hh_id = "",
    strata_var = paste0(
      ", ", dput_text(union(roles$key_vars, roles$strata_var)),
      if (!is.null(roles$hh_id)) ", hh_id = NULL"
    ),
    unit_id = paste0(", hh_id = ", dput_text(x$diagnostics$unit_id))
  )
  paste0("records_at_risk(n_matches(file", counted, "), k = ", number_code(k_of(x)), ")")
}

# By which values records are alone.
special_step <- function(x) {
  if (isTRUE(x$estimates$value[x$estimates$measure == "n_special"] > 0)) "special_uniques(file)"
}

recode_first <- function(n_above, n) 3 * n_above > n

# The result of a search has columns of its own beside those of the key variables.
can_be_searched <- function(x) !any(x$settings$key_vars %in% c(names_in_best, "journalist"))

# Cells are suppressed at once if few records are above. Else hardly a value would be left:
# the key variables need coarser values first.
remedy_steps <- function(x, k, linked) {
  # Strata and persons count in cells, not in recodings.
  measures <- x$estimates$measure %in% c("k", "n_unique")
  n_above <- max(x$estimates$n_records_above[measures], 0, na.rm = TRUE)
  recode <- recode_first(n_above, x$settings$n) && can_be_searched(x)
  c(
    if (recode) c(
      paste0(
        "recoding <- recode_search(file, constraint = list(k = ", number_code(k),
        "), suppress = 0.02)"
      ),
      "coarser <- apply_recoding(recoding, file, blanks = FALSE)"
    ),
    paste0(
      "released <- suppress_cells(", if (recode) "coarser" else "file", ", k = ", number_code(k),
      if (length(linked)) paste0(", ", paste(linked, collapse = ", ")), ")"
    )
  )
}

# The page without the key variables that are none by their looks. Amounts can be known.
looks_step <- function(x, roles) {
  seen <- x$roles
  known <- seen$looks_like %in% c("", "continuous variable")
  odd <- seen$variable[seen$role == "key variable" & !known]
  weight <- seen$variable[seen$looks_like == "weight" & seen$role %in% c("", "key variable")]
  if (length(odd) == 0 || length(odd) == length(roles$key_vars) || length(roles$key_groups)) {
    return(NULL)
  }
  paste0(
    "file_check(file, setdiff(sdc_roles(file)$key_vars, ", dput_text(odd), ")",
    if (is.null(roles$weight_var) && length(weight)) {
      paste0(", weight_var = ", dput_text(weight[[1]]))
    }, ")"
  )
}

# Measures that the page postponed.
later_steps <- function(x) {
  unique(sub(".*run ", "", x$estimates$reason[grepl("run ", x$estimates$reason, fixed = TRUE)]))
}

# The file that was checked, by the code that gave it if that is not long.
file_code <- function(data, roles, columns, made) {
  given <- (is.symbol(data) && !startsWith(as.character(data), ".")) || is.call(data)
  short <- given && nchar(code_text(data)) <= 300
  if (made && (short || is.symbol(data))) {
    return(if (!identical(data, as.name("file"))) paste("file <-", code_text(data)))
  }
  if (!short) data <- as.name("your_data")
  if (nchar(code_text(roles$key_vars)) > 240) {
    roles$key_vars <- call("[", call("names", data), runs_code(match(roles$key_vars, columns)))
  }
  paste("file <-", code_text(as.call(c(list(as.name("sdc_file"), data), roles))))
}

# c(1:3, 5) for the whole numbers 1, 2, 3 and 5.
runs_code <- function(at) {
  parts <- lapply(unname(split(at, cumsum(c(TRUE, diff(at) != 1)))), function(run) {
    ends <- as.double(range(run))
    if (length(run) == 1) ends[[1]] else call(":", ends[[1]], ends[[2]])
  })
  if (length(parts) == 1) parts[[1]] else as.call(c(as.name("c"), parts))
}
