# The door for data: values become codes in value order.

one_column <- function(x, name = "x") {
  data <- data.frame(row.names = seq_along(x))
  data[[name]] <- x
  data
}

codes_of <- function(table, column = 1L) {
  sdcRisk:::all_codes(list(table))[[1]][[column]]
}

# The codes of one vector, 0 for missing.
codes <- function(x) {
  codes_of(sdcRisk:::key_table(one_column(x)))
}

# What the codes must be: places among the values that occur, in order.
expected_codes <- function(x, values = sort(unique(x[!is.na(x)]))) {
  as.integer(match(x, values, nomatch = 0L, incomparables = NA))
}

in_c_locale <- function(x) sort(unique(x[!is.na(x)]), method = "radix")

as_encoded <- function(x, encoding) {
  Encoding(x) <- encoding
  x
}

# Types --------------------------------------------------------------------

test_that("integers are coded in numeric order", {
  set.seed(1)
  for (x in list(
    c(3L, -1L, NA, 3L, 0L), sample.int(1e9, 5000), sample.int(300, 5000, TRUE),
    c(-.Machine$integer.max, .Machine$integer.max, NA, 0L), 5L, c(NA, 2L), 10:1
  )) {
    expect_identical(codes(x), expected_codes(x))
  }
})

test_that("doubles are coded in numeric order, infinities being values", {
  set.seed(2)
  for (x in list(
    c(0.5, -1, NA, 3e200, Inf, -Inf, 0.5), stats::rnorm(5000), c(1, 2, 4, 2),
    c(1e300, 2, -7), c(2^53, 2^53 + 2, 2^31, -2^31), c(0.1 + 0.2, 0.3),
    c(.Machine$double.xmin, 0, -.Machine$double.xmin, 5e-324)
  )) {
    expect_identical(codes(x), expected_codes(x))
  }
})

test_that("NaN of every kind is missing and minus zero is zero", {
  expect_identical(codes(c(NaN, 1, NA, -NaN, 2)), c(0L, 1L, 0L, 0L, 2L))
  expect_identical(codes(c(0, -0, 1, -0)), c(1L, 1L, 2L, 1L))
  expect_identical(codes(c(0.5, -0, 0, -0.5)), c(3L, 2L, 2L, 1L))
})

test_that("logicals are coded FALSE before TRUE", {
  expect_identical(codes(c(TRUE, NA, FALSE, TRUE)), c(2L, 0L, 1L, 2L))
  expect_identical(codes(c(NA, TRUE)), c(0L, 1L))
  expect_identical(codes(c(NA, NA)), c(0L, 0L))
})

test_that("Dates and times are coded in order of time, whatever their storage", {
  days <- as.Date(c("2021-01-05", "1969-12-31", NA, "2021-01-05"))
  expect_identical(codes(days), c(2L, 1L, 0L, 2L))
  whole <- structure(as.integer(days), class = c("IDate", "Date"))
  expect_identical(codes(whole), c(2L, 1L, 0L, 2L))
  times <- as.POSIXct("2021-10-31 00:30:00", tz = "Europe/Brussels") + c(7200, 0, NA, 3600)
  expect_identical(codes(times), c(3L, 1L, 0L, 2L))
  storage.mode(times) <- "integer"
  expect_identical(codes(times), c(3L, 1L, 0L, 2L))
})

test_that("factors are coded in the order of their levels that occur", {
  x <- factor(c("b", "a", NA, "b"), levels = c("c", "b", "a"))
  expect_identical(codes(x), c(1L, 2L, 0L, 1L))
  expect_identical(codes(factor(x, ordered = TRUE)), c(1L, 2L, 0L, 1L))
  expect_identical(codes(factor(c(NA, NA), levels = "a")), c(0L, 0L))
  expect_identical(codes(factor(c(NA, NA))), c(0L, 0L))
})

test_that("a level that stands for missing is missing", {
  x <- addNA(factor(c("a", NA, "b")))
  expect_identical(codes(x), c(1L, 0L, 2L))
  x[3] <- NA
  is.na(x)[1] <- TRUE
  expect_identical(codes(x), c(0L, 0L, 0L))
})

