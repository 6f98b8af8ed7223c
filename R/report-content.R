# Content of a report, before it becomes a page or a log: both use it, so that every figure that is
# written can be computed again.

report_content <- function(entries, comparisons, settings) {
  few <- cells_changed(entries)
  entries <- lapply(entries, function(entry) {
    entry$exact <- entry$result
    entry$result <- stated_result(entry$exact, settings$internal)
    entry
  })
  if (!settings$internal) entries <- withhold_small_counts(withhold_few(entries))
  entries <- lapply(entries, function(entry) {
    entry$said <- said_of_stated(entry, settings)
    entry$tables <- entry_tables(entry, settings, few)
    entry$settings <- stated_settings(entry, settings)
    entry
  })
  settings$apart <- made_apart(entries)
  board <- board_table(entries, settings, few)
  list(
    entries = entries, comparisons = comparisons, settings = settings, board = board,
    changed = few, versions = report_versions(),
    made = format(Sys.time(), "%Y-%m-%d %H:%M UTC", tz = "UTC"),
    pictures = report_pictures(entries, comparisons, board, settings),
    first = c(
      size_lines(entries), history_lines(entries, settings$internal), told_by_order_lines(entries),
      unique(settings$apart)
    )
  )
}

# The least number of values that a protection in the report blanked, exchanged or moved, NA
# where none did: few of them could be told from exact figures of the file before.
cells_changed <- function(entries) {
  counts <- unlist(lapply(entries, function(entry) {
    e <- entry$result$estimates
    switch(entry$fun,
      suppress_cells = e$n_suppressed, invariant_pram = e$n_changed,
      utility_loss = c(
        sum(entry$result$variables[c("n_blank", "n_exchanged")]),
        entry$result$numbers$n_changed
      )
    )
  }))
  counts <- counts[counts > 0]
  if (length(counts)) min(counts) else NA
}

board_table <- function(entries, settings, few) {
  limit <- settings$limit
  released <- any(vapply(entries, function(e) e$stage == "after" || e$fun %in% protecting, NA))
  parts <- lapply(entries, function(entry) {
    # Figures are judged before they are rounded.
    rows <- board_rows(entry$exact, limit)
    if (nrow(rows) == 0) {
      return(NULL)
    }
    if (!settings$internal) {
      rows <- coarse_rows(rows, board_rows(entry$result, limit, entry$near))
      if (isTRUE(few < few_for_distances)) rows <- rows[!grepl(of_distances, rows$measure), ]
    }
    if (nrow(rows) == 0) {
      return(NULL)
    }
    if (entry$id %in% names(settings$apart)) rows <- without_verdict(rows, apart_note)
    rows$question <- ifelse(
      rows$scenario %in% names(scenario_questions), scenario_questions[rows$scenario],
      said_question(entry)
    )
    rows$id <- entry$id
    rows$fun <- entry$fun
    # A protection and its loss are about the released file.
    of_release <- entry$fun %in% protecting || entry$fun == "utility_loss" && released
    rows$stage <- if (of_release) "after" else entry$stage
    if (counts_perturbed(entry, entries)) rows <- without_verdict(rows)
    rows$keys <- paste(sort(as.character(unlist(key_names(entry$result)))), collapse = " + ")
    rows
  })
  table <- tell_apart(do.call(rbind, parts))
  if (!is.null(table)) rownames(table) <- NULL
  table
}

scenario_questions <- c(
  prosecutor = "What can an intruder do who knows that the target is in the file?",
  journalist = "What can an intruder do who does not know this?",
  tables = "What do tables of a few key variables show?"
)

# In a file that was perturbed a record alone with its key need not be the person with
# these values: what counts records there is no measure of the release.
counts_perturbed <- function(entry, entries) {
  if (entry$stage != "after" || entry$fun %in% sees_perturbation) {
    return(FALSE)
  }
  funs <- vapply(entries, `[[`, "", "fun")
  drawn <- Filter(function(e) e$fun == "invariant_pram", entries)
  length(drawn) > 0 && (!any(c("suppress_cells", "recode_search") %in% funs) ||
    any(vapply(drawn, function(e) fits_data(entry$result, released_data(e$result)), NA)))
}

