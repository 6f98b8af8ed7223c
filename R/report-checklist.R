# The questions of a board, in our words: those that are about numbers are answered
# from the results in the report, the others stand for people to answer.

# Questions that no result in the report answers.
not_examined <- function(entries) {
  funs <- unique(vapply(entries, `[[`, "", "fun"))
  lacks <- function(...) !any(c(...) %in% funs)
  sensitive <- any(vapply(entries, function(e) length(e$result$settings$sensitive) > 0, NA))
  checks <- Filter(function(e) e$fun == "file_check", entries)
  checked <- length(checks) > 0
  two <- length(unique(vapply(checks, `[[`, "", "stage"))) > 1
  idle <- unlist(lapply(checks, function(e) {
    rows <- e$result$estimates
    reasons <- rows$reason[is.na(rows$value)]
    reasons <- withheld_words(unique(reasons[nzchar(reasons)]))
    sprintf("Not measured by file_check()%s: %s.", if (two) paste0(" ", e$stage) else "", reasons)
  }))
  keys <- unique(unlist(lapply(entries, function(e) {
    k <- key_names(e$result)
    if (is.character(k)) k
  })))
  continuous <- unique(unlist(lapply(checks, function(e) continuous_line(e$result$roles))))
  c(
    if (lacks("interval_disclosure")) continuous,
    paste0(
      "Variables other than the key variables",
      if (length(keys)) paste0(" (", paste(keys, collapse = ", "), ")"),
      ": an intruder who knows more finds more."
    ),
    if (!checked && lacks(
      "n_matches", "key_overview", "suppress_cells", "individual_risk", "loglinear_risk",
      "longitudinal_risk", "copula_fit"
    )) {
      "Records that are unique in the file."
    },
    if (!checked && lacks(
      "qar_risk", "risk_contribution", "removal_path", "removal_bound", "uniqueness_by_size"
    )) {
      "Intruders who know only some of the key variables (sets of key variables)."
    },
    if (!checked && lacks(
      "population_risk", "individual_risk", "loglinear_risk", "copula_uniqueness",
      "population_uniqueness", "longitudinal_risk", "uniqueness_profile", "uniqueness_by_size",
      "uniqueness_validation"
    )) {
      "Uniqueness in the population: all figures are of the file."
    },
    if (!sensitive) "Sensitive values that all records with equal keys share.",
    if (lacks("household_risk") && !any(vapply(checks, measured_households, NA))) {
      "Households that can be found by their members."
    },
    if (lacks("link_attack", "longitudinal_link", "longitudinal_risk")) {
      "Linkage with another file, such as an earlier release or a register."
    },
    if (!checked && lacks("exhaustive_tabulation")) "Small cells of tables of a few variables.",
    idle, paste(
      "Rare values that a person is publicly known for, free text, and errors in the key",
      "variables."
    )
  )
}

measured_households <- function(entry) {
  rows <- entry$exact$estimates
  any(rows$measure == "household" & !is.na(rows$value))
}

# The items: what is asked, and the answer where results have it (`answer(entries)`).
checklist_items <- function() {
  list(
    item("File", "How many records does the file have?", function(e) {
      n <- first_setting(e, "n")
      if (!is.null(n)) format_count(n)
    }),
    item("File", "Is it a sample, and of what share of the population?", answer_fraction),
    item("File", "Do sampling weights tell how many people a record stands for?", function(e) {
      named_role(e, "weight_var", "Weights in")
    }),
    item("File", "Do records of one household stand together, and can they be put together?",
         answer_household),
    item(
      "File", "Do names, addresses, numbers of persons or free text remain in the file?",
      answer_identifiers
    ),
    item("File", "Do other columns reveal key variables?", answer_told),
    item(
      "Geography",
      "What is the smallest area that can be identified, and how many people live in it?"
    ),
    item("Geography", "Do sampling units, strata or contextual variables narrow the area down?"),
    item("Key variables", "Which variables may an intruder know?", function(e) {
      keys <- unique(unlist(lapply(e, function(x) key_names(x$result))))
      if (is.character(keys)) paste(keys, collapse = ", ")
    }),
    item("Key variables", "How many values do they have, and which adds most uniques?",
         answer_overview),
    item("Key variables", "Are extremes of ages, incomes and sizes grouped at top and bottom?"),
    item("Key variables", "How many records are unique on them?", answer_unique),
    item("Key variables", "How far do a few of them single out records, at worst?", answer_qar),
    item("Population", "How many of the sample uniques are unique in the population?",
         answer_tau),
    item("Population", "How likely is a match to be right?", answer_individual),
    item("Sensitive values", "Do records with equal keys share a sensitive value?",
         answer_sensitive),
    item("Other files", "Which files with names could an intruder hold, and who can get them?"),
    item("Other files", "How many records could be linked to one?", answer_link),
    item("Other files", "Was the file, a part or another version of it released before?"),
    item("Tables", "Do tables of a few variables have small cells?", answer_tables),
    item("Protection", "What was changed, and what did it cost?", answer_protection),
    item(
      "Protection", "Who besides the agency knows how it was done, and keeps originals or seeds?"
    ),
    item("Access", "Who receives the file, under which contract, and in which setting?"),
    item("Access", "How likely is an attempt, and how harmful would it be?")
  )
}

