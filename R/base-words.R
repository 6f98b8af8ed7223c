# Numbers in words and tables. They follow options(OutDec = ), as all printed
# numbers of R do; numbers that are data never pass through here, but through
# number_text().

# The mark between thousands, which must not be the decimal mark.
big_mark <- function() {
  if (identical(getOption("OutDec"), ",")) "." else ","
}

# The separator of numbers in a row, which must not look like the decimal mark.
between_numbers <- function() {
  if (identical(getOption("OutDec"), ",")) "; " else ", "
}

format_count <- function(x) {
  # A number beyond the integers cannot count records, but may count people.
  if (is.double(x) && any(abs(x) > .Machine$integer.max, na.rm = TRUE)) {
    return(ifelse(
      abs(x) < 1e15, formatC(x, digits = 0, format = "f", big.mark = big_mark()),
      format(x, digits = 4)
    ))
  }
  # As by `big.mark`, which takes twenty times as long.
  gsub("(?<=[0-9])(?=([0-9]{3})+$)", big_mark(), formatC(x, format = "d"), perl = TRUE)
}

# Three significant digits.
format_risk <- function(x) {
  size <- abs(x)
  # Three digits before the decimal mark need none after it.
  out <- sub("[.,]$", "", formatC(x, digits = 3, format = "fg", flag = "#"))
  large <- !is.na(size) & size >= 999.95
  out[large] <- format_count(round(x[large]))
  endless <- is.infinite(x)
  out[endless] <- ifelse(x[endless] > 0, "infinite", "-infinite")
  tiny <- !is.na(size) & size > 0 & size < 1e-6
  out[tiny] <- formatC(x[tiny], digits = 3, format = "g")
  out[is.na(size)] <- "NA"
  out
}

# Numbers that are often whole.
format_amount <- function(x) {
  ifelse(!is.na(x) & x == round(x), format_count(x), format_risk(x))
}

# Probabilities below this are "negligible" in sentences: no model knows a tail of 2.1e-75. Tables
# keep the figure.
next_to_nothing <- 1e-6
words_of_small <- function(x, format) {
  small <- !is.na(x) & x > 0 & x < next_to_nothing
  out <- format(x)
  out[small] <- "below 1e-6"
  out
}

# A likelihood in words that fit one that is next to nothing.
format_likelihood <- function(x) {
  ifelse(!is.na(x) & x < 1e-4, paste("below", format_risk(0.0001)), format_risk(x))
}

# Three significant digits; nothing but all is 100%, and nothing but none 0%.
format_percent <- function(x) {
  percent <- 100 * x
  number <- formatC(percent, width = 1, digits = 3, format = "fg")
  huge <- !is.na(x) & percent >= 999.5
  number[huge] <- format_risk(percent[huge])
  nearly <- !is.na(x) & percent >= 99.95 & percent < 100
  number[nearly] <- formatC(floor(100 * percent[nearly]) / 100, digits = 4, format = "fg")
  tiny <- !is.na(x) & percent > 0 & percent < 1e-4
  number[tiny] <- paste("below", formatC(1e-4, digits = 1, format = "fg"))
  ifelse(is.na(x), "NA", paste0(number, "%"))
}

# "1 record", "2 records", "2 matches"
plural <- function(n, noun, ending = "s") {
  paste0(format_count(n), " ", noun, ifelse(n %in% 1, "", ending))
}

# The largest of the records' numbers never stands alone. "At most", since many
# records can have the same number.
format_spread <- function(largest, q99, q95, format = format_risk, noun = "records") {
  at_most <- function(x) sub("^at most below", "below", paste("at most", words_of_small(x, format)))
  paste0(
    "largest ", words_of_small(largest, format), ", 99% of the ", noun, " ", at_most(q99),
    ", 95% ", at_most(q95)
  )
}

# A setting or another number as people gave it, with seven digits at most.
format_number <- function(x) {
  formatC(x, width = 1, digits = 7, format = "g")
}