sees_perturbation <- c(
  "pram_audit", "link_attack", "longitudinal_link", "utility_loss", "interval_disclosure"
)

apart_note <- "of other key variables or households than the check, see above"

without_verdict <- function(rows, note = word_note) {
  rows$verdict[rows$verdict %in% c("ok", "above", "unclear")] <- "not judged"
  rows$note <- note
  rows
}

# Equal words for figures of one file get their number of key variables, or their results' names.
tell_apart <- function(table) {
  if (is.null(table)) {
    return(NULL)
  }
  for (more in c("n_keys", "id")) {
    same <- paste(table$label, table$stage, sep = "\r")
    twice <- same %in% same[duplicated(same)]
    shown <- if (more == "id") {
      paste0("(", table$id, ")")
    } else {
      paste("on", plural(lengths(strsplit(table$keys, " + ", fixed = TRUE)), "key variable"))
    }
    table$label[twice] <- paste(table$label, shown)[twice]
  }
  table
}

# The sentence of a result is made of its figures as they are stated. That of a result in a
# comparison was made before.
said_of_stated <- function(entry, settings) {
  kept <- !is.null(unclass(entry$result)$said)
  # Words are made of all counts: a sentence without some would be none.
  hides <- isTRUE(entry$hides)
  said <- if (kept) entry$said else said_of(if (hides) entry$exact else entry$result)
  if (any(misfits(entry$result))) {
    said$sentence <- "The log-linear model does not fit this file: its figures are not reported."
  } else if (!settings$internal) {
    said$sentence <- if (!kept && !hides) {
      withheld_words(few_as_na(said$sentence, entry$all))
    }
  }
  said
}

# Tables ---------------------------------------------------------------------

# The tables of a result whose figures are written and logged.
entry_tables <- function(entry, settings, few) {
  fields <- unclass(entry$result)
  kept <- c("estimates", if (settings$internal) c("variables", "blocks", "curve"), "drivers")
  tables <- fields[intersect(kept, names(fields))]
  tables <- lapply(tables[vapply(tables, is.data.frame, NA)], function(t) {
    as.data.frame(utils::head(t, 200))
  })
  tables <- lapply(tables, plain_columns)
  if (settings$internal) {
    return(tables)
  }
  tables <- lapply(tables, external_columns)
  tables <- lapply(tables, function(t) t[setdiff(names(t), told_sizes)])
  if (isTRUE(few < few_for_distances)) tables <- lapply(tables, without_distances)
  tables
}

plain_columns <- function(table) {
  table[vapply(table, function(x) is.atomic(x) || is.factor(x), NA)]
}

# Text that names variables, methods or verdicts, and never a value of the data.
external_text <- c(
  "variable", "key_set", "scenario", "model", "sampling", "method", "status", "theta_status",
  "rule", "measure", "question", "verdict", "intruder", "by", "change", "type", "score",
  "interval", "associated_with", "role", "dims", "combine"
)

external_columns <- function(table) {
  safe <- vapply(table, function(x) is.numeric(x) || is.logical(x), NA)
  safe <- safe & !names(table) %in% c("record", "row")
  table[safe | names(table) %in% external_text]
}

# The loss by a few suppressed values would reveal them.
without_distances <- function(table) table[!grepl(of_distances, names(table))]

of_distances <- paste0(
  "^(bits|prop_bits|tv_|il1s|sd_ratio|mean_|quantile_|correlation_|ci_|cost$|lower_bound$|gap$)"
)

# Settings -------------------------------------------------------------------

