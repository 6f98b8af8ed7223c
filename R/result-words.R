# Numbers in words and tables. They follow options(OutDec = ), as all printed
# numbers of R do; numbers that are data never pass through here, but through
# number_text().

# The mark between thousands, which must not be the decimal mark.
big_mark <- function() {
  if (identical(getOption("OutDec"), ",")) "." else ","
}

# What stands between numbers in a row, which must not look like the decimal mark.
between_numbers <- function() {
  if (identical(getOption("OutDec"), ",")) "; " else ", "
}

format_count <- function(x) {
  # What no integer holds is no count of records, but may be one of people.
  if (is.double(x) && any(abs(x) > .Machine$integer.max, na.rm = TRUE)) {
    return(ifelse(
      abs(x) < 1e15, formatC(x, digits = 0, format = "f", big.mark = big_mark()),
      format(x, digits = 4)
    ))
  }
  formatC(x, format = "d", big.mark = big_mark())
}

# Four significant digits, so that small risks do not vanish.
format_risk <- function(x) {
  size <- abs(x)
  out <- formatC(x, digits = 4, format = "fg", flag = "#")
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

# What is next to nothing, in sentences: the size of a tail that no model knows, such as
# 2.1e-75, would claim more than anybody knows. Tables keep the figure.
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

# Three significant digits; nothing but all is 100 %, and nothing but none 0 %.
format_percent <- function(x) {
  percent <- 100 * x
  number <- trimws(formatC(percent, digits = 3, format = "fg"))
  huge <- !is.na(x) & percent >= 999.5
  number[huge] <- format_risk(percent[huge])
  nearly <- !is.na(x) & percent >= 99.95 & percent < 100
  number[nearly] <- formatC(floor(100 * percent[nearly]) / 100, digits = 4, format = "fg")
  tiny <- !is.na(x) & percent > 0 & percent < 1e-4
  number[tiny] <- paste("below", formatC(1e-4, digits = 1, format = "fg"))
  ifelse(is.na(x), "NA", paste(number, "%"))
}

# "1 record", "2 records", "2 matches"
plural <- function(n, noun, ending = "s") {
  paste0(format_count(n), " ", noun, ifelse(n == 1, "", ending))
}

# The largest of the records' numbers never stands alone. "At most", since many
# records can have the same number.
format_spread <- function(largest, q99, q95, format = format_risk, noun = "records") {
  at_most <- function(x) sub("^at most below", "below", paste("at most", words_of_small(x, format)))
  paste0(
    "largest ", words_of_small(largest, format), ", 99 % of the ", noun, " ", at_most(q99),
    ", 95 % ", at_most(q95)
  )
}

# The same from the numbers themselves, missing ones left out; `times` records have
# each of them.
record_spread <- function(values, format = format_risk, noun = "records", times = NULL) {
  known <- !is.na(values)
  values <- values[known]
  at <- quantile_over(values, c(0.99, 0.95), times[known])
  format_spread(max(values), at[[1]], at[[2]], format, noun)
}

# A setting or another number as people gave it, with seven digits at most.
format_number <- function(x) {
  trimws(formatC(x, digits = 7, format = "g"))
}

# Lines at most as wide as the console: text is broken at blanks, the rest of a
# line indented; not at those of a name in quotes, which may be code. A table fits
# already, see format_table().
wrap_lines <- function(lines, width = console_width(), indent = 2) {
  lines <- as.character(lines)
  too_long <- nchar(lines) > width
  # No line begins with a percent sign: a blank that strwrap() does not know.
  glued <- gsub(" %", "\u00a0%", lines[too_long], fixed = TRUE)
  # Looking for them takes longer than all the rest.
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

# Names in quotes held together, by blanks that strwrap() does not know.
glue_quoted <- function(lines) {
  quoted <- gregexpr('"[^"]{1,60}"', lines)
  regmatches(lines, quoted) <- lapply(regmatches(lines, quoted), function(name) {
    gsub(" ", "\u00a0", name, fixed = TRUE)
  })
  lines
}

# Narrower consoles than this get lines that are too long.
console_width <- function() {
  max(getOption("width"), 40)
}

# A data frame as lines, numbers rounded to four significant digits. A table
# wider than the console has its texts cut, and then, with `blocks`, its columns
# below each other, else as many columns as fit.
format_table <- function(table, width = console_width() - 2, blocks = FALSE) {
  shown <- lapply(table, cell_text)
  names(shown) <- shorten(names(table))
  right <- vapply(table, is.numeric, NA)
  cells <- align_cells(shown, right)
  wide <- function(cells) {
    if (length(cells)) sum(vapply(cells, function(x) nchar(x[[1]]), 0) + 2) - 2 else 0
  }
  if (wide(cells) > width) {
    shown[!right] <- lapply(shown[!right], shorten, width = 24)
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
    if (!blocks || length(cells) < 2) {
      return(out)
    }
  }
}

cell_text <- function(column) {
  if (is.double(column)) {
    whole <- !is.na(column) & column == round(column) & abs(column) < 1e15
    ifelse(
      whole, formatC(column, digits = 0, format = "f"),
      formatC(column, digits = 4, format = "g")
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