item <- function(part, question, answer = function(e) NULL) {
  list(part = part, question = question, answer = answer)
}

html_checklist <- function(content) {
  items <- checklist_items()
  entries <- content$entries
  answers <- vapply(items, function(i) {
    found <- i$answer(entries)
    if (length(found) == 0) "" else paste(found, collapse = " ")
  }, "")
  if (!content$settings$internal) answers <- withheld_words(answers)
  c(
    html_tag("h2", "Checklist"),
    html_p(
      "Items that are numbers are filled in from the results. The others, marked by a question ",
      "mark, are for people to answer.", class = "quiet"
    ),
    html_table(list(
      Part = vapply(items, `[[`, "", "part"), Question = vapply(items, `[[`, "", "question"),
      Answer = ifelse(nzchar(answers), answers, "?")
    ))
  )
}

# Answers --------------------------------------------------------------------

first_setting <- function(entries, name) {
  found <- lapply(entries, function(e) e$result$settings[[name]])
  found <- found[lengths(found) > 0]
  if (length(found)) found[[1]]
}

named_role <- function(entries, name, words) {
  role <- first_setting(entries, name)
  if (is.character(role)) paste0(words, " ", paste(unique(role), collapse = ", "), ".")
}

# Results of one function, the file before ahead of the one after.
of_function <- function(entries, ...) {
  found <- Filter(function(e) e$fun %in% c(...), entries)
  found[order(vapply(found, function(e) e$stage != "before", NA))]
}

# An answer per result, named by its stage, which it states where the report has both; none
# of the stages `known`.
answer_each <- function(entries, funs, answer, known = NULL) {
  staged <- any(vapply(entries, `[[`, "", "stage") == "after")
  unlist(lapply(of_function(entries, funs), function(e) {
    text <- if (!e$stage %in% known) answer(e$result$estimates, e$result)
    if (length(text)) {
      rlang::set_names(paste0(if (staged) paste0(capitalised(e$stage), ": "), text), e$stage)
    }
  }))
}

# Answers of file_check() at a stage without a result of the method itself.
answer_checked <- function(entries, known, ...) {
  answer_each(entries, "file_check", function(e, x) {
    gone <- e$measure %in% x$diagnostics$withheld
    own <- e$measure %in% c(...) & (gone | !is.na(e$value))
    about <- page_figures()
    about <- about[match(e$measure[own], about$measure), ]
    shown <- ifelse(gone[own], withheld_in_words, figure_words(e$value[own], about$unit))
    if (any(own)) paste0(about$label, " ", shown, ".", collapse = " ")
  }, known)
}

or_checked <- function(entries, own, ...) {
  answers <- c(own, answer_checked(entries, names(own), ...))
  answers[order(names(answers) != "before")]
}

answer_fraction <- function(entries) {
  fraction <- first_setting(entries, "sampling_fraction")
  people <- first_setting(entries, "pop_size")
  n <- first_setting(entries, "n")
  if (is.numeric(fraction)) {
    paste0("Sampling fraction ", format_percent(fraction[[1]]), ".")
  } else if (is.numeric(people) && is.numeric(n)) {
    paste0(format_percent(n / people[[1]]), " of ", format_count(people[[1]]), " people.")
  }
}