test_that("levels of equal text in two encodings are one value", {
  levels <- c(as_encoded("\xe9", "latin1"), "b", "\u00e9")
  x <- structure(c(3L, 2L, 1L, NA), levels = levels, class = "factor")
  expect_identical(codes(x), c(1L, 2L, 1L, 0L))
})

test_that("text is compared as text in any encoding and coded in the C locale", {
  x <- c(as_encoded("\xe9t\xe9", "latin1"), "\u00e9t\u00e9", "ete", NA, "Ete", "")
  expect_identical(codes(x), c(4L, 4L, 3L, 0L, 2L, 1L))
  set.seed(3)
  many <- c(replicate(500, paste(sample(c(letters, LETTERS), 3), collapse = "")), "NA", NA)
  many <- sample(many, 3000, TRUE)
  expect_identical(codes(many), expected_codes(many, in_c_locale(many)))
})

test_that("bytes that are no letters are text of their own and do no harm", {
  invalid <- c("\xff\xfea", "b", "\xff\xfea")
  expect_identical(codes(invalid)[c(1, 3)], rep(codes(invalid)[[1]], 2))
  # Text that is marked as bytes cannot be compared with other text.
  bytes <- as_encoded(c("\xff\xfe", "\xe9", "\xff\xfe"), "bytes")
  expect_error(codes(c(bytes, "\u00e9", "a")), class = "sdcRisk_error_bad_column")
})

test_that("integer64 is coded exactly", {
  # Bits of -5, 2^53, 2^53 + 1, NA and 0, where doubles cannot tell the second
  # from the third.
  bits <- c(
    "fbffffffffffffff", "0000000000002000", "0100000000002000",
    "0000000000000080", "0000000000000000"
  )
  raw <- unlist(lapply(bits, function(b) {
    as.raw(strtoi(substring(b, seq(1, 15, 2), seq(2, 16, 2)), 16L))
  }))
  x <- structure(
    readBin(raw, "double", n = 5, endian = "little"),
    class = "integer64"
  )
  expect_identical(codes(x), c(1L, 3L, 4L, 0L, 2L))
})

test_that("labelled columns are coded by their values, declared missing ones being missing", {
  labelled <- function(x, ..., spss = FALSE) {
    class <- c(if (spss) "haven_labelled_spss", "haven_labelled", "vctrs_vctr", typeof(x))
    structure(x, ..., class = class)
  }
  expect_identical(
    codes(labelled(c(2, 1, NA, 2), labels = c(yes = 1, no = 2))), c(2L, 1L, 0L, 2L)
  )
  expect_identical(codes(labelled(c(2L, 1L, NA))), c(2L, 1L, 0L))
  expect_identical(codes(labelled(c("b", "a", NA))), c(2L, 1L, 0L))
  expect_identical(
    codes(labelled(c(1, 9, 8, 2, NA), na_values = c(8, 9), spss = TRUE)),
    c(1L, 0L, 0L, 2L, 0L)
  )
  expect_identical(
    codes(labelled(c(1, -5, 0, 2, -1.5), na_range = c(-Inf, 0), spss = TRUE)),
    c(1L, 0L, 0L, 2L, 0L)
  )
  expect_identical(
    codes(labelled(c(1L, 98L, 7L, 2L), na_values = 7L, na_range = c(90L, 99L), spss = TRUE)),
    c(1L, 0L, 0L, 2L)
  )
  expect_identical(
    codes(labelled(c("a", "z", "b"), na_values = "z", spss = TRUE)), c(1L, 0L, 2L)
  )
})

test_that("vectors that R has not written out are read as if it had", {
  expect_identical(codes(1:1000), 1:1000)
  expect_identical(codes(as.character(1:9)), 1:9)
  expect_identical(codes(as.double(10:1)), 10:1)
  x <- c(a = 3, b = 1)
  expect_identical(codes(x), c(2L, 1L))
})

test_that("more values than a byte, or two, holds are coded alike", {
  for (n in c(255L, 256L, 65535L, 65536L)) {
    expect_identical(codes(rev(seq_len(n))), rev(seq_len(n)))
  }
})

test_that("a factor with a code outside its levels is an error that names the column", {
  broken <- structure(c(1L, 3L, 1L), levels = "a", class = "factor")
  error <- expect_error(
    sdcRisk:::key_table(one_column(broken, "height")),
    class = "sdcRisk_error_bad_column"
  )
  expect_match(conditionMessage(error), "height")
  expect_identical(error$columns, "height")
})