# Lines at most as wide as the console: text is broken at blanks, the rest of a
# line indented; not at those of a name in quotes, which may be code. A table fits
# already, see format_table().
wrap_lines <- function(lines, width = console_width(), indent = 2) {
  lines <- as.character(lines)
  too_long <- nchar(lines) > width
  glued <- lines[too_long]
  # Looking for names in quotes takes longer than all the rest.
  quoted <- grepl("\"", glued, fixed = TRUE)
  glued[quoted] <- glue_quoted(glued[quoted])
  lines <- as.list(lines)
  lines[too_long] <- lapply(glued, function(line) {
    lead <- nchar(line) - nchar(sub("^ +", "", line))
    broken <- strwrap(line, width + 1, indent = lead, exdent = lead + indent)
    gsub("\u00a0", " ", broken, fixed = TRUE)
  })
  unlist(lines, use.names = FALSE)
}

# Methods of print() for what format() makes lines of.
print_lines <- function(x, ...) {
  cat(format(x, ...), sep = "\n")
  invisible(x)
}

print_wrapped <- function(x, ...) {
  cat(wrap_lines(format(x, ...)), sep = "\n")
  invisible(x)
}

# Names in quotes held together, by blanks that strwrap() does not know.
glue_quoted <- function(lines) {
  quoted <- gregexpr('"[^"]{1,60}"', lines, perl = TRUE)
  regmatches(lines, quoted) <- lapply(regmatches(lines, quoted), function(name) {
    gsub(" ", "\u00a0", name, fixed = TRUE)
  })
  lines
}

# Narrower consoles than this get lines that are too long.
console_width <- function() {
  max(getOption("width"), 40)
}

# A data frame as lines, numbers rounded to three significant digits. A table wider than
# the console has its names cut, never a number, and then its columns below each other.
format_table <- function(table, width = console_width() - 2) {
  shown <- lapply(table, cell_text)
  names(shown) <- shorten(names(table))
  right <- vapply(table, is.numeric, NA)
  cells <- align_cells(shown, right)
  wide <- function(cells) {
    if (length(cells)) sum(vapply(cells, function(x) nchar(x[[1]]), 0) + 2) - 2 else 0
  }
  if (wide(cells) > width) {
    shown[!right] <- lapply(shown[!right], function(cells) {
      ifelse(grepl("^[0-9]", trimws(cells)), cells, shorten(cells, 26))
    })
    cells <- align_cells(shown, right)
  }
  out <- character()
  repeat {
    # Every block begins with the first column, which says what a row is.
    fits <- length(cells)
    while (fits > min(2, length(cells)) && wide(cells[seq_len(fits)]) > width) fits <- fits - 1
    lines <- do.call(paste, c(unname(cells[seq_len(fits)]), sep = "  "))
    # Like trimws(), whose engine takes seconds for the blanks under a long name.
    out <- c(out, sub("[ \t\r\n]+$", "", lines, perl = TRUE))
    cells <- cells[c(1, seq_along(cells)[-seq_len(fits)])]
    if (length(cells) < 2) {
      return(out)
    }
  }
}

cell_text <- function(column) {
  if (is.double(column)) {
    whole <- !is.na(column) & column == round(column) & abs(column) < 1e15
    ifelse(
      whole, formatC(column, digits = 0, format = "f"),
      formatC(column, digits = 3, format = "g")
    )
  } else {
    shorten(as.character(column), 60)
  }
}

align_cells <- function(shown, right) {
  Map(function(name, column, right) {
    format(c(name, column), justify = if (right) "right" else "left")
  }, names(shown), shown, right)
}

# One or few rows of many columns as lines of their own: a column for the name
# and one per row.
long_table <- function(table) {
  text <- vapply(table, cell_text, character(nrow(table)))
  dim(text) <- dim(table)
  out <- c(list(names(table)), lapply(seq_len(nrow(table)), function(i) trimws(text[i, ])))
  names(out) <- c("", if (nrow(table) == 1) "value" else seq_len(nrow(table)))
  structure(out, class = "data.frame", row.names = .set_row_names(ncol(table)))
}

