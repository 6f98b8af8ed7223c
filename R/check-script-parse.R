# The text of a script: its lines, expressions and comments.

# The lines of a file as UTF-8, whatever ends them. What is not UTF-8 is taken as Latin-1.
read_script <- function(path) {
  bytes <- readBin(path, "raw", file.size(path))
  if (any(bytes == 0)) {
    stop_argument("path", "name text files", paste0(quote_names(path), " holds zero bytes."))
  }
  script_lines(rawToChar(bytes))
}

script_lines <- function(text) {
  Encoding(text) <- "UTF-8"
  if (!validUTF8(text)) text <- iconv(text, "latin1", "UTF-8")
  text <- sub("^\ufeff", "", enc2utf8(text))
  # Two passes, as a split by a regular expression takes the square of the length.
  strsplit(gsub("\r\n?", "\n", text), "\n", fixed = TRUE)[[1]]
}

# The names and texts that a script has, comments with roles among them.
words_of <- function(lines) {
  lines <- sub("^\\s*#\\|\\s*sdc:", "", lines)
  found <- regmatches(lines, gregexpr(
    "(*UCP)[\\p{L}\\p{N}._]+|\"[^\"]*\"|'[^']*'|`[^`]*`", lines, perl = TRUE
  ))
  found <- unlist(found)
  unique(c(found, gsub("^[\"'`]|[\"'`]$", "", found)))
}

# `code`, the expressions at top level, and where each is: its `first` and `last` line, its first
# `column` and the last, `end`. An error of the parser is the finding `error`.
parse_script <- function(lines) {
  parsed <- tryCatch(
    parse(text = lines, keep.source = TRUE, encoding = "UTF-8"), error = identity
  )
  if (inherits(parsed, "error")) {
    at <- regmatches(
      conditionMessage(parsed), regexec("<text>:([0-9]+):([0-9]+)", conditionMessage(parsed))
    )[[1]]
    at <- if (length(at)) as.integer(at[-1]) else c(1L, 1L)
    at <- pmax(1L, c(min(at[[1]], length(lines)), at[[2]]))
    return(list(
      code = list(),
      error = finding(at, "syntax_error", "R cannot read the script from here, and ran none of it.")
    ))
  }
  where <- vapply(attr(parsed, "srcref"), function(ref) {
    as.integer(ref)[c(1, 3, 5, 6)]
  }, integer(4))
  where <- matrix(where, 4)
  tokens <- utils::getParseData(parsed)
  if (!is.null(tokens)) tokens$col1 <- letters_before(lines, tokens$line1, tokens$col1)
  list(
    source = attr(parsed, "srcfile"), code = as.list(parsed), first = where[1, ], last = where[2, ],
    column = letters_before(lines, where[1, ], where[3, ]),
    end = letters_before(lines, where[2, ], where[4, ]),
    tokens = tokens[tokens$token %in% c("SYMBOL_FUNCTION_CALL", "SPECIAL"), ],
    comments = tokens[tokens$token == "COMMENT" & grepl(roles_comment, tokens$text), ]
  )
}

# The parser counts a tab as the columns up to the next multiple of 8, editors as one letter.
letters_before <- function(lines, line, column) {
  for (i in which(line %in% grep("\t", lines, fixed = TRUE))) {
    tabs <- strsplit(lines[[line[[i]]]], "")[[1]] == "\t"
    ends <- Reduce(function(at, tab) {
      if (tab) 8 * (at %/% 8 + 1) else at + 1
    }, tabs, 0, accumulate = TRUE)
    column[[i]] <- match(column[[i]], ends[-1])
  }
  column
}

# Position of the call of one of the functions `names` in expression `i`, or its statement `where`.
# If it calls none of them, that of the statement or the expression.
position_of <- function(parsed, i, names = character(), where = NULL) {
  at <- calls_in(parsed, i)
  at <- at[at$text %in% names, ]
  if (!is.null(where)) {
    begun <- at$line1 > where[[1]] | at$line1 == where[[1]] & at$col1 >= where[[2]]
    at <- at[begun & (at$line1 < where[[3]] | at$line1 == where[[3]] & at$col1 <= where[[4]]), ]
  }
  if (nrow(at)) {
    c(at$line1[[1]], at$col1[[1]])
  } else if (is.null(where)) {
    c(parsed$first[[i]], parsed$column[[i]])
  } else {
    where[1:2]
  }
}

