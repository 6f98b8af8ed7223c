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

# The fingerprint of patterns is that of the distinct ones in the order of their values, with
# their numbers of records and the total of the weights: the same of a table, its patterns in any
# order and its release, whatever other columns these have. Sums of weights differ in their last
# digits from query to query.
pattern_print <- function(data, variables, keys, roles) {
  weight_var <- attr(data, "patterns", exact = TRUE)$weight_var
  others <- roles[setdiff(names(roles), c(variables, weight_var))]
  columns <- c(as.list(data)[variables], others)
  group <- group_records(key_table(do.call(frame, unname_columns(columns))))
  n <- as.vector(rowsum(as.double(times_of(data)), group$row_group, reorder = TRUE))
  first <- group$first_rows
  by <- lapply(unname_columns(columns), function(x) {
    x <- x[first]
    if (is.factor(x)) enc2utf8(as.character(x)) else order_values(x)
  })
  order <- do.call(order, c(unname(by), list(method = "radix")))
  distinct <- do.call(frame, Map(function(x, name) {
    pattern_values(x, first[order], name)
  }, columns, names(columns)))
  total <- if (length(intersect(weight_var, names(roles)))) signif(sum(data[[weight_var]]), 9)
  more <- c(as.list(distinct)[names(others)], list(n = n[order], total = rep(total, length(n))))
  groups <- keys[lengths(keys) > 1]
  key_table(
    distinct, variables, roles = more,
    key_groups = if (length(groups)) lapply(groups, function(columns) variables[columns])
  )$fingerprint
}

# The fingerprint that other data would have in a result with these settings, NA
# where they lack its columns.
fingerprint_of <- function(data, settings) {
  tryCatch(code_as(data, settings)$fingerprint, sdcRisk_error = function(e) NA_character_)
}

# Columns of a file by which results of different functions are known to be of one file:
# `columns`, a hash per column that a result depends on, whatever its other columns, and
# `sorted`, a hash of the records on all of them in no order, as a release may be shuffled.
# Sorting takes time, so a large file has none.
file_prints <- function(data, settings) {
  names <- intersect(print_columns(settings), names(data))
  names <- names[order(names, method = "radix")]
  columns <- lapply(as.list(data)[names], print_values)
  hashes <- vapply(columns, rlang::hash, "")
  # New numbers of households group the same records.
  for (name in intersect(settings$hh_id, names)) columns[[name]] <- count_sharing(data[[name]])
  list(
    columns = hashes,
    sorted = if (length(columns) * nrow(data) <= most_sorted_cells) {
      sorted_print(columns, nrow(data))
    }
  )
}

most_sorted_cells <- 2e6

# The number of records that share the value of each.
count_sharing <- function(x) {
  at <- match(x, unique(x))
  as.double(tabulate(at))[at]
}

print_columns <- function(settings) {
  roles <- c("key_vars", "weight_var", "hh_id", "hh_vars", "sensitive", "strata_var")
  names <- unlist(settings[intersect(roles, names(settings))], use.names = FALSE)
  unique(names[is.character(names)])
}

# Equal values are equal whether text or the levels of a factor: their first occurrences, and
# which of these every record has. Numbers are doubles.
print_values <- function(x) {
  texts <- levels(x)
  is_factor <- is.factor(x)
  x <- unclass(x)
  if (is.list(x)) {
    return(x)
  }
  if (!is_factor && !is.character(x)) {
    # A new vector: one that rbind() made longer has another hash.
    return(as.double(x) + 0)
  }
  first <- unique(as.vector(x))
  if (is_factor) texts <- texts[first] else texts <- first
  list(codes = match(x, first), texts = enc2utf8(as.character(texts)))
}

sorted_print <- function(columns, n) {
  columns <- lapply(columns, function(x) {
    if (identical(names(x), c("codes", "texts"))) x$texts[x$codes] else as.vector(unlist(x))
  })
  if (length(columns) > 0 && all(lengths(columns) == n)) {
    order <- do.call(order, c(unname(columns), list(method = "radix")))
    rlang::hash(lapply(columns, `[`, order))
  }
}

# Settings of a result that identify its file.
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
code_as <- function(data, settings, ...) {
  key_table(
    data, settings$key_vars,
    key_groups = settings$key_groups, candidates = isTRUE(settings$candidates),
    roles = role_columns(file_data(data), settings), ...
  )
}

# The key table of `data`, where that is what the result was made from.
check_same_data <- function(x, data) {
  table <- tryCatch(code_as(data, x$settings), sdcRisk_error = function(e) stop_mismatched())
  if (!identical(table$fingerprint, x$settings$fingerprint)) stop_mismatched()
  invisible(table)
}

stop_mismatched <- function() {
  stop_sdc(
    "mismatched_data", "`data` must be the data this result was made from.",
    x = "Its key variables, weights or other columns used, or their values, differ.",
    i = "Was `data` sorted, filtered, weighted anew or recoded since?"
  )
}
