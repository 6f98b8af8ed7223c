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
#   protected    by variable, its values before each protection of the script; `back`: frames and
#                variables of which a finding says that such values are back
#   past         columns of frames that were read: their values are secret when they are gone, too
#   folder       files in the working folder, by which writers are seen that are not watched
#   known        files that watched functions wrote in this expression, NA if one is not known
#   seeded       whether a seed is set; `seeded_before` and `rng`, the state, before this expression
#   public       where a seed was set that everyone knows who has the script
#   calibrated   the line of the last calibration
#   most_rows    records of the largest frame
#   looking      whether the check itself runs, whose calls are not the script's
#   in_words, fixes_in_words   texts and code to be told, all of whose names are `words`
#   findings, frames   what is to be told

run_script <- function(lines, limit, log) {
  run <- list2env(list(
    parsed = parse_script(lines), lines = lines, words = words_of(lines), limit = limit,
    log = log, at = 0L, followed = list(),
    others = list(), written = list(), seeded = FALSE, seeded_before = FALSE, rng = NULL,
    public = NULL, calibrated = NULL, looking = FALSE,
    texts = list(), writing = NULL, where = NULL, lost = NULL, places = list(), held = list(),
    held_before = list(), ids = list(), past = list(), protected = list(), back = NULL,
    folder = folder_state(), known = character(), findings = list(), most_rows = 0,
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
        if (identical(get("save", what), "yes")) note_image(run)
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
    if (!is.null(seed)) {
      assign(".Random.seed", seed, globalenv())
    } else if (exists(".Random.seed", globalenv(), inherits = FALSE)) {
      rm(".Random.seed", envir = globalenv())
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
    held <- lapply(run$held, `[[`, "finding")
    tell(run, list(findings = findings, frames = run$frames, held = held))
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
  script <- globalenv()
  names <- ls(script, all.names = TRUE, sorted = FALSE)
  fixed <- !rlang::env_binding_are_lazy(script, names) &
    !rlang::env_binding_are_active(script, names)
  # Nothing else is followed. A list of the values would make R copy each that the script changes.
  names <- names[fixed]
  names <- names[vapply(names, function(name) is.object(script[[name]]), NA)]
  run$followed[setdiff(names(run$followed), names)] <- NULL
  run$others[setdiff(names(run$others), names)] <- NULL
  before <- run$followed
  code <- run$parsed$code[[run$at]]
  target <- target_of(code)
  comment <- comment_of(run$parsed, run$at)
  given <- FALSE
  for (name in names) {
    value <- script[[name]]
    known <- before[[name]]
    if (is.null(known)) known <- run$others[[name]]
    delayedAssign("hash", frame_hash(value))
    if (!is.null(known) && is_unchanged(value, known, reached, hash)) next
    if (!is_followable(value)) {
      run$followed[[name]] <- run$others[[name]] <- NULL
      next
    }
    for_it <- !is.null(comment) && (is.null(target$name) || identical(target$name, name))
    given <- given || for_it
    state <- follow(run, value, name, target, before, if (for_it) comment, hash = hash)
    if (is.null(state)) {
      run$followed[[name]] <- NULL
      run$others[[name]] <- other_frame(run, value, code, hash)
    } else {
      run$others <- adopted(run$others, state, target$reads)
      run$others[[name]] <- NULL
      run$followed[[name]] <- state
      if (!state$part) run$frames <- c(run$frames, list(frame_line(run, state)))
    }
  }
  if (!is.null(comment) && !comment$ok) bad_comment(run, comment)
  unknown <- setdiff(comment$allow, script_codes()$code)
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

# A frame that is not followed: where it was made, whether it was read, and its columns, which
# are held so that their addresses stay theirs.
other_frame <- function(run, value, code, hash) {
  if (any(all.names(code) %in% script_readers)) run$past <- c(run$past, columns_of(value))
  run$most_rows <- max(run$most_rows, NROW(value))
  list(
    address = rlang::obj_address(value), columns = columns_of(value), at = run$at,
    read = any(all.names(code) %in% script_readers), hash = hash, adopted = FALSE,
    table = is_table(run, all.names(code)), pointers = addresses_of(columns_of(value))
  )
}

# Frames whose columns, or whose name, made a frame that is followed need no roles of their own.
adopted <- function(others, state, reads) {
  Map(function(other, name) {
    shared <- any(other$pointers %in% state$pointers)
    other$adopted <- other$adopted || shared || name %in% reads
    other
  }, others, names(others))
}

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
