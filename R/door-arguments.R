# Arguments that name columns, read before anything else is done with them: they become names
# as text, or the error is told here, once for all exported functions.

column_arguments <- c(
  "link_vars", "change_vars", "weight_var", "count_var", "hh_id", "hh_vars",
  "strata_var", "sensitive", "within", "vars", "id", "time", "year", "month", "age",
  "birth_year", "row_id", "key_groups", "linked", "drop", "new_ids", "keep_ids",
  # The last: without others they leave out what these name.
  "key_vars"
)

check_column_arguments <- function() {
  ask <- running$ask
  if (is.null(ask) || isTRUE(ask$.looked)) {
    return(invisible())
  }
  ask$.looked <- TRUE
  refuse_letters(ask)
  frame <- ask$.frame
  given <- column_arguments[column_arguments %in% ask$.given]
  given <- given[!given %in% ask$.controls]
  quosures <- lapply(rlang::set_names(given), function(arg) {
    innermost(eval(as.call(list(rlang::enquo, as.name(arg))), frame))
  })
  data <- if (any(vapply(quosures, is_unread, NA))) data_at_door(frame)
  for (arg in given) {
    if (is_unread(quosures[[arg]])) {
      value <- read_columns(arg, quosures[[arg]], data)
      if (arg == "key_vars" && is_negative(rlang::quo_get_expr(quosures[[arg]]))) {
        value <- intersect(possible_keys(frame, names(data), setdiff(given, arg)), value)
      }
      # The function finds it under its name.
      assign(arg, value, envir = frame)
    }
    refuse_lone_number(get(arg, envir = frame), arg)
  }
}

# The argument of a function of the user, embraced: {{ keys }}.
innermost <- function(quosure) {
  code <- rlang::quo_get_expr(quosure)
  if (rlang::is_quosure(code)) innermost(code) else quosure
}

# Columns from which a selection that leaves some out is taken: the key variables of a file, or the
# columns without another role.
possible_keys <- function(frame, columns, others) {
  keys <- attr(get0("data", envir = frame), "roles", exact = TRUE)$key_vars
  if (is.null(keys)) {
    named <- unlist(lapply(others, get, envir = frame))
    setdiff(columns, if (is.character(named)) named else columns[named])
  } else {
    keys
  }
}

is_unread <- function(quosure) is.language(rlang::quo_get_expr(quosure))

read_columns <- function(arg, quosure, data) {
  code <- rlang::quo_get_expr(quosure)
  env <- rlang::quo_get_env(quosure)
  refuse_values(arg, code, env, data)
  rlang::try_fetch(
    chosen_columns(code, env, data),
    error = function(e) {
      while (is.null(e$i) && !is.null(e$parent)) e <- e$parent
      if (inherits(e, "vctrs_error_subscript_oob")) stop_unknown_columns(arg, e$i, names(data))
      # Names of nothing; any other error is the user's own.
      absent <- if (is.symbol(code) || is_choice(code)) {
        Filter(function(name) !exists(name, envir = env), setdiff(all.vars(code), names(data)))
      }
      if (length(absent) && length(data)) stop_unknown_columns(arg, absent, names(data))
      # The argument of a function of the user that was given columns, and hands its name on.
      if (is.symbol(code) && exists(as.character(code), envir = env, inherits = FALSE)) {
        stop_argument(
          arg, "name columns", found = paste0(conditionMessage(e), "."),
          advice = paste0("In a function of your own embrace it: ", arg, " = {{ ", code, " }}.")
        )
      }
      rlang::zap()
    }
  )
}

# data$age, the values of a column in the place of its name, alone or in c().
refuse_values <- function(arg, code, env, data) {
  held <- Filter(function(part) {
    name <- if (rlang::is_call(part, c("$", "[["))) variable_name(part)
    n <- if (length(name) == 1 && name %in% names(data)) NROW(data[[name]]) else 0
    n > 1 && NROW(tryCatch(eval(part, env), error = function(e) NULL)) == n
  }, if (rlang::is_call(code, "c")) as.list(code)[-1] else list(code))
  if (length(held)) {
    names <- vapply(unname(held), variable_name, "")
    stop_argument(
      arg, "name columns of `data`, not hold their values",
      paste0("It holds the values of ", quote_names(names), "."),
      paste0("Name columns: ", arg, " = ", names_code(names), ".")
    )
  }
}

