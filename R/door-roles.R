# Probable roles of columns that have none. They are only reported; the user decides.

# One row per column of `data`: what is known of its values, the role it was
# given, and what it looks like ("" where like nothing in particular).
look_at_columns <- function(file, coded = NULL) {
  data <- file$data
  usable <- which(vapply(seq_along(data), function(v) {
    is_candidates(data[[v]]) || !is.null(column_source(data[[v]], nrow(data)))
  }, NA))
  named <- usable[!duplicated(names(data)[usable]) & nzchar(names(data)[usable])]
  coded <- coded[names(data)[named]]
  counts <- if (length(coded) && !any(vapply(coded, is.null, NA))) {
    list(
      n_values = vapply(coded, `[[`, 0L, "n_values", USE.NAMES = FALSE),
      n_missing = vapply(coded, `[[`, 0L, "n_missing", USE.NAMES = FALSE)
    )
  } else {
    count_values(file, named)
  }
  roles <- roles_of_columns(file)
  looks <- vapply(seq_along(data), function(v) {
    at <- match(v, named)
    if (is.na(at)) {
      return("no usable type")
    }
    look_of(
      data[[v]], names(data)[[v]], n_records(data) - counts$n_missing[[at]], counts$n_values[[at]]
    )
  }, "")
  at <- match(seq_along(data), named)
  codes <- lapply(data, missing_codes)
  times <- if (is.null(times_of(data))) rep(1, nrow(data)) else times_of(data)
  frame(
    variable = names(data), role = roles, looks_like = looks,
    type = vapply(seq_along(data), function(v) {
      if (v %in% usable) key_type(data[[v]]) else paste(class(data[[v]]), collapse = "/")
    }, ""),
    n_values = counts$n_values[at], n_missing = counts$n_missing[at],
    missing_codes = unname(vapply(codes, code_words, "")),
    n_missing_codes = unname(lengths(codes)),
    n_coded_missing = unname(unlist(Map(function(x, codes) {
      if (length(codes)) sum(times[column_values(x) %in% codes]) else 0
    }, data, codes))),
    n_alike = unname(vapply(data, count_alike, 0L))
  )
}

# Numbers of values and of missing cells of some columns.
count_values <- function(file, columns) {
  if (length(columns) == 0) {
    return(list(n_values = integer(), n_missing = integer()))
  }
  table <- key_table(file, columns, candidates = TRUE)
  list(n_values = table$n_values, n_missing = table$n_missing)
}

roles_of_columns <- function(file) {
  names <- names(file$data)
  role <- rep("", length(names))
  words <- c(
    key_vars = "key variable", strata_var = "stratum", sensitive = "sensitive",
    hh_id = "household", weight_var = "weight", id_vars = "identifier",
    num_vars = "continuous", cluster = "cluster"
  )
  for (given in names(words)) {
    role[names %in% file$roles[[given]]] <- words[[given]]
  }
  role
}

code_words <- function(codes) {
  text <- if (is.character(codes)) encodeString(codes, quote = "\"") else format_number(codes)
  paste(text, collapse = ", ")
}

# Print -----------------------------------------------------------------------

declare_measure(
  "open_file",
  title = paste0(
    "File of ", plural(n_records(x$data), "record"),
    if (!is.null(times_of(x$data))) paste0(" in ", plural(nrow(x$data), "pattern")),
    " and ", plural(length(x$data), "column")
  ),
  size = c(
    paste0(plural(length(x$roles$key_vars), "key variable"), "."),
    role_lines(x, n_records(x$data))
  ),
  table = {
    seen <- look_at_columns(x)
    key_table_of(seen[match(x$roles$key_vars, seen$variable), ], x$data)
  },
  rest = "sdc_roles(x)$key_vars", notes = look_lines(look_at_columns(x))
)

key_table_of <- function(keys, data) {
  declared <- vapply(keys$variable, function(name) declared_missing(data[[name]])$codes, "")
  table <- frame(
    "key variable" = keys$variable, type = keys$type, levels = keys$n_values,
    missing = keys$n_missing
  )
  if (any(nzchar(declared))) table$declared <- unname(declared)
  table
}

#' @export
format.sdc_open_file <- function(x, ..., width = console_width(), rows = Inf) {
  check_whole_file(x)
  declared_lines(describe(x), width, rows)
}

#' @export
print.sdc_open_file <- print_lines

# Findings in a file.
#' @export
summary.sdc_file <- function(object, ...) {
  announce("summary")
  as_file(object, "object")
}

#' @export
summary.sdc_open_file <- summary.sdc_file

# One line of roles, and the records as a tibble prints them.
#' @export
print.sdc_file <- function(x, ..., n = NULL, width = NULL) {
  data <- bare_frame(x)
  cat(file_lines(x), sep = "\n")
  if (is_lazy_table(data)) {
    print(data, n = n, width = width)
  } else if (!inherits(data, "data.table") && requireNamespace("tibble", quietly = TRUE)) {
    if (!inherits(data, "tbl_df")) data <- tibble::as_tibble(data, .name_repair = "minimal")
    print(data, n = n, width = width)
  } else {
    print(utils::head(data, if (is.null(n)) 10 else n))
  }
  invisible(x)
}