# Fields -------------------------------------------------------------------

test_that("a key table says what its columns hold", {
  data <- data.frame(
    a = c(5, NA, 2, 5), b = factor(c("y", "x", NA, NA), levels = c("y", "x")),
    c = c("q", "q", "p", "q")
  )
  table <- sdcRisk:::key_table(data)
  expect_identical(table$n, 4L)
  expect_identical(table$variables, c("a", "b", "c"))
  expect_identical(table$ordered, c(TRUE, FALSE, FALSE))
  expect_identical(table$n_values, c(2L, 2L, 2L))
  expect_identical(table$n_missing, c(1L, 2L, 0L))
  expect_identical(table$first_rows, list(c(3L, 1L), c(1L, 2L), c(3L, 1L)))
  expect_identical(
    sdcRisk:::key_levels(table, data),
    list(c(2, 5), factor(c("y", "x"), levels = c("y", "x")), c("p", "q"))
  )
})

test_that("column names may be anything", {
  odd <- c(
    "two words", "fk", "id", "{x}", "%s%n", "\u00e9\u00df\u6f22", "a`b", "if", "a + b",
    "NA", "\"quoted\"", "\\"
  )
  set.seed(5)
  data <- as.data.frame(matrix(sample.int(3, 40 * length(odd), TRUE), 40))
  data[data == 3] <- NA
  plain <- quietly(qar_risk(data, p = 1, pi_u = 0.3))
  names(data) <- odd
  named <- quietly(qar_risk(data, p = 1, pi_u = 0.3))
  expect_identical(named$estimates, plain$estimates)
  place <- as.integer(sub("V", "", plain$sets$key_set))
  expect_identical(named$sets$key_set, odd[place])
  expect_identical(named$variables$variable, odd)
  expect_identical(length(format(named)), length(format(plain)))
  expect_identical(
    quietly(qar_risk(data, rev(odd), p = 1, pi_u = 0.3))$estimates, plain$estimates
  )
})

test_that("tibbles and data.tables are coded as data frames are", {
  data <- random_file(40, levels = c(3, 4, 5, 6), missing_rate = 0.1, seed = 6)
  plain <- quietly(qar_risk(data, c("v1", "v3", "v4"), p = 2, pi_u = 0.4))
  same <- c("estimates", "sets", "variables", "settings", "diagnostics")
  converters <- list(
    if (requireNamespace("tibble", quietly = TRUE)) tibble::as_tibble,
    if (requireNamespace("data.table", quietly = TRUE)) data.table::as.data.table
  )
  converters <- Filter(Negate(is.null), converters)
  skip_if(length(converters) == 0, "neither tibble nor data.table is installed")
  for (convert in converters) {
    other <- quietly(qar_risk(convert(data), c("v1", "v3", "v4"), p = 2, pi_u = 0.4))
    expect_identical(other[same], plain[same])
  }
})

# Several tables -----------------------------------------------------------

# Codes of two columns under one dictionary.
shared_codes <- function(a, b) {
  lapply(shared_tables(list(one_column(a), one_column(b)), "x"), codes_of)
}

# Data frames coded with one dictionary per column.
shared_tables <- function(tables, key_vars) {
  sdcRisk:::code_requests(list(sdcRisk:::shared_request(tables, key_vars)))[[1]]
}

# A data frame in the codes that values have in `levels`.
coded_by <- function(data, levels) {
  positions <- seq_along(data)
  request <- sdcRisk:::coding_request(
    sdcRisk:::column_sources(data, positions), names(data), positions,
    fingerprint = FALSE, levels = levels
  )
  sdcRisk:::code_requests(list(request))[[1]][[1]]
}

# Equal codes if and only if equal values, both given as text.
expect_shared <- function(a, b, text_a = as.character(a), text_b = as.character(b)) {
  found <- unlist(shared_codes(a, b))
  text <- c(text_a, text_b)
  expect_identical(found == 0, is.na(text))
  expect_identical(
    outer(found, found, `==`), outer(oracle_codes(text), oracle_codes(text), `==`)
  )
}

