# In the process of the script. What is found is appended to a file after every expression, so
# that it is known whatever becomes of the process.
#
# `run` is an environment:
#   parsed, at   the script, and the number of the expression that runs
#   lines        its text
#   words        names and texts in the script, which are no secret
#   limit        limits as in file_check()
#   followed     what is known of the data frames that are followed, by name; see follow()
#   others       data frames that were read and are not followed: line, columns
#   written      calls of writers in this expression, until they are looked at
#   texts        lines, values and records that were written and not judged, by file and expression
#   writing      the call of the last writer: what it calls is not written by the script
#   lost         columns with a role that functions of sdcRisk dropped in this expression
#   where        the statement of a write that is looked at, NULL otherwise
#   places       data that were written in this session, by file: `one`s of `written`
#   held, held_before   findings of lines that a later line may repair, see add_finding(), and those
#                that were told last
#   ids          columns that identify and were in a followed file, by name
#   past         columns of frames that were read: their values are secret when they are gone, too
#   folder       files in the working folder, by which writers are seen that are not watched
#   known        files that watched functions wrote in this expression, NA if one is not known
#   seeded       whether a seed is set; `seeded_before` and `rng`, the state, before this expression
#   public       where a seed was set that everyone knows who has the script
#   calibrated   the line of the last calibration
#   looking      whether the check itself runs, whose calls are not the script's
#   names_in     the names in pieces of code for an editor, by code
#   findings, frames   what is to be told

run_script <- function(lines, limit, log) {
  run <- list2env(list(
    parsed = parse_script(lines), lines = lines, words = words_of(lines), limit = limit,
    log = log, at = 0L, followed = list(),
    others = list(), written = list(), seeded = FALSE, seeded_before = FALSE, rng = NULL,
    public = NULL, calibrated = NULL, looking = FALSE,
    texts = list(), writing = NULL, where = NULL, lost = NULL, places = list(), held = list(),
    held_before = list(), ids = list(), past = list(),
    folder = folder_state(), known = character(), names_in = list(), findings = list(),
    frames = list(), cost = 0
  ), parent = emptyenv())
  stray_comments(run)
  watch_functions(function(kind, name, what, value) watched_call(run, kind, name, what))
  for (i in seq_along(run$parsed$code)) {
    run$at <- i
    tell(run, list(started = i))
    error <- run_expression(run)
    look(run)
    if (!is.null(error)) {
      add_finding(run, "script_error", error_words(error))
      break
    }
  }
  look_back(run)
  tell(run, list(done = TRUE, cost = run$cost))
}

run_expression <- function(run) {
  tryCatch(
    {
      withCallingHandlers(
        eval(run$parsed$code[[run$at]], globalenv()),
        sdcRisk_message_role_lost = function(m) if (!run$looking) role_lost(run, m)
      )
      NULL
    },
    error = identity
  )
}

# Texts of our own errors hold no values; those of others may.
error_words <- function(e) {
  if (inherits(e, "sdcRisk_error")) {
    paste0("The script stops here: ", first_line(e), ".")
  } else {
    paste0(
      "The script stops here with an error of class \"", known_class(e),
      "\". Its text is not shown, as it may hold values; run the line to read it."
    )
  }
}