# What a file knows of itself, above its records.
file_lines <- function(x) {
  done <- past_of(x)$history
  lines <- c(
    roles_line(attr(x, "roles"), if (!is_file_table(x)) nrow(x)),
    if (length(done)) paste("# Done:", paste(done, collapse = "; "))
  )
  strwrap(sub("^# ", "", lines), console_width() - 1, prefix = "# ")
}

role_words <- c(
  weight_var = "weights", hh_id = "households", strata_var = "strata", sensitive = "sensitive",
  id_vars = "identifiers", num_vars = "continuous", cluster = "clusters"
)

roles_line <- function(roles, n) {
  words <- c(key_vars = "key variables", role_words)
  said <- vapply(intersect(names(words), names(roles)), function(role) {
    paste(words[[role]], paste(roles[[role]], collapse = ", "))
  }, "")
  of <- if (is.null(n)) "a table of a database" else plural(n, "record")
  paste(c(paste("# sdc_file of", of), said, attempt_words(roles)), collapse = "; ")
}

attempt_words <- function(roles) {
  if (!is.null(roles$prob_attempt)) {
    paste("probability of an attempt", format_number(roles$prob_attempt))
  }
}

role_lines <- function(x, n) {
  roles <- x$roles
  known <- intersect(names(role_words), names(roles))
  said <- c(
    paste(role_words[known], vapply(roles[known], quote_names, "")),
    if (length(roles$key_groups)) paste("key groups", quote_names(names(roles$key_groups))),
    if (!is.null(roles$missing)) paste0("missing = \"", roles$missing, "\""),
    attempt_words(roles)
  )
  people <- with_population(x, "pop_size")$pop_size
  c(
    micro_line(x),
    paste0(
      "Roles: ", if (length(said)) paste(said, collapse = ", ") else "key variables alone", "."
    ),
    paste0("Population: ", if (is.null(people) && !is.null(roles$weight_var)) {
      weights <- check_weights(x$data, roles$weight_var)
      paste0("size not given; the weights sum to ", format_count(round(sum(weights))), ".")
    } else if (is.null(people)) {
      "size not given."
    } else {
      paste0(
        if (people != round(people)) "about ", format_count(round(people)),
        " people, sampling fraction ", format_percent(n / people), "."
      )
    })
  )
}

# Numbers with many values that are not key variables, by their role or by their values: counts of
# equal values say nothing of them.
continuous_line <- function(seen) {
  many <- seen$role == "" & seen$looks_like == "" & seen$type %in% c("number", "integer") &
    seen$n_values > 100
  found <- seen$variable[seen$role == "continuous" | looks_continuous(seen) | many]
  if (length(found)) {
    paste0(
      "Not examined: ", plural(length(found), "column"), " of numbers with many values, ",
      quote_names(found, 3),
      ". interval_disclosure() and link_attack() compare continuous variables."
    )
  }
}

looks_continuous <- function(seen) seen$role == "" & seen$looks_like == "continuous variable"

# Lines for columns without a role, the gravest first. A key variable that looks like an identifier
# is listed, too.
look_lines <- function(seen) {
  surprising <- seen$role %in% c("", "key variable") & nzchar(seen$looks_like) &
    !looks_continuous(seen)
  lines <- looks_words(seen$variable, seen$looks_like, surprising)
  usable <- seen[seen$role %in% c("", "key variable", "sensitive"), ]
  codes <- usable[nzchar(usable$missing_codes), ]
  alike <- usable[usable$n_alike > 0, ]
  c(
    if (nzchar(lines)) {
      paste0(
        "Looks like: ", lines,
        ". The columns were not given these roles. Assign a role, or remove the column."
      )
    },
    if (nrow(codes)) {
      paste0(
        "Possible missing codes: ",
        first_columns(paste0(
          codes$variable, " = ", shorten(codes$missing_codes, 30), " (",
          plural(codes$n_coded_missing, "record"), ")"
        )),
        ". Counted as ", if (sum(codes$n_missing_codes) > 1) "normal values" else "a normal value",
        "; see `roles` of file_check()."
      )
    },
    continuous_line(seen),
    if (nrow(alike)) {
      paste0(
        "Spelling: ", first_columns(paste0(
          plural(alike$n_alike, "value"), " of ", quote_names_each(alike$variable)
        )), " differ only by case, blanks or Unicode form. Each is a value of its own."
      )
    }
  )
}

# Words on the first three columns, and the number of the others.
first_columns <- function(words) {
  n <- length(words)
  paste0(
    paste(utils::head(words, 3), collapse = ", "),
    if (n > 3) paste0(", and ", plural(n - 3, "more column"))
  )
}
