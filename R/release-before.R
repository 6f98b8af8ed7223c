# State of a protected file before its protection.

# The file as it was before all that was done to it, as far as this session knows.
file_before <- function(x, arg) {
  file <- if (is_remedy(x)) released_file(x, arg) else as_file(x, arg)
  if (is.null(file$original)) {
    stop_argument(
      arg, "hold the file before its protection",
      found = if (length(file$history)) {
        "The original is not known: saved and shuffled releases do not hold it."
      } else {
        "Nothing was done to this file."
      },
      advice = "Give the original file, too."
    )
  }
  if (is_open_file(file$original)) {
    return(file$original)
  }
  data <- with_columns(file$data, file$original)
  close_file(new_file(if (is.null(data)) file$data else data, file$roles))
}

# TRUE if something was done to a file.
has_history <- function(x) {
  is_remedy(x) || is_open_file(x) && length(x$history) > 0 ||
    inherits(x, "sdc_file") && length(attr(x, "kept")$history) > 0
}
