# The one part of a result that may leave the agency.

#' Extract the data to be released
#'
#' Returns the data to release, without record order, levels, labels or attributes that reveal
#' protected values. Use it for every file that leaves the agency: results of [invariant_pram()]
#' and [suppress_cells()] contain the original, or can be undone.
#'
#' @concept release
#' @concept public-use file
#'
#' @details
#' **The order of the records.** Most files are sorted, for instance by region. Then a
#' suppressed region is that of the records before and after, and an exchanged region does not fit
#' its neighbours. [suppress_cells()], [invariant_pram()] and [apply_recoding()] make this attack.
#' For every protected variable they count the protected values that the nearest released values
#' reveal: those before and after agree, or they are adjacent values and the protected one lies
#' between, or as many records in a row have the released value as the protected one says, as
#' members of a household have its size. If a column such as the year rises and begins anew, the
#' records of such a run are taken for one person's, whose ages show each other. This share is
#' compared with that of the same attack in a random order. The order reveals a variable if its
#' share is larger by more than 5 percentage points, and if either at least three values come back
#' that chance explains with a probability below 0.001, or the released values come in fewer runs
#' than in a random order (four standard deviations). The message `told_by_order` and
#' `x$diagnostics$told_by_order` name these variables.
#'
#' If the order of the file reveals a variable, the records are released in a secret
#' order by default. Its key comes from the operating system, so nobody can compute it
#' again, not even with R's seed. The result keeps the order: `release_data(x)` gives the
#' same file each time (recoded files and those with new numbers get a new order each time). The
#' order in `x$data` is that of the input: use `x$data` for comparisons record by record, such as
#' [utility_loss()], and for [augment()].
#'
#' With `hh_id`, first members of all households are also compared with first members, second with
#' second: the head often comes first.
#'
#' The same attack is made in the order of every column that looks like an identifier, and of
#' `hh_id`: records that are sorted by it are in the old order again. Leave such a column
#' out of the file, or name it in `new_ids`. If the file is not sorted by the
#' column, the margin is 25 points, as other columns may be associated with a variable
#' without revealing its place.
#'
#' **Recoded values.** In a file sorted by age, bands do not protect ages: the first records of a
#' band are the youngest. The attack assigns the sorted values of a band to its records in their
#' order, and compares the share of correct values with that of the same guesses in a random
#' order. Bands of more than 20 values count by twentieths.
#'
#' **Masked numbers.** In a file sorted by turnover the mean of the released numbers around a
#' record, of 5 to 151 records, is near its own. The attack counts how many of these means are
#' within 5% of the number before, and how many released numbers are; chance is the larger of that
#' and of the number for the mean of all records.
#'
#' **Two protections.** If `data` of a remedy were protected before, order and columns are compared
#' with the values before the first protection, for the variables of both. A result has these
#' values during the session; a saved result and its `data` do not. Then, and for a recoded file,
#' name the first file as `original` of [suppress_cells()] or [invariant_pram()]. For the loss by
#' all steps give it to [utility_loss()] as `before`.
#'
#' **Levels, labels, row names.** A level of a factor or a value label that no released
#' record has would name a suppressed value, so both are dropped, from all columns. Four and more
#' levels in the order in which their values first appear, or its reverse, are sorted, if the first
#' record of one is protected; of ten and more levels one may stand elsewhere.
#' Codes that are declared missing stay if they occur. Row names become numbers. Columns keep their
#' class, levels, labels, units, time zone and formats but no other attributes, and the data frame
#' is a data frame, tibble or data.table.
#'
#' @param x A result of [invariant_pram()] or [suppress_cells()], a recoded file, or an sdcMicroObj
#'   that was changed.
#' @inheritParams sdcRisk-params
#' @param keep_ids Names of columns that identify persons or households and should be
#'   released anyway, or `TRUE` for all of them.
#' @param drop Names of columns to leave out of the release.
#' @param shuffle `NULL`: the records are put in a secret order if theirs reveals protected
#'   values, if it groups records by a column that is left out, such as a household number, or if
#'   `new_ids` are made. `TRUE`: always. `FALSE`: never; what the order reveals is
#'   then on every page of the release. Households (`hh_id` of the protection) stay together if
#'   their number is released: otherwise their place would show them. A table of a database is
#'   then copied in a random order of the engine, as is one that was recoded or protected twice.
#' @param new_ids Names of columns, such as household numbers, that are released with numbers
#'   in a secret order instead of their values. Equal values stay equal. Numbers differ each
#'   time.
#' @return The protected data as an [sdc_file()]: class, column types and the order of columns are
#'   those of the input. It has the roles of the original, and `summary()` lists the protections
#'   with counts and settings, but no values or record numbers. For an sdcMicroObj it is the
#'   released data frame. Columns that no argument named are unchanged, except that identifiers are
#'   left out: those named as `hh_id` or `id_vars`, and columns that look like an identifier (see
#'   [sdc_file()]; in a database by 1,000 values and the number of distinct ones). A message of
#'   class `sdcRisk_message_identifier_left_out` names them. Key variables, weights and strata
#'   stay unless `drop` names them. Other objects are an error of class
#'   `sdcRisk_error_bad_argument`. Message: `shuffled`.
#' @section Seeds:
#' The draws of [invariant_pram()], and those of [suppress_cells()] with `n_rounds`, obey
#' [set.seed()]. The seed of a release is as confidential as the original file: an intruder who
#' knows it can repeat the draws. So do not call `set.seed()` with a number that others know,
#' from a published script or as simple as 1, before a release. Without `set.seed()` R
#' takes its seed from time and process. The secret order never depends on it.
#' @section Columns that reveal protected values:
#' A suppressed age is not protected if the year of birth is released. [suppress_cells()],
#' [invariant_pram()], [recode_search()] and [apply_recoding()] therefore compare every
#' protected value with all other released columns. A message of class
#' `sdcRisk_message_determined_keys` names the columns that reveal such values, and the call that
#' prevents it; `release_data()` repeats it for the columns that are left, and names columns without
#' a role that are more detailed than a key variable, such as the age if its group is the key
#' variable. [file_check()] names columns that reveal key variables before any protection.
#'
#' `x$diagnostics$told_by_columns` has one row per variable and column that reveals it:
#' `variable`; `by`, a column or a pair such as `"state + district"`; `share` and `n`, the
#' share and number of the protected values that come back; `part`, `TRUE` if the column
#' narrows them instead; `finer`, `TRUE` if it reveals or narrows 90% of them and has more values;
#' `identifier`, `TRUE` if the column numbers persons or households, so that `release_data()` leaves
#' it out unless `keep_ids` names it (never dates and times); `n_renumbered`, the `n` that is left
#' if `new_ids` names the column; `was_missing`, `TRUE` if the values were missing before;
#' `expected`, `TRUE` if `n` is a guess. It is `NULL` for a database: its columns are not examined.
#'
#' A column narrows a variable from which it follows, as the division of an industry and the group
#' of an age do. An intruder who knows the division has fewer candidates for a suppressed,
#' exchanged or recoded industry than the protection counts. Columns that still follow from a
#' recoded variable do not narrow it. A masked number is narrowed by a number that gives most of
#' the protected values within 5%, by a line or a power, as a tax does a price, or by the mean of
#' all records with one value of the column, as the number of a person does.
#'
#' A column reveals a variable in one of four ways:
#' \describe{
#'   \item{by its values}{At most 1% of the records differ from the commonest value of the
#'     variable among the records with their value of the column, and at most a tenth of
#'     those that differ from the commonest value overall. The first record of each value
#'     is not counted, so a column of different values reveals nothing.}
#'   \item{by its order}{Along the values of the column the variable only rises, only falls, or
#'     has each of its values in one run, with exceptions at up to 1% of the values. This
#'     finds an age that follows from a date of birth, even if every value occurs once.}
#'   \item{by a single category}{Up to 1% of the records with one of its values belong to another
#'     category, such as the husbands among the women. A column is named if at least 5% of the
#'     protected values of the variable, or half of those of a category, come back in this way.}
#'   \item{by a derived column}{The same search is made with columns derived from it: whether it is
#'     missing (births, asked of women), whether it is zero (a pension), how many records share its
#'     value (the size of a household), and its rounded value if it lies within 130 (an age with
#'     decimals).}
#' }
#' In all cases chance must be unlikely: a probability below \eqn{e^{-7}} over all columns
#' and variables together.
#'
#' The values that come back are counted as follows. If the column holds codes (text,
#' factors, dates, or whole numbers with 12 records for each value, 4 if within 130), or the
#' order reveals the variable, the intruder is assumed to know how one follows from the other.
#' Numbers of persons and households, weights and other measurements have no such meaning.
#' They reveal a value only if most of the *other* released records with an equal value
#' show it, or, for identifiers in order, the records before and after it.
#'
#' **Exceptions.** Those who work in a region mostly live there, those born in a year have one of
#' two ages, and weights of households reveal values even if some have the same weight. So after a
#' protection a column with more exceptions counts, too. A value comes back if most other records
#' with an equal value of the column have it, or most of the four next to it in the order of a
#' column of many values. The share of these must be at least a half, and larger by 25 percentage
#' points than guessing the commonest value of the file gives, or have a third of its errors and at
#' most 10%. A recoded value is compared with the others of its group, whose commonest value is the
#' guess: husbands and wives who were joined come back by the sex. If it tells by where it is
#' missing or zero, 80% must come back. If known values come back in this way, as a written file
#' shows, a twentieth of the protected ones is enough, at least three, if guessing gives so many
#' with a chance below 1%. Missing values of a file without history, and those that were missing
#' before a protection, are judged by known ones alone: `n` is the number expected to come back, by
#' the shares of the commonest values. A column of codes that leaves two of many suppressed values,
#' for 90% of the records, narrows them. Key variables are named before a protection if 90% of
#' their values come back.
#'
#' **Key variables** are known together, so what they reveal of each other does not matter. A
#' suppressed value that follows from a released key variable does, as a state from its city: it is
#' named if half of the missing values come back.
#'
#' Pairs are tried among the 25 columns with most values, of those with at most 1,000 values
#' and a fifth as many values as records, and differences, sums, ratios and products among the 12
#' columns of numbers or dates with most values, of dates also in years (a date of birth and the
#' year of a survey). A pair is named if three values come back, or half of them.
#' So is a number or date of more than 20 values that equals the variable in 90% of the records,
#' but for a factor and a constant, as the hours in the main job those in all jobs, or, without its
#' commonest value, a fifth of the protected values; and a sum, with any signs and factors, or a
#' product of powers of 50 numbers that is right in 90% when rounded, as the members of a household
#' by those of each age, or a weight by height and body mass index. Other relations between three
#' columns are not found, nor those of pairs that hold for fewer than 95% of the records, or 90% if
#' the number of a pair equals the variable.
#'
#' **Records of one person** reveal each other's numbers if these change by as much as another
#' column: ages by the years of the waves of a panel, or of dates, or by days or months, in half of
#' the steps (up to nine of ten if numbers differ so by chance). The years between waves need not be
#' equal or known: up to 30 waves with numbers or names are enough if half of the numbers change
#' alike from each to the next, and always rise or always fall.
#' Then `"id + year"` is named with the values that come back
#' from the numbers of the other records, or from the middle of what the groups of all of them
#' leave; or from the person's record nearest in time, such as occupations, if that gives more than
#' most records do. At most 5% of the records may repeat a time of their person. `"id + start"` is
#' named if spells end where the next one begins, or but for a constant, and `"pair + case"` if
#' nine of ten groups of a size have the same values. The number of a household is read with what
#' tells its members apart. New numbers for the persons do not prevent this.
#' @section Risk measures of perturbed data:
#' [n_matches()], [individual_risk()] and the other measures count how many
#' records agree, and assume that values are correct. In perturbed data a sample unique
#' need not be the person with these values, which these measures ignore. Their
#' values for the released data, and their comparison with those for the
#' original, do not show its risk. Use the bound, and [pram_audit()]. With
#' `missing = "wildcard"` these measures hold for files with suppressed values.
#' @family perturbation
#' @export
#' @examples
#' keys <- c("CENREG", "DAGE3", "EDUC3", "GENDER", "BORNUSA", "DRACE3")
#' secret <- suppress_cells(nals_prison, keys)
#' secret$diagnostics$told_by_order # the file is sorted by region
#' public <- release_data(secret)
#' identical(names(public), names(nals_prison)) # TRUE
release_data <- function(x, ..., shuffle = NULL, new_ids = NULL) {
  UseMethod("release_data")
}

