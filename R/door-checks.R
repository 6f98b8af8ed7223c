# Checks of arguments, each made once, at the door of an exported function.

# The kind of an argument in words; never a column of data.
given_words <- function(x) {
  if (is.null(x)) {
    "NULL was given."
  } else if (rlang::is_formula(x)) {
    "A formula was given."
  } else if (is.character(x) && length(x) == 1) {
    paste0("Text was given: ", quote_names(x), ".")
  } else if (is.atomic(x) && !is.object(x) && length(x) == 1) {
    paste0(if (is.numeric(x)) format_number(x) else as.character(x), " was given.")
  } else if (is.atomic(x) && !is.object(x)) {
    paste0(
      plural(length(x), "value"), " of type ", typeof(x), " ",
      if (length(x) == 1) "was" else "were", " given."
    )
  } else {
    paste0("It has class ", quote_names(class(x)), ".")
  }
}

# "Did you mean": the names nearest to misspelt ones, NULL where none is near.
nearest_names <- function(wrong, known) {
  # Bytes that are no text are near to nothing.
  known <- Filter(validEnc, known)
  wrong <- Filter(validEnc, unique(as.character(wrong[!is.na(wrong)])))
  if (length(known) == 0) {
    return(NULL)
  }
  # Everything is near a single letter.
  near <- unlist(lapply(wrong[nchar(wrong) > 1], function(name) {
    begun <- known[startsWith(known, name)]
    if (length(begun) && nchar(name) > 2) {
      return(begun)
    }
    far <- spelling_distance(name, known)
    known[which.min(far)][min(far) <= max(1, floor(0.4 * nchar(name)))]
  }))
  if (length(near)) paste0("Did you mean ", quote_names(unique(near)), "?")
}

# Letters to change; two neighbours in the other order count as one.
spelling_distance <- function(name, known) {
  letters <- strsplit(name, "")[[1]]
  swapped <- vapply(seq_len(length(letters) - 1), function(i) {
    paste(replace(letters, c(i, i + 1), letters[c(i + 1, i)]), collapse = "")
  }, "")
  far <- utils::adist(c(name, swapped), known, ignore.case = TRUE)
  apply(far + c(0, rep(1, length(swapped))), 2, min)
}

stop_unknown_columns <- function(arg, absent, columns) {
  joined <- separator_advice(columns, absent)
  stop_absent(
    paste0("`", arg, "` must name columns of `data`."), absent, if (is.null(joined)) columns,
    c(joined, paste0("Columns of `data`: ", quote_names(columns, 8), "."))
  )
}

# One column with the names of several, between which read.csv() puts dots.
separator_advice <- function(columns, absent) {
  names <- if (length(columns) == 1) strsplit(columns, "[;,|\t.]")[[1]]
  if (any(absent %in% names) || length(names) > 1 && grepl("[;\t]", columns)) {
    "One column has the names of several: was the file read with another separator (`sep`)?"
  }
}

# Error that lists the columns not found, and names near them.
stop_absent <- function(must, absent, columns, advice = NULL, found = NULL) {
  if (is.null(found)) found <- paste0("Not found: ", quote_names(as.character(absent)), ".")
  stop_sdc(
    "unknown_key_var", must,
    x = found, i = if (is.character(absent)) nearest_names(absent, columns),
    if (length(advice)) rlang::set_names(advice, rep("i", length(advice))),
    unknown = absent
  )
}

# Errors always state a finding: by default the kind of the argument given.
stop_argument <- function(arg, must, found = NULL, advice = NULL) {
  if (is.null(found)) found <- found_in(arg)
  stop_sdc(
    "bad_argument",
    c(paste0("`", arg, "` must ", must, "."), x = found, i = advice),
    argument = arg
  )
}

# Stops if there are names that an argument must not have; `found` says what they are.
refuse_names <- function(names, arg, must, found, advice = NULL) {
  if (length(names)) {
    stop_argument(arg, must, paste0(found, ": ", quote_names(names), "."), advice)
  }
}

# Words for the argument `arg` of the exported function, or for a part of one.
found_in <- function(arg) {
  ask <- running$ask
  frame <- ask$.frame
  if (is.null(frame) || length(arg) != 1) {
    return(NULL)
  }
  code <- tryCatch(parse(text = arg)[[1]], error = function(e) NULL)
  name <- utils::head(all.vars(code), 1)
  if (name %in% ask$.controls) frame <- mget(name, envir = ask)
  if (length(name) == 0 || !exists(name, where = frame, inherits = FALSE)) {
    return(NULL)
  }
  if (name %in% setdiff(ask$.arguments, ask$.given)) {
    return("It was not given.")
  }
  tryCatch(given_words(eval(code, frame)), error = function(e) NULL)
}

check_choice <- function(x, choices, arg) {
  if (identical(x, choices)) {
    return(choices[[1]])
  }
  if (!is.character(x) || length(x) != 1 || !x %in% choices) {
    stop_argument(
      arg, paste("be one of", quote_names(choices, Inf)), given_words(x),
      if (is.character(x) && length(x) == 1) nearest_names(x, choices)
    )
  }
  x
}

# A list named by some of `variables`, each once. `must` says what it is to be;
# `is_item` what every entry is to be.
check_named_list <- function(x, arg, must, variables, advice = NULL, is_item = NULL) {
  named <- is.list(x) && !is.data.frame(x) && length(x) > 0 &&
    length(names(x)) == length(x) && all(nzchar(names(x))) && !anyDuplicated(names(x))
  if (!named || !is.null(is_item) && !all(vapply(x, is_item, NA))) {
    stop_argument(arg, must, advice = advice, found = wrong_with_list(x, named))
  }
  unknown <- setdiff(names(x), variables)
  refuse_names(unknown, arg, "name key variables", "Not a key variable")
}