finite_or_na <- function(x) {
  x[!is.finite(x)] <- NA
  x
}

# A share without a tail of zeros.
format_share <- function(x) {
  small <- ifelse(x < 1e-9, "0", formatC(x, digits = 2, format = "g"))
  ifelse(!is.na(x) & x < 1e-4, small, format_risk(x))
}

names_code <- function(names) {
  quoted <- encodeString(names, quote = "\"")
  if (length(names) == 1) quoted else paste0("c(", paste(quoted, collapse = ", "), ")")
}

# Names that fit a line.
shorten <- function(x, width = 40) {
  long <- !is.na(x) & nchar(x, "chars", allowNA = TRUE) > width
  long <- long & !is.na(long)
  x[long] <- paste0(substr(x[long], 1, width - 3), "...")
  x
}

# "a", "b" and 3 more; long names are cut.
quote_names <- function(x, most = 5) {
  quoted <- encodeString(shorten(as.character(utils::head(x, most))), quote = "\"")
  rest <- length(x) - most
  if (rest > 0) {
    paste0(paste(quoted, collapse = ", "), " and ", rest, " more")
  } else {
    paste(quoted, collapse = ", ")
  }
}

quote_names_each <- function(x) vapply(x, quote_names, "", USE.NAMES = FALSE)

first_line <- function(condition) {
  sub("[.]$", "", strsplit(conditionMessage(condition), "\n", fixed = TRUE)[[1]][[1]])
}

dput_text <- function(x) paste(deparse(x, 500), collapse = "")

# A count that need not be whole.
format_one_digit <- function(x) {
  formatC(x, format = "f", digits = 1, big.mark = big_mark())
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
    # Bytes of which the locale knows no letters are their own code.
    letters <- Encoding(text) != "unknown" | !is.na(iconv(text, "", "UTF-8"))
    text[letters] <- vapply(lapply(enc2utf8(text[letters]), utf8ToInt), function(p) {
      paste(ifelse(p > 127, sprintf("\001{%x}", p), intToUtf8(p, multiple = TRUE)), collapse = "")
    }, "")
    text
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

# A number to the last bit, whatever the decimal mark of the session: 15 digits where these
# are the number, else 17.
exact_text <- function(x) {
  if (is.logical(x)) return(ifelse(x, "true", "false"))
  x <- as.double(x)
  short <- sprintf("%.15g", x)
  same <- suppressWarnings(as.double(short)) == x
  ifelse(same %in% TRUE, short, sprintf("%.17g", x))
}

lower_first <- function(x) {
  substr(x, 1, 1) <- tolower(substr(x, 1, 1))
  x
}

capitalised <- function(x) {
  substr(x, 1, 1) <- toupper(substr(x, 1, 1))
  x
}

# Arguments of sdcMicro, and what they are here.
micro_words <- c(
  keyVars = "key_vars", variables = "key_vars", w = "weight_var", weightVar = "weight_var",
  weights = "weight_var", hhId = "hh_id", hid = "hh_id", strataVar = "strata_var",
  strata_variables = "strata_var", sensibleVar = "sensitive", ldiv_index = "sensitive",
  ghostVars = "linked", alpha = "partial_weight", pd = "max_match_prob"
)

# Counts that may lie beyond what an integer holds.
format_large <- function(x) {
  ifelse(
    x < 1e9, formatC(x, digits = 0, format = "f", big.mark = big_mark()),
    ifelse(is.infinite(x), "more than 1e308", format(x, digits = 4))
  )
}

# Three significant digits; large numbers whole.
format_short <- function(x) {
  ifelse(
    is.na(x), "NA",
    ifelse(abs(x) >= 1e4, format_large(x), formatC(x, width = 1, digits = 3, format = "g"))
  )
}

# Columns of `best` of recode_search() beside the levels of the key variables.
names_in_best <- c("cost", "risk", "n_suppressed", "k", "n_unique", "text")
