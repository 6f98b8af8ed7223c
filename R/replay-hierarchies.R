# Hierarchies in a log. Those that follow from a rule, such as widths, are the rule, and
# are made of the data again. Tables are written out in an internal log alone, and so are
# rules that name categories: cut points, top and bottom codes. What is not in the log is
# an argument of replay(). A fingerprint of the levels says whether they are those of then.

# Rules that tell nothing of any value.
plain_rules <- c("widths", "digits", "units", "rare", "origin", "pad", "drop")
hierarchy_rules <- c("breaks", "top", "bottom", plain_rules)

# Entries of a table that a log holds at most.
most_logged_levels <- 10000

# Called where hierarchies were given, by name of the variable.
note_hierarchies <- function(hierarchies) {
  asked <- get0(".asked", front(), inherits = FALSE)
  if (!is.null(asked) && length(hierarchies)) {
    asked$arguments$hierarchies <- asked_part("hierarchies", of = lapply(hierarchies, function(h) {
      is_table <- h$kind == "table"
      small <- length(h$values) * length(h$labels) <= most_logged_levels
      list(
        rule = if (!is_table) h$rule, table = if (is_table && small) unname(h$labels),
        n_levels = length(h), fingerprint = hierarchy_fingerprint(h)
      )
    }))
  }
}

# Of the groups that the values have at every level.
hierarchy_fingerprint <- function(x) key_table(as.data.frame(x))$fingerprint

# Whether the levels may be written: in an internal report all, else plain rules.
states_levels <- function(h, settings) {
  if (settings$internal) {
    !is.null(h$rule) || !is.null(h$table)
  } else {
    !is.null(h$rule) && all(names(h$rule) %in% plain_rules)
  }
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

encode_hierarchies <- function(of, entry, settings) {
  lapply(of, function(h) {
    stated <- states_levels(h, settings)
    c(
      if (stated && !is.null(h$rule)) {
        rule <- lapply(h$rule, encode_value, entry, settings)
        list(rule = if (length(rule)) rule else empty_object())
      },
      if (stated && !is.null(h$table)) list(table = lapply(h$table, as.list)),
      list(fingerprint = cut_fingerprint(h$fingerprint, settings$digits))
    )
  })
}

# Reading --------------------------------------------------------------------

check_log_hierarchies <- function(x) {
  good <- is.list(x$of) && length(x$of) && !is.null(names(x$of)) && all(vapply(x$of, function(h) {
    is.list(h) && is_one_text(h$fingerprint) && (is.null(h$rule) || is.list(h$rule)) &&
      all(names(h$rule) %in% hierarchy_rules) && (is.null(h$table) || is_log_table(h$table))
  }, NA))
  if (!good) stop_log("Hierarchies in it are damaged.")
  for (h in x$of) lapply(h$rule, decode_value)
}

is_log_table <- function(table) {
  is.list(table) && length(table) > 1 && all(lengths(table) == length(table[[1]])) &&
    all(vapply(unlist(table, recursive = FALSE), function(v) is.null(v) || is_one_text(v), NA))
}

# `hierarchies` of replay(): as recode_search() takes them, and those that were of use.
given_hierarchies <- function(given, log) {
  asked <- unlist(lapply(log$results, function(entry) {
    names(entry$call$arguments$hierarchies$of)
  }))
  if (inherits(given, "sdc_hierarchy")) {
    given <- rlang::set_names(list(check_whole_hierarchy(given)), given$name)
  }
  if (length(given)) {
    if (length(asked) == 0) {
      stop_argument("hierarchies", "be NULL", "No result in the log was asked with hierarchies.")
    }
    check_named_list(
      given, "hierarchies", "be a list with the name of a key variable for every entry", asked
    )
  }
  made <- Map(function(h, name) {
    if (inherits(h, "sdc_hierarchy")) {
      check_whole_hierarchy(h)
    } else {
      table_hierarchy(h, NULL, TRUE, list(name = name))
    }
  }, given, names(given))
  list(made = made, used = new.env(parent = emptyenv()))
}

# A hierarchy that nobody asked with, or has other levels, is no hierarchy of the report.
check_used_hierarchies <- function(given, done) {
  unused <- setdiff(names(given$made), ls(given$used, all.names = TRUE))
  reached <- vapply(done, function(d) isTRUE(d$asked_hierarchies), NA)
  if (length(unused) && any(reached)) {
    stop_sdc("mismatched_data", c(
      "`hierarchies` must be those that the results of the report were asked with.",
      x = paste0("Other levels, or of other values: ", quote_names(unused), "."),
      i = "Were they made from the same file, and were tables changed since?"
    ))
  }
}

# The hierarchies of a call: those given, else by the log; or why there are none.
find_logged_hierarchies <- function(logged, data, given, digits) {
  found <- Map(function(h, name) {
    same <- function(x) {
      digits == 0 || identical(cut_fingerprint(hierarchy_fingerprint(x), digits), h$fingerprint)
    }
    own <- given$made[[name]]
    if (!is.null(own) && same(own)) {
      assign(name, TRUE, envir = given$used)
      return(own)
    }
    made <- tryCatch(
      suppressMessages(logged_hierarchy(h, data[[name]], name)), sdcRisk_error = function(e) NULL
    )
    if (!is.null(made) && same(made)) made
  }, logged, names(logged))
  missing <- names(found)[vapply(found, is.null, NA)]
  if (length(missing)) {
    return(list(note = paste0(
      "not in the log: the hierarchy of ", paste(missing, collapse = ", "),
      "; give hierarchies = list(", paste0(missing, " = ", collapse = ", "), ")"
    )))
  }
  list(hierarchies = found)
}

# By its rule or its table, NULL where the log has neither.
logged_hierarchy <- function(h, column, name) {
  if (!is.null(h$rule)) {
    rule <- lapply(h$rule, decode_value)
    do.call(hierarchy, c(list(column, name = name), rule), quote = TRUE)
  } else if (!is.null(h$table)) {
    columns <- lapply(h$table, function(column) {
      vapply(column, function(v) if (is.null(v)) NA_character_ else v, "")
    })
    names(columns) <- paste0("level_", seq_along(columns) - 1L)
    table_hierarchy(do.call(frame, columns), NULL, FALSE, list(name = name))
  }
}