#' @export
release_data.default <- function(x, ...) {
  announce("release_data")
  check_given("x")
  stop_argument(
    "x", "be a result that holds data to be released",
    advice = if (inherits(x, "sdc_recode_search")) {
      "apply_recoding(x, data) gives the recoded data."
    } else {
      "`invariant_pram()`, `suppress_cells()`, `global_recode()` and `apply_recoding()` make one."
    }
  )
}

#' @export
release_data.sdc_invariant_pram <- function(x, ..., shuffle = NULL, new_ids = NULL,
                                            keep_ids = NULL, drop = NULL) {
  announce("release_data")
  check_no_dots(...)
  handed_out(x, shuffle, new_ids, keep_ids, drop)
}

#' @rdname release_data
#' @export
release_data.sdc_suppress_cells <- release_data.sdc_invariant_pram

# A recoded file may leave as it is, or in another order.
#' @export
release_data.sdc_file <- function(x, ..., shuffle = NULL, new_ids = NULL, keep_ids = NULL,
                                  drop = NULL) {
  announce("release_data")
  check_no_dots(...)
  file <- as_file(x, "x")
  if (length(file$history) == 0) stop_untouched()
  if (!is.null(file$table)) {
    return(released_table(file, file$roles, FALSE, shuffle, new_ids, keep_ids, drop))
  }
  release_file(file, shuffle, new_ids, keep_ids, drop)
}

