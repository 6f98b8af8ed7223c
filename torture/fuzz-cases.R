# The cases of fuzz.R: a call, what its answer must be (`check`), whether there must be one
# (`valid`: NA where that is not known), and a key by which cases are told apart.

fuzz <- list()
one_of <- function(x) x[[sample.int(length(x), 1)]]
odds <- function(p) stats::runif(1) < p

# Formulas -------------------------------------------------------------------

# A term is a set of keys as the bits of a number. The rules of Wilkinson and Rogers.
cross <- function(a, b) unique(as.vector(outer(a, b, bitwOr)))
any_bits <- function(a) Reduce(bitwOr, a, 0L)

# A formula with the terms that it stands for.
grow <- function(keys, depth) {
  if (depth == 0) {
    at <- sample.int(length(keys), 1)
    return(list(expr = as.name(keys[[at]]), terms = bitwShiftL(1L, at - 1L)))
  }
  a <- grow(keys, depth - 1)
  operator <- one_of(c("+", "+", ":", "*", "*", "(", "^", "-", "/", "%in%"))
  if (operator == "(") {
    return(list(expr = call("(", a$expr), terms = a$terms))
  }
  bracket <- function(x) if (is.call(x)) call("(", x) else x
  if (operator == "^") {
    n <- sample.int(2, 1) + 1L # R refuses a power of 1.
    terms <- a$terms
    for (i in seq_len(n - 1)) terms <- unique(c(terms, cross(terms, a$terms)))
    return(list(expr = call("^", bracket(a$expr), n), terms = terms))
  }
  b <- grow(keys, sample.int(depth, 1) - 1)
  terms <- switch(operator,
    "+" = union(a$terms, b$terms), ":" = cross(a$terms, b$terms),
    "*" = unique(c(a$terms, b$terms, cross(a$terms, b$terms))),
    "-" = setdiff(a$terms, b$terms),
    "/" = union(a$terms, bitwOr(any_bits(a$terms), b$terms)),
    "%in%" = unique(bitwOr(a$terms, any_bits(b$terms)))
  )
  # Nothing left is a formula of its own kind.
  if (length(terms) == 0) {
    return(a)
  }
  list(expr = call(operator, bracket(a$expr), bracket(b$expr)), terms = terms)
}

evaluated <- FALSE
touch <- function(...) evaluated <<- TRUE
odd_leaves <- expression(
  e, `a b`, touch(), I(a), log(a), offset(a), a$b, a[1], 1.5, "a", NULL, TRUE, -1, .,
  (function() touch())(), touch(a):b, a == b, a | b, a^b, a^0, ~a, a %o% b, ..1, if (a) b, 2:3
)

# Puts something odd in the place of a part.
spoil_expr <- function(expr, odd) {
  if (!is.call(expr) || odds(0.3)) {
    return(odd)
  }
  at <- 1L + sample.int(length(expr) - 1L, 1)
  expr[[at]] <- spoil_expr(expr[[at]], odd)
  expr
}

known_operators <- c("+", "-", "*", ":", "^", "(", "/", "%in%", "~")

# All that a log may hold, by R's own list of the calls in it.
is_plain_formula <- function(formula) {
  calls <- setdiff(all.names(formula, unique = TRUE), all.vars(formula))
  all(calls %in% known_operators)
}

