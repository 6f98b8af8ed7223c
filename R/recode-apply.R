#' Apply a recoding
#'
#' Applies a recoding that [recode_search()] found: recodes every key variable to its level, then
#' suppresses values. The result is the recoded file.
#'
#' @details Bands are ordered factors, codes keep their leading characters, joined values
#' are factors, a dropped variable is `"*"` in all records, and level 0 is the column as it
#' was. A suppressed record misses all its key variables; with `blanks = "cells"` the
#' recoding is completed by `suppress_cells()`, as in [recode_search()]. All
#' other columns, the class of `data` and the order of the records stay. If one of them
#' reveals the values behind a recoding, such as a year of birth next to age bands, a message
#' of class `sdcRisk_message_determined_keys` names it, see [release_data()]. To recode by
#' hand, run the lines in `x$code`, printed by `cat(x$code[[1]], sep = "\n")`; they do not
#' include the following.
#'
#' **Release.** The value is the protected file with its identifiers, by which suppressed values
#' can come back: [release_data()] leaves them out. Levels and value labels that no record has any
#' more, row names and attributes that could carry values are dropped here, too. If the order of
#' the records reveals protected values, there is a message (`told_by_order`): [release_data()]
#' puts them in a secret order, and `shuffle = TRUE` does so here.
#'
#' @param x A result of [recode_search()].
#' @param data The data it was made from. `NULL`: those, as long as the session has them; a saved
#'   result does not. Other data are an error of class
#'   `sdcRisk_error_mismatched_data`. With `blanks = FALSE` also another file with the
#'   same key variables, such as the next wave, or the [sdc_file()] of a table of a database.
#' @param which Which of the recodings in `x$best`, 1 for the cheapest.
#' @inheritParams sdcRisk-params
#' @param blanks `TRUE`: suppress values that the recoding leaves above the limit. `FALSE`: only
#'   recode; the limit need not hold in the result. Values that the searched file does not
#'   have are an error of class `sdcRisk_error_mismatched_data` if the hierarchy does not say
#'   where they belong.
#' @param shuffle `TRUE`: the records in a secret order that nobody can compute again.
#' @return `data` with its key variables recoded as an [sdc_file()], whose `summary()` says what was
#'   done; with `blanks = FALSE` in its own class. Of an sdcMicroObj that object, see
#'   [store_result()]. Message: `told_by_order`.
#' @family recoding
#' @concept global recoding
#' @export
#' @examples
#' keys <- c("age", "sex")
#' found <- recode_search(adult, keys, constraint = list(k = 5))
#' recoded <- apply_recoding(found, adult)
#' cat(found$code[[1]], sep = "\n")
apply_recoding <- function(x, data = NULL, which = 1, ..., blanks = TRUE, shuffle = FALSE) {
  announce("apply_recoding")
  check_no_dots(...)
  check_flag(shuffle, "shuffle")
  check_given("x")
  if (!inherits(x, "sdc_recode_search")) {
    stop_argument("x", "be a result of recode_search()", given_words(x))
  }
  if (is.null(data)) data <- searched_file(x)
  check_result(x)
  which <- check_whole(which, "which", high = nrow(x$best))
  settings <- x$settings
  levels <- levels_of(x, which)
  file <- as_file(data, "data")
  check_takes_patterns(file, !is.null(file$table), "data")
  if (!is.null(file$table)) {
    return(recode_searched_table(searched_roles(file, settings), x, which, blanks))
  }
  if (!check_flag(blanks, "blanks")) {
    out <- recode_other(file$data, x$hierarchies, levels)
    return(recoded_file(
      searched_roles(file, settings), out, "apply_recoding",
      paste0("apply_recoding(): ", recoding_words(x, levels, 0)), settings$key_vars, shuffle
    ))
  }
  check_same_data(x, data)
  file <- searched_roles(file, settings)
  blanked <- recoding_blanks(x, data, levels)
  out <- recode_columns(file$data, x$hierarchies, levels)
  k <- if (is.null(settings$constraint$k)) NA else settings$constraint$k
  if (settings$blanks == "cells") out <- quietly_suppress(out, settings)$data
  if (any(blanked)) {
    for (name in settings$key_vars) {
      column <- out[[name]]
      column[blanked] <- NA
      out <- replace_column(out, name, column)
    }
  }
  blanks <- x$best$n_suppressed[[which]] > 0
  if (blanks) file$defaults <- list(missing = "wildcard")
  recoded_file(
    file, out, "apply_recoding", paste0("apply_recoding(): ", x$best$text[[which]]),
    settings$key_vars, shuffle, k
  )
}

