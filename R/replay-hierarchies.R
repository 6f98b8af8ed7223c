# Hierarchies in a log. Those that follow from a rule, such as widths, are the rule, and
# are made of the data again. Tables are written out in an internal log alone, and so are
# rules that name categories: cut points, top and bottom codes. What is not in the log is
# an argument of replay(). A fingerprint of the levels says whether they are those of then.

# Rules that tell nothing of any value.
plain_rules <- c("widths", "digits", "units", "rare", "origin", "pad", "drop")
hierarchy_rules <- c("breaks", "top", "bottom", plain_rules)

# TRUE if the levels may be written: in an internal report all, else plain rules.
states_levels <- function(h, settings) {
  if (settings$internal) {
    !is.null(h$rule) || !is.null(h$table)
  } else {
    !is.null(h$rule) && all(names(h$rule) %in% plain_rules)
  }
}

# Reading --------------------------------------------------------------------

is_log_table <- function(table) {
  is.list(table) && length(table) > 1 && all(lengths(table) == length(table[[1]])) &&
    all(vapply(unlist(table, recursive = FALSE), function(v) is.null(v) || is_one_text(v), NA))
}

# `hierarchies` of replay(): as recode_search() takes them, and those that were of use.
given_hierarchies <- function(given, log) {
  asked <- unlist(lapply(log$results, function(entry) {
    names(entry$call$arguments$hierarchies$of)
  }))
  if (inherits(given, "sdc_hierarchy")) {
    given <- rlang::set_names(list(check_whole_hierarchy(given)), given$name)
  }
  if (length(given)) {
    if (length(asked) == 0) {
      stop_argument("hierarchies", "be NULL", "No result in the log was asked with hierarchies.")
    }
    check_named_list(
      given, "hierarchies", "be a list with the name of a key variable for every entry", asked
    )
  }
  made <- Map(function(h, name) {
    if (inherits(h, "sdc_hierarchy")) {
      check_whole_hierarchy(h)
    } else {
      table_hierarchy(h, NULL, TRUE, list(name = name))
    }
  }, given, names(given))
  list(made = made, used = new.env(parent = emptyenv()))
}
