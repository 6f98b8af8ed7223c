# Fingerprints: 64 bits, as 16 hexadecimal digits, that tell data apart.
#
# The fingerprint of a key table covers the names of its columns, the number of
# records, per column which records share a value, and the values themselves.
# Equal values are equal whatever their storage: text and a factor with these
# labels, 3 and 3L. The order in which an unordered factor lists its levels does
# not count, since no number of a record depends on it; that of an ordered factor
# does. Columns that a result depends on beside its keys, such as weights, count
# with their values too.

# `roles` are these further columns, a named list of vectors.
fingerprint <- function(table, call = rlang::caller_env(), roles = NULL) {
  roles <- roles[!names(roles) %in% table$variables]
  parts <- c(
    enc2utf8(table$variables), table$marks, enc2utf8(as.character(names(roles))),
    value_marks(lapply(roles, role_values), call)
  )
  unwrap(rs_fingerprint(table$pointer, unname(table$places), parts, sdc_threads()), call)
}

# The columns of `data` that a result with these settings depends on beside its
# keys.
role_columns <- function(data, settings) {
  if (!is.data.frame(data) || isTRUE(settings$patterns)) {
    return(NULL)
  }
  roles <- settings[c("weight_var", "hh_id", "hh_vars", "sensitive", "within")]
  names <- unique(unlist(lapply(roles, function(role) {
    if (is_plain_number(role)) names(data)[role] else role
  }), use.names = FALSE))
  names <- intersect(names, names(data))
  rlang::set_names(lapply(names, function(name) data[[name]]), names)
}

# Whether `data`, coded as `table`, are what a result with these settings was
# made from.
same_fingerprint <- function(table, data, settings, call) {
  found <- fingerprint(table, call, role_columns(data, settings))
  identical(found, settings$fingerprint) ||
    identical(fingerprint_0.1(table, settings, call), settings$fingerprint)
}

# The fingerprint as version 0.1.0 took it, of codes alone: its results still
# know their data. NULL for later ones.
fingerprint_0.1 <- function(table, settings, call) {
  version <- settings$version
  if (!is.character(version) || length(version) != 1 ||
        !isTRUE(package_version(version, strict = FALSE) < "0.2.0")) {
    return(NULL)
  }
  names <- enc2utf8(table$variables)
  # Codes of candidates say nothing without their sets.
  of_sets <- !vapply(table$sets, is.null, NA)
  names[of_sets] <- vapply(which(of_sets), function(v) {
    text <- set_text(table$sets[[v]]$sets, table$sets[[v]]$interval)
    paste(c(names[[v]], enc2utf8(text)), collapse = "\n")
  }, "")
  unwrap(rs_fingerprint(
    table$pointer, vector("list", length(names)), names, sdc_threads()
  ), call)
}

# The fingerprint of the key variables of other data, NA where they have none.
fingerprint_of <- function(data, settings) {
  tryCatch(
    {
      table <- key_table(
        data, settings$key_vars,
        key_groups = settings$key_groups, candidates = isTRUE(settings$candidates)
      )
      on.exit(release(table))
      fingerprint(table, roles = role_columns(data, settings))
    },
    sdcRisk_error = function(e) NA_character_
  )
}

# Whether `data` is what the result was made from.
check_same_data <- function(x, data, call) {
  settings <- x$settings
  table <- tryCatch(
    key_table(
      data, settings$key_vars,
      key_groups = settings$key_groups, candidates = isTRUE(settings$candidates)
    ),
    sdcRisk_error = function(e) stop_mismatched(call)
  )
  on.exit(release(table))
  if (!same_fingerprint(table, data, settings, call)) {
    stop_mismatched(call)
  }
}

stop_mismatched <- function(call) {
  stop_sdc(
    "mismatched_data",
    c(
      "`data` must be the data this result was made from.",
      x = "Its key variables, weights or other columns used, or their values, differ.",
      i = "Was `data` sorted, filtered, weighted anew or recoded since?"
    ),
    call = call
  )
}

# The distinct values of a coded column as numbers or text, in an order that
# depends on them alone, and the `places` that their codes have in it (NULL where
# the codes have that order). `scale` tells the number 3 from the text "3".
distinct_values <- function(source, first_rows) {
  if (!is.null(source$sets)) {
    sets <- source$sets[.subset(source$values, first_rows)]
    return(list(scale = "sets", values = enc2utf8(set_text(sets, source$interval))))
  }
  values <- bare_values(source, first_rows)
  # The values of an ordered factor stand in its own order.
  if (source$kind != "levels" || source$ordered) {
    return(list(scale = source$scale, values = values))
  }
  order <- order(values, method = "radix")
  places <- if (is.unsorted(order)) `[<-`(integer(length(order)), order, seq_along(order))
  list(scale = "text", values = values[order], places = places)
}

# Values of some records as doubles or UTF-8.
bare_values <- function(source, rows) {
  values <- as_bare(.subset(source$values, rows))
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
  list(scale = source$scale, values = bare_values(source, seq_along(x)))
}

# The scale and the hash of every vector.
value_marks <- function(values, call) {
  if (length(values) == 0) {
    return(character())
  }
  hashes <- unwrap(rs_hash_values(unname(lapply(values, `[[`, "values"))), call)
  paste(vapply(values, `[[`, "", "scale"), hashes)
}
