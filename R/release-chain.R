# A file that is protected twice. What the second protection leaves readable is measured on
# the values before the first one: a result knows them as long as it lives in the session,
# and `original` names them for other files.

# What columns of a file tell, without those `gone`, such as those that its release leaves out. What
# a column told in full the others were not asked for: they are asked again, if the original is
# known and a column is gone that told something.
told_of_rest <- function(file, gone = NULL) {
  told <- told_among(file$told$columns, setdiff(names(file$data), gone))
  again <- isTRUE(file$told$again) || NROW(told) < NROW(file$told$columns)
  known <- file$original[setdiff(intersect(names(file$original), names(file$data)), gone)]
  of_records <- is.null(times_of(file$data))
  data <- if (again && of_records && length(known)) bare_data(file$data)
  data <- if (!is.null(data)) as.data.frame(data)[setdiff(names(data), gone)]
  from <- if (!is.null(data)) with_columns(data, known)
  if (is.null(from)) {
    return(told)
  }
  variables <- union(names(known), intersect(file$roles$key_vars, names(data)))
  found <- told_by_columns(from, data, variables, units_of(file)$ids)
  rbind(told, found[!told_pairs(found) %in% told_pairs(told), ])
}

# `data` with the key variables that they had before an earlier protection, NULL if there was
# none. `file$original` are these columns by name, of a result or an sdcMicroObj.
first_original <- function(file, original = NULL) {
  if (is.null(original)) {
    known <- file$original
    if (is.null(known) && isTRUE(file$forgotten)) inform_forgotten()
    return(if (length(known)) with_columns(file$data, known))
  }
  data <- bare_data(original)
  check_data_frame(data, "original")
  if (nrow(data) != nrow(file$data)) {
    stop_sdc(
      "mismatched_data",
      c(
        "`original` must have the records of `data` in the same order.",
        x = paste0(
          "It has ", plural(nrow(data), "record"), ", `data` ", format_count(nrow(file$data)), "."
        ),
        i = "Take x$data of a result, or release_data(x, shuffle = FALSE): these are not shuffled."
      )
    )
  }
  warn_other_order(data, file$data, c("original", "data"))
  both <- intersect(names(data), names(file$data))
  known <- rlang::set_names(lapply(both, function(name) data[[name]]), both)
  with_columns(file$data, known)
}

inform_forgotten <- function() {
  inform_sdc(
    "original_unknown",
    c(
      "The release is compared with the file that was given, which is itself a release.",
      i = paste(
        "Saved results do not keep the values before protection: name that file,",
        "original = file."
      )
    )
  )
}

# NULL if they are the columns that the data have.
with_columns <- function(data, columns) {
  columns <- columns[!vapply(names(columns), function(name) {
    identical(columns[[name]], data[[name]])
  }, NA)]
  if (length(columns) == 0) {
    return(NULL)
  }
  n <- n_records(data)
  data <- as.list(unclass(data))
  data[names(columns)] <- columns
  structure(data, class = "data.frame", row.names = .set_row_names(n))
}

# The result with the columns of the first original that the release does not show. They are
# held weakly: a result that is saved, or sent, does not have them.
with_original <- function(result, from, released, variables) {
  if (!is.data.frame(from) || !is.data.frame(released)) {
    return(result)
  }
  changed <- Filter(function(name) !identical(from[[name]], released[[name]]), variables)
  with_weak(result, rlang::set_names(lapply(changed, function(name) from[[name]]), changed))
}

# As above for a table of a database, with the file before.
with_weak <- function(result, columns) {
  key <- new.env(parent = emptyenv())
  attr(result, "original") <- list(key = key, columns = rlang::new_weakref(key, value = columns))
  result
}

# The columns of the first original behind a result: `original`, or `forgotten`.
original_behind <- function(x) {
  held <- attr(x, "original")$columns
  columns <- if (rlang::is_weakref(held)) rlang::wref_value(held)
  list(original = columns, forgotten = is.null(columns))
}

# Variables that an earlier protection changed.
earlier_variables <- function(from, data) {
  if (!is.null(from)) {
    Filter(function(name) !identical(from[[name]], data[[name]]), names(from))
  }
}