# First line and column, last line and column of the innermost statement in braces that runs in the
# expression of `run`, NULL if that has none.
statement_that_runs <- function(run) {
  refs <- Filter(function(ref) {
    inherits(ref, "srcref") && identical(attr(ref, "srcfile"), run$parsed$source) &&
      ref[[1]] >= run$parsed$first[[run$at]] && ref[[3]] <= run$parsed$last[[run$at]]
  }, lapply(sys.calls(), attr, "srcref"))
  if (length(refs)) lines_of(utils::tail(refs, 1)[[1]], run$lines)
}

lines_of <- function(ref, lines) {
  at <- as.integer(ref)[c(1, 5, 3, 6)]
  at[c(2, 4)] <- letters_before(lines, at[c(1, 3)], at[c(2, 4)])
  at
}

# The tokens of expression `i` that call a function.
calls_in <- function(parsed, i) {
  at <- parsed$tokens
  at <- at[at$line1 >= parsed$first[[i]] & at$line1 <= parsed$last[[i]], ]
  # Two expressions can share a line.
  before <- at$line1 == parsed$first[[i]] & at$col1 < parsed$column[[i]]
  same_line <- i < length(parsed$code) && parsed$first[[i + 1]] == parsed$last[[i]]
  next_column <- if (same_line) parsed$column[[i + 1]] else Inf
  after <- at$line1 == parsed$last[[i]] & at$col1 >= next_column
  at[!before & !after, ]
}

roles_comment <- "^#\\|\\s*sdc:\\s*"

# Reads comments of the form `#| sdc: key_vars = c(age, sex)` above expression `i`: the arguments of
# sdc_file() as code, the codes that are `allow`ed, and the line.
comment_of <- function(parsed, i) {
  since <- if (i > 1) parsed$last[[i - 1]] else 0L
  comments <- parsed$comments
  above <- comments$line1 > since & comments$line1 < parsed$first[[i]]
  if (!any(above)) {
    return(NULL)
  }
  comments <- comments[above, ]
  text <- sub(roles_comment, "", comments$text)
  code <- tryCatch(
    parse(text = paste0("list(", paste(sub(",\\s*$", "", text), collapse = ", "), ")"))[[1]],
    error = function(e) NULL
  )
  named <- !is.null(code) && length(code) > 1 && !is.null(names(code)) &&
    all(nzchar(names(code)[-1]))
  list(
    line = comments$line1[[1]], column = comments$col1[[1]],
    roles = if (named) as.list(code)[-1][setdiff(names(code)[-1], "allow")],
    allow = if (named) as.character(all_texts(code[["allow"]])), ok = named
  )
}

all_texts <- function(code) {
  if (is.call(code)) unlist(lapply(as.list(code)[-1], all_texts)) else code
}

# The variable that an expression makes or changes: `x` of `x <- f()`, and of `x$age[1] <- 2`;
# whether it changes a `part` of it only, and the names that it reads.
target_of <- function(code) {
  arrows <- c("<-", "=", "<<-", "->")
  made <- is.call(code) && is.name(code[[1]]) && as.character(code[[1]]) %in% arrows
  if (!made) {
    return(list(name = NULL, part = FALSE, reads = all.names(code)))
  }
  to <- code[[2]]
  whole <- is.name(to) || is.character(to)
  reads <- c(all.names(code[[3]]), if (!whole) all.names(to))
  while (is.call(to) && length(to) > 1) to <- to[[2]]
  list(name = if (is.name(to) || is.character(to)) as.character(to), part = !whole, reads = reads)
}

# The names of arguments anywhere in a piece of code.
argument_names_in <- function(code) {
  parts <- parts_of(code)
  c(names(parts), unlist(lapply(parts, argument_names_in)))
}

# The function and arguments of a call, without empty ones.
parts_of <- function(code) {
  parts <- if (is.call(code)) as.list(code)
  parts[!vapply(parts, identical, NA, rlang::missing_arg())]
}
