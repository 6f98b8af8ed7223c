# Print of a pattern table.

declare_measure(
  "pattern_table",
  title = paste0(
    "Pattern table: ", plural(nrow(x$patterns), "pattern"), " of ", plural(x$n_records, "record")
  ),
  size = paste0(
    plural(length(x$key_vars), "key variable"), "; ",
    format_amount(x$n_records / nrow(x$patterns)), " records per pattern on average, ",
    format_count(max(x$patterns$n)), " at most; ", plural(sum(x$patterns$n == 1), "pattern"),
    " of one record."
  ),
  table = {
    keys <- look_at_columns(pattern_file(x))
    keys <- keys[match(x$key_vars, keys$variable), ]
    key_table_of(keys, x$patterns)
  },
  rest = "x$key_vars",
  notes = list(
    if (!is.null(x$weight_var)) {
      paste0(
        "Weights ", quote_names(x$weight_var), ": they sum to ",
        format_count(round(sum(x$patterns[[x$weight_var]]))), "."
      )
    },
    paste(
      "As confidential as the key variables of the file: a pattern of one record is that record."
    )
  ),
  next_step = "sdc_file(x)"
)

#' @export
format.sdc_pattern_table <- function(x, ..., width = console_width(), rows = 16) {
  check_whole_patterns(x)
  declared_lines(describe(x), width, rows)
}

#' @export
print.sdc_pattern_table <- print_lines