# The second argument feels like k to those who come from other programs, others like numbers
# too: as a position each would pick one column, on which hardly any file has a risk.
refuse_lone_number <- function(value, arg) {
  if (!is_plain_number(value) || length(value) != 1 || is.na(value)) {
    return(invisible())
  }
  ask <- running$ask
  columns <- columns_at_door(ask$.frame)
  column <- if (value %in% seq_along(columns)) columns[[value]]
  number <- format(value, scientific = FALSE, digits = 15)
  keys <- arg == "key_vars"
  meant <- if (keys) (if (value < 1) shares_meant else counts_meant)[ask$.name] else NA
  # Not what is negative, or was given besides.
  apt <- value > 0 && !is.na(meant) && !was_given(sub(" .*", "", meant))
  named <- paste0(arg, " = ", if (is.null(column)) "\"...\"" else names_code(column))
  stop_sdc(
    "bad_argument",
    paste0(
      "`", arg, "` must name ", if (keys) "key variables" else "columns",
      ", not be a single number."
    ),
    x = if (is.null(column)) {
      paste0(number, " was given.")
    } else {
      paste0(number, " is a position of column `", shorten(column), "`.")
    },
    i = if (apt) paste0("Did you mean ", sprintf(meant, number), "?"),
    i = if (is.null(column)) {
      paste0("Name the column: ", named, ".")
    } else if (keys) {
      paste0("To use this column alone, name it: ", named, ".")
    } else {
      paste0("Did you mean ", named, "?")
    },
    argument = arg
  )
}

# Meaning of a number in the second place, by function: a count, or a share.
counts_meant <- c(
  suppress_cells = "k = %s", recode_search = "k = %s",
  file_check = "k = %s", n_matches = "below = %s", qar_risk = "p = %s",
  exhaustive_tabulation = "threshold = %s", copula_uniqueness = "pop_size = %s",
  population_uniqueness = "pop_size = %s", longitudinal_link = "min_overlap = %s",
  household_risk = "known = %s", individual_risk = "limit = 1 / %s",
  invariant_pram = "max_match_prob = 1 / %s"
)
shares_meant <- c(
  suppress_cells = "max_risk = %s", recode_search = "constraint = list(journalist = %s)",
  file_check = "limit = list(journalist = %s)", n_matches = "limit = %s",
  individual_risk = "limit = %s", household_risk = "limit = %s",
  invariant_pram = "max_match_prob = %s"
)

# The columns of the file that the exported function was given, or a list with their names; NULL
# if it has no file yet.
data_at_door <- function(frame) {
  files <- c(
    "data", "wave1", "known", "before", "original", "waves", "background", "releases", "x"
  )
  file <- Find(function(name) exists(name, envir = frame, inherits = FALSE), files)
  if (is.null(file)) {
    return(NULL)
  }
  tryCatch(
    {
      data <- get(file, envir = frame)
      # Of a table of a database every column may get a role.
      data <- if (is_open_file(data)) {
        all_columns_of(data)
      } else if (is_file_table(data)) {
        name_frame(colnames(data))
      } else {
        file_data(data)
      }
      if (is.data.frame(data)) {
        data
      } else if (is.list(data) && !is.object(data)) {
        # Several waves or releases, the columns of the first one before those of others.
        columns <- do.call(c, unname(lapply(data, function(x) as.list(file_data(x)))))
        columns[!duplicated(names(columns))]
      } else {
        rlang::set_names(as.list(colnames(data)), colnames(data))
      }
    },
    error = function(e) NULL
  )
}

columns_at_door <- function(frame) names(data_at_door(frame))