# For a print, NULL for a file without an earlier protection.
earlier_line <- function(x) {
  variables <- x$diagnostics$earlier
  if (length(variables)) {
    paste0(
      "Protected before: ", quote_names(variables), ". Columns and order are compared with ",
      "the values before the first protection."
    )
  }
}

other_records_unseen <- "Its records are not looked at one by one."

# What columns reveal of the values before the first protection, `from`, and of these in the classes
# of the release: of a suppressed region a column can tell more than of the district behind it.
# `data` are the values just before, of a protection that recodes none; `earlier` names variables
# that were protected before.
chain_told_by_columns <- function(from, data, released, variables, ids, earlier) {
  told <- told_by_columns(from, released, variables, ids)
  if (is.null(told)) {
    return(told)
  }
  in_classes <- with_columns(from, classes_of_release(from, data, released, earlier))
  told <- rbind(
    told, if (!is.null(in_classes)) told_by_columns(in_classes, released, variables, ids),
    told_before_missing(from, released, variables, ids)
  )
  told <- told[order(match(told$variable, variables), told$was_missing, told$part, -told$n), ]
  told <- told[!duplicated(told[c("variable", "by", "part", "was_missing")]), ]
  # Narrowed values that are no more than the revealed ones are these.
  pair <- paste(told$variable, told$by, told$was_missing)
  first <- match(pair, pair)
  more <- told$n > told$n[first] | told$n_renumbered > told$n_renumbered[first]
  told <- told[first == seq_along(pair) | more, ]
  rownames(told) <- NULL
  told
}

# What columns reveal of values that were missing before: they may have been suppressed, too.
told_before_missing <- function(from, released, variables, ids) {
  lacking <- Filter(function(name) anyNA(from[[name]]), variables)
  if (length(lacking)) {
    known <- rlang::set_names(lapply(lacking, function(name) from[[name]]), lacking)
    seen <- with_columns(released, known)
    told <- told_by_columns(
      if (is.null(seen)) released else seen, NULL, lacking, ids, missing = TRUE, ties = TRUE
    )
    told <- told_among(told, setdiff(names(released), variables))
    told$was_missing <- rep(TRUE, nrow(told))
    told
  }
}

# The values before of variables that were recoded, as the released ones that most records with them
# have, or as they were in `data`. A number of which no record is left lies between two others.
classes_of_release <- function(before, data, released, variables) {
  in_classes <- lapply(rlang::set_names(as.character(variables)), function(name) {
    codes <- chain_codes(before[[name]], released[[name]])
    if (is.null(codes) || !codes$coarse && all(codes$after %in% c(0L, codes$before))) {
      return(NULL)
    }
    fit <- column_fit(codes$before, codes$after)
    best <- fit$best[match(seq_len(max(codes$before)), fit$group)]
    if (is.numeric(before[[name]])) best <- between_equal(best)
    classes <- released[[name]][match(c(NA, best)[codes$before + 1L], codes$after)]
    known <- which(is.na(classes) & !is.na(data[[name]]))
    classes[known] <- data[[name]][known]
    classes
  })
  in_classes[!vapply(in_classes, is.null, NA)]
}

# Missing values between two that are equal, as these.
between_equal <- function(x) {
  known <- which(!is.na(x))
  at <- findInterval(seq_along(x), known)
  ifelse(is.na(x) & c(NA, x[known])[at + 1L] == x[known][at + 1L], x[known][at + 1L], x)
}

# Values of `from` that the order of `released` reveals.
chain_told <- function(from, released, variables, units) {
  coded <- lapply(rlang::set_names(variables), function(name) {
    chain_codes(from[[name]], released[[name]])
  })
  coded <- coded[!vapply(coded, is.null, NA)]
  of <- function(part) lapply(coded, `[[`, part)
  told <- order_tells(
    from, of("before"), of("after"), units, names(coded)[vapply(coded, `[[`, NA, "coarse")]
  )
  rbind(told, masked_told(from, released, variables, units$ids, told))
}

