# Fingerprints: 64 bits, as 16 hexadecimal digits, that tell data apart.
#
# The fingerprint of a key table covers the names of its columns, the number of
# records, per column which records share a value, and the values themselves.
# Equal values are equal whatever their storage: text and a factor with these
# labels, 3 and 3L. The order in which an unordered factor lists its levels does
# not count, since no number of a record depends on it; that of an ordered factor
# does. Columns that a result depends on beside its keys, such as weights, count
# with their values too.

# The columns of `data` that a result with these settings depends on beside its
# keys.
role_columns <- function(data, settings) {
  if (!is.data.frame(data) || isTRUE(settings$patterns)) {
    return(NULL)
  }
  roles <- settings[
    c("weight_var", "hh_id", "hh_vars", "sensitive", "within", "strata_var")
  ]
  if (all(lengths(roles) == 0)) {
    return(rlang::set_names(list(), character()))
  }
  names <- unique(unlist(lapply(roles, function(role) {
    if (is_plain_number(role)) names(data)[role] else role
  }), use.names = FALSE))
  names <- intersect(names, names(data))
  rlang::set_names(lapply(names, function(name) data[[name]]), names)
}

# Whether `data`, coded as `table`, are what a result with these settings was
# made from.
same_fingerprint <- function(table, data, settings) {
  identical(table$fingerprint, settings$fingerprint) ||
    identical(fingerprint_0.1(data, settings), settings$fingerprint)
}

# The fingerprint as version 0.1.0 took it, of codes alone: its results still
# know their data. NULL for later ones.
fingerprint_0.1 <- function(data, settings) {
  if (!is_of_0.1(settings)) {
    return(NULL)
  }
  table <- code_as(data, settings)
  names <- enc2utf8(table$variables)
  # Codes of candidates say nothing without their sets.
  of_sets <- !vapply(table$sets, is.null, NA)
  names[of_sets] <- vapply(which(of_sets), function(v) {
    text <- set_text(table$sets[[v]]$sets, table$sets[[v]]$interval)
    paste(c(names[[v]], enc2utf8(text)), collapse = "\n")
  }, "")
  core(rs_fingerprint, table$pointer, names)
}

is_of_0.1 <- function(settings) {
  version <- settings$version
  is.character(version) && length(version) == 1 &&
    isTRUE(package_version(version, strict = FALSE) < "0.2.0")
}

# The fingerprint that other data would have in a result with these settings, NA
# where they lack its columns.
fingerprint_of <- function(data, settings) {
  tryCatch(code_as(data, settings)$fingerprint, sdcRisk_error = function(e) NA_character_)
}

# What every result states of the file it was made from.
file_settings <- function(table, ...) {
  groups <- table$keys[lengths(table$keys) > 1]
  list(
    key_vars = table$variables,
    key_groups = lapply(groups, function(columns) table$variables[columns]), ...,
    n = table$n_all, fingerprint = table$fingerprint,
    version = own_version()
  )
}

# Other data coded as those of a result with these settings.
code_as <- function(data, settings, frame = parent.frame(), ...) {
  force(frame)
  key_table(
    data, settings$key_vars,
    key_groups = settings$key_groups, candidates = isTRUE(settings$candidates),
    roles = role_columns(file_data(data), settings), frame = frame, ...
  )
}

# The key table of `data`, where that is what the result was made from.
check_same_data <- function(x, data, frame = parent.frame()) {
  force(frame)
  table <- tryCatch(
    code_as(data, x$settings, frame),
    sdcRisk_error = function(e) stop_mismatched()
  )
  if (!same_fingerprint(table, data, x$settings)) {
    stop_mismatched()
  }
  invisible(table)
}

stop_mismatched <- function() {
  stop_sdc(
    "mismatched_data",
    c(
      "`data` must be the data this result was made from.",
      x = "Its key variables, weights or other columns used, or their values, differ.",
      i = "Was `data` sorted, filtered, weighted anew or recoded since?"
    )
  )
}

# Values as doubles or UTF-8.
bare_values <- function(source) {
  values <- as_bare(source$values)
  if (!is.null(source$level_names)) {
    values <- source$level_names[values]
  }
  if (is.character(values)) {
    enc2utf8(values)
  } else if (source$kind == "wide") {
    # Its 64 bits as two numbers.
    as.double(readBin(writeBin(values, raw()), "integer", n = 2 * length(values)))
  } else {
    as.double(values)
  }
}

# All values of a column that is no key.
role_values <- function(x) {
  source <- column_source(x, length(x))
  if (is.null(source)) {
    return(list(scale = "other", values = enc2utf8(as.character(unlist(x)))))
  }
  list(scale = source$scale, values = bare_values(source))
}
