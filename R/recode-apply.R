#' Recoded data
#'
#' Applies a recoding that [recode_search()] found: every key variable at its level,
#' then the blanks.
#'
#' @details
#' Bands are ordered factors, codes keep their leading characters, joined values are
#' factors, a dropped variable is `"*"` in all records, and level 0 is the column as
#' it was. A blanked record misses all its key variables; with `blanks = "cells"`,
#' [recode_search()] finished the recoding by `suppress_cells()`, and so does this. All
#' other columns, the class of `data` and the order of the records stay. The same is
#' done by hand by the lines in `x$code`, printed by `cat(x$code[[1]], sep = "\n")`.
#'
#' @param x A result of [recode_search()].
#' @param data The data it was made from: other data are an error of class
#'   `sdcRisk_error_mismatched_data`.
#' @param which Which of the recodings in `x$best`, 1 for the cheapest.
#' @param ... Must be empty: later arguments must be named in full.
#' @return `data` with its key variables recoded, in its own class: of an sdcMicroObj
#'   that object, see [store_result()].
#' @family recoding
#' @export
#' @examples
#' keys <- c("age", "sex")
#' found <- recode_search(adult, keys, constraint = list(k = 5))
#' recoded <- apply_recoding(found, adult)
#' cat(found$code[[1]], sep = "\n")
apply_recoding <- function(x, data, which = 1, ...) {
  check_no_dots(...)
  check_given(c("x", "data"))
  if (!inherits(x, "sdc_recode_search")) {
    stop_argument("x", "be a result of recode_search()", given_words(x))
  }
  check_result(x)
  which <- check_whole(which, "which", high = nrow(x$best))
  check_same_data(x, data)
  file <- as_file(data, "data")
  settings <- x$settings
  levels <- unlist(x$best[which, settings$key_vars, drop = FALSE])
  blanked <- recoding_blanks(x, data, levels)
  out <- recode_columns(file$data, x$hierarchies, levels)
  k <- if (is.null(settings$constraint$k)) NA else settings$constraint$k
  if (settings$blanks == "cells") {
    out <- quietly_suppress(out, settings)$data
  }
  if (any(blanked)) {
    for (name in settings$key_vars) {
      column <- out[[name]]
      column[blanked] <- NA
      out <- replace_column(out, name, column)
    }
  }
  give_back(file, out, k = k)
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

# `data` with the key variables at their levels.
recode_columns <- function(data, hierarchies, levels) {
  for (name in names(hierarchies)) {
    if (levels[[name]] > 0) {
      recoded <- recode_column(data[[name]], hierarchies[[name]], levels[[name]])
      data <- replace_column(data, name, recoded)
    }
  }
  data
}

recode_column <- function(column, hierarchy, level) {
  if (level == 0) {
    return(column)
  }
  eval(hierarchy$steps[[level + 1]]$expr, list(x = column_values(column)), baseenv())
}

# A data.table is never changed in place.
replace_column <- function(data, name, column) {
  if (inherits(data, "data.table") && requireNamespace("data.table", quietly = TRUE)) {
    data <- data.table::copy(data)
    data.table::set(data, j = name, value = column)
    return(data)
  }
  data[[name]] <- column
  data
}

# The lines that do the same by hand ------------------------------------------

recoding_code <- function(problem, levels, n_blanked) {
  settings <- problem$settings
  lines <- unlist(lapply(settings$key_vars, function(name) {
    if (levels[[name]] > 0) {
      column_code(name, problem$hierarchies[[name]], levels[[name]], problem$data[[name]])
    }
  }))
  keys <- paste0("keys <- ", code_text(settings$key_vars))
  if (settings$blanks == "cells") {
    return(c(lines, keys, paste0(
      "data <- suppress_cells(data, keys, k = ", settings$constraint$k, ")$data"
    )))
  }
  if (n_blanked == 0) {
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
    blank <- which(blanked_records(problem, levels))
    c(
      lines, keys, paste0("blank <- ", code_text(blank)),
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
  } else {
    target
  }
  expr <- do.call(substitute, list(hierarchy$steps[[level + 1]]$expr, list(x = source)))
  code_text(call("<-", target, expr))
}

# Code that R reads in every locale: where a locale lacks a letter, deparse() would put
# "<U+0131>" for it, which is another value.
code_text <- function(expr, locale_has_all = l10n_info()[["UTF-8"]]) {
  if (!locale_has_all) expr <- mark_letters(expr)
  text <- paste(trimws(deparse(expr, width.cutoff = 500L)), collapse = " ")
  if (locale_has_all) text else gsub("\\\\001\\{([0-9a-f]+)\\}", "\\\\U{\\1}", text)
}

# Letters beyond ASCII in the texts of an expression, and in the names of its columns, as
# marks of ASCII.
mark_letters <- function(expr) {
  marked <- function(text) {
    points <- lapply(enc2utf8(text), utf8ToInt)
    vapply(points, function(p) {
      paste(ifelse(p > 127, sprintf("\001{%x}", p), intToUtf8(p, multiple = TRUE)), collapse = "")
    }, "")
  }
  if (is.call(expr)) {
    column <- if (identical(expr[[1]], as.name("$"))) as.character(expr[[3]]) else ""
    # R reads no such marks in a name without quotes.
    if (any(utf8ToInt(enc2utf8(column)) > 127)) expr <- call("[[", expr[[2]], column)
    as.call(lapply(as.list(expr), mark_letters))
  } else if (is.character(expr) && !anyNA(expr)) {
    replace(expr, seq_along(expr), marked(expr))
  } else {
    expr
  }
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
      format_count(n_blanked), " of ", plural(of, if (cells) "key cell" else "record"), " (",
      format_percent(n_blanked / of), ") blanked"
    )
  }
  paste(c(paste(c(words, same), collapse = ", "), blanks), collapse = "; ")
}
