# In the process of the script. What is found is appended to a file after every expression, so
# that it is known whatever becomes of the process.
#
# `run` is an environment:
#   parsed, at   the script, and the number of the expression that runs
#   limit        limits as in file_check()
#   followed     what is known of the data frames that are followed, by name; see follow()
#   others       data frames that were read and are not followed: line, columns
#   written      calls of writers in this expression, until they are looked at
#   texts        lines and values that were written as text, by file
#   folder       files in the working folder, by which writers are seen that are not watched
#   known        whether a watched function writes a file in this expression
#   seeded       whether a seed was set
#   calibrated   the line of the last calibration
#   looking      whether the check itself runs, whose calls are not the script's
#   findings, frames   what is to be told

run_script <- function(lines, limit, log) {
  run <- list2env(list(
    parsed = parse_script(lines), limit = limit, log = log, at = 0L, followed = list(),
    others = list(), written = list(), seeded = FALSE, calibrated = NULL, looking = FALSE,
    texts = list(), folder = folder_state(), known = FALSE, findings = list(), frames = list(),
    cost = 0
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
      "The script stops here with an error of class \"", class(e)[[1]],
      "\". Its text is not shown, as it may hold values; run the line to read it."
    )
  }
}

tell <- function(run, what) {
  con <- file(run$log, "ab")
  on.exit(close(con))
  serialize(what, con)
}

add_finding <- function(run, code, message, fix = "", place = "above", names = character()) {
  position <- position_of(run$parsed, run$at, names)
  comment <- comment_of(run$parsed, run$at)
  if (!code %in% comment$allow) {
    run$findings <- c(run$findings, list(finding(position, code, message, fix, place)))
  }
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
      report = run$known <- TRUE,
      seed = note_set_seed(run, what),
      draw = note_draw(run, name),
      compare = note_comparison(run, what),
      quit = {
        look(run)
        add_finding(
          run, "script_ended", "The script ends its process here. Lines below were not run."
        )
        look_back(run)
        tell(run, list(done = TRUE, cost = run$cost))
      }
    ),
    error = function(e) NULL
  )
}

note_writing <- function(run, name, frame) {
  run$known <- TRUE
  arguments <- unlist(unname(script_writers), recursive = FALSE)[[name]]
  values <- written_by(arguments, frame)
  symbol <- eval(bquote(substitute(.(as.name(arguments[[1]])))), frame)
  variable <- if (is.name(symbol)) as.character(symbol) else ""
  run$written <- c(run$written, lapply(seq_along(values), function(i) {
    known <- if (is.null(names(values))) variable else names(values)[[i]]
    here <- nzchar(known) && exists(known, globalenv(), inherits = FALSE) &&
      identical(rlang::obj_address(get(known, globalenv())), rlang::obj_address(values[[i]]))
    list(name = name, value = values[[i]], variable = if (here) known else "")
  }))
}

# Few lines are no records, unless many calls write them.
note_text <- function(run, name, frame) {
  arguments <- unlist(unname(text_writers), recursive = FALSE)[[name]]
  place <- text_place(arguments[[2]], frame)
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
  fix <- "set.seed(as.integer(Sys.getenv(\"RELEASE_SEED\")))"
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
  written <- run$written
  run$written <- list()
  for (one in written) quietly_or(look_at_written(run, one), not_followed_error(run))
  look_at_folder(run)
  look_at_code(run)
  findings <- unique(do.call(rbind, c(list(no_findings()), run$findings)))
  tell(run, list(findings = findings, frames = run$frames))
  run$findings <- list()
  run$frames <- list()
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
      paste("an error of class", class(e)[[1]])
    }
    add_finding(run, "not_followed", paste0("This line could not be checked: ", words, "."))
  }
}

# Objects of the workspace that are new or changed since the last look.
look_at_objects <- function(run) {
  names <- ls(globalenv(), all.names = TRUE, sorted = FALSE)
  names <- setdiff(names, ".Random.seed")
  fixed <- !rlang::env_binding_are_lazy(globalenv(), names) &
    !rlang::env_binding_are_active(globalenv(), names)
  names <- names[fixed]
  run$followed[setdiff(names(run$followed), names)] <- NULL
  run$others[setdiff(names(run$others), names)] <- NULL
  before <- run$followed
  code <- run$parsed$code[[run$at]]
  target <- target_of(code)
  comment <- comment_of(run$parsed, run$at)
  given <- FALSE
  for (name in names) {
    value <- get(name, globalenv())
    known <- c(before[name], run$others[name])
    known <- known[!vapply(known, is.null, NA)]
    if (!is_followable(value)) {
      run$followed[[name]] <- run$others[[name]] <- NULL
      next
    }
    if (length(known) && is_unchanged(value, known[[1]])) next
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
  list(
    address = rlang::obj_address(value), columns = columns_of(value), at = run$at,
    read = any(all.names(code) %in% script_readers), hash = frame_hash(value), adopted = FALSE,
    table = is_table(run, all.names(code))
  )
}

# TRUE if a line makes a table of counts, or uses one.
is_table <- function(run, names) {
  tables <- names(Filter(function(other) isTRUE(other$table), run$others))
  any(names %in% c(summary_calls, tables))
}

# Frames whose columns, or whose name, made a frame that is followed need no roles of their own.
adopted <- function(others, state, reads) {
  at <- vapply(state$columns, rlang::obj_address, "")
  Map(function(other, name) {
    shared <- any(vapply(other$columns, rlang::obj_address, "") %in% at)
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
  names <- calls_in(run$parsed, run$at)$text
  if (any(names %in% calibrations)) run$calibrated <- run$parsed$first[[run$at]]
  for (name in intersect(names(obsolete_calls), names)) {
    about <- obsolete_calls[[name]]
    add_finding(
      run, "obsolete_call", paste0("`", name, "()` ", about[[1]], " Use ", about[[2]], "."),
      about[[3]], "above", names = name
    )
  }
}

calibrations <- c(
  "calibrate", "postStratify", "rake", "calib", "calibSample", "calibWeights", "e.calibrate",
  "ipf", "ipu", "trimWeights", "calibVars", "anesrake"
)

# Calls of sdcMicro: what is known of them, the answer, and the line that does it.
obsolete_calls <- list(
  LLmodGlobalRisk = c(
    "is deprecated in sdcMicro.", "loglinear_risk()", "loglinear_risk(file)"
  ),
  modRisk = c(
    "takes the mean of the sample for that of the population, so that its risks are too high.",
    "loglinear_risk()", "loglinear_risk(file)"
  ),
  pram_strata = c(
    "has left sdcMicro.", "invariant_pram(within = )", "invariant_pram(file)"
  ),
  localSupp = c(
    "suppresses one variable in all records above a threshold, whether they need it or not.",
    "suppress_cells()", "suppress_cells(file, k = 3)"
  ),
  localSupp2Wrapper = c(
    "has left sdcMicro.", "suppress_cells()", "suppress_cells(file, k = 3)"
  ),
  sdcGUI = c("has left sdcMicro.", "file_check_addin()", "file_check_addin()")
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
  tell(run, list(findings = do.call(rbind, c(list(no_findings()), run$findings))))
  run$findings <- list()
}