fuzz$formula <- function() {
  keys <- letters[seq_len(sample.int(4, 1))]
  made <- grow(keys, sample.int(4, 1) - 1)
  spoilt <- odds(0.3)
  expr <- made$expr
  if (spoilt) expr <- spoil_expr(expr, one_of(odd_leaves))
  if (odds(0.15)) expr <- call(one_of(c("+", "-")), call("(", expr), sample(0:1, 1))
  formula <- rlang::new_formula(if (spoilt && odds(0.1)) quote(a), expr, env = globalenv())
  text <- paste(deparse(formula, 500L), collapse = " ")
  # In two key sets: all keys, and the first half of them.
  half <- keys[seq_len((length(keys) + 1) %/% 2)]
  parts <- lapply(list(all = keys, half = half), function(k) rlang::set_names(k, k))
  list(
    key = text, valid = if (spoilt) NA else TRUE,
    call = function() {
      core$check_models(formula)
      # A log holds it as text; what else it holds is refused there.
      decoded <- tryCatch(core$decode_formula(text), sdcRisk_error = function(e) NULL)
      list(decoded = decoded, terms = core$model_terms(formula, parts))
    },
    check = function(x) {
      if (evaluated) {
        return("evaluated")
      }
      if (spoilt) {
        inside <- unlist(x$terms$all)
        if (length(inside) && !all(inside %in% seq_along(keys))) return("no place of a key")
        if (!is.null(x$decoded) && !is_plain_formula(x$decoded)) return("odd in a log")
        return(NULL)
      }
      bits <- function(terms) {
        sort(vapply(terms, function(t) sum(bitwShiftL(1L, t - 1L)), 0L))
      }
      within_half <- bitwAnd(made$terms, bitwNot(sum(bitwShiftL(1L, seq_along(half) - 1L)))) == 0
      if (!identical(as.integer(bits(x$terms$all)), sort(as.integer(made$terms)))) return("terms")
      if (!identical(as.integer(bits(x$terms$half)), sort(as.integer(made$terms[within_half])))) {
        return("terms of a part")
      }
      if (!identical(x$decoded[[2]], str2lang(text)[[2]])) return("text")
    }
  )
}

# Hierarchies ----------------------------------------------------------------

# Groups as the first member of each.
firsts <- function(x) match(x, x)

is_coarser <- function(below, above) {
  all(!outer(below, below, "==") | outer(above, above, "=="))
}

# The levels there must be, as groups of the values: without those that change nothing,
# and with one in which all is one.
wanted_levels <- function(levels, drop, has_missing = FALSE) {
  n <- length(levels[[1]])
  joined <- rep(1L, n)
  top <- levels[[length(levels)]]
  if (drop && (any(top != 1L) || has_missing && length(levels) == 1)) {
    levels <- c(levels, list(joined))
  }
  kept <- rep(TRUE, length(levels))
  for (i in seq_along(levels)[-1]) {
    same <- identical(levels[[i]], levels[[i - 1]])
    kept[[i]] <- !same || has_missing && n == 1 && i == 2
  }
  levels[kept]
}

same_levels <- function(x, wanted) {
  found <- lapply(x$labels, firsts)
  if (!identical(unname(found), unname(wanted))) return("levels")
  if (length(x) != length(wanted)) return("length")
  for (i in seq_along(found)[-1]) {
    if (!is_coarser(found[[i - 1]], found[[i]])) return("not nested")
  }
}

fuzz_table <- function() {
  n <- sample.int(5, 1) + 1L
  values <- one_of(list(letters[1:n], as.character(c(3, 20, 1, 100, 7, 5))[1:n], 1:n / 4))
  if (odds(0.1)) values[[1]] <- NA
  twice <- odds(0.06)
  if (twice) values[[n]] <- values[[1]]
  m <- sample.int(3, 1)
  levels <- list(seq_len(n))
  for (i in seq_len(m)) {
    last <- levels[[i]]
    of <- sample.int(n, n, TRUE)
    levels[[i + 1]] <- if (odds(0.85)) of[last] else of
  }
  labels <- lapply(levels[-1], function(l) c("p", "q q", "\u00e9", "4", "*", "r\"s")[l])
  lost <- odds(0.06)
  if (lost) labels[[m]][[sample.int(n, 1)]] <- one_of(c("", NA))
  table <- data.frame(values, labels, stringsAsFactors = FALSE)
  names(table) <- paste0("c", seq_along(table))
  nested <- all(vapply(seq_len(m), function(i) is_coarser(levels[[i]], levels[[i + 1]]), NA))
  drop <- odds(0.7)
  in_text <- odds(0.04)
  given <- if (in_text) {
    file <- file.path(tempdir(), "fuzz.csv")
    lines <- do.call(paste, c(lapply(table, function(x) {
      ifelse(is.na(x) | x == "", "", encodeString(as.character(x), quote = "\""))
    }), sep = ";"))
    # A field of quotes doubles them.
    writeLines(gsub("\\\"", "\"\"", lines, fixed = TRUE), file, useBytes = TRUE)
    file
  } else if (is.character(values) && odds(0.2)) {
    as.matrix(table)
  } else {
    table
  }
  beside <- odds(0.2)
  alien <- beside && odds(0.3)
  x <- if (beside) c(if (alien) "zz" else values[[2]], values)
  list(
    key = paste(c(unlist(table), drop, in_text, x), collapse = "\r"),
    valid = nested && !twice && !lost && !alien,
    call = function() {
      if (beside) hierarchy(x, table = given, drop = drop, name = "x") else {
        hierarchy(given, drop = drop, name = "x")
      }
    },
    check = function(x) {
      wanted <- wanted_levels(lapply(levels, firsts), drop)
      same_levels(x, wanted)
    }
  )
}