levels_of <- function(x, which) unlist(x$best[which, x$settings$key_vars, drop = FALSE])

# What the recoding of a table of a database leaves above the limit is for suppress_cells(): if it
# was found for a file in R, nobody knows what that is.
recode_searched_table <- function(file, x, which, blanks) {
  levels <- levels_of(x, which)
  of_table <- identical(fingerprint_of(file$data, x$settings), x$settings$fingerprint)
  n_left <- x$best$n_suppressed[[which]]
  if (check_flag(blanks, "blanks") && !(of_table && n_left == 0)) {
    stop_argument(
      "blanks", "be FALSE for a table of a database",
      if (of_table) {
        paste0("The recoding leaves ", plural(n_left, "record"), " above the limit.")
      } else {
        "The recoding was found for other data."
      },
      "Suppress values afterwards: suppress_cells(apply_recoding(x, data, blanks = FALSE), k = 3)."
    )
  }
  check_columns(x$settings$key_vars, all_columns_of(file), "data")
  changed <- names(levels)[levels > 0]
  old <- lapply(rlang::set_names(changed), recoding_values, file = file)
  new <- recode_other(lapply(old, `[[`, "x"), x$hierarchies[changed], levels)
  recoded_table(
    file, old, new, "apply_recoding", paste0("apply_recoding(): ", recoding_words(x, levels, 0))
  )
}

# The file that was searched, as long as the session holds it.
searched_file <- function(x) {
  held <- attr(x, "file")$file
  file <- if (rlang::is_weakref(held)) rlang::wref_value(held)
  if (is.null(file)) {
    stop_argument(
      "data", "be given", found = "A saved result holds no data.",
      advice = "Give the data that it was made from."
    )
  }
  file
}

# Columns that the search used keep their roles. Other files need not have its weights.
searched_roles <- function(file, settings) {
  for (role in c("key_vars", "weight_var")) {
    known <- all(settings[[role]] %in% names(file$data))
    if (is.null(file$roles[[role]]) && known) file$roles[[role]] <- settings[[role]]
  }
  same <- nrow(file$data) == settings$n && is.null(file$roles$sampling_fraction)
  if (same && is.null(file$roles$pop_size)) file$roles$pop_size <- settings$pop_size
  file
}

# The records that a recoding blanks.
recoding_blanks <- function(x, data, levels) {
  settings <- x$settings
  if (settings$blanks == "cells") {
    return(logical(nrow(data)))
  }
  table <- key_table(data, settings$key_vars)
  data <- bare_data(data)
  problem <- list(
    table = table, settings = settings,
    variables = search_variables(x$hierarchies, data, table, settings)
  )
  blanked_records(problem, levels)
}

# A file with the same key variables at their levels. The function of a level gives `NA` for
# values it does not know, and is not defined for columns of another type.
recode_other <- function(data, hierarchies, levels) {
  check_columns(names(hierarchies), data, "data")
  out <- tryCatch(recode_columns(data, hierarchies, levels), error = function(e) NULL)
  lost <- if (!is.null(out)) {
    Filter(function(name) any(is.na(out[[name]]) & !is.na(data[[name]])), names(hierarchies))
  }
  if (is.null(out) || length(lost)) {
    stop_sdc(
      "mismatched_data",
      "`data` must have the key variables of `x`, with values that its hierarchies know.",
      x = if (length(lost)) {
        paste0(quote_names(lost), " has values without a group at the chosen level.")
      } else {
        "A key variable has another type than in the file that was searched."
      },
      i = "Give recode_search() hierarchies that hold the values of both files.",
      columns = lost
    )
  }
  out
}