stop_untouched <- function() {
  stop_argument(
    "x", "be a file to which something was done", found = "It is as it came.",
    advice = "`suppress_cells()`, `invariant_pram()` and `global_recode()` protect it."
  )
}

release_file <- function(file, shuffle, new_ids, keep_ids, drop) {
  file$told$columns <- told_of_rest(file, drop)
  parts <- list(
    data = file$data, settings = file$roles,
    order = if (anyNA(file$told$order$by)) secret_order(n_records(file$data)),
    diagnostics = list(told_by_order = file$told$order, told_by_columns = file$told$columns)
  )
  as_release(file, hand_out(parts, file$roles, shuffle, new_ids, keep_ids, drop), shuffle, new_ids)
}

#' @export
release_data.sdc_open_file <- release_data.sdc_file

# The object as it is now, compared with its original data.
#' @export
release_data.sdcMicroObj <- function(x, ..., shuffle = NULL, new_ids = NULL, keep_ids = NULL,
                                     drop = NULL) {
  announce("release_data")
  check_no_dots(...)
  file <- as_file(x, "x")
  from <- first_original(file)
  if (is.null(from)) stop_untouched()
  changed <- names(file$original)
  file$told <- list(
    order = chain_told(from, file$data, changed, units_of(file)),
    columns = chain_told_by_columns(from, NULL, file$data, changed, units_of(file)$ids, changed)
  )
  file$data <- with_sorted_levels(file$data, from)
  release_file(file, shuffle, new_ids, keep_ids, drop)
}