# Arguments in `...` that are not rarely used ones: columns are named as in other arguments.
other_dots <- function(ask = running$ask) {
  given <- as.list(eval(quote(rlang::enquos(...)), ask$.frame))[!are_controls(ask)]
  Map(function(quosure, name) {
    if (name %in% column_arguments && is_unread(quosure)) {
      read_columns(name, quosure, data_at_door(ask$.frame))
    } else {
      rlang::eval_tidy(quosure)
    }
  }, given, names(given))
}

# Nothing may come through `...`.
check_no_dots <- function(...) {
  check_column_arguments()
  # Unknown arguments are not evaluated: they may be names of columns without quotes.
  given <- unknown_dots()
  if (length(given) == 0) {
    return(invisible())
  }
  arguments <- argument_names()
  translated <- given[given %in% names(micro_words) & micro_words[given] %in% arguments]
  # Limits by the names of measures.
  limited <- names(Filter(
    function(default) is.call(default) && identical(default[[1]], quote(list)),
    formals(sys.function(running$ask$.at))
  ))
  measures <- if (length(limited)) page_figures()$measure
  known_apart <- c(translated, names(other_words), measures)
  stop_unknown_arguments(
    given, setdiff(c(arguments, measures), given), known_apart = known_apart,
    advice = c(
      if (length(translated)) {
        said <- paste0("`", translated, "` is `", micro_words[translated], "`", collapse = ", ")
        paste0("From sdcMicro: ", said, " here.")
      },
      other_names(given, arguments),
      if (any(given %in% measures)) {
        paste0(
          "Limits are one argument: ", limited[[1]], " = list(",
          paste(intersect(given, measures), "= ...", collapse = ", "), ")."
        )
      },
      role_advice(given), letter_advice(given, arguments),
      elsewhere_advice(setdiff(
        given, c(known_apart, role_names, columns_at_door(running$ask$.frame))
      )),
      if ("(unnamed)" %in% given) c(several_keys_advice(...), file_name_advice(...))
    )
  )
}

# Error for arguments that are not `known`, those in `known_apart` without the names near to
# theirs.
stop_unknown_arguments <- function(given, known, of = NULL, advice = NULL, known_apart = NULL) {
  given[!nzchar(given)] <- "(unnamed)"
  stop_sdc(
    "bad_argument", paste0("All arguments must be arguments of ", c(of, "this function")[[1]], "."),
    x = paste0("Unknown: ", quote_names(given), "."),
    if (length(advice)) rlang::set_names(advice, rep("i", length(advice))),
    i = nearest_names(setdiff(given, c("(unnamed)", known_apart)), unique(known)),
    i = "Arguments after `...` must be named in full.",
    argument = given
  )
}

# R takes `k = 3` for `key_vars`: a letter or two are no name of an argument.
refuse_letters <- function(ask) {
  given <- names(sys.call(ask$.at))
  given <- given[nchar(given) %in% 1:2]
  if (length(given) == 0) {
    return(invisible())
  }
  arguments <- names(formals(sys.function(ask$.at)))
  short <- setdiff(given, arguments)
  # An argument after `...`, or one named in full, is never taken for a short name.
  first <- utils::head(arguments, match("...", arguments) - 1)
  first <- setdiff(first, names(sys.call(ask$.at)))
  short <- Filter(function(name) any(startsWith(first, name)), short)
  if (length(short)) {
    stop_sdc(
      "bad_argument", "All arguments must be arguments of this function.",
      x = paste0("Unknown: ", quote_names(short), "."),
      i = letter_advice(short, arguments),
      i = if (ask$.name %in% c("global_recode", "top_code", "bottom_code")) {
        "If this is a variable, give the file by name: data = file."
      },
      i = "Arguments must be named in full.",
      argument = short
    )
  }
}

# Advice in the words of the function on the argument for the least number of matches.
letter_advice <- function(given, arguments) {
  if (!"k" %in% given) {
    NULL
  } else if ("below" %in% arguments) {
    "Count records with fewer than 3 matches: below = 3."
  } else if ("max_match_prob" %in% arguments) {
    "Bound the chance that a match is correct: max_match_prob = 1/3."
  }
}

