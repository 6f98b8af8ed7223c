# Arguments of a call as values: those given, without the data, and the seeds it drew. A result
# carries them as the attribute "asked", so that a report can state them and replay() can repeat the
# call. The call alone is not enough: it names objects that are gone by then.

# Called at the door, when the roles of the file are known: what is noted waits until the
# result is made. `roles` are those of its files, by argument: a function may hand a file on
# to another one.
remember <- function(ask, roles = list()) {
  f <- sys.function(ask$.at)
  made <- match.call(f, sys.call(ask$.at), envir = sys.frame(sys.parents()[[ask$.at]]))
  ask$call <- call_without_data(made, ask$.name)
  values <- lapply(rlang::set_names(intersect(ask$.arguments, ask$.given)), argument, ask)
  files <- lapply(values, file_data)
  values <- lapply(values, asked_value)
  for (file in names(roles)) {
    # A table of a database is its patterns.
    if (is_lazy_table(argument(file, ask))) {
      values[[file]] <- asked_part("file", patterns = pattern_roles(ask$data))
    }
    values[[file]]$roles <- roles[[file]]
  }
  if ("..." %in% names(formals(f)) && length(dot_names(ask))) {
    # An empty argument is for the function itself to complain of.
    more <- tryCatch(other_dots(ask), error = function(e) NULL)
    values <- c(values, lapply(more, asked_value))
  }
  # The data frames among the arguments wait with the notes.
  ask$.asked <- list2env(list(
    name = ask$.name, arguments = values, files = files[vapply(files, is.data.frame, NA)],
    seeds = list(), state = random_state(), elsewhere = FALSE
  ), parent = emptyenv())
  ask
}

# An argument without data: of a file its place alone, of a result what that was
# asked in its turn; what has a value per record is left out.
asked_value <- function(x) {
  is_file <- is.data.frame(x) || is_file(x) || is_pattern_table(x)
  if (is_file || is_list_of(x, is.data.frame)) {
    asked_part("file", patterns = if (is_file) pattern_roles(file_data(x)))
  } else if (inherits(x, "sdc_result")) {
    check_result(x)
    asked_part("result", asked = attr(x, "asked"), settings = file_marks(x$settings))
  } else if (is.function(x) || is.environment(x) || is.object(x) && !rlang::is_formula(x)) {
    asked_part("withheld", why = paste0("an object of class ", quote_names(class(x))))
  } else if (is_list_of(x, is.object)) {
    asked_part("withheld", why = "a list of objects")
  } else if (is.atomic(x) && length(x) > 10000) {
    asked_part("withheld", why = "a value for every record")
  } else if (rlang::is_formula(x)) {
    # Without the environment, which may hold data.
    rlang::new_formula(rlang::f_lhs(x), rlang::f_rhs(x), baseenv())
  } else {
    x
  }
}

# Of which columns a file of patterns was made, NULL for a file of records.
pattern_roles <- function(data) {
  if (!is.null(times_of(data))) {
    weight_var <- attr(data, "patterns")$weight_var
    list(key_vars = setdiff(names(data), weight_var), weight_var = weight_var)
  }
}

# As above for the data of a result.
asked_patterns <- function(x) {
  data <- attr(x, "asked")$arguments$data
  if (inherits(data, "sdc_asked_part")) data$patterns
}

asked_part <- function(kind, ...) structure(list(kind = kind, ...), class = "sdc_asked_part")

# Marks by which data are recognised as those of a result.
file_marks <- function(settings) {
  settings[intersect(names(settings), c(
    "key_vars", "key_groups", "candidates", "weight_var", "hh_id", "hh_vars", "sensitive",
    "within", "strata_var", "patterns", "n", "fingerprint", "wave_fingerprints", "version"
  ))]
}

# A result with what was asked, where the call is that of the innermost function.
with_asked <- function(result, asked) {
  call <- result$call
  named <- is.call(call) && identical(as.character(call[[1]]), asked$name)
  if (!named || isTRUE(running$passing)) {
    return(result)
  }
  random <- !identical(random_state(), asked$state)
  if (length(asked$seeds)) result$settings$seed <- unlist(asked$seeds)
  attr(result, "asked") <- list(
    name = asked$name, arguments = asked$arguments, seeds = asked$seeds,
    repeatable = !random && !asked$elsewhere && !keeps_no_seed(asked$name),
    prints = lapply(asked$files, file_prints, result$settings)
  )
  result
}
