# Single values and the values of a column. This file calls nothing in higher layers.

is_candidates <- function(x) inherits(x, "sdc_candidates")

is_interval <- function(x) inherits(x, "sdc_candidate_interval")

value_text <- function(x) {
  if (is.character(x)) {
    unclear <- grepl("[|\"\\\\]", x)
    x[unclear] <- encodeString(x[unclear], quote = "\"")
    x
  } else if (is.object(x)) {
    as.character(format(x))
  } else {
    number_text(x)
  }
}

is_plain_number <- function(x) is.numeric(x) && !is.object(x)

are_distinct_numbers <- function(x, several) {
  is_plain_number(x) && (length(x) == 1 || several && length(x) > 1 && !anyDuplicated(x)) &&
    !anyNA(x)
}

# A column without what changes nothing of its values: one dimension, as tapply() gives it,
# I(), labels of Hmisc. A difference of times, of hms among them, is a number of seconds.
plain_column <- function(x) {
  if (length(dim(x)) == 1) dim(x) <- NULL
  if (inherits(x, "difftime")) {
    return(as.numeric(x, units = "secs"))
  }
  if (inherits(x, c("AsIs", "labelled"))) {
    class(x) <- setdiff(oldClass(x), c("AsIs", "labelled"))
  }
  x
}

# TRUE if a factor has codes that no level belongs to.
has_bad_codes <- function(x) {
  if (!is.factor(x) || typeof(x) != "integer") {
    return(FALSE)
  }
  codes <- unclass(x)
  min(codes, 1L, na.rm = TRUE) < 1L || max(codes, 0L, na.rm = TRUE) > nlevels(x)
}

# The letters of the tagged missing values of a vector of numbers: haven keeps
# them in the fifth byte of the NaN, of which R itself makes no use.
missing_tags <- function(x) {
  if (!is.double(x) || !anyNA(x)) {
    return(character())
  }
  bytes <- matrix(writeBin(x[is.na(x)], raw(), endian = "little"), nrow = 8)[5, ]
  bytes <- as.integer(bytes[bytes != 0])
  # Each byte is a letter.
  strsplit(intToUtf8(bytes), "")[[1]]
}

# Values that a labelled column declares missing become NA.
drop_user_missing <- function(x) {
  declared <- attr(x, "na_values", exact = TRUE)
  range <- attr(x, "na_range", exact = TRUE)
  x <- as.vector(unclass(x))
  if (length(declared)) x[x %in% declared] <- NA
  if (length(range) == 2) x[!is.na(x) & x >= range[[1]] & x <= range[[2]]] <- NA
  x
}

# Values without class or names; an integer64 keeps its bits.
as_bare <- function(x) {
  attributes(x) <- NULL
  x
}

# The number that a value is, or that its text shows.
as_number <- function(x) {
  x <- if (is.factor(x)) as.character(x) else as_bare(x)
  if (is.character(x)) {
    # R takes no letters of another encoding for a number, with an error.
    x[Encoding(x) == "bytes"] <- NA
    x <- enc2utf8(x)
    x[!validUTF8(x)] <- NA
  }
  suppressWarnings(as.double(x))
}

# Numbers as people write them: 100000 and not 1e+05, with as many digits as it
# takes to tell them apart.
number_text <- function(x) {
  if (is.logical(x)) {
    return(as.character(x))
  }
  values <- unique(as.double(x))
  text <- as.character(values)
  finite <- which(is.finite(values))
  exact <- values[finite]
  # Text that stands for data does not depend on options(OutDec = ).
  as_text <- function(x, digits) {
    formatC(x, digits = digits, width = 1, format = "fg", decimal.mark = ".")
  }
  digits <- as_text(exact, 15)
  inexact <- as.double(digits) != exact
  digits[inexact] <- as_text(exact[inexact], 17)
  text[finite] <- digits
  text[is.nan(values)] <- NA
  text[match(as.double(x), values)]
}

# The distinct known values in an order that no locale changes and no encoding stops: that of
# factor levels, of numbers and dates, or of the codes of the characters of text.
sorted_values <- function(x) {
  values <- distinct_values(x)
  values <- values[!is.na(values)]
  values[order(if (is.character(values)) enc2utf8(values) else values, method = "radix")]
}

