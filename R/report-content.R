# What a report holds, before it becomes a page or a log: the same for both, so that
# a figure that is written is a figure that can be computed again.

report_content <- function(entries, comparisons, settings) {
  few <- cells_changed(entries)
  entries <- lapply(entries, function(entry) {
    entry$tables <- entry_tables(entry, settings, few)
    entry$settings <- stated_settings(entry, settings)
    entry
  })
  list(
    entries = entries, comparisons = comparisons, settings = settings,
    board = board_table(entries, settings), changed = few,
    versions = report_versions(), made = format(Sys.time(), "%Y-%m-%d %H:%M UTC", tz = "UTC"),
    pictures = report_pictures(entries, comparisons, settings)
  )
}

# The least number of cells that a protection in the report blanked or exchanged, NA
# where none did: few of them could be told from exact figures of the file before.
cells_changed <- function(entries) {
  counts <- unlist(lapply(entries, function(entry) {
    e <- entry$result$estimates
    switch(entry$fun,
      suppress_cells = e$n_suppressed, invariant_pram = e$n_changed,
      utility_loss = e$n_blank + e$n_exchanged
    )
  }))
  counts <- counts[counts > 0]
  if (length(counts)) min(counts) else NA
}

# Changes so few that distances would tell single values, or a fingerprint all.
few_for_distances <- 100
few_for_fingerprint <- 16

board_table <- function(entries, settings) {
  limit <- settings$limit
  parts <- lapply(entries, function(entry) {
    rows <- board_rows(entry$result, limit)
    if (nrow(rows) == 0) {
      return(NULL)
    }
    if (is.null(rows$question)) {
      rows$question <- said_question(entry)
      rows$scenario <- paste(entry$said$scenario$who, collapse = ", ")
    }
    rows$id <- entry$id
    rows$fun <- entry$fun
    # What a protection says is of the file it released.
    rows$stage <- if (entry$fun %in% protecting) "after" else entry$stage
    if (counts_perturbed(entry, entries)) rows <- without_verdict(rows)
    rows$keys <- paste(sort(as.character(unlist(entry$result$settings$key_vars))), collapse = " + ")
    rows
  })
  table <- tell_apart(do.call(rbind, parts))
  if (!is.null(table)) rownames(table) <- NULL
  table
}

# In a file that was perturbed a record alone with its key need not be the person with
# these values: what counts records there is no measure of the release.
counts_perturbed <- function(entry, entries) {
  if (entry$stage != "after" || entry$fun %in% sees_perturbation) {
    return(FALSE)
  }
  funs <- vapply(entries, `[[`, "", "fun")
  drawn <- Filter(function(e) e$fun == "invariant_pram", entries)
  length(drawn) > 0 && (!any(c("suppress_cells", "recode_search") %in% funs) ||
    any(vapply(drawn, function(e) is_made_from(entry$result, released_data(e$result)), NA)))
}

sees_perturbation <- c("pram_audit", "link_attack", "longitudinal_link", "utility_loss")

word_note <- "values taken at their word, see below"

without_verdict <- function(rows) {
  rows$verdict[rows$verdict %in% c("ok", "above")] <- "not judged"
  rows$note <- word_note
  rows
}

protecting <- c("suppress_cells", "invariant_pram", "pram_audit", "recode_search")

# Equal words for figures of one file get their number of key variables, or their results' names.
tell_apart <- function(table) {
  if (is.null(table)) {
    return(NULL)
  }
  for (more in c("n_keys", "id")) {
    same <- paste(table$measure, table$stage, sep = "\r")
    twice <- same %in% same[duplicated(same)]
    shown <- if (more == "id") {
      paste0("(", table$id, ")")
    } else {
      paste("on", plural(lengths(strsplit(table$keys, " + ", fixed = TRUE)), "key variable"))
    }
    table$measure[twice] <- paste(table$measure, shown)[twice]
  }
  table
}