# `data` without the values before, whatever this session knows. What an order reveals stays as
# long as the records are in it, or the column that gives it is there.
as_release <- function(file, data, shuffle = NULL, new_ids = NULL) {
  file$forgotten <- TRUE
  told <- file$told$order
  own <- is.na(told$by) & isFALSE(shuffle)
  file$told$order <- told[own | told$by %in% setdiff(colnames(data), new_ids), ]
  file$told$columns <- told_renumbered(file$told$columns, new_ids)
  if (!all(file$roles$hh_id %in% colnames(data))) file$hh_left_out <- TRUE
  id <- c(file$roles$hh_id, repeated_id(file))
  if (!all(id %in% colnames(data))) file$id_left_out <- matches_of_units(file, id)
  past <- c(
    "defaults", "protected", "remedy", "forgotten", "history", "states", "told", "hh_left_out",
    "id_left_out"
  )
  as_kept_file(data, roles_kept(file$roles, colnames(data), say = FALSE), unclass(file)[past])
}

# What columns reveal if those named `new_ids` get new numbers.
told_renumbered <- function(told, new_ids) {
  if (NROW(told) == 0) {
    return(told)
  }
  new <- told$by %in% new_ids
  told$share[new] <- told$share[new] * told$n_renumbered[new] / told$n[new]
  told$n[new] <- told$n_renumbered[new]
  told[told$n > 0, ]
}