fuzz_rule <- function() {
  n <- sample.int(6, 1)
  x <- sample(0:30, n, TRUE)
  missing <- odds(0.15)
  values <- sort(unique(x))
  drop <- odds(0.8)
  if (odds(0.3)) x <- as.double(x)
  given <- if (missing) c(x, NA) else x
  origin <- 0
  made <- switch(one_of(c("breaks", "breaks", "rare", "rare", "ends", "widths", "digits")),
    breaks = {
      cuts <- sort(sample(0:30, sample.int(4, 1)))
      second <- sort(cuts[sample.int(length(cuts), sample.int(length(cuts), 1))])
      alien <- odds(0.15)
      if (alien) second <- sort(unique(c(second, 31)))
      if (odds(0.1)) cuts <- rev(cuts)
      list(
        breaks = list(cuts, second),
        valid = !alien && !is.unsorted(cuts, strictly = TRUE),
        levels = list(findInterval(values, sort(cuts)), findInterval(values, second))
      )
    },
    rare = {
      limits <- sort(sample(4, sample.int(2, 1)))
      count <- tabulate(match(x, values), length(values))
      list(rare = limits, valid = TRUE, levels = lapply(limits, function(l) {
        ifelse(count < l, -1, values)
      }))
    },
    ends = {
      top <- sort(sample(10:30, sample.int(2, 1)), decreasing = TRUE)
      bottom <- sort(sample(0:14, sample.int(2, 1)))
      if (odds(0.1)) top <- rev(top)
      both <- seq_len(max(length(top), length(bottom)))
      list(
        top = top, bottom = bottom,
        valid = min(top) > max(bottom) && all(diff(top) < 0),
        levels = lapply(both, function(i) {
          pmax(pmin(values, top[[min(i, length(top))]]), bottom[[min(i, length(bottom))]])
        })
      )
    },
    widths = {
      widths <- sort(sample(c(1, 2, 3, 4, 5, 6, 10, 12, 20), sample.int(2, 1)))
      origin <- one_of(c(0, 0, 1, 3))
      list(
        widths = widths, origin = origin, valid = all(widths[-1] %% widths[1] == 0),
        levels = lapply(widths, function(w) floor((values - origin) / w))
      )
    },
    digits = {
      digits <- sort(sample(3, sample.int(2, 1)), decreasing = TRUE)
      pad <- one_of(list(NULL, "0"))
      sizes <- nchar(values)
      text <- if (is.null(pad)) as.character(values) else sprintf("%02d", as.integer(values))
      if (!is.null(pad) && max(sizes) == 1) text <- as.character(values)
      list(
        digits = digits, pad = pad, valid = !is.null(pad) || length(unique(sizes)) == 1,
        levels = lapply(digits[digits < max(nchar(text))], function(d) substr(text, 1, d))
      )
    }
  )
  arguments <- made[setdiff(names(made), c("valid", "levels"))]
  list(
    key = rlang::hash(list(given, drop, arguments)),
    valid = made$valid,
    call = function() do.call(hierarchy, c(list(given, drop = drop, name = "x"), arguments)),
    check = function(h) {
      levels <- c(list(seq_along(values)), lapply(made$levels, firsts))
      same_levels(h, wanted_levels(levels, drop, missing))
    }
  )
}