# Names that people give to arguments, and what they are here.
other_words <- c(
  keys = "key_vars", key = "key_vars", qi = "key_vars", quasi_identifiers = "key_vars",
  weight = "weight_var", weights = "weight_var", wt = "weight_var", household = "hh_id",
  household_id = "hh_id", hhid = "hh_id", strata = "strata_var", stratum = "strata_var",
  sensitive_var = "sensitive", sensitive_vars = "sensitive", population = "pop_size",
  population_size = "pop_size", N = "pop_size"
)

other_names <- function(given, arguments) {
  here <- setdiff(given[given %in% names(other_words)], names(micro_words))
  here <- here[other_words[here] %in% arguments]
  if (length(here)) {
    paste0("Did you mean ", paste0("`", unique(other_words[here]), "`", collapse = ", "), "?")
  }
}

# Functions that have an argument that the one called has not, unless many have it.
elsewhere_advice <- function(given) {
  funs <- sort(grep("_control$", getNamespaceExports("sdcRisk"), invert = TRUE, value = TRUE))
  arguments <- lapply(rlang::set_names(funs), function(fun) {
    # Some arguments are those of the method for a file.
    method <- get0(paste0(fun, ".sdc_file"), topenv(), mode = "function", inherits = FALSE)
    names(c(arguments_of(fun), if (!is.null(method)) formals(method)))
  })
  unlist(lapply(given, function(name) {
    having <- names(Filter(function(of) name %in% of, arguments))
    if (length(having) %in% 1:4) {
      paste0("`", name, "` is an argument of ", paste0(having, "()", collapse = ", "), ".")
    }
  }))
}

# sdc_file(d, age, sex): the key variables are one argument.
several_keys_advice <- function(...) {
  more <- rlang::enquos(...)
  more <- more[!nzchar(names(more))]
  columns <- columns_at_door(running$ask$.frame)
  more <- unlist(lapply(more, function(quosure) {
    code <- rlang::quo_get_expr(quosure)
    if (is.symbol(code) && as.character(code) %in% columns) {
      as.character(code)
    } else {
      tryCatch(rlang::eval_tidy(quosure), error = function(e) NULL)
    }
  }))
  keys <- if (was_given("key_vars")) argument("key_vars")
  if (is.character(keys) && is.character(more)) {
    paste0(
      "Several key variables are one argument: key_vars = ", names_code(c(keys, more)),
      ". Other roles are named: weight_var = ..."
    )
  }
}

# The name of a file that a release is to be written to.
file_name_advice <- function(...) {
  texts <- Filter(is_file_name, lapply(rlang::enquos(...), rlang::quo_get_expr))
  if (length(texts) && is_front("release_data")) {
    paste0("To write the release: write.csv(release_data(x), \"", texts[[1]], "\").")
  }
}

# Why an argument that other functions take has no meaning where it was given.
role_advice <- function(given) {
  population <- if (is_front("individual_risk")) {
    paste(
      "The population is estimated from the weights: give `weight_var`. With one weight for all,",
      "data$weight <- pop_size / nrow(data)."
    )
  } else {
    "The counts of this function do not depend on the population."
  }
  why <- c(
    weight_var = if (is_front("population_uniqueness")) {
      "Weights give the size of the population: sdc_file(data, key_vars, weight_var = ...)."
    } else {
      "Sampling weights change nothing that this function counts."
    },
    hh_id = "This function looks at single records: household_risk() looks at households.",
    key_groups = "This function keeps all key variables apart; paste() makes one of several.",
    sensitive = "Sensitive values are looked at by n_matches().",
    pop_size = population, sampling_fraction = population,
    missing = "This function has one rule for missing values, see its help page."
  )
  unname(why[intersect(names(why), given)])
}

# Arguments without a default that the exported function was not given.
check_given <- function(args) {
  absent <- !was_given(args)
  if (any(absent)) {
    arg <- args[absent][[1]]
    stop_argument(
      arg, "be given", found = "It has no default.",
      advice = if (arg == "data" && "x" %in% argument_names()) {
        "A result holds no data: give those it was made from."
      } else if (arg == "sensitive" && was_given("key_vars")) {
        "Name it, as the second argument is `key_vars`: sensitive = ..."
      }
    )
  }
}
