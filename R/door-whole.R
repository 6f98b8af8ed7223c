# What was made here and is handed back: files with roles, pattern tables, hierarchies, columns
# of candidates. Saved ones may be older, or changed since; whatever is read of them is looked
# at first. Results have check_result().

stop_not_whole <- function(what) {
  stop_sdc(
    "damaged_result",
    c(
      paste0("The ", what, " must be whole, as it was made."),
      x = "It has lost parts, or they have been changed.", i = "Make it again."
    )
  )
}

# Whether all of it is true; what comes later is looked at only if that before it is.
all_hold <- function(...) {
  for (i in seq_len(...length())) {
    if (!isTRUE(...elt(i))) {
      return(FALSE)
    }
  }
  TRUE
}

all_are <- function(x, test) is.list(x) && all(vapply(x, test, NA))

check_whole_file <- function(x) {
  file <- unclass(x)
  whole <- all_hold(
    is.list(file),
    is.data.frame(file$data) || is_lazy_table(file$data),
    all_are(file$roles, function(role) is.character(role) || is.numeric(role) || is.list(role)),
    length(names(file$roles)) == length(file$roles),
    all(names(file$roles) %in% role_names),
    is.null(file$codes) || is.environment(file$codes)
  )
  if (!whole) stop_not_whole("file of sdc_file()")
  invisible(x)
}

check_whole_patterns <- function(x) {
  table <- unclass(x)
  patterns <- if (is.list(table)) table[["patterns"]]
  named <- function(v) is.character(v) && length(v) > 0 && all(v %in% names(patterns))
  numbers <- function(v) is.numeric(v) && length(v) == nrow(patterns) && isTRUE(all(v > 0))
  whole <- all_hold(
    is.data.frame(patterns), named(table$key_vars), numbers(patterns$n),
    is.numeric(table$n_records), sum(as.double(patterns$n)) == table$n_records
  )
  if (whole && !is.null(table$weight_var)) {
    whole <- all_hold(
      named(table$weight_var), length(table$weight_var) == 1,
      numbers(patterns[[table$weight_var]]), numbers(table$squares),
      is.numeric(table$weight_range), length(table$weight_range) == 2
    )
  }
  if (!whole) stop_not_whole("pattern table")
  invisible(x)
}

check_whole_hierarchy <- function(x) {
  h <- unclass(x)
  is_step <- function(step) {
    is.list(step) && is.language(step$expr) && is_one_text(step$words)
  }
  whole <- all_hold(
    is.list(h), is_one_text(h$name), is_one_text(h$kind), h$kind %in% names(hierarchy_kinds),
    is.atomic(h$values), length(h$steps) > 0, all_are(h$steps, is_step),
    length(h$labels) == length(h$steps),
    all_are(h$labels, function(l) is.character(l) && length(l) == length(h$values)),
    is.null(h$rule) || is.list(h$rule)
  )
  if (!whole) stop_not_whole("hierarchy")
  invisible(x)
}

# Sets of candidates; an interval has two ends for each of its pieces.
check_whole_sets <- function(sets, interval) {
  whole <- all_are(sets, function(s) is.atomic(s) && length(s) > 0) &&
    (!interval || all(lengths(sets) %% 2 == 0))
  if (!whole) stop_not_whole("column of candidates")
  invisible(sets)
}