# Arguments as texts. In an external report: numbers, names of columns, and words that the function
# itself offers.
stated_settings <- function(entry, settings) {
  arguments <- entry$asked$arguments
  if (is.null(arguments)) {
    known <- entry$result$settings
    arguments <- known[setdiff(names(known), c(
      "fingerprint", "version", "wave_fingerprints", "seed"
    ))]
  }
  is_file <- vapply(arguments, function(a) {
    inherits(a, "sdc_asked_part") && a$kind == "file"
  }, NA)
  arguments <- arguments[!is_file]
  text <- vapply(names(arguments), function(name) {
    value <- arguments[[name]]
    if (!settings$internal && !is_external_argument(name, value, entry)) {
      return("(not in an external report)")
    }
    stated_value(value, settings)
  }, "")
  c(text, seed_text(entry, settings))
}

seed_text <- function(entry, settings) {
  seeds <- entry$asked$seeds
  if (length(seeds) == 0) {
    if (identical(entry$asked$repeatable, FALSE)) return(c(seed = "random, no seed kept"))
    return(NULL)
  }
  if (!settings$internal) {
    return(c(seed = "in the internal log"))
  }
  c(seed = paste(vapply(seeds, function(s) paste(sprintf("%.0f", s), collapse = " "), ""),
                 collapse = "; "))
}

stated_value <- function(value, settings) {
  if (inherits(value, "sdc_asked_part")) {
    switch(value$kind,
      file = "the file", result = paste0("the result of ", value$asked$name, "()"),
      withheld = value$why, hierarchies = stated_hierarchies(value$of, settings)
    )
  } else if (is.null(value)) {
    "NULL"
  } else if (rlang::is_formula(value)) {
    paste(deparse(value, width.cutoff = 500L), collapse = " ")
  } else if (is.list(value)) {
    inner <- vapply(value, stated_value, "", settings)
    names <- names(value)
    paste0(if (!is.null(names)) paste0(names, ": "), inner, collapse = "; ")
  } else if (is.numeric(value)) {
    # Sizes of populations have marks, years have none.
    text <- ifelse(is.finite(value) & value >= 1e4, figure_text(value), format_number(value))
    paste0(if (!is.null(names(value))) paste0(names(value), " = "), text, collapse = ", ")
  } else {
    paste(as.character(value), collapse = ", ")
  }
}

# Versions -------------------------------------------------------------------

# The package, R, and the crates its core was built from.
report_versions <- function() {
  crates <- system.file("report", "crates.txt", package = "sdcRisk")
  lines <- if (nzchar(crates)) readLines(crates, encoding = "UTF-8") else character()
  parts <- strsplit(lines[nzchar(lines)], " ", fixed = TRUE)
  list(
    sdcRisk = own_version(),
    R = paste(R.version$major, R.version$minor, sep = "."), platform = R.version$platform,
    crates = rlang::set_names(vapply(parts, `[[`, "", 2), vapply(parts, `[[`, "", 1))
  )
}

# Pictures -------------------------------------------------------------------

# Of these an external report shows one: they are drawn from shares, counts and
# variables, with a mark for no record and a name for no category.
external_pictures <- c(
  "qar_risk", "n_matches", "copula_uniqueness", "population_uniqueness", "utility_loss",
  "key_overview", "key_stability", "removal_bound", "link_attack", "pram_audit",
  "file_check", "household_risk"
)

# Those that draw, or say, more counts than the report states.
pictures_of_counts <- c(
  "n_matches", "population_uniqueness", "utility_loss", "key_overview", "link_attack",
  "pram_audit", "household_risk"
)

