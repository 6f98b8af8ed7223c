# What is found is told to the process that asked, without values of records.

tell <- function(run, what) {
  con <- file(run$log, "ab")
  on.exit(close(con))
  serialize(what, con)
}

# `repaired` says of a later state of the variable `name` whether a line has repaired it: the
# finding is held until then, or until it is written or the script ends.
add_finding <- function(run, code, message, fix = "", place = "above", names = character(),
                        severity = NULL, name = "", repaired = NULL) {
  position <- position_of(run$parsed, run$at, names, run$where)
  comment <- comment_of(run$parsed, run$at)
  if (code %in% comment$allow) {
    return(invisible())
  }
  copied <- any(names %in% unlist(lapply(file_copiers, base::names)))
  if (length(fix) == 0 || copied || place == "above" && is_made_elsewhere(run, fix)) fix <- ""
  one <- finding(position, code, public_text(run, message), fix, place, severity)
  one$fix <- public_code(run, one$fix)
  if (!nzchar(one$fix)) one$place <- ""
  if (is.null(repaired) || !nzchar(name)) {
    run$findings <- c(run$findings, list(one))
  } else {
    run$held <- c(run$held, list(list(finding = one, name = name, repaired = repaired)))
  }
}

# TRUE if a fix is about what a script makes that this line runs: it is not there above the line.
is_made_elsewhere <- function(run, fix) {
  sources <- any(c("source", "sys.source") %in% all.names(run$parsed$code[[run$at]]))
  sources && nzchar(fix) && {
    # set.seed() makes nothing.
    made <- target_of(parse(text = fix, keep.source = FALSE)[[1]])$name
    length(made) > 0 && identical(run$followed[[made]]$line, run$parsed$first[[run$at]])
  }
}

# Leaves out what a line has repaired; what is `sure` is told.
settle_held <- function(run, sure = character()) {
  gone <- vapply(run$held, function(held) {
    state <- run$followed[[held$name]]
    !is.null(state) && held$repaired(state)
  }, NA)
  run$held <- run$held[!gone]
  told <- vapply(run$held, function(held) held$name %in% sure, NA)
  run$findings <- c(run$findings, lapply(run$held[told], `[[`, "finding"))
  run$held <- run$held[!told]
}

bad_comment <- function(run, comment, why = NULL) {
  run$findings <- c(run$findings, list(finding(
    c(comment$line, comment$column), "bad_comment", paste0(
      "The comment ", if (is.null(why)) "cannot be read." else paste0("has no effect: ", why, "."),
      " Write it above the line that makes the file: ",
      "`#| sdc: key_vars = c(age, sex), weight_var = w`."
    )
  )))
}

# A value can become the name of a variable or column. A name that is not in the script, and is a
# value of a frame, is left out.
public_text <- function(run, text, quote = "\"") {
  if (text %in% run$in_words) {
    return(text)
  }
  parts <- unique(regmatches(text, gregexpr(paste0(quote, "[^`\"]*", quote), text))[[1]])
  names <- substr(parts, 2, nchar(parts) - 1)
  if (all(names %in% run$words)) run$in_words <- c(run$in_words, text)
  for (part in parts[vapply(names, is_secret, NA, run = run)]) {
    text <- gsub(part, "\"(a name that is a value)\"", text, fixed = TRUE)
  }
  text
}

# The same of a line of code, which has names without quotes: it is left out as a whole.
public_code <- function(run, code) {
  # Lines that change a frame often have the same fix.
  if (!nzchar(code) || code %in% run$fixes_in_words) {
    return(code)
  }
  names <- all.vars(parse(text = code, keep.source = FALSE))
  public <- !any(vapply(names, is_secret, NA, run = run)) &&
    identical(public_text(run, code, quote = "[`\"]"), code)
  if (all(names %in% run$words) && code %in% run$in_words) {
    run$fixes_in_words <- c(run$fixes_in_words, code)
  }
  if (public) code else ""
}

is_secret <- function(run, name) {
  if (name %in% run$words) {
    return(FALSE)
  }
  number <- suppressWarnings(as.double(name))
  # Names may be pasted of values, with blanks between them or not.
  size <- min(nchar(name), 100)
  begin <- rep(seq_len(size), size)
  end <- begin + rep(seq_len(size), each = size) - 1
  long <- end <= size & end - begin >= 3
  parts <- c(name, strsplit(name, "[^[:alnum:]]+")[[1]], substring(name, begin[long], end[long]))
  if (any(parts %in% unlist(lapply(run$ids, as.character)))) {
    return(TRUE)
  }
  holds <- function(column) {
    if (is.factor(column)) {
      any(parts %in% levels(column))
    } else if (is.character(column)) {
      any(parts %in% column)
    } else {
      is.numeric(column) && !is.na(number) && number %in% column
    }
  }
  any(vapply(c(run$followed, run$others), function(state) {
    any(vapply(state$columns, holds, NA))
  }, NA)) || any(vapply(run$past, holds, NA))
}
