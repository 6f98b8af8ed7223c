# The sections of a report after the page for the board.

# Before and after -----------------------------------------------------------

html_before_after <- function(content) {
  pairs <- paired_figures(content$board)
  cost <- cost_table(content)
  if (is.null(pairs) && is.null(cost)) {
    return(NULL)
  }
  c(
    html_tag("h2", "Before and after the protection"),
    if (!is.null(pairs)) {
      html_table(
        list(
          Figure = pairs$measure, Before = figure_words(pairs$before, pairs$unit),
          After = figure_words(pairs$after, pairs$unit), Ratio = ratio_text(pairs$ratio)
        ),
        c(FALSE, TRUE, TRUE, TRUE), values = list(Before = pairs$before, After = pairs$after)
      )
    },
    if (any(pairs$at_their_word)) {
      html_p(
        "After the protection these take perturbed values at their word, and are not judged: ",
        paste(pairs$measure[pairs$at_their_word], collapse = "; "), ".", class = "quiet"
      )
    },
    if (!is.null(cost)) c(html_tag("h3", "Information loss"), cost)
  )
}

ratio_text <- function(x) ifelse(is.na(x), "\u2013", format_risk(x))

# Figures of one function and measure in both stages, but for those of a model that does
# not fit, which are not to be reported.
paired_figures <- function(board) {
  if (is.null(board)) {
    return(NULL)
  }
  board <- board[!startsWith(board$note, misfit_note) & board$note != withheld_note, ]
  before <- board[board$stage == "before", ]
  after <- board[board$stage == "after", ]
  # Figures of equal key variables alone are compared.
  key <- function(b) paste(b$fun, b$label, b$keys, sep = "\r")
  before <- before[!duplicated(key(before)) & key(before) %in% key(after), ]
  if (nrow(before) == 0) {
    return(NULL)
  }
  at <- match(key(before), key(after))
  pairs <- frame(
    measure = before$label, unit = before$unit, before = before$value,
    after = after$value[at], ratio = finite_or_na(after$value[at] / before$value),
    at_their_word = after$note[at] == word_note
  )
  # Two functions may report one fact: it is listed once.
  pairs[!duplicated(pairs[c("measure", "before", "after")]), ]
}

cost_terms <- c(
  n_blank = "Suppressed values", prop_blank = "Suppressed values, share",
  n_exchanged = "Exchanged values", prop_exchanged = "Exchanged values, share",
  n_records_changed = "Records with suppressed or exchanged values",
  prop_bits_lost = "Share of the information lost (bits)",
  tv_margins = "Mean distance of the margins (total variation)",
  tv_pairs = "Mean distance of the tables of pairs (total variation)",
  il1s = "Mean change of continuous variables (IL1s)",
  mean_change = "Largest change of a mean, in standard deviations",
  quantile_change = "Largest change of a decile, in standard deviations",
  correlation_change = "Largest change of a correlation",
  ci_overlap = "Mean overlap of the intervals of a regression"
)

cost_table <- function(content) {
  losses <- Filter(function(entry) entry$fun == "utility_loss", content$entries)
  if (length(losses)) unlist(lapply(losses, function(entry) {
    cost <- loss_in_words(entry)
    c(
      if (length(losses) > 1) html_p(entry$id),
      html_table(
        list(Cost = cost$label, Value = cost$words), c(FALSE, TRUE),
        values = list(Value = cost$value)
      )
    )
  }))
}

# The figures of a loss in words.
loss_in_words <- function(entry) {
  e <- entry$tables$estimates
  terms <- intersect(names(cost_terms), names(e))
  value <- as.double(unlist(e[1, terms]))
  kind <- ifelse(grepl("^prop", terms), "share", ifelse(grepl("^n_", terms), "count", "risk"))
  list(label = unname(cost_terms[terms]), value = value, words = figure_words(value, kind))
}

# Pictures -------------------------------------------------------------------

html_pictures <- function(content) {
  if (length(content$pictures)) c(
    html_tag("h2", "Pictures"),
    vapply(content$pictures, function(p) {
      title <- paste0(p$id, if (nzchar(p$picture$title)) paste0(": ", p$picture$title))
      paste0(
        "<figure><img alt=\"", html_text(paste0(p$id, ": ", p$finding, ".")),
        "\" src=\"data:image/png;base64,",
        gsub("\\s", "", p$picture$png), "\">\n<figcaption>", html_text(title),
        "</figcaption></figure>"
      )
    }, "")
  )
}

