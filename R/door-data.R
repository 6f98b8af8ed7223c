# The records of whatever was given as a file.

# The way from other objects to a data frame.
data_advice <- function(x) {
  if (!is.null(micro_advice(x))) {
    micro_advice(x)
  } else if (is_file_name(x)) {
    paste0("Read the file first, such as by data <- read.csv(\"", x, "\").")
  } else if (is.matrix(x)) {
    "as.data.frame() makes a data frame of a matrix."
  } else if (is.list(x) && !is.object(x) && length(unique(lengths(x))) == 1) {
    "as.data.frame() makes a data frame of a list of columns."
  }
}

check_data_frame <- function(x, arg) {
  if (!is.data.frame(x)) {
    stop_sdc(
      "bad_data",
      paste0("`", arg, "` must be a data frame, tibble, data.table, sdc_file or sdcMicroObj."),
      x = paste0("It has class ", quote_names(class(x)), "."), i = data_advice(x),
      data_class = class(x)
    )
  }
  stop_grouped(x)
  check_records(x, arg)
}

# The records of an argument that may be an sdc_file or an sdcMicroObj: no patterns.
bare_data <- function(x) {
  data <- file_data(x)
  if (!is.null(times_of(data))) stop_needs_records("data")
  data
}

# As above, for any kind of rows.
file_data <- function(x) {
  if (identical(class(x), "data.frame")) {
    x
  } else if (is_sdcmicro(x)) {
    micro_data(micro_slots(x, "data"))
  } else if (is_pattern_table(x)) {
    pattern_file(x)$data
  } else if (is_open_file(x)) {
    check_whole_file(x)$data
  } else if (is_file_table(x)) {
    counted <- attr(x, "kept")$counted
    if (is.null(counted)) bare_frame(x) else counted
  } else if (inherits(x, "sdc_file")) {
    bare_frame(x)
  } else if (is_remedy(x)) {
    file_data(check_result(x)$data)
  } else if (is_design(x)) {
    x$variables
  } else {
    x
  }
}

# Survey designs of the packages survey and srvyr.
is_design <- function(x) {
  inherits(x, c("survey.design", "svyrep.design")) && is.data.frame(x$variables)
}

# The records of a design that count, with its weights, strata and clusters.
design_file <- function(x) {
  data <- x$variables
  weights <- as.double(if (inherits(x, "svyrep.design")) x$pweights else 1 / x$prob)
  same <- Filter(function(name) {
    is.numeric(data[[name]]) && isTRUE(all.equal(as.double(data[[name]]), weights))
  }, names(data))
  name <- if (length(same)) same[[1]] else "sampling_weight"
  if (length(same) == 0) data[[name]] <- weights
  of <- function(part) intersect(names(x[[part]]), names(data))
  # Without clusters the design numbers the records, as `id`: no column of that name is meant.
  grouped <- Filter(function(name) {
    anyDuplicated(x$cluster[[name]]) || !anyDuplicated(data[[name]])
  }, of("cluster"))
  # A domain of a calibrated design has all records, the others without a weight.
  roles <- list(
    weight_var = name, strata_var = if (isTRUE(x$has.strata)) of("strata"), cluster = grouped
  )
  new_file(data[weights > 0, , drop = FALSE], roles[lengths(roles) > 0])
}

check_records <- function(data, arg = "data") {
  n <- nrow(data)
  if (ncol(data) == 0 || n == 0) {
    stop_sdc(
      "bad_data", paste0("`", arg, "` must have at least one record and one column."),
      x = paste0("It has ", n, " records and ", ncol(data), " columns."),
      data_class = class(data)
    )
  }
  columns <- unclass(data)
  # Plain vectors are told at once, what has dimensions has rows.
  ragged <- lengths(columns) != n | lengths(lapply(columns, dim)) > 0
  ragged[ragged] <- vapply(columns[ragged], NROW, 1L) != n
  if (any(ragged)) {
    stop_sdc(
      "bad_data", paste0("All columns of `", arg, "` must have as many values as it has records."),
      x = paste0("Other lengths: ", quote_names(names(data)[ragged]), "."),
      i = "Rebuild the data frame with data.frame().",
      names = names(data)[ragged]
    )
  }
}

# The columns that may have a role: those of the table of a database, beyond its patterns.
all_columns_of <- function(file) {
  if (is.null(file$table)) file$data else name_frame(colnames(file$table))
}
