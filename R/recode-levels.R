# The levels of a hierarchy, each an expression in `x` of base R: what a level
# does is what its line of code does.

is_time <- function(x) inherits(x, c("Date", "POSIXct"))

stop_needs <- function(about, arg, what, x) {
  stop_hierarchy(
    about, paste0("have `", arg, "` for ", what),
    paste0("The variable has class ", quote_names(class(x)), ".")
  )
}

check_rising <- function(x, about, arg, falling = FALSE) {
  if (!is.numeric(x) || !length(x) || length(dim(x)) || anyNA(x) || any(!is.finite(x)) ||
        any(diff(if (falling) -x else x) <= 0)) {
    stop_hierarchy(
      about, paste0("have ", if (falling) "falling" else "rising", " numbers as `", arg, "`"),
      given_words(x)
    )
  }
}

# Top and bottom codes: one number each beside bands, several alone.
check_ends <- function(values, given, about) {
  for (arg in c("top", "bottom")) {
    end <- about[[arg]]
    if (is.null(end)) next
    if (!is.numeric(values) || length(given) && !given %in% "widths") {
      stop_needs(about, arg, "a number, alone or with `widths`", values)
    }
    check_rising(end, about, arg, falling = arg == "top")
    if (length(given) && length(end) > 1) {
      stop_hierarchy(
        about, paste0("have one `", arg, "` with bands"), paste0("Given: ", length(end), ".")
      )
    }
  }
  if (!is.null(about$top) && !is.null(about$bottom) && min(about$top) <= max(about$bottom)) {
    stop_hierarchy(about, "have a `top` above its `bottom`")
  }
}

# A number as R code, whole ones of integer columns as integers.
as_code <- function(value, like) {
  whole <- is.integer(like) && value == round(value) && abs(value) <= .Machine$integer.max
  if (whole) as.integer(value) else as.double(value)
}

ends_step <- function(top, bottom, values) {
  expr <- quote(x)
  words <- NULL
  if (!is.null(top)) {
    expr <- bquote(pmin(.(expr), .(as_code(top, values))))
    words <- paste("top-coded at", format_number(top))
  }
  if (!is.null(bottom)) {
    expr <- bquote(pmax(.(expr), .(as_code(bottom, values))))
    words <- c(words, paste("bottom-coded at", format_number(bottom)))
  }
  level_step(expr, paste(words, collapse = " and "))
}

end_steps <- function(values, about) {
  n <- max(length(about$top), length(about$bottom))
  of <- function(end, i) if (length(end)) end[[min(i, length(end))]]
  lapply(seq_len(n), function(i) ends_step(of(about$top, i), of(about$bottom, i), values$values))
}

# Bands ---------------------------------------------------------------------

width_steps <- function(values, widths, about) {
  x <- values$values
  check_rising(widths, about, "widths")
  if (any(widths <= 0)) stop_hierarchy(about, "have widths above 0", given_words(widths))
  ratio <- widths[-1] / utils::head(widths, -1)
  if (any(abs(ratio - round(ratio)) > 1e-9)) {
    stop_hierarchy(
      about, "have widths that divide each other",
      paste0("Given: ", paste(format_number(widths), collapse = ", "), "."),
      "5, 10, 20 are nested; 2, 5 are not: 4 and 5 share a band of 5 to 9 and not one of 2."
    )
  }
  if (is_time(x)) {
    return(unit_steps(values, ifelse(widths == 1, "year", paste(widths, "years")), about))
  }
  if (!is.numeric(x)) stop_needs(about, "widths", "a number or a date", x)
  check_bands(x, widths, about)
  steps <- lapply(widths, function(width) {
    level_step(
      band_expr(quote(x), x, width, about),
      paste0("in bands of ", format_number(width), ends_words(about))
    )
  })
  ends <- if (length(about$top) || length(about$bottom)) {
    list(ends_step(about$top, about$bottom, x))
  }
  # A band of 1 of a whole number is the number.
  c(ends, steps[!(widths == 1 & all(x == round(x)))])
}

ends_words <- function(about) {
  ends <- c(
    if (length(about$top)) paste(format_number(about$top), "and over"),
    if (length(about$bottom)) paste(format_number(about$bottom), "and under")
  )
  if (length(ends)) paste0(" (", paste(ends, collapse = ", "), ")") else ""
}

# Bands are lines of code and levels: a slip in a width must not make a billion of them.
most_bands <- 1e5