# A class that R or a common package gives; others may be made of values.
known_class <- function(e) {
  c(intersect(class(e), c(
    "simpleError", "packageNotFoundError", "getMissingError", "missingArgError",
    "subscriptOutOfBoundsError", "notSubsettableError", "stackOverflowError", "rlang_error",
    "vctrs_error", "dplyr:::mutate_error"
  )), "error")[[1]]
}

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
  if (length(fix) == 0 || copied) fix <- ""
  one <- finding(position, code, public_text(run, message), fix, place, severity)
  one$fix <- public_code(run, one$fix)
  if (!nzchar(one$fix)) one$place <- ""
  if (is.null(repaired) || !nzchar(name)) {
    run$findings <- c(run$findings, list(one))
  } else {
    run$held <- c(run$held, list(list(finding = one, name = name, repaired = repaired)))
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

held_findings <- function(run) {
  do.call(rbind, c(list(no_findings()), lapply(run$held, `[[`, "finding")))
}

# A value can become the name of a variable or column. A name that is not in the script, and is a
# value of a frame, is left out.
public_text <- function(run, text, quote = "\"") {
  parts <- regmatches(text, gregexpr(paste0(quote, "[^`\"]*", quote), text))[[1]]
  for (part in unique(parts)) {
    if (is_secret(run, substr(part, 2, nchar(part) - 1))) {
      text <- gsub(part, "\"(a name that is a value)\"", text, fixed = TRUE)
    }
  }
  text
}

# The same of a line of code, which has names without quotes: it is left out as a whole.
public_code <- function(run, code) {
  # Lines that change a frame often have the same fix.
  if (nzchar(code) && is.null(run$names_in[[code]])) {
    run$names_in[[code]] <- all.vars(parse(text = code, keep.source = FALSE))
  }
  named <- any(vapply(run$names_in[[code]], is_secret, NA, run = run))
  if (named || !identical(public_text(run, code, quote = "[`\"]"), code)) "" else code
}

is_secret <- function(run, name) {
  if (name %in% run$words) {
    return(FALSE)
  }
  number <- suppressWarnings(as.double(name))
  holds <- function(column) {
    if (is.factor(column)) {
      name %in% levels(column)
    } else if (is.character(column)) {
      name %in% column
    } else {
      is.numeric(column) && !is.na(number) && number %in% column
    }
  }
  any(vapply(c(run$followed, run$others), function(state) {
    any(vapply(state$columns, holds, NA))
  }, NA)) || any(vapply(run$past, holds, NA))
}

# Records a call of one of the script's functions. Errors here must not end the script.
watched_call <- function(run, kind, name, what) {
  if (run$looking) {
    return(invisible())
  }
  tryCatch(
    switch(kind,
      write = note_writing(run, name, what),
      text = note_text(run, name, what),
      copy = note_copy(run, name, what),
      report = note_report(run, what),
      seed = note_set_seed(run, what),
      draw = note_draw(run, name, what),
      compare = note_comparison(run, what),
      quit = {
        look(run)
        note_end(run)
        look_back(run)
        tell(run, list(done = TRUE, cost = run$cost))
      }
    ),
    error = function(e) {
      if (kind %in% c("write", "text", "copy")) {
        note_written(run, list(list(text = "", what = "A line writes what cannot be read.")), name)
      }
    }
  )
}

# What a call of the function `name` writes, with its statement, is looked at after the expression.
note_written <- function(run, written, name) {
  at <- statement_that_runs(run)
  run$written <- c(run$written, lapply(written, function(one) {
    one$name <- name
    one$where <- at
    one
  }))
}

# TRUE if a writer, which was noted, calls another one. Otherwise `frame` is that of the next.
# Values are computed before that: they may be those of a function that writes, too.
is_inner <- function(run, frame) {
  inner <- any(vapply(sys.frames(), identical, NA, run$writing))
  if (!inner) run$writing <- frame
  inner
}

note_report <- function(run, frame) {
  run$known <- c(run$known, NA)
  is_inner(run, frame)
}

note_known <- function(run, place) run$known <- c(run$known, if (is.null(place)) NA else place)

note_writing <- function(run, name, frame) {
  arguments <- unlist(unname(script_writers), recursive = FALSE)[[name]]
  values <- written_by(arguments[[1]], frame)
  place <- place_of(arguments[[2]], frame)
  note_known(run, place)
  if (is_inner(run, frame)) {
    return(invisible())
  }
  code <- if (is.null(names(values))) eval(bquote(substitute(.(as.name(arguments[[1]])))), frame)
  written <- lapply(seq_along(values), function(i) {
    said <- if (is.null(names(values))) all.names(code) else names(values)[[i]]
    value <- lasting(values[[i]])
    list(
      name = name, value = value, variable = variable_of(value, said), place = place,
      hash = frame_hash(value), row_names = written_names(name, value, frame)
    )
  })
  if (!is.null(place)) run$places[[whole_path(place)]] <- written
  if (is.null(place) || !is_temporary(place)) note_written(run, written, name)
}

# The row names that a writer writes, NULL if none or if they are 1, 2, ...
written_names <- function(name, value, frame) {
  asked <- get0("row.names", frame, inherits = FALSE)
  if (is.null(asked)) asked <- name %in% c("saveRDS", "save", "dput", "write_rds")
  if (length(asked) > 1) {
    as.character(asked)
  } else if (isTRUE(asked) && is.data.frame(value) && .row_names_info(value) > 0) {
    row.names(value)
  }
}

# data.table puts the records of the next group in the place of those before.
lasting <- function(value) {
  if (isTRUE(attr(value, ".data.table.locked"))) data.table::copy(value) else value
}

# The variable of the script that a value is, or has its columns and records from, among the names
# of a piece of code.
variable_of <- function(value, names) {
  here <- names[vapply(names, exists, NA, globalenv(), inherits = FALSE)]
  is_it <- function(name) {
    other <- get(name, globalenv())
    identical(rlang::obj_address(other), rlang::obj_address(value)) || is.data.frame(value) &&
      is.data.frame(other) && nrow(value) == nrow(other) && all(names(value) %in% names(other))
  }
  c(Filter(is_it, here), "")[[1]]
}

# A file that leaves the temporary folder is written there. What is in other files was seen when
# they were written, or nobody knows it.
note_copy <- function(run, name, frame) {
  arguments <- unlist(unname(file_copiers), recursive = FALSE)[[name]]
  from <- place_values(arguments[[1]], frame)
  to <- place_values(arguments[[2]], frame)
  run$known <- c(run$known, to)
  if (is_inner(run, frame) || length(from) == 0 || length(to) == 0) {
    return(invisible())
  }
  packed <- name %in% c("zip", "zipr", "tar")
  inner <- packed & dir.exists(from)
  from <- c(from[!inner], list.files(from[inner], full.names = TRUE, recursive = TRUE))
  to <- rep_len(to, length(from))
  folders <- dir.exists(to)
  to[folders] <- file.path(to[folders], basename(from[folders]))
  run$known <- c(run$known, to)
  for (i in seq_along(from)) {
    seen <- run$places[[whole_path(from[[i]])]]
    run$places[[whole_path(to[[i]])]] <- c(
      if (packed) run$places[[whole_path(to[[i]])]], seen
    )
    if (is_temporary(to[[i]]) || grepl(pictures_and_reports, from[[i]])) next
    if (is.null(seen)) {
      seen <- list(list(text = from[[i]], what = "A file is copied that this check cannot read."))
    } else if (!is_temporary(from[[i]])) {
      next
    }
    note_written(run, seen, name)
  }
}

place_values <- function(argument, frame) {
  places <- tryCatch(get(argument, frame), error = function(e) NULL)
  if (is.character(places)) places[!is.na(places)]
}

# Expressions below are not checked, and a job must not pass by them.
note_end <- function(run) {
  left <- length(run$parsed$code) - run$at
  if (left) {
    add_finding(run, "script_ended", paste0(
      "The script ends its process here, above ", plural(left, "expression"),
      ". They were not run, so that nothing is known of what they write."
    ), names = c("quit", "q"))
  }
}

# Few lines are no records, unless many calls write them. Packages write reports and pictures.
note_text <- function(run, name, frame) {
  arguments <- unlist(unname(text_writers), recursive = FALSE)[[name]]
  place <- text_place(arguments[[2]], frame)
  if (is.null(place)) {
    return(invisible())
  }
  size <- text_size(arguments[[1]], frame)
  run$known <- c(run$known, place)
  if (is_inner(run, frame)) {
    return(invisible())
  }
  run$places[[whole_path(place)]] <- NULL
  if (is_temporary(place) || grepl(pictures_and_reports, place) && !is_by_script(frame)) {
    return(invisible())
  }
  noted <- any(vapply(run$written, function(one) identical(one$text, place), NA))
  if (is_many(run, place, size) && !noted) note_written(run, list(list(text = place)), name)
}

# Whether what is written to a file, or by an expression, is as long as a file of records.
is_many <- function(run, place, size) {
  for (of in c(place, paste("expression", run$at))) {
    run$texts[[of]] <- sum(run$texts[[of]], size)
  }
  max(unlist(run$texts[c(place, paste("expression", run$at))])) >= least_records
}

note_set_seed <- function(run, frame) {
  run$seeded <- !is.null(get("seed", frame))
  run$public <- public_seed(run, frame)
}

# A number in the script is known to everyone who has the script, as is what is computed of such
# numbers alone. NULL if the seed is not public, where it was set otherwise.
public_seed <- function(run, frame) {
  origin <- origin_of(eval(quote(substitute(seed)), frame), run$parsed$code)
  seed <- get("seed", frame)
  written <- suppressWarnings(as.double(sub("L$", "", run$words)))
  computed <- all(origin %in% c(pure_calls, attr(origin, "made")))
  if (!is.null(seed) && !any(origin %in% secret_sources) && (computed || all(seed %in% written))) {
    list(at = run$at, where = statement_that_runs(run))
  }
}

secret_sources <- c(
  "Sys.getenv", "Sys.time", "Sys.getpid", "commandArgs", "getOption", "readline", "readLines",
  "readRDS", "scan", "key_get", "askpass", "getPass", "get_secret"
)

pure_calls <- c(
  "+", "-", "*", "/", "^", "%%", "%/%", "(", ":", "c", "abs", "round", "sum", "prod", "nchar",
  "as.integer", "as.numeric", "as.double", "as.character", "as.Date", "strtoi", "utf8ToInt",
  "paste", "paste0"
)

# The names in a piece of code, and in those by which the script makes its variables, `made`.
origin_of <- function(code, script) {
  names <- all.names(code)
  made <- character()
  repeat {
    new <- Filter(function(one) any(names_made(one) %in% setdiff(names, made)), script)
    new <- intersect(unlist(lapply(new, names_made)), setdiff(names, made))
    if (length(new) == 0) break
    made <- c(made, new)
    names <- c(names, unlist(lapply(script, reads_of, variables = new)))
  }
  structure(unique(names), made = made)
}

# The names by which code makes one of the `variables`.
reads_of <- function(code, variables) {
  target <- target_of(code)
  if (any(target$name %in% variables)) {
    return(target$reads)
  }
  unlist(lapply(parts_of(code), reads_of, variables = variables))
}

note_draw <- function(run, name, frame) {
  if (!is.null(get0("seed", frame, inherits = FALSE))) note_set_seed(run, frame)
  fix <- paste0("set.seed(as.integer(Sys.getenv(\"", seed_variable, "\")))")
  if (!run$seeded) {
    add_finding(
      run, "no_seed", paste0(
        name, "() draws random numbers and no seed is set, so that nobody can compute the ",
        "release again. Keep the seed outside the script: it is as confidential as the data."
      ), fix, names = name
    )
  } else if (!is.null(run$public)) {
    old <- list(at = run$at, where = run$where)
    list2env(run$public, run)
    code <- run$parsed$code[[run$at]]
    alone <- is.call(code) && identical(code[[1]], quote(set.seed))
    add_finding(
      run, "seed_in_script", paste0(
        "Everyone who has the script can repeat the draws of ", name,
        "() with this seed. Keep it outside the script."
      ), if (alone) fix else "", "replace", names = "set.seed"
    )
    list2env(old, run)
    run$public <- NULL
  }
}

# A line can put the state of before back, as withr::with_seed() does, or one that was kept.
settle_seed <- function(run, rng) {
  if (identical(rng, run$rng)) run$seeded <- run$seeded_before
  code <- run$parsed$code[[run$at]]
  kept <- ".Random.seed" %in% all.names(code) && ".Random.seed" %in% names_made(code)
  if (kept) run$seeded <- TRUE
  run$seeded_before <- run$seeded
  run$rng <- rng
}

note_comparison <- function(run, result) {
  differ <- grep("^Settings differ", result$differences, value = TRUE)
  if (length(differ)) {
    add_finding(
      run, "other_settings", paste(
        "The results were computed with different settings, so that their difference is not that",
        "of the files.", paste(differ, collapse = " ")
      ), names = "compare_risk"
    )
  }
}

# After every expression ------------------------------------------------------------

# Nothing of what the script can see is changed, its random numbers least of all.
look <- function(run) {
  begun <- proc.time()[["elapsed"]]
  seed <- get0(".Random.seed", globalenv(), inherits = FALSE)
  old <- options(
    OutDec = ".", warn = 0, sdcRisk.progress = FALSE, scipen = 0, digits = 7, error = NULL
  )
  run$looking <- TRUE
  on.exit({
    run$looking <- FALSE
    options(old)
    if (is.null(seed)) {
      suppressWarnings(rm(".Random.seed", envir = globalenv()))
    } else {
      assign(".Random.seed", seed, globalenv())
    }
    run$cost <- run$cost + proc.time()[["elapsed"]] - begun
  })
  settle_seed(run, seed)
  quietly_or(look_at_objects(run), not_followed_error(run))
  quietly_or(settle_held(run), not_followed_error(run))
  written <- run$written
  run$written <- list()
  for (one in written) quietly_or(look_at_written(run, one), not_followed_error(run))
  run$lost <- NULL
  look_at_folder(run)
  look_at_code(run)
  if (length(run$findings) || length(run$frames) || !identical(run$held, run$held_before)) {
    findings <- if (length(run$findings)) unique(do.call(rbind, run$findings)) else no_findings()
    tell(run, list(findings = findings, frames = run$frames, held = held_findings(run)))
    run$findings <- list()
    run$frames <- list()
    run$held_before <- run$held
  }
}

quietly_or <- function(code, otherwise) {
  tryCatch(
    suppressWarnings(suppressMessages(code)), error = function(e) otherwise(e)
  )
}

not_followed_error <- function(run) {
  function(e) {
    words <- if (inherits(e, "sdcRisk_error")) {
      first_line(e)
    } else {
      paste("an error of class", known_class(e))
    }
    add_finding(run, "not_followed", paste0("This line could not be checked: ", words, "."))
  }
}

# Objects of the workspace that are new or changed since the last look.
look_at_objects <- function(run, reached = reached_by(run)) {
  names <- ls(globalenv(), all.names = TRUE, sorted = FALSE)
  names <- setdiff(names, ".Random.seed")
  fixed <- !rlang::env_binding_are_lazy(globalenv(), names) &
    !rlang::env_binding_are_active(globalenv(), names)
  # Nothing else is followed. A list of the values would make R copy each that the script changes.
  names <- names[fixed]
  names <- names[vapply(names, function(name) is.object(get(name, globalenv())), NA)]
  run$followed[setdiff(names(run$followed), names)] <- NULL
  run$others[setdiff(names(run$others), names)] <- NULL
  before <- run$followed
  code <- run$parsed$code[[run$at]]
  target <- target_of(code)
  comment <- comment_of(run$parsed, run$at)
  given <- FALSE
  for (name in names) {
    value <- get(name, globalenv())
    known <- before[[name]]
    if (is.null(known)) known <- run$others[[name]]
    if (!is.null(known) && is_unchanged(value, known, reached)) next
    if (!is_followable(value)) {
      run$followed[[name]] <- run$others[[name]] <- NULL
      next
    }
    for_it <- !is.null(comment) && (is.null(target$name) || identical(target$name, name))
    given <- given || for_it
    state <- follow(run, value, name, target, before, if (for_it) comment)
    if (is.null(state)) {
      run$followed[[name]] <- NULL
      run$others[[name]] <- other_frame(run, value, code)
    } else {
      run$others <- adopted(run$others, state, target$reads)
      run$others[[name]] <- NULL
      run$followed[[name]] <- state
      if (!state$part) run$frames <- c(run$frames, list(frame_line(run, state)))
    }
  }
  if (!is.null(comment) && !comment$ok) bad_comment(run, comment)
  unknown <- if (!is.null(comment)) setdiff(comment$allow, script_codes()$code)
  if (length(unknown)) {
    bad_comment(run, comment, paste0("no finding has the code ", quote_names(unknown)))
  }
  if (!given && length(comment$roles)) {
    bad_comment(run, comment, "the code below makes no data frame")
  }
}

# Comments that belong to no expression at top level.
stray_comments <- function(run) {
  parsed <- run$parsed
  lines <- parsed$comments$line1
  for (i in seq_along(lines)) {
    inside <- any(parsed$first <= lines[[i]] & lines[[i]] <= parsed$last)
    if (inside || lines[[i]] > max(0L, parsed$last)) {
      bad_comment(run, list(line = lines[[i]], column = parsed$comments$col1[[i]]), if (inside) {
        "it stands within an expression"
      } else {
        "no code is below it"
      })
    }
  }
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

# A frame that is not followed: where it was made, whether it was read, and its columns, which
# are held so that their addresses stay theirs.
other_frame <- function(run, value, code) {
  if (any(all.names(code) %in% script_readers)) run$past <- c(run$past, columns_of(value))
  list(
    address = rlang::obj_address(value), columns = columns_of(value), at = run$at,
    read = any(all.names(code) %in% script_readers), hash = frame_hash(value), adopted = FALSE,
    table = is_table(run, all.names(code)), pointers = addresses_of(columns_of(value))
  )
}

# TRUE if a line makes a table of counts, or uses one.
is_table <- function(run, names) {
  tables <- names(Filter(function(other) isTRUE(other$table), run$others))
  any(names %in% c(summary_calls, tables))
}

# Frames whose columns, or whose name, made a frame that is followed need no roles of their own.
adopted <- function(others, state, reads) {
  Map(function(other, name) {
    shared <- any(other$pointers %in% state$pointers)
    other$adopted <- other$adopted || shared || name %in% reads
    other
  }, others, names(others))
}

# Files that a line made or changed by a function that is not watched.
look_at_folder <- function(run) {
  before <- run$folder
  run$folder <- folder_state()
  changed <- run$folder$name[!run$folder$state %in% before$state & run$folder$filled]
  changed <- changed[!grepl(pictures_and_reports, changed)]
  known <- c(run$known, before$open)
  unknown <- length(changed) && !anyNA(known) && !all(changed %in% path_tops(known))
  if (unknown && identical(run$folder$of, before$of)) {
    written_otherwise(run, "A file is written by a function that this check does not know.")
  }
  run$known <- character()
}

# `filled`: neither an empty file, as a connection opens it, nor an empty folder.
folder_state <- function() {
  names <- list.files(".", all.files = TRUE, no.. = TRUE)
  about <- file.info(names, extra_cols = FALSE)
  filled <- about$size > 0
  filled[about$isdir] <- lengths(lapply(names[about$isdir], list.files)) > 0
  list(
    of = getwd(), name = names, state = paste(names, about$size, as.double(about$mtime)),
    filled = filled,
    open = vapply(getAllConnections(), function(i) summary.connection(i)$description, "")
  )
}

# The file or folder of the working folder in which each path is.
path_tops <- function(paths) {
  paths <- unique(paths[!is.na(paths)])
  here <- paste0(normalizePath(".", "/"), "/")
  whole <- vapply(paths, whole_path, "")
  sub("/.*", "", substring(whole[startsWith(whole, here)], nchar(here) + 1))
}

pictures_and_reports <- "[.](png|jpe?g|tiff?|bmp|svg|pdf|e?ps|html?|docx|log)$"

look_at_code <- function(run) {
  known <- c(calibrations, names(obsolete_calls))
  if (!any(all.names(run$parsed$code[[run$at]]) %in% known)) {
    return(invisible())
  }
  names <- calls_in(run$parsed, run$at)$text
  if (any(names %in% calibrations)) run$calibrated <- run$parsed$first[[run$at]]
  for (name in intersect(names(obsolete_calls), names)) {
    about <- obsolete_calls[[name]]
    add_finding(
      run, "obsolete_call", paste0("`", name, "()` ", about[[1]], " Use ", about[[2]], "."),
      names = name
    )
  }
}

calibrations <- c(
  "calibrate", "postStratify", "rake", "calib", "calibSample", "calibWeights", "e.calibrate",
  "ipf", "ipu", "trimWeights", "calibVars", "anesrake"
)

# Calls of sdcMicro: what is known of them, and the answer.
obsolete_calls <- list(
  LLmodGlobalRisk = c("is deprecated in sdcMicro.", "loglinear_risk()"),
  modRisk = c(
    "takes the mean of the sample for that of the population, so that its risks are too high.",
    "loglinear_risk()"
  ),
  pram_strata = c("has left sdcMicro.", "invariant_pram(within = )"),
  localSupp = c(
    "suppresses one variable in all records above a threshold, whether they need it or not.",
    "suppress_cells()"
  ),
  localSupp2Wrapper = c("has left sdcMicro.", "suppress_cells()"),
  sdcGUI = c("has left sdcMicro.", "file_check_addin()"),
  freqCalc = c("takes no file with roles.", "n_matches()"),
  indivRisk = c("approximates the risk of keys that many records share.", "individual_risk()"),
  measure_risk = c("approximates the risk of keys that many records share.", "individual_risk()")
)

# At the end ----------------------------------------------------------------------

look_back <- function(run) {
  read <- Filter(function(other) other$read && !other$adopted, run$others)
  for (name in names(read)) {
    run$at <- read[[name]]$at
    add_finding(run, "unknown_file", paste0(
      "Line ", run$parsed$first[[run$at]], " reads a file that this check does not know: \"",
      shorten(name), "\" has no roles. Give them by sdc_file() or by a comment above the line, ",
      "`#| sdc: key_vars = c(age, sex)`."
    ))
  }
  settle_held(run, sure = vapply(run$held, `[[`, "", "name"))
  tell(run, list(findings = do.call(rbind, c(list(no_findings()), run$findings))))
  run$findings <- list()
}