answer_household <- function(entries) {
  c(
    named_role(entries, "hh_id", "Households in"),
    answer_each(entries, "household_risk", function(e, x) {
      paste0(plural(e$n_persons_unique, "person"), " in unique households.")
    })
  )
}

# Nobody but people can say that there are none.
answer_identifiers <- function(entries) {
  answer_each(entries, "file_check", function(e, x) {
    found <- x$roles$variable[x$roles$looks_like == "identifier"]
    if (length(found)) {
      paste0("Columns that look like identifiers: ", paste(found, collapse = ", "), ".")
    }
  })
}

answer_told <- function(entries) {
  # A protection compares with the original what its release shows; a check of the release
  # sees the release alone.
  protects <- vapply(entries, function(e) e$fun %in% protecting, NA)
  released <- vapply(entries, `[[`, "", "stage") == "after"
  entries[protects] <- lapply(entries[protects], function(e) {
    e$stage <- "after"
    e
  })
  if (any(protects)) entries <- entries[protects | !released]
  answer_each(entries, c("file_check", protecting), function(e, x) {
    found <- x$diagnostics
    if (is.null(found$told_by_columns)) {
      return(NULL)
    }
    told <- rbind(found$told_before, found$told_others, told_unasked(found$told_by_columns))
    missing <- found$told_missing
    told <- told[!paste(told$variable, told$by) %in% paste(missing$variable, missing$by), ]
    protected <- if (inherits(x, "sdc_file_check")) "values of " else "protected values of "
    if (NROW(missing) + nrow(told) == 0) {
      paste0("None was found that reveals ", sub(" of $", "", protected), ".")
    } else {
      of <- rep(c("missing values of ", protected), c(NROW(missing), nrow(told)))
      of[NROW(missing) + which(told$was_missing)] <- "missing values of "
      told <- rbind(missing, told)
      paste0(
        told$by, told_verb(told), format_percent(told$share), " of the ", of, told$variable, ".",
        collapse = " "
      )
    }
  })
}

answer_overview <- function(entries) {
  answer_each(entries, "key_overview", function(e, x) {
    most <- e$variable[which.min(e$unique_change)]
    paste0(
      paste0(e$variable, " ", e$n_levels, collapse = ", "), ". ", most, " adds most: ",
      format_count(-min(e$unique_change)), " uniques."
    )
  })
}

answer_unique <- function(entries) {
  or_checked(entries, own_unique(entries), "n_unique")
}

own_unique <- function(entries) {
  if (length(of_function(entries, "n_matches")) == 0) {
    funs <- c("individual_risk", "loglinear_risk")
    return(answer_each(entries, funs, function(e, x) paste0(format_count(e$n_unique[[1]]), ".")))
  }
  answer_each(entries, "n_matches", function(e, x) {
    paste0(
      format_count(max(e$n_unique)), " (", format_percent(max(e$prop_unique)), ") on ",
      if (nrow(e) > 1) {
        paste0("the worst of ", nrow(e), " key sets")
      } else {
        plural(length(x$settings$key_vars), "key variable")
      },
      if (!is.null(x$settings$hh_id)) ", on which they match one household only", "."
    )
  })
}

answer_qar <- function(entries) {
  or_checked(entries, answer_each(entries, "qar_risk", function(e, x) {
    at <- which.max(e$risk)
    if (length(at)) {
      paste0(
        "T(", e$p[[at]], ", ", format_number(e$alpha[[at]]), ") = ", format_risk(e$risk[[at]]), "."
      )
    }
  }), "qar", "set_risk")
}

# One law answers for the population, other estimators of a stage without it.
of_population <- function(entries, others, ...) {
  law <- answer_each(entries, "population_risk", function(e, x) {
    rows <- figure_rows(x, list())
    about <- page_figures()
    rows <- rows[rows$measure %in% about$figure[about$measure %in% c(...)], ]
    paste0(rows$label, " ", figure_words(rows$value, rows$unit), ".", collapse = " ")
  })
  law <- c(law, answer_checked(entries, names(law), ...))
  answers <- c(law, others(entries[!vapply(entries, `[[`, "", "stage") %in% names(law)]))
  answers[order(names(answers) != "before")]
}