fuzz$hierarchy <- function() if (odds(0.75)) fuzz_table() else fuzz_rule()

# Candidates -----------------------------------------------------------------

fuzz_pools <- list(
  numbers = c(1, 2, 3, 2.5, -1, 1e300, NA), text = c("a", "b", "c|d", "1", "", NA),
  dates = as.Date("2020-02-28") + c(0, 1, 2, NA), flags = c(TRUE, FALSE, NA)
)

# A cell that names NA tells nothing; a value named twice is one.
wanted_cell <- function(values) if (anyNA(values)) values[NA_integer_][1] else unique(values)

fuzz_sets <- function() {
  kinds <- sample(names(fuzz_pools), 1)
  mixed <- odds(0.12)
  n <- sample.int(6, 1)
  cells <- lapply(seq_len(n), function(i) {
    pool <- fuzz_pools[[if (mixed) one_of(names(fuzz_pools)) else kinds]]
    size <- if (odds(0.01)) 0L else one_of(c(1L, 1L, 2L, 3L))
    pool[sample.int(length(pool), size, TRUE)]
  })
  by_place <- odds(0.3)
  if (by_place) {
    # The same cells, as one vector for each place.
    cells <- lapply(cells, function(c) c[rep_len(seq_along(c), if (length(c)) 2L else 0L)])
    if (mixed || any(lengths(cells) == 0)) return(fuzz_sets())
  }
  of_kind <- function(v) {
    if (all(is.na(v))) {
      ""
    } else if (inherits(v, "Date")) {
      "date"
    } else if (is.character(v)) {
      "text"
    } else {
      "number"
    }
  }
  known <- setdiff(unique(vapply(cells, of_kind, "")), "")
  list(
    key = paste(c(by_place, vapply(cells, function(c) {
      paste(c(class(c), as.character(c)), collapse = "\r")
    }, "")), collapse = "\n"),
    valid = length(known) < 2 && all(lengths(cells) > 0),
    call = function() {
      if (by_place) {
        place <- function(i) do.call(c, lapply(cells, `[`, i))
        candidates(place(1), place(2))
      } else {
        candidates(cells)
      }
    },
    check = function(x) {
      if (length(x) != n) return("length")
      found <- as.list(x)
      for (i in seq_len(n)) {
        wanted <- wanted_cell(cells[[i]])
        same <- if (anyNA(wanted)) {
          length(found[[i]]) == 1 && is.na(found[[i]])
        } else {
          length(wanted) == length(found[[i]]) && all(found[[i]] == wanted) &&
            (!identical(known, "date") || inherits(found[[i]], "Date"))
        }
        if (!same) return(paste("cell", i))
      }
      at <- sample.int(n, 2, TRUE)
      wanted <- lapply(at, function(i) wanted_cell(cells[[i]]))
      equal <- if (anyNA(wanted[[1]]) || anyNA(wanted[[2]])) NA else {
        length(wanted[[1]]) == length(wanted[[2]]) && all(wanted[[1]] == wanted[[2]])
      }
      if (!identical(unname(x[at[[1]]] == x[at[[2]]]), equal)) return("==")
    }
  )
}

