# Columns of numbers: which ones, and their values as doubles.

# The continuous variables by name: those given, or else the role of the file. `data`: where they
# must be.
check_num_vars <- function(vars, role, data, arg = "vars") {
  if (is.null(vars)) vars <- intersect(role, names(data))
  if (length(vars) == 0) {
    stop_argument(
      arg, "name continuous variables", found = "The file has none by role.",
      advice = "sdc_file(data, num_vars = c(...)) says so once."
    )
  }
  names(data)[check_columns(vars, data, arg)]
}

# The role of what was given as a file, before it is opened.
num_vars_of <- function(x) {
  if (is_file(x) || is_sdcmicro(x)) suppressMessages(as_file(x, "data"))$roles$num_vars
}

# A column as numbers, NaN among the missing ones.
number_column <- function(x, name) {
  source <- if (!is_candidates(x)) column_source(x, NROW(x))
  if (is.null(source) || !source$scale %in% c("number", "wide") || is.logical(source$values)) {
    stop_sdc(
      "bad_column", "Continuous variables must be numbers.",
      x = paste0(quote_names(name), " has class ", quote_names(class(x)), "."),
      columns = name, classes = class(x)
    )
  }
  values <- source$values
  values <- if (source$scale == "wide") wide_to_double(values) else as.double(values)
  values[is.na(values)] <- NA_real_
  if (any(is.infinite(values))) {
    stop_sdc(
      "bad_column", "Continuous variables must be finite.",
      x = paste0(
        quote_names(name), " has ", plural(sum(is.infinite(values)), "infinite value"), "."
      ),
      i = "Make them missing.",
      columns = name
    )
  }
  values
}

number_columns <- function(data, vars) {
  lapply(rlang::set_names(vars), function(name) number_column(data[[name]], name))
}

# In standard deviations of `from` about its mean; a constant one is 0, as it tells nobody apart.
# Divided by the largest value first, as squares of large numbers are infinite.
standardised <- function(x, from = x) {
  largest <- max(abs(from), 0, na.rm = TRUE)
  if (largest == 0) largest <- 1
  from <- from / largest
  s <- stats::sd(from, na.rm = TRUE)
  centred <- x / largest - mean(from, na.rm = TRUE)
  if (is.na(s) || s <= 1e-14) replace(centred, !is.na(centred), 0) else centred / s
}