# Values must be finite, and their bands not too many and different numbers.
check_bands <- function(x, widths, about) {
  if (any(!is.finite(x))) {
    stop_hierarchy(
      about, "have finite values for `widths`", "Infinite ones were found.",
      "`top` and `bottom`, without `widths`, set them to numbers."
    )
  }
  inner <- within_ends(x, about)
  if (max(abs(inner)) / widths[[1]] > 1e11) {
    stop_hierarchy(
      about, "have larger `widths`",
      "Its first width is negligible compared with its largest value."
    )
  }
  found <- diff(range(inner)) / widths[[1]]
  if (found > most_bands) {
    stop_hierarchy(
      about, paste("have `widths` of at most", format_number(most_bands), "bands"),
      paste0("The values span ", format_number(signif(found, 2)), " of the first width.")
    )
  }
}

# The values between bottom and top; without any, what is between these.
within_ends <- function(values, about) {
  inner <- values
  if (length(about$top)) inner <- inner[inner < about$top]
  if (length(about$bottom)) inner <- inner[inner > about$bottom]
  if (length(inner)) inner else c(about$bottom, about$top)
}

# Bands of a width over the values, by cut(); `of` is the expression cut.
band_expr <- function(of, values, width, about = list(origin = 0)) {
  whole <- all(values == round(values)) && width == round(width) &&
    about$origin == round(about$origin)
  inner <- within_ends(values, about)
  first <- floor(round((min(inner) - about$origin) / width, 9))
  last <- floor(round((max(inner) - about$origin) / width, 9))
  starts <- about$origin + width * (first:(last + 1))
  # Top and bottom cut the bands they lie in.
  low <- max(starts[[1]], if (length(about$bottom)) about$bottom + if (whole) 1 else 0)
  high <- min(starts[[length(starts)]], about$top)
  # As many digits as code shows, so that the code cuts at the same numbers. All values may
  # lie beyond the ends: then there is no band.
  if (low >= high) low <- high <- if (length(about$top)) about$top else low
  cuts <- signif(unique(c(low, starts[starts > low & starts < high], high)), 12)
  labels <- if (length(cuts) > 1) band_labels(cuts, whole)
  if (length(about$bottom)) {
    # Bands hold their lower ends, the bottom band its upper one.
    if (!whole) of <- bquote(replace(.(of), .(of) <= .(about$bottom), -Inf))
    cuts <- c(-Inf, cuts)
    labels <- c(paste0("<=", format_number(about$bottom)), labels)
  }
  if (length(about$top)) {
    cuts <- c(cuts, Inf)
    labels <- c(labels, paste0(format_number(about$top), "+"))
  }
  cut_expr(of, cuts, labels)
}

# "20-29" for whole numbers, "[20,30)" for others.
band_labels <- function(cuts, whole) {
  from <- utils::head(cuts, -1)
  to <- cuts[-1]
  if (!whole) {
    return(paste0("[", number_text(from), ",", number_text(to), ")"))
  }
  ifelse(to - from == 1, number_text(from), paste0(number_text(from), "-", number_text(to - 1)))
}

cut_expr <- function(of, cuts, labels) {
  bquote(cut(.(of), .(short_code(cuts)), .(labels), right = FALSE, ordered_result = TRUE))
}

# Equal steps as seq(), which gives the same numbers.
short_code <- function(cuts) {
  steps <- unique(diff(cuts))
  if (length(cuts) > 4 && length(steps) == 1 && is.finite(steps)) {
    sequence <- call("seq", cuts[[1]], cuts[[length(cuts)]], steps)
    if (identical(eval(sequence, baseenv()), cuts)) {
      return(sequence)
    }
  }
  cuts
}

break_steps <- function(values, breaks, about) {
  x <- values$values
  if (!is.numeric(x)) stop_needs(about, "breaks", "a number", x)
  if (!is.list(breaks)) breaks <- list(breaks)
  breaks <- lapply(breaks, function(at) if (is.numeric(at)) at[!is.infinite(at)] else at)
  for (at in breaks) check_rising(at, about, "breaks")
  for (i in seq_along(breaks)[-1]) {
    if (!all(breaks[[i]] %in% breaks[[i - 1]])) {
      stop_hierarchy(
        about, "be nested: the breaks of a level a subset of those below",
        paste0("Level ", i, " has breaks that level ", i - 1, " has not.")
      )
    }
  }
  whole <- all(x == round(x))
  lapply(breaks, function(at) {
    # Bands without a value are not counted.
    n_bands <- length(unique(findInterval(x, at)))
    level_step(break_expr(x, at, whole), paste("in", plural(n_bands, "band")))
  })
}

break_expr <- function(values, at, whole) {
  whole <- whole && all(at == round(at))
  inner <- if (length(at) > 1) band_labels(at, whole)
  first <- paste0("<", number_text(at[[1]]))
  last <- paste0(number_text(at[[length(at)]]), "+")
  expr <- cut_expr(quote(x), c(-Inf, at, Inf), c(first, inner, last))
  # Bands are open above, and the last one holds infinity where there is any.
  if (any(values == Inf)) expr$include.lowest <- TRUE
  expr
}