said_question <- function(entry) {
  question <- entry$said$question
  if (is.null(question)) question <- paste0("what does ", entry$fun, "() say?")
  capitalised(question)
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

# What a few blanks lost is as good as their values.
without_distances <- function(table) {
  table[!grepl("^(bits|prop_bits|tv_|il1s|cost$|lower_bound$|gap$)", names(table))]
}

# Settings -------------------------------------------------------------------

# What was asked, as texts by argument. In an external report, numbers, names of
# columns and words that the function itself offers.
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

# Whether an argument may leave the agency: it names no record, and tells nothing of a value
# in the file.
is_external_argument <- function(name, value, entry) {
  name != "rows" && is_external_value(value, entry)
}

is_external_value <- function(value, entry) {
  words <- c(known_columns(entry), offered_words(entry$fun), "wildcard", "category", "exclude")
  short <- length(value) <= 100 && is.null(dim(value))
  if (inherits(value, "sdc_asked_part")) {
    value$kind != "withheld"
  } else if (is.null(value) || is.logical(value) && short) {
    TRUE
  } else if (rlang::is_formula(value)) {
    all(all.vars(value) %in% words) && is_model_formula(value)
  } else if (!has_external_names(value, words)) {
    FALSE
  } else if (is.list(value)) {
    all(vapply(value, is_external_value, NA, entry))
  } else if (is.numeric(value)) {
    short
  } else {
    is.character(value) && all(value %in% words)
  }
}

has_external_names <- function(value, words) {
  is.null(names(value)) || all(names(value) %in% c(words, names_in_limits)) ||
    is.list(value) && all(vapply(value, function(v) all(as.character(v) %in% words), NA))
}

names_in_limits <- c(
  "k", "prop_unique", "qar", "journalist", "tau1_rate", "population_uniqueness", "p", "alpha",
  "pi_u"
)

known_columns <- function(entry) {
  s <- entry$result$settings
  roles <- s[intersect(names(s), c(
    "key_vars", "weight_var", "hh_id", "hh_vars", "sensitive", "within", "strata_var", "id",
    "change_vars", "link_vars", "known_keys", "key_groups", "key_sets"
  ))]
  # A role that a function takes and keeps to itself; `within` may be values.
  given <- entry$asked$arguments
  given <- given[intersect(names(given), c("key_vars", "weight_var", "hh_id", "hh_vars", "id"))]
  texts <- c(unlist(roles), unlist(Filter(is.character, given)))
  c(texts[vapply(texts, is.character, NA)], names(s$key_groups))
}

# The words among the defaults of a function.
offered_words <- function(fun) {
  if (!fun %in% getNamespaceExports("sdcRisk")) {
    return(character())
  }
  defaults <- as.list(formals(getExportedValue("sdcRisk", fun)))
  unlist(lapply(defaults, function(d) {
    if (is.character(d)) d else if (is.call(d) && identical(d[[1]], as.name("c"))) {
      Filter(is.character, as.list(d)[-1])
    }
  }), use.names = FALSE)
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
    crates = rlang::set_names(
      vapply(parts, `[[`, "", 2), vapply(parts, `[[`, "", 1)
    )
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

report_pictures <- function(entries, comparisons, settings) {
  if (!settings$pictures || !requireNamespace("ggplot2", quietly = TRUE)) {
    return(list())
  }
  drawn <- Filter(function(entry) {
    (settings$internal || entry$fun %in% external_pictures) && is.null(entry$result[["made"]]) &&
      is.null(unclass(entry$result)$said)
  }, entries)
  few <- cells_changed(entries)
  if (!settings$internal && isTRUE(few < few_for_distances)) {
    drawn <- Filter(function(entry) entry$fun != "utility_loss", drawn)
  }
  pictures <- c(
    lapply(comparisons, function(x) list(id = "comparison", picture = quiet_picture(x))),
    lapply(drawn, function(entry) list(id = entry$id, picture = quiet_picture(entry$result)))
  )
  Filter(function(p) !is.null(p$picture), pictures)
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