test_that("two tables share codes if and only if they share values", {
  expect_shared(c(1L, 5L, NA), c(5L, 2L))
  expect_shared(c(1L, 5L, NA), c(5, 2.5, 1, NaN), text_b = c("5", "2.5", "1", NA))
  expect_shared(c(TRUE, FALSE, NA), c(0L, 1L, 2L), c("1", "0", NA))
  expect_shared(c("a", "b", NA), c("b", "c"))
  expect_shared(
    c("\u00e9", "b"), as_encoded(c("\xe9", "e"), "latin1")
  )
  expect_shared(factor(c("a", "b", NA)), factor(c("b", "c", "a"), levels = c("c", "b", "a")))
  expect_shared(factor(c("a", "b", NA)), c("b", "z", "a", NA))
  expect_shared(factor(c("1", "2")), c(2L, 3L, NA))
  expect_shared(addNA(factor(c("a", NA))), factor(c(NA, "a")))
  expect_shared(as.Date("2020-01-01") + 0:2, structure(18263:18264, class = c("IDate", "Date")))
  time <- as.POSIXct("2020-01-01 12:00:00", tz = "UTC") + 0:2
  elsewhere <- time
  attr(elsewhere, "tzone") <- "Asia/Tokyo"
  expect_shared(time, elsewhere, text_b = as.character(time))
  expect_shared(NA, c("a", NA))
  expect_shared(NA, as.Date(c("2020-01-01", NA)))
})

test_that("two tables of numbers and of texts share the numbers' usual spelling", {
  expect_shared(c(1e5, 123456, 2), c("100000", "123456", "2"), c("100000", "123456", "2"))
  expect_shared(c(1e5, 1e6), factor(c("1000000", "100000")), c("100000", "1000000"))
  expect_shared(c(100000L, 2L), c("100000", "2"), c("100000", "2"))
})

test_that("numbers that differ stay apart beside a table of texts", {
  found <- shared_codes(c(0.1 + 0.2, 0.3, 0.5), c("x", "0.5"))
  expect_length(unique(found[[1]]), 3)
  expect_identical(found[[2]][[2]], found[[1]][[3]])
})

test_that("two tables of doubles and of integer64 share whole numbers", {
  skip_if_not_installed("bit64")
  wide <- bit64::as.integer64(c("100000", "3", "1000000000000000", NA))
  expect_shared(
    c(3, 1e5, 1e15, NA), wide,
    c("3", "100000", "1000000000000000", NA), as.character(wide)
  )
  expect_shared(c(3L, NA, 100000L), wide, c("3", NA, "100000"), as.character(wide))
  wider <- bit64::as.integer64(c("9007199254740993", "9007199254740992"))
  expect_shared(wide, wider)
})

test_that("shared tables of ordered values have codes in their order", {
  found <- shared_codes(c(7L, 1L), c(3, 9))
  expect_identical(found, list(c(3L, 1L), c(2L, 4L)))
})

test_that("shared tables take columns by name and keep them apart", {
  a <- data.frame(x = c(1, 2), y = c("p", "q"), z = 1:2)
  b <- data.frame(y = c("q", "r", NA), x = c(2, 3, 2))
  tables <- shared_tables(list(a, b), c("x", "y"))
  expect_identical(codes_of(tables[[2]], 1L), c(2L, 3L, 2L))
  expect_identical(codes_of(tables[[2]], 2L), c(2L, 3L, 0L))
  expect_identical(tables[[1]]$n, 2L)
  expect_identical(tables[[2]]$n, 3L)
  expect_identical(tables[[2]]$positions, c(2L, 1L))
  # The count of missing values is that of the table, not of all together.
  expect_identical(tables[[1]]$n_missing, c(0L, 0L))
  expect_identical(tables[[2]]$n_missing, c(0L, 1L))
})

test_that("given levels decide the codes, and values not among them share the next", {
  data <- data.frame(a = c(1, 2, NA, 3), b = c("x", "y", "z", NA))
  table <- coded_by(data, list(c(3, 2), c("q", "z", "x")))
  expect_identical(codes_of(table, 1L), c(3L, 2L, 0L, 1L))
  expect_identical(codes_of(table, 2L), c(3L, 4L, 2L, 0L))
  expect_identical(table$n_values, c(3L, 4L))
  expect_identical(table$n, 4L)
  expect_identical(table$n_missing, c(1L, 1L))
})