fuzz_split <- function() {
  sign <- one_of(c("|", ";", ", ", "||", ".", "a", "\\"))
  pool <- one_of(list(c("1", "2", "-3", "4.5", "NA", ""), c("x", "y y", "2", "01", "NA", "")))
  n <- sample.int(5, 1)
  cells <- lapply(seq_len(n), function(i) pool[sample.int(6, sample.int(3, 1), TRUE)])
  # A blank after the last sign is no field.
  text <- vapply(cells, paste, "", collapse = paste0(one_of(c("", " ")), sign))
  clash <- any(vapply(unlist(cells), function(v) {
    grepl(sign, v, fixed = TRUE)
  }, NA))
  missing <- odds(0.1)
  if (missing) text[[1]] <- NA
  list(
    key = paste(c(sign, text), collapse = "\r"), valid = TRUE,
    call = function() candidates(text, split = sign),
    check = if (!clash) function(x) {
      if (length(x) != n) return("length")
      found <- as.list(x)
      blank <- c("", "NA")
      all_values <- setdiff(unlist(if (missing) cells[-1] else cells), blank)
      numeric <- length(all_values) > 0 && all(all_values %in% c("1", "2", "-3", "4.5"))
      for (i in seq_len(n)) {
        cell <- cells[[i]]
        # An empty field at the end is none, as in a file.
        if (length(cell) > 1 && cell[[length(cell)]] == "") cell <- cell[-length(cell)]
        unknown <- any(cell %in% blank) || missing && i == 1
        wanted <- unique(cell)
        if (numeric && !unknown) wanted <- as.double(wanted)
        same <- if (unknown) {
          length(found[[i]]) == 1 && is.na(found[[i]])
        } else {
          identical(as.vector(found[[i]]), wanted)
        }
        if (!same) return(paste("cell", i))
      }
    }
  )
}

fuzz_interval <- function() {
  n <- sample.int(6, 1)
  low <- sample(c(-2, 0, 1, 2.5, 3, NA, -Inf), n, TRUE)
  high <- low + sample(c(0, 1, 3, 0.5, Inf, NA), n, TRUE)
  high[is.nan(high)] <- 0
  backwards <- odds(0.05)
  if (backwards) high[[n]] <- low[[n]] - 1
  if (odds(0.3)) {
    low <- as.Date("2020-01-01") + low
    high <- as.Date("2020-01-01") + high
  }
  list(
    key = paste(c(class(low), as.numeric(low), as.numeric(high)), collapse = "\r"),
    valid = !any(low > high, na.rm = TRUE),
    call = function() candidate_interval(low, high),
    check = function(x) {
      found <- as.list(x)
      for (i in seq_len(n)) {
        wanted <- c(low[[i]], high[[i]])
        same <- if (anyNA(wanted)) anyNA(found[[i]]) else identical(unname(found[[i]]), wanted)
        if (!same) return(paste("cell", i))
      }
    }
  )
}

fuzz$candidates <- function() {
  switch(sample.int(5, 1), fuzz_sets(), fuzz_sets(), fuzz_sets(), fuzz_split(), fuzz_interval())
}

# Logs -----------------------------------------------------------------------

# A value as a log holds it, by the description of the format, and the value.
fuzz_value <- function(depth = 0) {
  type <- one_of(c(
    "double", "integer", "logical", "character", "null", "formula", if (depth < 2) "list"
  ))
  if (type == "null") {
    return(list(json = list(type = "null"), value = NULL))
  }
  if (type == "formula") {
    text <- one_of(c("~a", "~a + b:c", "y ~ (a * b)^2", "~a - 1", "~`a b` %in% c"))
    return(list(json = list(type = type, text = text), value = stats::as.formula(text, baseenv())))
  }
  n <- sample.int(4, 1) - (depth > 0 || type != "list")
  if (type == "list") {
    parts <- lapply(seq_len(n), function(i) fuzz_value(depth + 1))
    json <- list(type = type, values = lapply(parts, `[[`, "json"))
    value <- lapply(parts, function(p) p$value)
  } else {
    value <- switch(type,
      double = sample(c(1.5, -1e300, 1e-308, NA, NaN, Inf, -Inf, 0.1), n, TRUE),
      integer = sample(c(1L, -7L, NA, .Machine$integer.max), n, TRUE),
      logical = sample(c(TRUE, FALSE, NA), n, TRUE),
      character = sample(c("a", "", NA, "NaN", "\u00e9\n", "null"), n, TRUE)
    )
    json <- list(type = type, values = lapply(seq_len(n), function(i) {
      x <- value[[i]]
      if (is.double(x) && !is.finite(x) && !is.na(x) || is.nan(x)) {
        as.character(x)
      } else if (!is.na(x)) {
        x
      }
    }))
  }
  if (n > 0 && odds(0.3)) {
    names(value) <- letters[seq_len(n)]
    json$names <- as.list(names(value))
  } else if (n == 4 && type != "list" && odds(0.5)) {
    value <- matrix(value, 2, dimnames = list(c("r", "s"), NULL))
    json$dim <- list(2L, 2L)
    json$dimnames <- list(list("r", "s"), list())
  }
  list(json = json, value = value)
}

