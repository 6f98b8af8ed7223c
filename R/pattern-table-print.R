# What a pattern table says of itself.

#' @export
describe.sdc_pattern_table <- function(x) {
  check_whole_patterns(x)
  n <- x$n_records
  m <- nrow(x$patterns)
  counts <- x$patterns$n
  keys <- look_at_columns(pattern_file(x))
  keys <- keys[match(x$key_vars, keys$variable), ]
  description(
    title = paste0("Pattern table: ", plural(m, "pattern"), " of ", plural(n, "record")),
    question = NULL, size = paste0(plural(nrow(keys), "key variable"), ":"),
    answer = c(
      grid(
        key_table_of(keys, x$patterns), nrow(keys),
        rest = "more in x$key_vars"
      ),
      fact(
        "Records per pattern: ", format_amount(n / m), " on average, ", format_count(max(counts)),
        " at most; ", plural(sum(counts == 1), "pattern"), " of one record.",
        starts = TRUE
      ),
      if (!is.null(x$weight_var)) {
        fact(
          "Weights ", quote_names(x$weight_var), ": they sum to ",
          format_count(round(sum(x$patterns[[x$weight_var]]))), "."
        )
      },
      fact(
        "As confidential as the key variables of the file: a pattern of one record is ",
        "that record.", starts = TRUE
      )
    ),
    more = "as.data.frame(x), sdc_file(x), update(x, newdata)"
  )
}

#' @export
format.sdc_pattern_table <- function(x, ..., width = console_width(), rows = 16) {
  format_description(describe(x), width, rows)
}

#' @export
print.sdc_pattern_table <- function(x, ...) {
  cat(format(x, ...), sep = "\n")
  invisible(x)
}
