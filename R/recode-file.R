# Recodings give a file back, with its history.

# The file of a recoding as it may leave, with the values before it for this session.
recoded_file <- function(file, data, remedy, words, changed, shuffle = FALSE, k = NA,
                         state = "recoded") {
  from <- first_original(file)
  earlier <- earlier_variables(from, file$data)
  all_changed <- union(changed, earlier)
  if (is.null(from)) from <- file$data
  columns <- chain_told_by_columns(from, NULL, data, all_changed, units_of(file)$ids, earlier)
  inform_told_recoded(told_unasked(columns))
  order <- if (!shuffle) chain_told(from, data, all_changed, units_of(file))
  inform_order(order, recoding_advice)
  if (!is.null(file$object)) {
    if (shuffle) stop_argument("shuffle", "be FALSE for an sdcMicroObj, which keeps its records")
    return(give_back(file, data, k = k))
  }
  past <- with_step(
    unclass(file)[past_parts], remedy, words,
    new_states(Filter(function(name) {
      !identical(file$data[[name]], data[[name]])
    }, changed), state)
  )
  # Without the first values what they revealed before still holds.
  known <- if (isTRUE(file$forgotten)) file$told
  past$told <- list(
    order = if (!shuffle) rbind(known$order, order), columns = rbind(known$columns, columns)
  )
  past$original <- if (!shuffle) {
    changed <- Filter(function(name) !identical(from[[name]], data[[name]]), all_changed)
    rlang::set_names(lapply(changed, function(name) from[[name]]), changed)
  }
  past$forgotten <- if (shuffle) TRUE
  new_order <- if (shuffle) secret_order(n_records(data))
  as_kept_file(as_released(data, new_order), file$roles, past)
}

recoding_advice <- "release_data(x) puts the records in a secret order."

inform_told_recoded <- function(told) {
  inform_told(told, "Recode these columns too, or take them out of the file.")
}