wrong_with_list <- function(x, named) {
  if (named) {
    "An element is of another kind."
  } else if (is.list(x) && !is.data.frame(x)) {
    if (length(x)) "A name is missing or repeated." else "It is empty."
  }
}

check_flag <- function(x, arg) {
  if (!is.logical(x) || length(x) != 1 || is.na(x)) {
    stop_argument(arg, "be TRUE or FALSE", given_words(x))
  }
  x
}

# Distinct whole numbers between `low` and `high`.
check_whole <- function(x, arg, low = 1, high = .Machine$integer.max,
                        several = FALSE) {
  what <- if (several) "be distinct whole numbers" else "be one whole number"
  if (!are_distinct_numbers(x, several) || any(x != round(x) | x < low | x > high)) {
    range <- if (is.finite(high) && high < .Machine$integer.max) {
      paste(" between", low, "and", high)
    } else {
      paste(" of at least", low)
    }
    stop_argument(arg, paste0(what, range), given_words(x))
  }
  as.integer(x)
}

# 10 where 10% is meant.
percent_advice <- function(x) {
  if (is_plain_number(x) && length(x) == 1 && !is.na(x) && x > 1 && x <= 100) {
    paste0(format_number(x), "% is ", format_number(x / 100), ".")
  }
}

# One number, or several distinct ones, for which `good` holds.
check_number <- function(x, arg, must, good, advice = NULL, several = FALSE) {
  if (!are_distinct_numbers(x, several) || !all(good)) {
    stop_argument(arg, must, given_words(x), advice)
  }
  as.double(x)
}

check_positive <- function(x, arg, finite = FALSE) {
  must <- paste0("be one ", if (finite) "finite ", "number above 0")
  check_number(x, arg, must, x > 0 && !(finite && is.infinite(x)))
}

# Distinct probabilities strictly between 0 and 1.
check_probability <- function(x, arg, several = FALSE) {
  must <- paste(if (several) "be distinct numbers" else "be one number", "strictly between 0 and 1")
  check_number(x, arg, must, x > 0 & x < 1, percent_advice(x), several)
}

# One number from 0 to 1, both included.
check_zero_to_one <- function(x, arg) {
  check_number(x, arg, "be one number from 0 to 1", x >= 0 && x <= 1, percent_advice(x))
}

check_share <- function(x, arg) {
  check_number(x, arg, "be one number above 0 and at most 1", x > 0 && x <= 1, percent_advice(x))
}

# Names or positions of columns, as positions. `arg` names the argument.
check_columns <- function(x, data, arg) {
  columns <- names(data)
  if (is.character(x)) {
    absent <- x[!x %in% columns | is.na(x)]
    positions <- match(x, columns)
    # A name that two columns share does not say which one is meant.
    shared <- if (anyDuplicated(columns)) intersect(x, columns[duplicated(columns)])
    if (length(shared)) {
      stop_sdc(
        "bad_data", paste0("The columns of `data` named by `", arg, "` must have one name each."),
        x = paste0("Several columns are named ", quote_names(shared), "."),
        i = paste0("Rename them, or give `", arg, "` as positions."),
        names = shared
      )
    }
  } else if (is_plain_number(x)) {
    absent <- x[is.na(x) | x != round(x) | x < 1 | x > length(columns)]
    positions <- x
  } else {
    stop_argument(
      arg, "hold names or positions of columns of `data`", given_words(x),
      if (rlang::is_formula(x)) {
        paste0("Give names: ", arg, " = c(", quote_names(all.vars(x), Inf), ").")
      } else if (is.data.frame(x)) {
        paste0(
          "Give its names: ", arg, " = c(", quote_names(names(x)),
          "). An sdcMicroObj brings its own. The file is given once: first, or as `data`."
        )
      }
    )
  }
  if (length(absent)) stop_unknown_columns(arg, absent, columns)
  twice <- unique(columns[positions[duplicated(positions)]])
  refuse_names(twice, arg, "name every column once", "Repeated")
  as.integer(positions)
}

# Numbers of records to remove.
check_removals <- function(n, n_records, several = FALSE) {
  if (is_plain_number(n) && length(n) == 1 && !is.na(n) && n > 0 && n < 1) {
    stop_argument(
      "n", "be a number of records, a whole number of at least 1", given_words(n),
      paste0(
        format_number(n), " of ", format_count(n_records), " records is ",
        format_count(round(n * n_records)), "."
      )
    )
  }
  check_whole(n, "n", several = several)
}

# A package we suggest and do not require.
check_installed <- function(package, purpose) {
  if (!requireNamespace(package, quietly = TRUE)) {
    stop_sdc(
      "missing_package",
      paste0("The package \"", package, "\" must be installed to ", purpose, "."),
      x = "It is not installed.",
      i = paste0("install.packages(\"", package, "\")"),
      package = package
    )
  }
}

# The rule for missing values of a method for which "wildcard" is not defined: `why`.
check_missing_rule <- function(missing, why = "Distinct keys cannot be counted then.") {
  if (identical(missing, "wildcard")) {
    stop_argument(
      "missing", "be \"category\" or \"exclude\" here",
      found = "\"wildcard\" would let a missing value match everything.", advice = why
    )
  }
  check_choice(missing, c("category", "exclude"), "missing")
}

# The name or position of one column, as its position.
check_column <- function(x, data, arg) {
  if (length(x) != 1) stop_argument(arg, "name one column of `data`", given_words(x))
  check_columns(x, data, arg)
}