# Whole numbers that lie close together are counted, which takes a third of the time of unique().
distinct_values <- function(x) {
  if (is.integer(x) && !is.object(x)) {
    low <- min(x, .Machine$integer.max, na.rm = TRUE)
    n_codes <- max(x, -.Machine$integer.max, na.rm = TRUE) - as.double(low) + 1
    if (n_codes >= 1 && n_codes < length(x)) {
      return(which(tabulate(x - low + 1L, n_codes) > 0) - 1L + low)
    }
  }
  unique(x)
}

# Values as text that stands for them.
value_names <- function(values) {
  if (is.numeric(values) && !is.object(values)) number_text(values) else as.character(values)
}

# Results that hold protected data.
is_remedy <- function(x) inherits(x, c("sdc_suppress_cells", "sdc_invariant_pram"))

is_counted_wave <- function(x) is_lazy_table(x) || is_pattern_table(x)

# The records of every row of `data`, NULL where each is one.
times_of <- function(data) attr(data, "patterns", exact = TRUE)$times

n_records <- function(data) {
  times <- times_of(data)
  if (is.null(times)) nrow(data) else as_count(sum(times))
}

# Whole numbers as integers, where R has integers for all of them.
as_count <- function(x) {
  if (all(abs(x) <= .Machine$integer.max, na.rm = TRUE)) as.integer(x) else as.double(x)
}

is_whole_column <- function(x) {
  if (is.integer(x) || is.logical(x) || inherits(x, "integer64")) {
    return(!is.factor(x))
  }
  is.double(x) && !inherits(x, c("Date", "POSIXct")) && {
    values <- as_bare(x)
    whole <- function(x) all(x == round(x), na.rm = TRUE)
    whole(utils::head(values, 1000)) && whole(values)
  }
}

# TRUE if all of it is true; what comes later is looked at only if that before it is.
all_hold <- function(...) {
  for (i in seq_len(...length())) {
    if (!isTRUE(...elt(i))) {
      return(FALSE)
    }
  }
  TRUE
}

is_lazy_table <- function(x) inherits(x, "tbl_lazy") && !inherits(x, "sdc_file")

is_tolerance <- function(x) are_distinct_numbers(x, FALSE) && is.finite(x) && x >= 0

is_pattern_table <- function(x) inherits(x, "sdc_pattern_table")

is_one_text <- function(x) is.character(x) && length(x) == 1

is_list_of <- function(x, is_item) {
  is.list(x) && !is.object(x) && length(x) > 0 && any(vapply(x, is_item, NA))
}

# A data frame from columns of equal length, without the cost of checking them.
frame <- function(...) {
  columns <- list(...)
  structure(columns, class = "data.frame", row.names = .set_row_names(length(columns[[1]])))
}

is_sdcmicro <- function(x) inherits(x, "sdcMicroObj")

# Encoding marks that prevent a comparison: `"bytes"` have no letters, nor has text of unknown
# encoding in the C locale.
text_marks <- function(x) {
  text <- if (is.factor(x)) levels(x) else if (is.character(x)) as_bare(x)
  marks <- Encoding(if (is.null(text)) character() else text)
  if (!Sys.getlocale("LC_CTYPE") %in% c("C", "POSIX")) {
    return(if ("bytes" %in% marks) "bytes")
  }
  marks[marks == "unknown" & grepl("[^ -~[:space:]]", text, useBytes = TRUE)] <- "native"
  setdiff(unique(marks), "unknown")
}

# Names of our own, since those of the file may be anything.
unname_columns <- function(columns) {
  rlang::set_names(columns, paste0("sdc_", seq_along(columns)))
}

# Checks of columns look at names alone.
name_frame <- function(names) {
  as.data.frame(rlang::set_names(rep(list(logical()), length(names)), names), optional = TRUE)
}

# The variable's name in `data$age`, `data[["age"]]` and `age`.
variable_name <- function(expr) {
  if (is.call(expr) && as.character(expr[[1]])[[1]] %in% c("$", "[[", "[") && length(expr) > 2) {
    last <- expr[[length(expr)]]
    if (is.name(last) || is.character(last)) {
      return(as.character(last)[[1]])
    }
  }
  if (is.name(expr)) as.character(expr) else "x"
}

is_file_name <- function(x) {
  is.character(x) && length(x) == 1 && grepl("[^.][.][[:alpha:]][[:alnum:]]{1,7}$", x)
}

# The rows of told_by_columns() whose columns, or both columns of a pair, are among `names`.
told_among <- function(told, names) {
  parts <- strsplit(as.character(told$by), " + ", fixed = TRUE)
  told[told$by %in% names | vapply(parts, function(part) all(part %in% names), NA), ]
}
