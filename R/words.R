# Numbers in words and tables. They follow options(OutDec = ), as all printed
# numbers of R do; numbers that are data never pass through here, but through
# number_text().

# The mark between thousands, which must not be the decimal mark.
big_mark <- function() {
  if (identical(getOption("OutDec"), ",")) "." else ","
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
  tiny <- !is.na(size) & size > 0 & size < 1e-6
  out[tiny] <- formatC(x[tiny], digits = 3, format = "g")
  out[is.na(size)] <- "NA"
  out
}

# Numbers that are often whole.
format_amount <- function(x) {
  ifelse(!is.na(x) & x == round(x), format_count(x), format_risk(x))
}

# A likelihood in words that fit one that is next to nothing.
format_likelihood <- function(x) {
  ifelse(!is.na(x) & x < 1e-4, paste("below", format_risk(0.0001)), format_risk(x))
}

# Three significant digits; nothing but all is 100 %, and nothing but none 0 %.
format_percent <- function(x) {
  percent <- 100 * x
  number <- trimws(formatC(percent, digits = 3, format = "fg"))
  nearly <- !is.na(x) & percent >= 99.95 & percent < 100
  number[nearly] <- formatC(floor(100 * percent[nearly]) / 100, digits = 4, format = "fg")
  tiny <- !is.na(x) & percent > 0 & percent < 1e-4
  number[tiny] <- paste("below", formatC(1e-4, digits = 1, format = "fg"))
  ifelse(is.na(x), "NA", paste(number, "%"))
}

# "1 record", "2 records"
plural <- function(n, noun) {
  paste0(format_count(n), " ", noun, if (n != 1) "s")
}

# The largest of the records' numbers never stands alone. "At most", since many
# records can have the same number.
format_spread <- function(largest, q99, q95, format = format_risk, noun = "records") {
  paste0(
    "largest ", format(largest), ", 99 % of the ", noun, " at most ", format(q99),
    ", 95 % at most ", format(q95)
  )
}

# The same from the numbers themselves, missing ones left out.
spread_of <- function(values, format = format_risk, noun = "records") {
  values <- values[!is.na(values)]
  at <- stats::quantile(values, c(0.99, 0.95), names = FALSE, type = 8)
  format_spread(max(values), at[[1]], at[[2]], format, noun)
}

# A data frame as lines, numbers rounded to four significant digits.
format_table <- function(table) {
  shown <- lapply(table, function(column) {
    if (is.double(column)) {
      whole <- !is.na(column) & column == round(column) & abs(column) < 1e15
      ifelse(
        whole, formatC(column, digits = 0, format = "f"),
        formatC(column, digits = 4, format = "g")
      )
    } else {
      as.character(column)
    }
  })
  cells <- Map(function(name, column, original) {
    format(c(name, column), justify = if (is.numeric(original)) "right" else "left")
  }, names(table), shown, table)
  # Like trimws(), whose engine takes seconds for the blanks under a long name.
  sub("[ \t\r\n]+$", "", do.call(paste, c(unname(cells), sep = "  ")), perl = TRUE)
}
