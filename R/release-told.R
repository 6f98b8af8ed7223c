# Columns that tell what a remedy protects: what is said of them, and what leaves a release.

# Messages ------------------------------------------------------------------------

# Rows about columns that release_data() hands out unasked.
told_unasked <- function(told) if (!is.null(told)) told[!told$identifier, ]

told_pairs <- function(told) paste(told$variable, told$by)

told_words <- function(told, most = 3) {
  shown <- utils::head(told, most)
  words <- paste0(
    quote_names_each(shown$by), told_verb(shown), format_count(shown$n), " of ",
    format_count(round(shown$n / shown$share)), " values of ", quote_names_each(shown$variable),
    ifelse(shown$was_missing, " that were missing before", "")
  )
  rest <- nrow(told) - nrow(shown)
  paste0(paste(words, collapse = ", "), if (rest > 0) paste0(" and ", rest, " more"))
}

told_verb <- function(told) {
  paste0(ifelse(told$part, " narrows ", " reveals "), ifelse(told$expected, "about ", ""))
}

# Columns without a role that have every value of a key variable and more, such as the age beside
# its group: what an intruder who knows the group knows, too.
finer_columns <- function(told, roles) {
  told <- told_unasked(told)
  told[told$finer & !told$by %in% unlist(roles), ]
}

finer_words <- function(told) {
  if (NROW(told)) {
    paste0(
      "more detailed than key variables: ",
      paste(quote_names_each(told$by), "than", quote_names_each(told$variable), collapse = ", ")
    )
  }
}

# For a print, NULL if nothing is told.
told_line <- function(told, what = "protected values") {
  if (NROW(told)) {
    paste0("Released columns reveal ", what, ": ", told_words(told), ".")
  }
}

# What identifiers reveal that are still in a protected file.
told_by_ids_line <- function(told) {
  if (NROW(told)) {
    paste0(
      "Not for release as it is: ", told_words(told), "; release_data() leaves out ",
      quote_names(unique(unlist(strsplit(told$id, ", ", fixed = TRUE)))), "."
    )
  }
}

# `how` are sentences that say what to do.
inform_told <- function(told, how,
                        words = paste0("reveal protected values: ", told_words(told))) {
  if (NROW(told) == 0) {
    return(invisible())
  }
  inform_sdc(
    "determined_keys",
    c(
      paste0("Released columns ", words, "."),
      rlang::set_names(how, rep("i", length(how)))
    ),
    columns = split(told$variable, factor(told$by, unique(told$by))), told_by = told
  )
}

# The columns by which values are told; of a pair the one is enough that tells more alone, if
# possible no protected variable.
telling_columns <- function(told, data) {
  alone <- told$by %in% names(data)
  out <- unique(told$by[alone])
  for (i in which(!alone)) {
    parts <- strsplit(told$by[[i]], " + ", fixed = TRUE)[[1]]
    if (!any(parts %in% out)) {
      free <- setdiff(parts, told$variable)
      if (length(free)) parts <- free
      n_told <- vapply(parts, function(name) n_alone(data[[name]], data[[told$variable[[i]]]]), 0)
      out <- c(out, parts[[which.max(n_told)]])
    }
  }
  out
}

# How many values follow from others with an equal value of a column; 0 if they are not in R.
n_alone <- function(by, values) {
  codes <- lapply(list(by, values), function(x) {
    x <- if (is.null(dim(x))) as.character(x)
    match(x, unique(x[!is.na(x)]), 0L)
  })
  fit <- column_fit(codes[[1]], codes[[2]])
  fit$extra - fit$errors
}

# linked = list(age = "birth_year"), as text; NULL if no column can be suppressed with the
# variable that it tells. Codes can, numbers of households, weights and incomes cannot. `looks`:
# what columns look like, if that is known.
linked_text <- function(told, data, roles = NULL, looks = NULL) {
  fits <- vapply(told$by, function(name) {
    name %in% setdiff(names(data), roles) && is_code(data[[name]]) &&
      !(if (is.null(looks)) looks_like(data, name) else looks[[name]]) %in%
        c("identifier", "household")
  }, NA)
  # Who had no value before has none to be suppressed.
  fits <- fits & !told$was_missing %in% TRUE & told$share >= 0.5
  told <- told[fits & !duplicated(told[c("variable", "by")]), ]
  if (NROW(told)) {
    linked <- split(told$by, factor(told$variable, unique(told$variable)))
    paste("linked =", dput_text(linked))
  }
}