test_that("the levels of a table code other data as they coded it", {
  for (seed in 1:5) {
    data <- random_file(60, levels = rep(4, 8), missing_rate = 0.1, seed = seed,
                        types = column_types)
    table <- sdcRisk:::key_table(data)
    levels <- sdcRisk:::key_levels(table, data)
    rows <- c(7, 3, 3, 60, 12)
    again <- coded_by(data[rows, ], levels)
    for (v in seq_along(data)) {
      expect_identical(codes_of(again, v), codes_of(table, v)[rows])
      expect_identical(again$n_missing[[v]], sum(is.na(data[[v]][rows])))
    }
    first <- vapply(levels, function(l) NROW(l) > 0, NA)
    expect_true(all(first))
  }
  wide <- structure(c(0, 5e-324, 1e-323), class = "integer64")
  levels <- list(wide[c(2, 1)], c("a", "b", "c"))
  class(levels[[1]]) <- "integer64"
  data <- data.frame(row.names = 1:3)
  data$w <- wide
  data$t <- c("c", "z", "a")
  table <- coded_by(data, levels)
  expect_identical(codes_of(table, 1L), c(2L, 1L, 3L))
  expect_identical(codes_of(table, 2L), c(3L, 4L, 1L))
})

# Groups, fingerprints, memory ---------------------------------------------

test_that("grouping finds the distinct rows in order of appearance", {
  for (seed in 1:8) {
    data <- random_file(200, levels = c(3, 4, 2, 5), missing_rate = 0.1, seed = seed)
    groups <- sdcRisk:::group_records(sdcRisk:::key_table(data))
    key <- do.call(paste, c(lapply(data, oracle_codes), sep = "-"))
    expect_identical(groups$row_group, match(key, unique(key)))
    expect_identical(groups$first_rows, which(!duplicated(key)))
    expect_identical(groups$counts, as.double(tabulate(groups$row_group)))
  }
})

test_that("a merged key has as many values as its columns have combinations", {
  data <- random_file(150, levels = c(3, 4, 2, 5), missing_rate = 0.2, seed = 41)
  merged <- sdcRisk:::key_table(
    data,
    key_groups = list(both = c("v4", "v2")), merged = TRUE
  )
  expect_identical(merged$keys, list(v1 = 1L, both = c(2L, 4L), v3 = 3L))
  expected <- paste(oracle_codes(data$v2), oracle_codes(data$v4))
  found <- codes_of(merged, 2L)
  expect_identical(match(found, unique(found)), match(expected, unique(expected)))
  expect_true(all(found > 0))
  first <- codes_of(merged, 1L)
  expect_identical(first, codes(data$v1))
})

test_that("complete records are those without a missing value", {
  data <- random_file(150, levels = c(3, 4, 2, 5), missing_rate = 0.2, seed = 42)
  table <- sdcRisk:::key_table(data)
  rows <- which(stats::complete.cases(data))
  expect_identical(table$n_incomplete, 150L - length(rows))
  selected <- sdcRisk:::key_table(data, listwise = TRUE)
  expect_identical(selected$rows, rows)
  expect_identical(codes_of(selected, 3L), codes_of(table, 3L)[rows])
  expect_identical(selected$n, length(rows))
  expect_identical(selected$n_all, 150L)
  part <- sdcRisk:::key_part(table, list(v3 = 3L, both = c(1L, 2L)), TRUE)
  complete <- which(stats::complete.cases(data[1:3]))
  expect_identical(part$rows, complete)
  expect_identical(codes_of(part, 1L), codes_of(table, 3L)[complete])
})

fingerprint_of_frame <- function(data, ...) {
  sdcRisk:::key_table(data, ...)$fingerprint
}