# The same of masked numbers, without what is `told`.
masked_told <- function(from, released, variables, ids, told) {
  masked <- function(name) is.numeric(from[[name]]) && is.numeric(released[[name]])
  variables <- Filter(masked, variables)
  ids <- if (length(variables)) identifiers(from, variables, ids)
  found <- lapply(c(list(NULL), ids), function(id) {
    by <- if (is.null(id)) NA_character_ else id
    codes <- if (!is.null(id)) order_codes(from, id)[[id]]
    rows <- if (is.null(id)) seq_len(n_records(from)) else sorted_by(codes)
    margin <- if (is.null(id) || is_sorted(codes)) 0.05 else 0.25
    of_one <- lapply(setdiff(variables, told$variable[told$by %in% by]), function(name) {
      tells <- numbers_tell(
        amount_of(from[[name]])[rows], amount_of(released[[name]])[rows], margin
      )
      if (!is.null(tells)) cbind(frame(variable = name, by = by), tells)
    })
    do.call(rbind, of_one)
  })
  do.call(rbind, found)
}

# What sdcMicro protected and the order of its object reveals.
inform_order_of_object <- function(file) {
  from <- first_original(file)
  if (!is.null(from)) {
    changed <- names(file$original)
    told <- chain_told(from, file$data, changed, units_of(file))
    inform_order(told, paste(
      "release_data() puts the records in a secret order; sdcMicro's extractManipData()",
      "keeps theirs."
    ))
  }
}

# Values before and after as codes, `coarse` if several values of before share one of after.
chain_codes <- function(before, after) {
  if (identical(before, after)) {
    return(NULL)
  }
  n <- NROW(before)
  source <- column_source(before, n)
  shown <- if (!is.null(after)) column_source(after, n)
  if (is.null(source) || is.null(shown)) {
    return(NULL)
  }
  both <- protected_source(before, after)
  codes <- source_codes(list(both, source, shown))
  own <- codes[[2]]$codes
  new <- codes[[3]]$codes
  stacked <- codes[[1]]$codes
  if (length(stacked) > n) {
    same <- list(before = stacked[seq_len(n)], after = stacked[n + seq_len(n)], coarse = FALSE)
    if (!joins_values(own, new, same$before != same$after)) {
      return(same)
    }
  }
  list(before = own, after = new, coarse = TRUE)
}

# TRUE if values became others by a function that joins some, up to 1% of the records.
joins_values <- function(before, after, differs) {
  known <- before > 0L & after > 0L
  if (!any(differs & known)) {
    return(FALSE)
  }
  fit <- column_fit(before, after)
  fit$errors <= 0.01 * fit$n && length(unique(fit$best)) < length(fit$best)
}

# TRUE if records are in different orders, as in a shuffled release: no column agrees more
# often than in a random order, though some could show it.
warn_other_order <- function(before, after, args = c("before", "after")) {
  agrees <- vapply(intersect(names(before), names(after)), function(name) {
    x <- bare_text(before[[name]])
    y <- bare_text(after[[name]])
    if (is.null(x) || is.null(y)) {
      return(NA)
    }
    known <- !is.na(x) & !is.na(y)
    n <- as.double(sum(known))
    values <- unique(x[known])
    counts <- lapply(list(x[known], y[known]), function(z) {
      as.double(tabulate(match(z, values, 0L), length(values)))
    })
    chance <- if (n > 0) sum(counts[[1]] * counts[[2]]) / n^2 else 0
    if (chance == 0 || n * (1 - chance) < 36 * chance) {
      return(NA)
    }
    sum(x[known] == y[known]) > n * chance + 5 * sqrt(n * chance * (1 - chance))
  }, NA)
  other_order <- any(!agrees, na.rm = TRUE) && !any(agrees, na.rm = TRUE)
  if (other_order) {
    warn_sdc(
      "other_order",
      c(
        paste0(
          "`", args[[1]], "` and `", args[[2]], "` must have the same records in the same order."
        ),
        x = "No column agrees more often, record by record, than in a random order.",
        i = "Was it shuffled by release_data()? Give the result itself: it has both orders."
      )
    )
  }
  other_order
}

# Values that can be compared, NULL of other columns.
bare_text <- function(x) {
  if (is.factor(x)) x <- as.character(x)
  if (is.atomic(x) && length(dim(x)) == 0) as_bare(x)
}