# Methods --------------------------------------------------------------------

html_methods <- function(content) {
  c(html_tag("h2", "Methods"), unlist(lapply(content$entries, html_method, content$settings)))
}

html_method <- function(entry, settings) {
  stated <- entry$settings
  c(
    html_tag("h3", html_text(paste0(entry$id, if (entry$id != entry$fun) {
      paste0(" (", entry$fun, "())")
    } else {
      "()"
    }))),
    html_p("Question: ", lower_first(said_question(entry))),
    if (!is.null(entry$said$scenario)) html_p(scenario_line(entry$said$scenario)),
    if (settings$internal || entry$fun %in% external_sentences) html_p(entry$said$sentence),
    if (length(stated)) {
      html_table(list(Setting = names(stated), Value = unname(stated)))
    },
    reference_lines(entry$fun),
    if (settings$internal && is.null(unclass(entry$result)$said) && !any(misfits(entry$result))) {
      html_tag("pre", html_text(paste(format(entry$exact, width = 90), collapse = "\n")))
    }
  )
}

# Their sentences are made of numbers and names of variables.
external_sentences <- c(
  "qar_risk", "risk_contribution", "removal_path", "removal_bound", "n_matches",
  "individual_risk", "loglinear_risk", "copula_fit", "copula_uniqueness", "population_uniqueness",
  "uniqueness_by_size", "uniqueness_validation", "invariant_pram", "pram_audit", "suppress_cells",
  "longitudinal_link", "longitudinal_risk", "key_overview", "key_stability", "link_attack",
  "exhaustive_tabulation", "file_check", "household_risk", "special_uniques", "attribute_risk",
  "attack_release", "interval_disclosure", "joint_release_risk", "perturbation_risk"
)

reference_lines <- function(fun) {
  known <- references[declared[[fun]]$reference]
  if (length(known)) html_p("After ", paste(known, collapse = " "), class = "quiet")
}

# Tables ---------------------------------------------------------------------

html_tables <- function(content) {
  parts <- lapply(content$entries, function(entry) {
    c(
      html_tag("h3", html_text(entry$id)),
      unlist(lapply(names(entry$tables), function(name) {
        table <- entry$tables[[name]]
        gone <- lapply(rlang::set_names(names(table)), withheld_in, entry = entry, table = name)
        html_result_table(table, name, lapply(gone, utils::head, nrow(table)))
      }))
    )
  })
  c(
    html_tag("h2", "All figures"),
    html_p(
      if (content$settings$internal) {
        "The figures of the log, to seven digits here and to the last bit there. "
      } else {
        "The figures of the log, rounded to three significant digits. "
      },
      "Their names are those of the help pages.", class = "quiet"
    ),
    html_tag("div", paste(unlist(parts), collapse = "\n"), class = "figures")
  )
}

# Tables that do not fit across a page, or have few rows, are transposed. `gone`: the withheld
# numbers of each column.
html_result_table <- function(table, name, gone) {
  # Questions stand on the page for the board.
  table <- table[setdiff(names(table), if ("measure" %in% names(table)) "question")]
  table <- table[vapply(table, function(x) is.numeric(x) || any(nzchar(x) & !is.na(x)), NA)]
  shown <- Map(shown_cell, table, gone[names(table)])
  if (nrow(table) == 0 || length(table) == 0) {
    return(NULL)
  }
  body <- if (nrow(table) <= 3 || length(table) > 9) {
    blocks <- split(seq_len(nrow(table)), (seq_len(nrow(table)) - 1) %/% 4)
    vapply(blocks, function(rows) table_on_end(table, shown, rows), "")
  } else {
    numbers <- vapply(table, is.numeric, NA)
    html_table(shown, unname(numbers), values = lapply(table[numbers], as.double))
  }
  c(if (name != "estimates") html_p(name, ":"), body)
}