# Codes ---------------------------------------------------------------------

digit_steps <- function(values, digits, about) {
  x <- values$values
  check_rising(digits, about, "digits", falling = TRUE)
  if (any(digits < 1 | digits != round(digits))) {
    stop_hierarchy(about, "keep whole numbers of characters, at least 1", given_words(digits))
  }
  if (is_time(x) || is.logical(x)) {
    stop_needs(about, "digits", "text, a factor or whole numbers", x)
  }
  # Leading digits of numbers come from dividing them.
  if (is.numeric(x) && any(!is.finite(x) | x < 0 | x != round(x))) {
    stop_hierarchy(
      about, "have `digits` for text, a factor or whole numbers",
      "Other numbers were found: with a fraction, negative or infinite.",
      "`widths` and `breaks` make bands of any numbers."
    )
  }
  size <- nchar(if (is.numeric(x)) sprintf("%.0f", x) else as.character(x))
  pad <- about$pad
  if (is.null(pad) && min(size) != max(size)) {
    stop_hierarchy(
      about, "have codes of one length",
      paste0("They have ", min(size), " to ", max(size), " characters."),
      "pad = \"0\" fills shorter ones with zeros on the left, pad = \"\" takes them as they are."
    )
  }
  if (!is.null(pad) && (!is.character(pad) || length(pad) != 1 || is.na(pad) || nchar(pad) > 1)) {
    stop_hierarchy(about, "have one character, or \"\", as `pad`", given_words(pad))
  }
  steps <- lapply(digits[digits < max(size)], function(d) {
    level_step(digit_expr(x, max(size), d, pad), paste("with", plural(d, "leading character")))
  })
  steps
}

digit_expr <- function(values, size, digits, pad) {
  padded <- !is.null(pad) && nzchar(pad)
  if (is.numeric(values) && (is.null(pad) || identical(pad, "0"))) {
    return(bquote(x %/% .(as_code(10^(size - digits), values))))
  }
  text <- if (is.character(values)) {
    quote(x)
  } else if (is.numeric(values)) {
    # as.character(1e5) is "1e+05".
    quote(sprintf("%.0f", x))
  } else {
    quote(as.character(x))
  }
  if (padded) text <- bquote(paste0(strrep(.(pad), .(size) - nchar(.(text))), .(text)))
  expr <- bquote(substr(.(text), 1, .(as.double(digits))))
  if (padded || is.numeric(values)) expr <- bquote(ifelse(is.na(x), NA, .(expr)))
  if (is.factor(values)) bquote(factor(.(expr))) else expr
}

# Dates ---------------------------------------------------------------------

time_units <- c("day", "month", "quarter", "year")

unit_steps <- function(values, units, about) {
  x <- values$values
  if (!is_time(x)) stop_needs(about, "units", "a date", x)
  if (!is.character(units) || !all(units %in% time_units | grepl("^[1-9][0-9]* years$", units))) {
    stop_hierarchy(
      about, paste0("have units among ", quote_names(c(time_units, "5 years", "10 years"), Inf)),
      given_words(units), "Weeks do not nest in months."
    )
  }
  lapply(units, function(unit) {
    words <- if (grepl("years$", unit)) paste("in bands of", unit) else paste0("by ", unit)
    level_step(unit_expr(x, unit), words)
  })
}

unit_expr <- function(values, unit) {
  year <- quote(as.integer(format(x, "%Y")))
  switch(unit,
    day = quote(as.Date(format(x, "%Y-%m-%d"))),
    month = quote(format(x, "%Y-%m")),
    quarter = quote(ifelse(is.na(x), NA, paste0(format(x, "%Y"), "-", quarters(x)))),
    year = year,
    band_expr(year, eval(year, list(x = values)), as.integer(sub(" years", "", unit)))
  )
}

# Tables --------------------------------------------------------------------

# One column per level, the first the values; `x`, where given, are values that
# must be among them.
table_hierarchy <- function(table, x, drop, about) {
  table <- read_levels(table, about)
  values <- table[[1]]
  twice <- duplicated(values)
  if (any(twice)) {
    stop_hierarchy(
      about, "list every value once", paste0(plural(sum(twice), "value"), " listed again.")
    )
  }
  if (any(vapply(table[-1], anyNA, NA))) {
    at <- which(vapply(table[-1], anyNA, NA))[[1]]
    stop_hierarchy(
      about, "give every value a group at every level",
      paste0("At level ", at, ", ", plural(sum(is.na(table[[at + 1]])), "value"), " without one.")
    )
  }
  steps <- lapply(seq_along(table)[-1], function(level) {
    labels <- table[[level]]
    n <- length(unique(labels))
    level_step(
      table_expr(values, labels),
      if (n == 1) "dropped" else paste0("at level ", level - 1L, " (", n, " groups)")
    )
  })
  made <- new_hierarchy(values, steps, drop, "table", about)
  if (!is.null(x)) level_groups(made, hierarchy_values(x, about)$values, about)
  made
}