handed_out <- function(x, shuffle, new_ids, keep_ids, drop) {
  if (!is.null(shuffle)) check_flag(shuffle, "shuffle")
  file <- uncounted_release(x, "x")
  if (!is.null(file$table)) {
    roles <- c(x$settings, file$roles["id_vars"])
    alone <- length(file$history) == 1
    return(released_table(file, roles, alone, shuffle, new_ids, keep_ids, drop))
  }
  x <- unclass(x)
  # A release that kept its order was protected further.
  if (is.null(x$order) && anyNA(file$told$order$by)) {
    x$order <- secret_order(n_records(file$data))
    x$diagnostics$told_by_order <- file$told$order
  }
  x$diagnostics$told_by_columns <- file$told$columns <- told_of_rest(file, drop)
  as_release(file, hand_out(x, file$roles, shuffle, new_ids, keep_ids, drop), shuffle, new_ids)
}

# A table, or a copy in a random order. What the order reveals is `known` of one protection.
released_table <- function(file, roles, known, shuffle, new_ids, keep_ids, drop) {
  if (!is.null(shuffle)) check_flag(shuffle, "shuffle")
  if (!is.null(new_ids)) {
    stop_argument(
      "new_ids", "be left out for a table of a database",
      advice = "Use a query: dplyr::mutate(release_data(x), ...)."
    )
  }
  if (isFALSE(shuffle) && !known) {
    stop_argument(
      "shuffle", "not be FALSE for a table that was recoded or protected twice",
      found = "It is not known what the order of its records reveals."
    )
  }
  columns <- released_of_table(file$table, roles, keep_ids, drop)
  told <- anyNA(file$told$order$by)
  table <- if (is.null(shuffle) && (told || !known) || isTRUE(shuffle)) {
    in_random_order(file$table, columns)
  } else {
    dplyr::select(file$table, !!!rlang::syms(columns))
  }
  if (told && known && is.null(shuffle)) {
    inform_shuffled("a random order of the engine", "revealed protected values", "x$data")
  }
  as_release(file, with_held_levels(table), shuffle)
}

hand_out <- function(x, roles, shuffle, new_ids, keep_ids, drop) {
  if (!is.null(shuffle)) check_flag(shuffle, "shuffle")
  data <- bare_data(x$data)
  if (!is.data.frame(data)) stop_not_whole("release")
  new_ids <- named_of(data, new_ids, "new_ids")
  ids <- union(identifiers_of(data, x$settings), unlist(roles[c("id_vars", "hh_id")]))
  left_out <- left_out_columns(data, ids, keep_ids, drop, new_ids)
  inform_still_told(data, told_renumbered(x$diagnostics$told_by_columns, new_ids), left_out)
  staying <- without_columns(as.data.frame(data), left_out)
  inform_finer(staying, roles, x$diagnostics$told_by_columns$by)
  order <- if (!isFALSE(shuffle)) x$order
  # Records of a household that follow each other show it without its number, and so does an order
  # by a region that is left out. New numbers in the old order would be the old numbers.
  shown <- Filter(function(name) in_runs(match(data[[name]], unique(data[[name]]))), left_out)
  wanted <- isTRUE(shuffle) || length(c(new_ids, shown)) && is.null(shuffle)
  if (wanted && is.null(order)) order <- secret_order(n_records(data))
  # Without its number a household would be seen by its place.
  household <- intersect(x$settings$hh_id, names(staying))
  if (length(order) && length(household)) order <- together(order, staying[[household]])
  if (is.null(shuffle) && !is.null(order)) {
    told <- x$diagnostics$told_by_order$by
    why <- if (anyNA(told)) {
      "revealed protected values"
    } else if (length(shown)) {
      paste("would show which records share a value of", quote_names(shown))
    } else {
      "would reveal the old numbers"
    }
    whole <- if (is.null(x$estimates)) "x" else "x$data"
    inform_shuffled("a secret order", why, whole, setdiff(told, c(NA, new_ids, left_out)))
  }
  without_columns(as_released(data, order, new_ids), left_out)
}