shown_cell <- function(x, gone) {
  shown <- if (is.numeric(x)) ifelse(is.na(x), "\u2013", figure_text(x)) else as.character(x)
  replace(shown, gone, withheld_note)
}

# A row per column of the table, its text breaking where numbers do not.
table_on_end <- function(table, shown, rows) {
  names <- if (nrow(table) == 1) "value" else rows
  columns <- lapply(rows, function(i) vapply(shown, `[[`, "", i, USE.NAMES = FALSE))
  values <- lapply(rows, function(i) {
    vapply(table, function(x) if (is.numeric(x)) as.double(x[[i]]) else NA_real_, 0)
  })
  class <- rep(list(ifelse(vapply(table, is.numeric, NA), "", "text")), length(rows))
  names(columns) <- names(values) <- names(class) <- names
  html_table(
    c(list(figure = names(table)), columns), c(FALSE, rep(TRUE, length(rows))),
    classes = class, values = values
  )
}

# Records of an internal report ----------------------------------------------

html_records <- function(content) {
  parts <- lapply(content$entries, function(entry) {
    # Patterns have no row in the file.
    by_pattern <- !is.null(asked_patterns(entry$result))
    if (!is.null(unclass(entry$result)$said) || by_pattern || any(misfits(entry$result))) {
      return(NULL)
    }
    risk <- record_risk(entry$result)
    if (is.null(risk) || !any(risk > 0, na.rm = TRUE)) return(NULL)
    c(html_tag("h3", html_text(entry$id)), html_top_records(risk, entry$fun))
  })
  parts <- unlist(parts)
  if (length(parts)) c(
    html_tag("h2", "Records of highest risk"),
    html_p("Row numbers in the file, at most ", most_named, " per result, by what they share."),
    parts
  )
}

most_named <- 20

# Numbers of a record besides risks.
record_numbers <- c(
  exhaustive_tabulation = "Small cells", risk_contribution = "Contribution to T"
)

# A row for every risk with the records that have it, in two halves side by side.
html_top_records <- function(risk, fun) {
  top <- utils::head(order(-risk), most_named)
  top <- top[!is.na(risk[top]) & risk[top] > 0]
  shown <- if (any(risk[top] > 1)) format_count(risk[top]) else format_risk(risk[top])
  rows <- split(top, factor(shown, unique(shown)))
  named <- vapply(rows, function(r) paste(figure_text(r), collapse = ", "), "")
  # Others that tie with the last one.
  more <- sum(risk >= risk[[top[[length(top)]]]], na.rm = TRUE) - length(top)
  if (more > 0) {
    named[[length(named)]] <- paste0(named[[length(named)]], " and ", format_count(more), " more")
  }
  first <- if (fun %in% names(record_numbers)) record_numbers[[fun]] else "Risk"
  half <- seq_len(if (length(rows) > 6) ceiling(length(rows) / 2) else length(rows))
  columns <- list(names(rows)[half], named[half])
  if (length(rows) > length(half)) {
    rest <- c(seq_along(rows)[-half], if (length(rows) %% 2) NA)
    columns <- c(columns, lapply(list(names(rows)[rest], named[rest]), function(x) {
      ifelse(is.na(x), "", x)
    }))
  }
  names(columns) <- rep_len(c(first, "Records"), length(columns))
  html_tag("div", html_table(columns, rep_len(c(TRUE, FALSE), length(columns))), class = "records")
}

# Versions -------------------------------------------------------------------

html_versions <- function(content) {
  versions <- content$versions
  c(
    html_tag("h2", "Versions, and how to compute it again"),
    html_table(list(
      What = c("sdcRisk", "R", "Platform", names(versions$crates)),
      Version = c(versions$sdcRisk, versions$R, versions$platform, unname(versions$crates))
    )),
    html_p(
      "The log written with this report holds the settings and every figure",
      if (content$settings$internal) " to the last bit", ". In R, with the file as data:"
    ),
    html_tag("pre", html_text("sdcRisk::replay(\"<this report>.json\", data)")),
    html_p(
      "computes every figure again and says which are equal",
      if (content$settings$internal) " to the last bit" else " after the same rounding",
      ", on any number of threads, and which are not repeatable and why. A protected file that ",
      "cannot be computed again is given with the other: data = list(before, after)."
    )
  )
}
