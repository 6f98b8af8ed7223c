# Tables of people made from the waves of a panel. They are data frames whose
# print says what was found in words; parts of them are plain data frames.

panel_table <- function(data, class) {
  class(data) <- c(class, "sdc_panel_table", "data.frame")
  data
}

#' @export
`[.sdc_panel_table` <- function(x, ...) {
  as.data.frame(x)[...]
}

#' @export
print.sdc_panel_table <- function(x, ...) {
  lines <- format(x)
  if (is.null(lines)) {
    # A verb of another package has taken columns away.
    print(as.data.frame(x), ...)
  } else {
    cat(lines, sep = "\n")
  }
  invisible(x)
}

people <- function(n) paste(format_count(n), if (n == 1) "person" else "people")

# Lines of counts with their share and meaning.
format_reasons <- function(reason, count, meaning) {
  share <- format_percent(count / max(1, sum(count)))
  paste0(
    "  ", format(reason), "  ", format(format_count(count), justify = "right"), "  ",
    format(paste0("(", share, ")"), justify = "right"), "  ", meaning
  )
}
