# Columns chosen as in dplyr: `key_vars = c(age, sex, starts_with("pb"))`. What is chosen becomes
# names as text, whatever the way: text, positions, or a selection of tidyselect. A variable that
# holds names of columns comes before a column of its name, as everywhere in R; an argument of
# the calling function does so if it is text or NULL.

# The value of an argument that names columns of `data`, a data frame or a list with the names of
# its columns.
chosen_columns <- function(code, env, data) {
  if (is.call(code) && identical(code[[1]], quote(list))) {
    # Several key sets, or the columns of groups.
    return(lapply(as.list(code)[-1], chosen_columns, env, data))
  }
  if (is.call(code) && !is_choice(code) && !uses(code, selection_helpers)) {
    return(eval(code, env))
  }
  code <- with_values(code, env, names(data))
  if (!is_selection(code, names(data))) {
    return(eval(code, env))
  }
  names(data)[unname(tidyselect::eval_select(code, data, env = env))]
}

# Variables and calls that do not name columns, evaluated.
with_values <- function(code, env, columns) {
  if (is.symbol(code)) {
    name <- as.character(code)
    if (is_argument(name, env)) {
      value <- get(name, envir = env)
      return(if (is.null(value) || is_bare_text(value)) value else code)
    }
    value <- get0(name, envir = env, mode = "character")
    names_columns <- is_bare_text(value) && (!name %in% columns || all(value %in% columns))
    return(if (names_columns) value else code)
  }
  if (!is.call(code) || uses(code, selection_helpers)) {
    return(code)
  }
  if (is_choice(code)) {
    code[-1] <- lapply(as.list(code)[-1], with_values, env, columns)
    return(code)
  }
  if (uses(code, columns)) code else eval(code, env)
}

is_bare_text <- function(x) is.character(x) && !is.object(x)

# TRUE if the calling function has an argument of that name: it means what it was given, be it
# no column at all.
is_argument <- function(name, env) {
  at <- Position(function(frame) identical(frame, env), sys.frames())
  !is.na(at) && name %in% names(formals(sys.function(at)))
}

uses <- function(code, names) any(names %in% c(all.names(code), all.vars(code)))

# Calls that select in tidyselect.
is_choice <- function(code) {
  is.call(code) && is.symbol(code[[1]]) &&
    as.character(code[[1]]) %in% c("c", "-", "!", "(", "&", "|", ":")
}

# TRUE if code is a selection: it names columns, leaves out named ones, or has a helper.
is_selection <- function(code, columns) {
  if (is.symbol(code)) {
    return(as.character(code) %in% columns)
  }
  is.call(code) && (
    uses(code, selection_helpers) || is_choice(code) && uses(code, columns) ||
      is_choice(code) && uses(code, c("-", "!")) && has_text(code)
  )
}

# A selection that begins by leaving columns out is taken from all of them.
is_negative <- function(code) {
  is.call(code) && (
    as.character(code[[1]])[[1]] %in% c("-", "!") && length(code) == 2 ||
      identical(code[[1]], quote(c)) && length(code) > 1 && is_negative(code[[2]])
  )
}

has_text <- function(code) {
  is.character(code) || is.call(code) && any(vapply(as.list(code)[-1], has_text, NA))
}

selection_helpers <- c(
  "starts_with", "ends_with", "contains", "matches", "everything", "last_col", "num_range",
  "all_of", "any_of", "one_of", "where"
)