table_expr <- function(values, labels) {
  if (length(unique(labels)) == 1) {
    bquote(factor(rep(.(labels[[1]]), length(x))))
  } else if (anyNA(values)) {
    bquote(factor(x, .(values), .(labels), exclude = NULL))
  } else {
    bquote(factor(x, .(values), .(labels)))
  }
}

read_levels <- function(table, about) {
  from_file <- is_csv_name(table)
  if (from_file) table <- read_level_file(table, about)
  if (is.matrix(table)) table <- as.data.frame(table, stringsAsFactors = FALSE)
  if (!is.data.frame(table) || nrow(table) == 0 || ncol(table) < 2) {
    stop_hierarchy(
      about, "be a table with one column per level, the first the values",
      if (is.data.frame(table)) {
        paste0("It has ", plural(nrow(table), "row"), " and ", plural(ncol(table), "column"), ".")
      } else {
        given_words(table)
      },
      if (from_file) "In a file semicolons separate the columns."
    )
  }
  # Values of a table are compared as text: it may come from a file.
  lapply(unname(as.list(table)), function(column) {
    check_letters(list(column), about$name)
    text <- value_names(if (is.factor(column)) as.character(column) else column)
    text[!is.na(text) & !nzchar(text)] <- NA
    text
  })
}

# The lines may differ in their number of fields, and the longest need not be among the
# first, by which read.csv() goes.
read_level_file <- function(file, about) {
  lines <- level_lines(file, about)
  text <- textConnection(lines, encoding = "UTF-8")
  on.exit(close(text))
  n_fields <- utils::count.fields(text, sep = ";", quote = "\"", comment.char = "")
  if (!length(n_fields)) stop_hierarchy(about, "come from a file with lines", "It is empty.")
  if (sum(lengths(regmatches(lines, gregexpr("\"", lines, fixed = TRUE)))) %% 2 == 1) {
    stop_hierarchy(about, "come from a file in which every quote is closed", "One is not.")
  }
  utils::read.csv(
    text = lines, header = FALSE, sep = ";", colClasses = "character", na.strings = "",
    strip.white = TRUE, quote = "\"", encoding = "UTF-8",
    col.names = paste0("level_", seq_len(max(n_fields, na.rm = TRUE)) - 1L)
  )
}

level_lines <- function(file, about) {
  if (!file.exists(file) || dir.exists(file)) {
    stop_hierarchy(about, "come from a file that exists", "There is none of this name.")
  }
  bytes <- readBin(file, "raw", file.size(file))
  if (identical(utils::head(bytes, 3), as.raw(c(0xef, 0xbb, 0xbf)))) bytes <- bytes[-(1:3)]
  text <- if (any(bytes == 0)) NA else rawToChar(bytes)
  if (is.na(text) || !validUTF8(text)) {
    stop_hierarchy(
      about, "come from a file in UTF-8", "This one has another encoding.",
      "Read it by `read.csv2(header = FALSE, fileEncoding = )`, and give the data frame."
    )
  }
  Encoding(text) <- "UTF-8"
  strsplit(gsub("\r\n?", "\n", text), "\n", fixed = TRUE)[[1]]
}

# Groups of some values of a variable at every level, and the number of values of the hierarchy in
# each group. Missing comes last.
level_groups <- function(made, values, about) {
  if (made$kind == "table") {
    text <- value_names(if (is.factor(values)) as.character(values) else values)
    unknown <- !text %in% made$values
    if (any(unknown)) {
      stop_hierarchy(
        about, "cover every value of the variable",
        paste0(plural(sum(unknown), "value"), " of the data not in its table."),
        "Add rows for them, or recode them first."
      )
    }
    all_values <- made$values
    labels <- made$labels
    own <- match(text, all_values)
  } else {
    text <- value_names(values)
    known <- value_names(made$values)
    new <- !text %in% known
    from_data <- lapply(made$steps, step_labels, values)
    check_covers(from_data, values, about)
    labels <- Map(function(a, b) c(a, b[new]), made$labels, from_data)
    check_nested(labels, about)
    own <- match(text, c(known, text[new]))
  }
  list(labels = labels, own = own)
}
