# What a function was asked, in values: the arguments that were given, without the
# data, and the seeds it drew. A result carries it as the attribute "asked", so that
# a report can state it and replay() can ask again. A call alone would not do: it
# names objects that are gone by then.

# Called at the door, when roles have become arguments. What is noted waits in the
# frame of the exported function until its result is made. `roles` are those of its
# files, by argument: a function may hand a file on to another one.
remember <- function(roles = list()) {
  at <- front_at()
  name <- if (at > 0) exported_name(sys.function(at), sys.call(at)[[1]])
  if (is.null(name)) {
    return(invisible())
  }
  frame <- sys.frame(at)
  asked <- new.env(parent = emptyenv())
  asked$name <- name
  asked$arguments <- given_arguments(sys.function(at), frame, roles)
  asked$seeds <- list()
  asked$state <- random_state()
  asked$elsewhere <- FALSE
  assign(".asked", asked, envir = frame)
}

# The name of an exported function, NULL of any other.
exported_name <- function(f, head) {
  name <- front_name(f)
  # A method has the name of its generic function.
  if (!is.null(name) && identical(f, get0(name, topenv()))) {
    return(name)
  }
  exports <- getNamespaceExports("sdcRisk")
  written <- if (!is.function(head)) written_name(head)
  for (name in c(intersect(written, exports), exports)) {
    if (identical(f, getExportedValue("sdcRisk", name))) {
      return(name)
    }
  }
  NULL
}

# The name in the head of a call, which may have that of a package before it.
written_name <- function(head) {
  words <- as.character(head)
  words[[length(words)]]
}

given_arguments <- function(f, frame, roles) {
  names <- setdiff(names(formals(f)), "...")
  names <- names[was_given(names, frame)]
  values <- lapply(rlang::set_names(names), function(name) asked_value(get(name, envir = frame)))
  for (file in names(roles)) values[[file]]$roles <- roles[[file]]
  if ("..." %in% names(formals(f))) {
    # An empty argument is for the function itself to complain of.
    more <- tryCatch(eval(quote(list(...)), frame), error = function(e) NULL)
    values <- c(values, lapply(more, asked_value))
  }
  values
}

# An argument without data: of a file its place alone, of a result what that was
# asked in its turn; what has a value per record is left out.
asked_value <- function(x) {
  is_file <- is.data.frame(x) || inherits(x, "sdc_file") || is_pattern_table(x)
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

# The same of what a result was made from.
asked_patterns <- function(x) {
  data <- attr(x, "asked")$arguments$data
  if (inherits(data, "sdc_asked_part")) data$patterns
}

is_list_of <- function(x, is_item) {
  is.list(x) && !is.object(x) && length(x) > 0 && any(vapply(x, is_item, NA))
}

asked_part <- function(kind, ...) structure(list(kind = kind, ...), class = "sdc_asked_part")

# What is needed to tell whether data are those of a result.
file_marks <- function(settings) {
  settings[intersect(names(settings), c(
    "key_vars", "key_groups", "candidates", "weight_var", "hh_id", "hh_vars", "sensitive",
    "within", "strata_var", "patterns", "n", "fingerprint", "wave_fingerprints", "version"
  ))]
}

# The notes of the functions that are running, innermost first.
running_asked <- function() {
  found <- lapply(rev(sys.frames()), function(frame) get0(".asked", frame, inherits = FALSE))
  found[!vapply(found, is.null, NA)]
}

# The notes of the innermost function, NULL for none.
innermost_asked <- function() {
  for (frame in rev(sys.frames())) {
    if (!is.null(frame$.asked)) {
      return(frame$.asked)
    }
  }
}

# A result with what was asked, where the call is that of the innermost function.
with_asked <- function(result, asked) {
  call <- result$call
  if (!is.call(call)) {
    return(result)
  }
  if (!identical(written_name(call[[1]]), asked$name)) {
    return(result)
  }
  random <- !identical(random_state(), asked$state)
  if (length(asked$seeds)) result$settings$seed <- unlist(asked$seeds)
  attr(result, "asked") <- list(
    name = asked$name, arguments = asked$arguments, seeds = asked$seeds,
    repeatable = !random && !asked$elsewhere && !keeps_no_seed(asked$name)
  )
  result
}

# A seed would undo the release.
keeps_no_seed <- function(name) name == "invariant_pram"

# A seed that was drawn is noted by every function that is running; numbers drawn
# from R's generator besides cannot be repeated from it.
note_seed <- function(draw) {
  notes <- running_asked()
  before <- random_state()
  for (asked in notes) {
    if (!identical(before, asked$state)) asked$elsewhere <- TRUE
  }
  seed <- draw()
  secret <- any(vapply(notes, function(asked) keeps_no_seed(asked$name), NA))
  for (asked in notes) {
    asked$state <- random_state()
    if (!secret) asked$seeds <- c(asked$seeds, list(seed))
  }
  seed
}