# Something else somewhere in a tree.
spoil_part <- function(x, deeper = 0.8) {
  if (is.list(x) && length(x) && odds(deeper)) {
    at <- sample.int(length(x), 1)
    if (odds(0.25)) {
      return(switch(sample.int(4, 1), x[-at], c(x, x[at]), {
        if (!is.null(names(x))) {
          names(x)[[at]] <- one_of(c("", "type", "values", "dim", "names", "x"))
        }
        x
      }, x[sample.int(length(x), length(x), TRUE)]))
    }
    x[at] <- list(spoil_part(x[[at]], deeper))
    return(x)
  }
  if (is.character(x) && length(x) == 1 && odds(0.3)) {
    return(one_of(c(
      "list", "double", "file", "result", "hierarchies", "withheld", "formula", "null", "replay",
      "touch()", "~touch()", "~a + b", "before", "after", "n_matches", "qar_risk", "sdc_report"
    )))
  }
  if (is.numeric(x) && odds(0.3)) {
    return(one_of(list(0, -1, 1e308, 2.5, 1e10, 16, TRUE, "NaN", "1")))
  }
  odd_json()
}

# The entries of real logs, with the first rows of the first columns of their tables.
small_entries <- function() {
  found <- lapply(small_logs()$texts, function(text) {
    jsonlite::fromJSON(text, simplifyVector = FALSE)
  })
  lapply(found, function(log) {
    log$versions$crates <- NULL
    for (i in seq_along(log$results)) {
      log$results[[i]]$tables <- lapply(utils::head(log$results[[i]]$tables, 2), function(t) {
        lapply(utils::head(t, 4), utils::head, 2)
      })
    }
    log
  })
}

is_text_now <- function(x) is.character(x) && length(x) == 1

# What a replay takes for granted of an entry that was let in.
entry_wrong <- function(e) {
  if (!all(vapply(e[c("id", "function", "stage")], is_text_now, NA))) return("words")
  if (!e$stage %in% c("before", "after")) return("stage")
  if (!is.list(e$call) || !is.logical(e$call$known)) return("known")
  if (!isTRUE(e$file$digits %in% c(0, 4, 1000))) return("digits")
  if (isTRUE(e$call$known)) {
    f <- e$call[["function"]]
    if (!is_text_now(f) || !f %in% getNamespaceExports("sdcRisk")) return("function")
    arguments <- e$call$arguments
    if (length(arguments) && is.null(names(arguments))) return("names")
    for (a in arguments) {
      if (!is_text_now(a$type)) return("type")
      if (!a$type %in% c("file", "result", "hierarchies", "withheld")) value_wrong(a)
    }
    if (!is.list(e$call$seeds) || !is.numeric(e$call$n_seeds)) return("seeds")
    for (s in e$call$seeds) if (!is.double(core$log_numbers(s))) return("seed")
  }
  for (t in e$tables) for (column in t) if (!is.list(column)) return("figures")
}