# The lines that do the same by hand ------------------------------------------

recoding_code <- function(problem, levels, n_blanked) {
  settings <- problem$settings
  lines <- as.character(unlist(lapply(settings$key_vars, function(name) {
    if (levels[[name]] > 0) {
      column_code(name, problem$hierarchies[[name]], levels[[name]], problem$data[[name]])
    }
  })))
  keys <- paste0("keys <- ", code_text(settings$key_vars))
  if (settings$blanks == "cells") {
    asked <- suppression_asked(settings)
    return(c(lines, keys, paste0(
      "data <- suppress_cells(data, keys, ",
      paste(names(asked), "=", vapply(asked, dput_text, ""), collapse = ", "), ")$data"
    )))
  }
  # A table of counts is suppressed by suppress_cells().
  if (n_blanked == 0 || !is.null(times_of(problem$data))) {
    return(lines)
  }
  k <- settings$constraint$k
  if (!is.null(k) && k > 1) {
    c(
      lines, keys,
      "cell <- do.call(paste, lapply(keys, function(v) match(data[[v]], unique(data[[v]]))))",
      paste0("blank <- c(table(cell)[cell] < ", k, ")"),
      "for (v in keys) data[[v]][blank] <- NA"
    )
  } else {
    c(
      lines, keys, paste0("blank <- ", code_text(which(blanked_records(problem, levels)))),
      "for (v in keys) data[[v]][blank] <- NA"
    )
  }
}

column_code <- function(name, hierarchy, level, column) {
  target <- if (make.names(name) == name) {
    call("$", quote(data), as.name(name))
  } else {
    call("[[", quote(data), name)
  }
  source <- if (inherits(column, "haven_labelled_spss")) {
    bquote(as.vector(haven::zap_missing(.(target))))
  } else if (inherits(column, "haven_labelled")) {
    bquote(as.vector(unclass(.(target))))
  } else if (inherits(column, "integer64")) {
    bquote(as.double(.(target)))
  } else {
    # As above, in code.
    plain <- plain_column(column)
    if (inherits(column, "difftime")) {
      bquote(as.numeric(.(target), units = "secs"))
    } else if (!identical(c(dim(column), oldClass(column)), c(dim(plain), oldClass(plain)))) {
      bquote(structure(.(target), dim = NULL, class = .(oldClass(plain))))
    } else {
      target
    }
  }
  if (hierarchy$kind == "table" && is_plain_number(column_values(column))) {
    digits <- if (is_whole_column(column)) "%.0f" else "%.15g"
    source <- bquote(ifelse(is.na(.(source)), NA, sprintf(.(digits), .(source))))
  }
  expr <- do.call(substitute, list(hierarchy$steps[[level + 1]]$expr, list(x = source)))
  c(
    # Without its package as.double() takes the bits of an integer64 for a number.
    if (inherits(column, "integer64")) "loadNamespace(\"bit64\")",
    code_text(call("<-", target, expr))
  )
}

# A recoding in words, unchanged variables last.
recoding_words <- function(problem, levels, n_blanked) {
  settings <- problem$settings
  changed <- settings$key_vars[levels[settings$key_vars] > 0]
  words <- vapply(changed, function(name) {
    paste(name, problem$hierarchies[[name]]$steps[[levels[[name]] + 1]]$words)
  }, "")
  n_same <- length(settings$key_vars) - length(changed)
  same <- if (n_same > 0) {
    paste(
      if (length(changed)) paste(n_same, "of", plural(length(settings$key_vars), "key")) else
        "all key variables", "unchanged"
    )
  }
  blanks <- if (n_blanked > 0) {
    cells <- settings$blanks == "cells"
    of <- if (cells) settings$n * length(settings$key_vars) else settings$n
    paste0(
      format_count(n_blanked), " of ", plural(of, if (cells) "key value" else "record"), " (",
      format_percent(n_blanked / of), ") suppressed"
    )
  }
  paste(c(paste(c(words, same), collapse = ", "), blanks), collapse = "; ")
}