answer_tau <- function(entries) of_population(entries, own_tau, "tau1", "population_uniqueness")

own_tau <- function(entries) {
  c(
    answer_each(entries, c("loglinear_risk", "longitudinal_risk"), function(e, x) {
      value <- board_rows(x, list())$value[[1]]
      if (any(misfits(x))) {
        paste0("Not judged: ", misfit_note, ".")
      } else {
        paste0(format_amount(value), " of ", format_count(e$n_unique[[1]]), " expected.")
      }
    }),
    answer_each(entries, c("copula_uniqueness", "population_uniqueness"), function(e, x) {
      paste0(
        format_percent(e$population_uniqueness[[1]]), " of ", format_count(e$pop_size[[1]]),
        " people are unique, by estimate."
      )
    })
  )
}

answer_individual <- function(entries) {
  of_population(entries, own_individual, "journalist", "expected_reidentifications")
}

own_individual <- function(entries) {
  answer_each(entries, "individual_risk", function(e, x) {
    paste0(
      "Largest probability ", format_risk(e$journalist_max), ", mean ",
      format_risk(e$journalist_mean), "; ", format_amount(e$expected_reidentifications),
      " re-identifications expected if every record is tried."
    )
  })
}

answer_sensitive <- function(entries) {
  or_checked(entries, c(
    answer_each(entries, "n_matches", function(e, x) {
      if (!is.null(e$n_homogeneous)) {
        paste0("In ", plural(max(e$n_homogeneous), "record"), " all matches share one.")
      }
    }),
    answer_each(entries, "attribute_risk", function(e, x) {
      told <- attribute_values(x, told_measure(x))
      paste0(
        format_percent(if (all(is.na(told))) NA_real_ else max(told, na.rm = TRUE)),
        " of the records have a value that the ",
        if (x$settings$released) "released file" else "key", " reveals."
      )
    })
  ), "n_homogeneous")
}

answer_link <- function(entries) {
  answer_each(entries, c("link_attack", "longitudinal_link"), function(e, x) {
    if (!is.na(max(e$expected_correct))) {
      paste0(
        format_amount(max(e$expected_correct)), " of ", format_count(e$n_linked[[1]]),
        " expected to be linked correctly, ", format_count(max(e$n_certain)),
        " of them as the only best match."
      )
    }
  })
}

answer_tables <- function(entries) {
  or_checked(entries, answer_each(entries, "exhaustive_tabulation", function(e, x) {
    paste0(
      format_percent(e$prop_cells), " of the cells of ", plural(e$n_tables, "table"), ", with ",
      format_percent(e$prop_records), " of the records."
    )
  }), "small_cells", "small_cell_records")
}

answer_protection <- function(entries) {
  c(
    unlist(lapply(of_function(entries, "recode_search"), function(x) {
      e <- x$result$estimates
      blanked <- if (identical(x$result$settings$blanks, "cells")) "value" else "record"
      paste0(
        "The cheapest recoding: ", format_percent(e$cost_share), " of the information lost, ",
        plural(e$n_suppressed, blanked), " suppressed."
      )
    })),
    unlist(lapply(of_function(entries, "suppress_cells"), function(x) {
      e <- x$result$estimates
      paste0(plural(e$n_suppressed, "value"), " suppressed (rule \"", e$rule, "\", k = ", e$k, ").")
    })),
    unlist(lapply(of_function(entries, c("suppress_cells", "invariant_pram")), function(x) {
      order_line(x$result)
    })),
    unlist(lapply(of_function(entries, "invariant_pram"), function(x) {
      e <- x$result$estimates
      paste0(
        plural(e$n_changed, "record"), " changed at random, bound ",
        format_number(e$max_match_prob), "."
      )
    })),
    unlist(lapply(of_function(entries, "utility_loss"), function(x) {
      e <- x$tables$estimates
      paste0(
        format_percent(e$prop_blank), " of the values suppressed, ",
        format_percent(e$prop_exchanged), " exchanged",
        if (!is.null(e$prop_bits_lost)) {
          paste0(", ", format_percent(e$prop_bits_lost), " of the information lost")
        },
        if (isTRUE(e$il1s > 0)) paste0(", IL1s of numbers ", format_risk(e$il1s)), "."
      )
    }))
  )
}