report_pictures <- function(entries, comparisons, board, settings) {
  if (!settings$pictures || !requireNamespace("ggplot2", quietly = TRUE)) {
    return(list())
  }
  drawn <- Filter(function(entry) {
    (settings$internal || entry$fun %in% external_pictures) && is.null(entry$result[["made"]]) &&
      is.null(unclass(entry$result)$said) && !any(misfits(entry$result))
  }, entries)
  comparisons <- Filter(function(x) !any(unlist(lapply(x$made, misfits))), comparisons)
  if (!settings$internal) {
    few <- isTRUE(cells_changed(entries) < few_for_distances)
    drawn <- Filter(function(entry) {
      !(few && entry$fun == "utility_loss") &&
        !(entry$fun %in% pictures_of_counts && draws_few(entry))
    }, drawn)
  }
  pictures <- c(
    lapply(stated_comparisons(comparisons, entries, settings), function(x) {
      finding <- comparison_sentence(x$table, x$kind)
      list(id = "comparison", picture = quiet_picture(x), finding = finding)
    }),
    lapply(drawn, function(entry) {
      picture <- quiet_picture(entry$result)
      finding <- finding_of(entry, board, settings)
      if (!nzchar(finding)) finding <- picture$title
      list(id = entry$id, picture = picture, finding = finding)
    })
  )
  Filter(function(p) !is.null(p$picture), pictures)
}

# Alternative text of a picture: the first figures of its result on the board, or the first sentence
# of the result.
finding_of <- function(entry, board, settings) {
  rows <- board[board$id == entry$id, ]
  if (NROW(rows)) {
    rows <- utils::head(rows, 3)
    value <- ifelse(is.na(rows$value), rows$note, figure_words(rows$value, rows$unit))
    side <- c(above = " (above the limit)", ok = " (within the limit)")[rows$verdict]
    return(paste0(rows$label, ": ", value, ifelse(is.na(side), "", side), collapse = "; "))
  }
  said <- entry$said$sentence
  if (length(said) && (settings$internal || entry$fun %in% external_sentences)) {
    sub("[.] [A-Z].*|[.]$", "", paste(said, collapse = " "))
  } else {
    cost <- loss_in_words(entry)
    paste(cost$label, cost$words, sep = ": ", collapse = "; ")
  }
}

# Comparisons without what few records carry.
stated_comparisons <- function(comparisons, entries, settings) {
  if (settings$internal) {
    return(comparisons)
  }
  lapply(comparisons, function(x) {
    terms <- unique(x$table$term)
    gone <- vapply(terms, function(term) {
      any(vapply(entries, function(entry) {
        stepped <- has_few_uniques(entry$exact) &&
          term %in% unlist(lapply(sums_of(entry$exact), `[[`, "figures"))
        inherits(entry$exact, x$kind) && (stepped || any(withheld_in(entry, term)))
      }, NA))
    }, NA)
    x$table <- coarse_columns(x$table[!x$table$term %in% terms[gone], , drop = FALSE])
    x
  })
}

# A result that cannot be drawn, such as one without an answer, has no picture.
quiet_picture <- function(x) {
  path <- tempfile(fileext = ".png")
  on.exit(unlink(path))
  tryCatch({
    picture <- suppressWarnings(suppressMessages(ggplot2::autoplot(x)))
    suppressWarnings(suppressMessages(
      ggplot2::ggsave(path, picture, width = 7, height = 4.4, dpi = 130)
    ))
    list(
      title = paste(c(picture$labels$title, ""), collapse = ""),
      png = jsonlite::base64_enc(readBin(path, "raw", file.size(path)))
    )
  }, error = function(e) {
    pass_on_time_limit(e)
    NULL
  })
}

# Hierarchies in words, as a setting of the report.
stated_hierarchies <- function(of, settings) {
  words <- vapply(of, function(h) {
    if (!is.null(h$table)) {
      paste("a table of", plural(h$n_levels, "level"))
    } else if (!states_levels(h, settings)) {
      paste(plural(h$n_levels, "level"), "(not in an external report)")
    } else if (length(h$rule) == 0) {
      "as proposed"
    } else {
      paste(names(h$rule), vapply(h$rule, stated_value, "", settings), collapse = ", ")
    }
  }, "")
  paste0(names(of), ": ", words, collapse = "; ")
}