# Message of `release_data(x)` on the order of the records.
inform_shuffled <- function(order, why, whole, left = NULL) {
  inform_sdc(
    "shuffled",
    paste0("The records are in ", order, ": theirs ", why, "."),
    i = paste0(
      "For comparisons record by record take ", whole,
      ", which stays as it is. shuffle = FALSE keeps the order."
    ),
    i = id_advice(left)
  )
}

# A file as it may leave: rows in the given order, without levels, labels, row names and
# attributes that no row of it needs.
as_released <- function(data, order = NULL, new_ids = NULL) {
  columns <- unclass(data)
  attributes(columns) <- list(names = names(data))
  columns[new_ids] <- lapply(columns[new_ids], renumbered)
  columns <- lapply(columns, released_column, order)
  n <- n_records(data)
  kind <- intersect(class(data), c("data.table", "tbl_df", "tbl", "data.frame"))
  out <- structure(columns, class = kind, row.names = .set_row_names(n))
  if ("data.table" %in% kind && requireNamespace("data.table", quietly = TRUE)) {
    # Another copy, with room for new columns.
    data.table::copy(out)
  } else {
    out
  }
}

# Numbers in a secret order for the values of an identifier.
renumbered <- function(x) {
  values <- as_bare(x)
  known <- unique(values[!is.na(values)])
  secret_order(length(known))[match(values, known)]
}

# Of text they are as wide as the longest one, which need not be released.
text_formats <- c("format.spss", "format.sas", "format.stata", "display_width")

# The attributes of a column that hold none of its values, or only those that it needs.
column_attributes <- c(
  "class", "levels", "labels", "label", "na_values", "na_range", "tzone", "units", "dim", "tsp",
  text_formats
)

released_column <- function(x, order) {
  if (is.data.frame(x)) {
    return(as_released(x, order))
  }
  if (is_candidates(x)) {
    return(released_candidates(x, order))
  }
  if (!is.atomic(x) || isS4(x)) {
    attr(x, "comment") <- NULL
    if (is.null(order)) {
      return(x)
    }
    return(if (length(dim(x)) == 2) x[order, , drop = FALSE] else x[order])
  }
  kept <- attributes(x)
  kept <- kept[intersect(names(kept), column_attributes)]
  if (is.character(x)) kept[text_formats] <- NULL
  bare <- as_bare(x)
  if (is.factor(x)) {
    occurs <- sort(unique(bare))
    bare <- match(bare, occurs)
    kept$levels <- kept$levels[occurs]
  } else if (!is.null(kept$labels)) {
    kept[c("labels", "na_values", "na_range")] <- needed_labels(bare, kept)
  }
  if (!is.null(order)) {
    bare <- if (length(kept$dim) == 2) {
      as_bare(array(bare, kept$dim)[order, , drop = FALSE])
    } else {
      bare[order]
    }
  }
  # A factor without a value has no level, but must keep the attribute.
  attributes(bare) <- kept[lengths(kept) > 0 | names(kept) == "levels"]
  bare
}

# Sets that a record has, numbered in the order of the release.
released_candidates <- function(x, order) {
  codes <- set_codes(x)
  if (!is.null(order)) codes <- codes[order]
  used <- unique(codes[!is.na(codes)])
  new_candidates(match(codes, used), candidate_sets(x)[used], is_interval(x))
}

# Labels of values that occur, and declared missing codes that do.
needed_labels <- function(values, kept) {
  labels <- kept$labels
  tags <- missing_tags(values)
  tagged <- vapply(labels, function(value) {
    tag <- missing_tags(value)
    length(tag) > 0 && tag %in% tags
  }, NA)
  labels <- labels[labels %in% values[!is.na(values)] | tagged]
  range <- kept$na_range
  in_range <- length(range) == 2 && any(values >= range[[1]] & values <= range[[2]], na.rm = TRUE)
  list(
    labels = if (length(labels)) labels,
    na_values = kept$na_values[kept$na_values %in% values],
    na_range = if (in_range) range
  )
}