is_code <- function(x) !is.numeric(x) || is.factor(x) || is_whole_column(x)

drop_advice <- function(told, data) {
  paste0(
    "Leave columns out: release_data(x, drop = ",
    dput_text(telling_columns(told, data)), ")."
  )
}

# Columns that leave only if they are asked for --------------------------------------

# Columns that identify persons or households: the one named `hh_id`, and those that look
# like identifiers. Key variables and other roles stay.
identifiers_of <- function(data, settings) {
  columns <- setdiff(names(data), unlist(settings[kept_roles]))
  looks <- vapply(columns, function(name) {
    x <- data[[name]]
    # Fractions end most looks after the first records.
    is_code(utils::head(x, 1000)) && !repeats_soon(x) && is_code(x) &&
      looks_like(data, name) == "identifier"
  }, NA)
  columns[looks | columns %in% settings$hh_id]
}

# The columns that identify households, `hh_id`, and with persons, `ids`, by role.
units_of <- function(file, hh_id = file$roles$hh_id) {
  list(hh_id = hh_id, ids = unique(c(hh_id, unlist(file$roles[c("hh_id", "id_vars")]))))
}

# TRUE if the first records alone have too many equal values for an identifier, 90% of whose values
# differ.
repeats_soon <- function(x) {
  first <- utils::head(x, length(x) %/% 5)
  !is.object(x) && sum(duplicated(first[!is.na(first)])) >= 0.1 * length(x)
}

kept_roles <- c("key_vars", "key_sets", "weight_var", "strata_var")

# What the named columns of a list look like, "" for nothing and for columns that cannot be coded.
looks_like <- function(data, names) {
  sources <- lapply(names, function(name) column_source(data[[name]], length(data[[name]])))
  at <- which(!vapply(sources, is.null, NA))
  looks <- rlang::set_names(character(length(names)), names)
  if (length(at) == 0) {
    return(looks)
  }
  request <- coding_request(sources[at], names[at], at, fingerprint = FALSE)
  table <- code_requests(list(request))[[1]][[1]]
  on.exit(release(list(table)))
  looks[at] <- vapply(seq_along(at), function(i) {
    name <- names[[at[[i]]]]
    known <- length(data[[name]]) - table$n_missing[[i]]
    look_of(data[[name]], name, known, table$n_values[[i]])
  }, "")
  looks
}

# The columns that a release leaves out: those named by `drop`, and identifiers that are not kept.
left_out_columns <- function(data, ids, keep_ids, drop, new_ids = NULL) {
  drop <- named_of(data, drop, "drop")
  keep <- if (isTRUE(keep_ids)) names(data) else named_of(data, keep_ids, "keep_ids")
  identifiers <- setdiff(intersect(ids, names(data)), c(keep, new_ids, drop))
  if (length(identifiers)) {
    inform_sdc(
      "identifier_left_out",
      c(
        paste0("Left out, as they identify persons or households: ", quote_names(identifiers), "."),
        i = paste0("To release them: release_data(x, keep_ids = ", dput_text(identifiers), ").")
      ),
      columns = identifiers
    )
  }
  c(drop, identifiers)
}

named_of <- function(data, columns, arg) {
  if (!is.null(columns)) names(data)[check_columns(columns, data, arg)]
}

# Columns that stay can still reveal protected values.
inform_still_told <- function(data, told, out) {
  if (!is.null(told)) {
    told <- told_among(told, setdiff(names(data), out))
    inform_told(told, drop_advice(told, data))
  }
}

# The age beside its group, of which nothing needed protection. `named` were named already.
inform_finer <- function(data, roles, named) {
  keys <- intersect(roles$key_vars, names(data))
  if (length(keys) == 0) {
    return(invisible())
  }
  told <- finer_columns(
    told_by_columns(data, NULL, keys, units_of(list(roles = roles))$ids), c(roles, named)
  )
  inform_told(told, drop_advice(told, data), paste("are", finer_words(told)))
}

# A data.table is a copy of ours, to be changed in place.
without_columns <- function(data, names) {
  if (length(names) == 0) {
    return(data)
  }
  if (inherits(data, "data.table")) {
    return(data.table::set(data, j = names, value = NULL))
  }
  data[setdiff(names(data), names)]
}