# A value that is let in has its type and its length.
value_wrong <- function(json) {
  value <- core$decode_value(json)
  if (evaluated) return("evaluated")
  same <- switch(json$type,
    null = is.null(value), formula = inherits(value, "formula") && is_plain_formula(value),
    typeof(value) == json$type && length(value) == length(json$values)
  )
  if (!same) "type of a value"
}

# As read_log() does with what it cannot even look at.
let_in <- function(code) {
  damaged <- function(c) {
    if (inherits(c, "sdcRisk_error")) stop(c)
    core$stop_log("A part of it is not what it should be.")
  }
  tryCatch(code, error = damaged, warning = damaged)
}

fuzz_json <- function() {
  made <- fuzz_value()
  json <- made$json
  spoilt <- odds(0.6)
  if (spoilt) json <- spoil_part(json)
  list(
    key = rlang::hash(json), valid = if (spoilt) NA else TRUE,
    call = function() let_in(list(core$decode_value(json))),
    check = function(x) {
      if (evaluated) return("evaluated")
      if (spoilt) return(value_wrong(json))
      if (inherits(made$value, "formula")) {
        if (!identical(as.character(x[[1]]), as.character(made$value))) return("formula")
      } else if (!identical(rapply(x, function(v) v, how = "list"), list(made$value)) &&
                   !isTRUE(all.equal(x, list(made$value)))) {
        return("value")
      }
    }
  )
}

fuzz_entry <- function() {
  entry <- one_of(one_of(entries)$results)
  spoilt <- odds(0.9)
  if (spoilt) for (i in seq_len(sample.int(2, 1))) entry <- spoil_part(entry, 0.9)
  further <- odds(0.1)
  list(
    key = rlang::hash(entry),
    valid = if (spoilt) NA else TRUE,
    call = function() {
      let_in(core$check_log_entry(entry))
      if (further) core$compare_figures(entry, list(note = "not asked"))
      if (isTRUE(entry$call$known)) core$why_not(entry$call)
      if (further) core$plan_entry(entry, frames)
    },
    check = function(x) entry_wrong(entry)
  )
}

# All of replay() but the methods, on bytes.
fuzz_text <- function() {
  log <- one_of(entries)
  if (odds(0.5)) log <- spoil_part(log, 0.9)
  text <- as.character(jsonlite::toJSON(log, auto_unbox = TRUE, null = "null", digits = NA))
  bytes <- charToRaw(text)
  spoilt <- odds(0.9) && length(bytes) > 0
  if (spoilt) bytes <- spoil_bytes(text)
  file <- file.path(tempdir(), "fuzz.json")
  whole <- odds(0.2)
  list(
    key = rlang::hash(bytes), valid = NA,
    call = function() {
      writeBin(bytes, file)
      if (whole) replay(file, one_of(frames)) else core$read_log(file)
    },
    check = function(x) {
      if (evaluated) return("evaluated")
      if (whole) return(if (!all(c("logged", "now", "equal", "note") %in% names(x))) "columns")
      for (e in x$results) {
        wrong <- entry_wrong(e)
        if (!is.null(wrong)) return(wrong)
      }
    }
  )
}

fuzz$log <- function() {
  if (is.null(entries)) begin_logs()
  kind <- stats::runif(1)
  if (kind < 0.5) fuzz_json() else if (kind < 0.95) fuzz_entry() else fuzz_text()
}

entries <- NULL
frames <- NULL

# Real logs, made before the first draw; a method gives nothing, and takes its arguments.
begin_logs <- function() {
  use_conditions(own_conditions)
  entries <<- small_entries()
  frames <<- list(data = small_logs()$data, later = small_logs()$several$wave2)
  use_conditions(bare_conditions)
  asks <- core$ask_again
  body(asks) <- bquote({
    values <- lapply(asked$arguments, function(a) {
      if (!a$type %in% c("file", "result", "hierarchies")) decode_value(a)
    })
    lapply(asked$seeds, log_numbers)
    structure(list(estimates = data.frame(n = 1)), class = "sdc_result")
  })
  use_conditions(list(ask_again = asks))
}
