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
#   texts        lines and values that were written as text, by file
#   places       data that were written in this session, by file: `one`s of `written`
#   held, held_before   findings of lines that a later line may repair, see add_finding(), and those
#                that were told last
#   ids          columns that identify and were in a followed file, by name
#   past         columns of frames that were read: their values are secret when they are gone, too
#   folder       files in the working folder, by which writers are seen that are not watched
#   known        whether a watched function writes a file in this expression
#   seeded       whether a seed was set
#   calibrated   the line of the last calibration
#   looking      whether the check itself runs, whose calls are not the script's
#   findings, frames   what is to be told

run_script <- function(lines, limit, log) {
  run <- list2env(list(
    parsed = parse_script(lines), lines = lines, words = words_of(lines), limit = limit,
    log = log, at = 0L, followed = list(),
    others = list(), written = list(), seeded = FALSE, calibrated = NULL, looking = FALSE,
    texts = list(), places = list(), held = list(), held_before = list(), ids = list(),
    past = list(),
    folder = folder_state(), known = FALSE, findings = list(), frames = list(), cost = 0
  ), parent = emptyenv())
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
  position <- position_of(run$parsed, run$at, names)
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
  names <- all.vars(parse(text = code, keep.source = FALSE))
  named <- any(vapply(names, is_secret, NA, run = run))
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
      report = run$known <- TRUE,
      seed = note_set_seed(run, what),
      draw = note_draw(run, name),
      compare = note_comparison(run, what),
      quit = {
        look(run)
        note_end(run)
        look_back(run)
        tell(run, list(done = TRUE, cost = run$cost))
      }
    ),
    error = function(e) NULL
  )
}

note_writing <- function(run, name, frame) {
  run$known <- TRUE
  # Writers call each other.
  if (caller_of(frame) %in% setdiff(names(script_writers), c("base", "utils"))) {
    return(invisible())
  }
  arguments <- unlist(unname(script_writers), recursive = FALSE)[[name]]
  values <- written_by(arguments[[1]], frame)
  code <- if (is.null(names(values))) eval(bquote(substitute(.(as.name(arguments[[1]])))), frame)
  written <- lapply(seq_along(values), function(i) {
    said <- if (is.null(names(values))) all.names(code) else names(values)[[i]]
    list(name = name, value = values[[i]], variable = variable_of(values[[i]], said))
  })
  place <- place_of(arguments[[2]], frame)
  if (!is.null(place)) run$places[[whole_path(place)]] <- written
  if (is.null(place) || !is_temporary(place)) run$written <- c(run$written, written)
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
  if (!is_by_script(frame) || length(from) == 0 || length(to) == 0) {
    return(invisible())
  }
  run$known <- TRUE
  packed <- name %in% c("zip", "zipr", "tar")
  inner <- packed & dir.exists(from)
  from <- c(from[!inner], list.files(from[inner], full.names = TRUE, recursive = TRUE))
  to <- rep_len(to, length(from))
  folders <- dir.exists(to)
  to[folders] <- file.path(to[folders], basename(from[folders]))
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
    run$written <- c(run$written, lapply(seen, function(one) {
      one$name <- name
      one
    }))
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

# Few lines are no records, unless many calls write them.
note_text <- function(run, name, frame) {
  arguments <- unlist(unname(text_writers), recursive = FALSE)[[name]]
  place <- text_place(arguments[[2]], frame)
  file <- if (caller_of(frame) %in% c("R_GlobalEnv", "base")) place_of(arguments[[2]], frame)
  if (!is.null(file)) run$places[[whole_path(file)]] <- NULL
  if (is.null(place)) {
    return(invisible())
  }
  run$known <- TRUE
  before <- if (is.null(run$texts[[place]])) 0 else run$texts[[place]]
  run$texts[[place]] <- before + text_size(arguments[[1]], frame)
  noted <- any(vapply(run$written, function(one) identical(one$text, place), NA))
  if (run$texts[[place]] >= least_records && !noted) {
    run$written <- c(run$written, list(list(name = name, text = place)))
  }
}

note_set_seed <- function(run, frame) {
  run$seeded <- !is.null(get("seed", frame))
  # A number in the script is known to everyone who has the script.
  code <- run$parsed$code[[run$at]]
  literal <- is.call(code) && identical(code[[1]], quote(set.seed)) && length(code) > 1 &&
    length(all.names(code[[2]])) == 0
  run$literal <- if (run$seeded && literal) run$at
}

note_draw <- function(run, name) {
  fix <- paste0("set.seed(as.integer(Sys.getenv(\"", seed_variable, "\")))")
  if (!run$seeded) {
    add_finding(
      run, "no_seed", paste0(
        name, "() draws random numbers and no seed is set, so that nobody can compute the ",
        "release again. Keep the seed outside the script: it is as confidential as the data."
      ), fix, names = name
    )
  } else if (!is.null(run$literal)) {
    at <- run$at
    run$at <- run$literal
    add_finding(
      run, "seed_in_script", paste0(
        "Everyone who has the script can repeat the draws of ", name,
        "() with this seed. Keep it outside the script."
      ), fix, "replace"
    )
    run$at <- at
    run$literal <- NULL
  }
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
    if (!is.null(seed)) assign(".Random.seed", seed, globalenv())
    run$cost <- run$cost + proc.time()[["elapsed"]] - begun
  })
  quietly_or(look_at_objects(run), not_followed_error(run))
  quietly_or(settle_held(run), not_followed_error(run))
  written <- run$written
  run$written <- list()
  for (one in written) quietly_or(look_at_written(run, one), not_followed_error(run))
  look_at_folder(run)
  look_at_code(run)
  if (length(run$findings) || length(run$frames) || !identical(run$held, run$held_before)) {
    findings <- unique(do.call(rbind, c(list(no_findings()), run$findings)))
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
  if (!given && length(comment$roles)) {
    bad_comment(run, comment, "the code below makes no data frame")
  }
}

bad_comment <- function(run, comment, why = NULL) {
  run$findings <- c(run$findings, list(finding(
    c(comment$line, comment$column), "bad_comment", paste0(
      "The comment ", if (is.null(why)) "cannot be read." else paste0("gives no roles: ", why, "."),
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
  changed <- setdiff(run$folder$state, before$state)
  changed <- !grepl(pictures_and_reports, run$folder$name[run$folder$state %in% changed])
  if (any(changed) && !run$known && identical(run$folder$of, before$of)) {
    written_otherwise(run, "A file is written by a function that this check does not know.")
  }
  run$known <- FALSE
}

folder_state <- function() {
  names <- list.files(".", all.files = TRUE, no.. = TRUE)
  about <- file.info(names, extra_cols = FALSE)
  list(
    of = getwd(), name = names, state = paste(names, about$size, as.double(about$mtime))
  )
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
  sdcGUI = c("has left sdcMicro.", "file_check_addin()")
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
