# A pattern table in base R: rows of a data frame as text, counted one by one.
oracle_patterns <- function(data, keys, weight_var = NULL, counts = rep(1, nrow(data))) {
  codes <- lapply(keys, function(key) oracle_codes(data[[key]]))
  text <- do.call(paste, c(codes, sep = "-"))
  of <- match(text, unique(text))
  first <- match(unique(text), text)
  out <- data[first, keys, drop = FALSE]
  rownames(out) <- NULL
  out$n <- vapply(seq_along(first), function(g) sum(counts[of == g]), 0)
  if (!is.null(weight_var)) {
    out[[weight_var]] <- vapply(seq_along(first), function(g) sum(data[[weight_var]][of == g]), 0)
  }
  attr(out, "of") <- of
  out
}

# A result about a pattern table says of every record what a result about the records
# says: `of` is the pattern of every record.
expect_same_result <- function(by_patterns, by_records, of, info = NULL, tolerance = 1e-12) {
  testthat::expect_null(by_patterns$records, info = info)
  for (part in c("estimates", "sets", "variables", "cells", "categories", "tables",
                 "frequencies", "sensitive", "drivers")) {
    expect_same_numbers(by_patterns[[part]], by_records[[part]], paste(info, part), tolerance)
  }
  if (!is.null(by_records$records)) {
    columns <- names(by_records$records)
    testthat::expect_identical(utils::tail(names(by_patterns$patterns), length(columns)), columns)
    spread <- by_patterns$patterns[of, columns, drop = FALSE]
    rownames(spread) <- NULL
    expect_same_numbers(spread, by_records$records, paste(info, "records"), tolerance)
    n <- as.vector(tabulate(of, nrow(by_patterns$patterns)))
    testthat::expect_equal(as.double(by_patterns$patterns$n), as.double(n), info = info)
  }
}

# Whole numbers are equal to the last digit, others up to `tolerance`.
expect_same_numbers <- function(found, expected, info, tolerance = 1e-12) {
  testthat::expect_identical(names(found), names(expected), info = info)
  for (name in names(expected)) {
    a <- found[[name]]
    b <- expected[[name]]
    same <- if (is.numeric(b)) {
      a <- as.double(a)
      b <- as.double(b)
      whole <- !is.na(b) & b == round(b) & abs(b) < 1e15
      identical(is.na(a), is.na(b)) && all(
        a == b | abs(a - b) <= tolerance * pmax(1, abs(b)) & !(whole & startsWith(name, "n_")),
        na.rm = TRUE
      )
    } else {
      identical(a, b)
    }
    testthat::expect_true(same, info = paste(info, name))
    if (!same) return(invisible())
  }
}