test_that("a fingerprint is sixteen hexadecimal digits and depends on values alone", {
  data <- data.frame(
    a = c(1L, 5L, NA, 5L), b = c("x", "y", "x", "z"), c = c(TRUE, FALSE, TRUE, NA)
  )
  print <- fingerprint_of_frame(data)
  expect_match(print, "^[0-9a-f]{16}$")
  other <- data
  other$a <- as.double(other$a)
  other$b <- factor(other$b)
  other$c <- as.integer(other$c)
  expect_identical(fingerprint_of_frame(other), print)
  other$b <- factor(other$b, levels = c("w", "x", "y", "z"), ordered = TRUE)
  rownames(other) <- letters[1:4]
  expect_identical(fingerprint_of_frame(other), print)
  other$not_a_key <- 1:4
  expect_identical(fingerprint_of_frame(other, c("a", "b", "c")), print)
  old <- options(sdcRisk.threads = 1)
  on.exit(options(old))
  expect_identical(fingerprint_of_frame(data), print)
})

test_that("a fingerprint changes with any cell, name, row or order", {
  data <- random_file(
    30, levels = c(3, 4, 5), missing_rate = 0.1, seed = 43,
    types = c("integer", "factor", "character")
  )
  prints <- fingerprint_of_frame(data)
  for (v in 1:3) {
    for (row in 1:30) {
      other <- data
      other[row, v] <- if (is.na(data[row, v])) data[which(!is.na(data[, v]))[1], v] else NA
      prints <- c(prints, fingerprint_of_frame(other))
    }
  }
  renamed <- data
  names(renamed)[2] <- "v2 "
  swapped <- data[c(2:1, 3:30), ]
  same_row <- identical(unname(as.list(data[1, ])), unname(as.list(data[2, ])))
  expect_false(same_row)
  prints <- c(
    prints, fingerprint_of_frame(renamed), fingerprint_of_frame(data[-30, ]),
    fingerprint_of_frame(rbind(data, data[30, ])), fingerprint_of_frame(data[c(2, 1, 3)]),
    fingerprint_of_frame(data[c(1, 2)]), fingerprint_of_frame(swapped)
  )
  expect_identical(anyDuplicated(prints), 0L)
})

test_that("a fingerprint does not depend on the encoding of the names", {
  data <- data.frame(a = 1:3)
  names(data) <- "\u00e9"
  latin1 <- data
  names(latin1) <- as_encoded("\xe9", "latin1")
  expect_identical(fingerprint_of_frame(latin1), fingerprint_of_frame(data))
})

test_that("a released table is an error of its own, not a crash", {
  table <- sdcRisk:::key_table(data.frame(a = c(1, 2), b = c(1, NA)))
  expect_null(sdcRisk:::unwrap(sdcRisk:::release(list(table))))
  expect_error(
    sdcRisk:::key_part(table, list(a = 1L), FALSE),
    class = "sdcRisk_error_internal"
  )
  expect_error(sdcRisk:::group_records(table), class = "sdcRisk_error_internal")
  expect_error(
    sdcRisk:::all_codes(list(table)),
    class = "sdcRisk_error_internal"
  )
  expect_null(sdcRisk:::unwrap(sdcRisk:::release(list(table))))
})

test_that("a table from another session, or no table, is an error, not a crash", {
  table <- sdcRisk:::key_table(data.frame(a = c(1, 2)))
  restored <- unserialize(serialize(table, NULL))
  expect_error(sdcRisk:::group_records(restored), class = "sdcRisk_error_internal")
  for (nothing in list(NULL, 1L, "table", list(), restored$pointer)) {
    outcome <- sdcRisk:::rs_codes(list(nothing), list(threads = 2L))
    expect_s3_class(outcome, "sdcRisk_rust_error")
  }
})

test_that("columns must have as many rows as the file, whatever they are", {
  by_hand <- function(...) {
    structure(list(a = 1:2, ...), class = "data.frame", row.names = 1:2)
  }
  check <- sdcRisk:::check_records
  # A column of tables has as many rows as these, not as many as it has columns.
  expect_null(check(by_hand(b = matrix(1:6, 2), c = data.frame(x = 1:2, y = 3:4, z = 5:6))))
  wrong <- list(1L, 1:3, NULL, matrix(1:2, 1), data.frame(x = 1, y = 2), character())
  for (column in wrong) {
    data <- by_hand()
    data <- structure(
      c(unclass(data), list(b = column)), class = "data.frame", row.names = 1:2
    )
    expect_error(check(data), "Other lengths: \"b\"", class = "sdcRisk_error_bad_data")
  }
})
