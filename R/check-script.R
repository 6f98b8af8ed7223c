#' Check a script for disclosure risk, line by line
#'
#' Which line of my script lets the risk out? The script is run in a fresh process, and every
#' data frame with known roles, and all that is made of it, is judged as by [file_check()].
#' The result lists the lines that write a file above a limit, bring an
#' identifier or a protected value back, or undo a protection, and the call that repairs each.
#'
#' @details
#' **What is followed.** A file of [sdc_file()], an sdcMicroObj, the result of a remedy, and a
#' data frame with a comment above the line that makes it:
#'
#' ```
#' #| sdc: key_vars = c(age, sex, region), weight_var = weight
#' people <- read.csv("people.csv")
#' ```
#'
#' The comment takes the arguments of [sdc_file()]. Frames made of a followed one by base R, dplyr,
#' data.table or sdcMicro are followed, too: after every expression at top level the
#' data frames in the workspace are compared, and a frame descends from another if the line names
#' it or shares a column with it, and it has some of its key variables, by name or by value.
#' `#| sdc: allow = "told_by_column"` above a line accepts findings of these codes there.
#'
#' Frames are judged by the measures that have a limit. Limits of the population and of households
#' are judged when a file is written, as are columns that reveal key variables. If a
#' line brings back an identifier or a value, and a later line repairs that before the frame is
#' written, nothing is reported.
#'
#' **What runs.** The whole script, as by `source()`, in the folder `dir`: files that it writes are
#' written. Run a script that you trust only. Its prints, messages and warnings are discarded, and
#' no value of a record leaves its process: only line numbers, names, counts and figures do.
#' If the environment variable `RELEASE_SEED` is not set, the process gets a value that nobody
#' knows, so that scripts that take their seed from there run. The process ends if R does.
#' Values are not printed at top level. The number of seconds that the check added to the script
#' is in `settings$cost`.
#'
#' @section Findings:
#' | code | severity | meaning |
#' |---|---|---|
#' | `above_limit` | error | a file is written that is above a limit |
#' | `identifier_written` | error | a file is written with a column that identifies |
#' | `identifier_returned` | error | an identifier that was left out comes back |
#' | `value_returned` | error | a protected value comes back in another column |
#' | `remedy_undone` | error | a later line takes a remedy back |
#' | `syntax_error`, `script_error`, `time_limit` | error | the script was not run to its end |
#' | `limit_unclear` | warning | it is not known whether a limit is kept |
#' | `told_by_column` | warning | a written column reveals a key variable, as an age its band |
#' | `original_written` | warning | a written object also holds the original values |
#' | `roles_lost` | warning | a file has lost its roles |
#' | `weights_changed` | warning | weights change after the file has them |
#' | `no_seed`, `seed_in_script` | warning | the seed of a protection is missing, or public |
#' | `other_settings` | warning | results with different settings are compared |
#' | `bad_comment` | warning | a comment does not give roles |
#' | `unknown_file` | information | a file is read that has no roles |
#' | `not_followed` | information | what is written cannot be followed, or not be judged |
#' | `script_ended` | warning | the script ends its process before its last line |
#' | `obsolete_call` | hint | a call of sdcMicro that a function of sdcRisk answers |
#'
#' `limit_unclear` is information if a limit that needs no model of the population is kept, as `k`.
#' @section Limits of the check:
#' What cannot be followed is reported and never guessed: a table of counts, a frame whose columns
#' have other names and values, a file that is read again. Frames inside functions are followed
#' when they are written or returned; 20 records or more that are written without a known origin, in
#' one call or by one line or to one file, are `not_followed`. The finding is at the call that
#' writes, or at the statement that calls a function defined above which writes. Values that a line
#' replaces in the place where they are, as `data.table::set()` does, are not compared with those
#' before.
#'
#' Text has no columns: what `writeLines()`, `cat()`, `write()`, `writeBin()`, `writeChar()`,
#' `dump()`, `sink()` and `capture.output()` write to a file, and packages by these,
#' is `not_followed`, from 20 lines or values on, and so are vectors, lists, matrices and models of
#' that length. Writers of other packages than base R, readr,
#' haven, data.table, arrow, foreign, jsonlite, openxlsx and writexl are not known: a file in the
#' working folder that such a function makes or changes is `not_followed`, and one elsewhere is not
#' seen. Pictures and reports (HTML, PDF, Word) are not looked at. Files in the session's temporary
#' folder are judged when base R, fs or zip copies, moves or packs them into another one. A copy of
#' a file that the script did not write is `not_followed`.
#' Data frames in attributes, environments, functions and objects, as in a picture of ggplot2, are
#' `original_written` if they are above a limit or have identifiers.
#'
#' What other columns of a written file, and the order of its records, tell of protected or missing
#' values is looked for as by [file_check()]; two columns that add up to a number are not.
#'
#' Row names are identifiers if they are text that R did not make, numbers beyond ten times the
#' records of any frame, or the values of an identifier. A
#' seed is public if it is a number in the script, or computed of such numbers alone. Continuous
#' variables count as protected after a remedy such as [microaggregate()], and those with the role
#' `num_vars` if a line leaves them fewer values.
#'
#' Branches that do not run, as of `if (interactive())`, are not judged, nor two files that can be
#' joined. Identifiers that `keep_ids` of [release_data()] names leave on purpose.
#'
#' Names of variables and columns are in the findings, except names that are not in the script and
#' are, or contain, values of a column.
#'
#' If the script stops with an error, findings up to there are given, and the class of the error.
#' Its text is given only if sdcRisk made it, as others may hold values.
#' @section Cost:
#' Frames are compared by the addresses of their columns, and judged anew only if values of a key
#' variable have changed; a frame that is a part of the records of another is judged when it is
#' written. In five scripts of 200 lines on 100,000 records that write one release, the check added
#' 27% to the processor time where lines print figures, nothing where they fit models, 32% where
#' they make 90 data frames, 49% where they add columns, take parts and copies, and 63% where they
#' change a data.table (medians of three pairs of runs by `dev/benchmarks/scripts.R` of the
#' sources). The process lets its memory grow sooner than R does (`R_GC_MEM_GROW = 3`, if it is not
#' set), which saves time with as much memory.
#' `settings$cost` has the seconds that it took.
#'
#' @param path Paths of scripts. Each runs in a process of its own.
#' @inheritParams sdcRisk-params
#' @param limit Limits by name as in [file_check()].
#' @param k The smallest number of records that may share a key, in place of `limit$k`.
#' @param time_limit Seconds after which a script is stopped.
#' @param dir The folder in which scripts run.
#' @return An object of class `sdc_script_check`, a list of
#'   \describe{
#'     \item{`findings`}{data frame with `file`, `line`, `column`, `severity` (`"error"`,
#'       `"warning"`, `"information"` or `"hint"`), `code`, `message`, `fix`, the line of code
#'       that repairs it, and `place`, whether that belongs `"above"` or `"below"` the line, or
#'       takes its place}
#'     \item{`frames`}{data frame with a row for each line that makes a followed frame: `file`,
#'       `line`, `column`, `name`, `records`, `lens`, such as `"k = 1, 88 records below 3"`,
#'       `verdict`, `keys`, `above`, `fix`}
#'     \item{`settings`}{limits, time limit, number of lines, seconds of the run and of the check}
#'   }
#'   `as.data.frame()` and `tidy()` give the findings. `quit_status(x)` is the exit status for a
#'   job: 1 if a finding has at least the `severity` given, 0 otherwise. `write_findings(x, file)`
#'   writes SARIF 2.1.0 (`.sarif`) or JUnit (`.xml`) and gives the path, invisibly.
#'
#'   Errors: `bad_argument` if a path is not a text file, `missing_package` without callr.
#' @family scripts
#' @export
#' @examples
#' script <- tempfile(fileext = ".R")
#' writeLines(c(
#'   "library(sdcRisk)",
#'   "#| sdc: key_vars = c(CENREG, DAGE3, EDUC3, GENDER, BORNUSA, DRACE3)",
#'   "prison <- nals_prison",
#'   "write.csv(prison, \"prison.csv\")"
#' ), script)
#' if (requireNamespace("callr", quietly = TRUE)) {
#'   checked <- check_script(script, dir = tempdir())
#'   print(checked$findings[c("line", "code")]) # line 4 writes a file above a limit
#'   quit_status(checked) # 1
#' }
check_script <- function(path, ..., limit = list(k = 3, journalist = 0.05), k = NULL,
                         time_limit = 600, dir = ".") {
  announce("check_script")
  check_given("path")
  check_no_dots(...)
  limit <- check_limits(with_k(limit, k))
  check_seconds(time_limit)
  check_paths(path)
  if (!is_text(dir) || !dir.exists(dir)) {
    stop_argument("dir", "be a folder that exists", given_words(dir))
  }
  check_installed("callr", "run a script in a process of its own")
  checks <- lapply(path, function(one) {
    check_lines(read_script(one), limit, time_limit, dir)
  })
  new_script_check(path, checks, limit, time_limit, match.call())
}

check_lines <- function(lines, limit, time_limit, dir) {
  check <- begin_check(lines, limit, time_limit, dir)
  while (!is_over(check)) check$process$wait(200)
  end_check(check)
}

is_text <- function(x) is.character(x) && length(x) == 1 && !is.na(x)

check_seconds <- function(time_limit) {
  number <- is.numeric(time_limit) && length(time_limit) == 1 && !is.na(time_limit)
  if (!number || time_limit <= 0) {
    stop_argument("time_limit", "be one positive number of seconds", given_words(time_limit))
  }
}

check_paths <- function(path) {
  if (!is.character(path) || length(path) == 0 || anyNA(path)) {
    stop_argument("path", "be paths of scripts", given_words(path))
  }
  absent <- path[!file.exists(path) | dir.exists(path)]
  if (length(absent)) {
    stop_argument(
      "path", "name files that exist", paste0("Not found: ", quote_names(basename(absent)), ".")
    )
  }
}

# The run -----------------------------------------------------------------------------

# A check that runs: its process, and the file to which it tells what it finds. A script that
# cannot be read has no process. `supervise`: end the process with this one, even if that is killed.
begin_check <- function(lines, limit, time_limit, dir, supervise = FALSE) {
  check <- list(
    lines = lines, log = tempfile("sdcRisk-check-"), begun = Sys.time(), time_limit = time_limit,
    parsed = parse_script(lines)
  )
  if (is.null(check$parsed$error)) {
    file.create(check$log)
    check$process <- callr::r_bg(
      function(lines, limit, log) asNamespace("sdcRisk")$run_script(lines, limit, log),
      list(lines, limit, check$log), libpath = .libPaths(), wd = dir, stdout = NULL,
      stderr = NULL, env = script_env(), supervise = supervise
    )
  }
  check
}

seed_variable <- "RELEASE_SEED"

# A script that takes its seed from outside also runs if nobody has given one, with a seed that
# nobody knows. R is to let its memory grow sooner than to search it for garbage after each line:
# the first values of every frame stay in it.
script_env <- function() {
  seed <- strtoi(substr(rlang::hash(list(tempfile(), Sys.time(), Sys.getpid())), 1, 7), 16L)
  ours <- rlang::set_names(c(format(seed), "3"), c(seed_variable, "R_GC_MEM_GROW"))
  c(callr::rcmd_safe_env(), ours[!nzchar(Sys.getenv(names(ours)))])
}

is_over <- function(check) {
  is.null(check$process) || !check$process$is_alive() || is_late(check)
}

is_late <- function(check) {
  as.double(Sys.time() - check$begun, units = "secs") > check$time_limit
}

# `findings`, `frames`, `cost` of a check that is over, or is ended here.
end_check <- function(check) {
  if (is.null(check$process)) {
    return(list(
      findings = check$parsed$error, frames = NULL, cost = 0, seconds = 0,
      n_lines = length(check$lines)
    ))
  }
  late <- check$process$is_alive()
  status <- if (!late) check$process$get_exit_status()
  if (late) check$process$kill_tree()
  told <- told_so_far(check$log)
  unlink(check$log)
  of <- function(part) Filter(Negate(is.null), lapply(told, `[[`, part))
  findings <- do.call(rbind, c(list(no_findings()), of("findings")))
  begun <- unlist(of("started"))
  if (length(of("done")) == 0) {
    held <- utils::tail(of("held"), 1)
    findings <- do.call(rbind, c(list(findings), unlist(held, recursive = FALSE)))
    at <- position_of(check$parsed, max(1L, begun))
    findings <- rbind(findings, unfinished(at, late, status, check$time_limit))
  }
  list(
    findings = told_once(findings),
    frames = last_of_line(do.call(rbind, as.list(unlist(of("frames"), recursive = FALSE)))),
    cost = sum(unlist(of("cost"))), n_lines = length(check$lines),
    seconds = as.double(Sys.time() - check$begun, units = "secs")
  )
}

# A frame that is written is judged a second time, by all limits.
last_of_line <- function(frames) {
  if (!is.null(frames)) frames[!duplicated(frames[c("line", "column", "name")], fromLast = TRUE), ]
}

# A loop can repeat a finding with other numbers: only the last one counts.
told_once <- function(findings) {
  words <- gsub("[0-9][0-9.,]*", "#", findings$message)
  key <- paste(findings$line, findings$column, findings$code, words, sep = "\r")
  n <- as.integer(table(key)[key])
  keep <- !duplicated(key, fromLast = TRUE)
  findings$message <- ifelse(
    n > 1, paste0(findings$message, " (", n, " times in this line)"), findings$message
  )
  findings[keep, ]
}

unfinished <- function(at, late, status, time_limit) {
  if (late) {
    finding(at, "time_limit", paste0(
      "The script was stopped in this line after ", format_number(time_limit),
      " seconds. Lines below were not run."
    ))
  } else {
    finding(at, "script_error", paste0(
      "The process of the script ended in this line with status ", status,
      ". Lines below were not run."
    ))
  }
}

# Lines appended to a file, up to a last one that is not complete.
told_so_far <- function(log) {
  con <- file(log, "rb")
  on.exit(close(con))
  told <- list()
  repeat {
    one <- tryCatch(unserialize(con), error = function(e) NULL)
    if (is.null(one)) {
      return(told)
    }
    told <- c(told, list(one))
  }
}

# The result --------------------------------------------------------------------------

new_script_check <- function(path, checks, limit, time_limit, call) {
  with_file <- function(part, none) {
    parts <- Map(function(file, check) {
      if (NROW(check[[part]])) cbind(file = file, check[[part]])
    }, path, checks)
    table <- do.call(rbind, c(list(none), unname(Filter(Negate(is.null), parts))))
    renumber(table)
  }
  findings <- with_file("findings", cbind(file = character(), no_findings()))
  findings <- findings[order(match(findings$file, path), findings$line, findings$column), ]
  number <- function(part) vapply(checks, function(check) as.double(check[[part]]), 0)
  structure(
    list(
      findings = renumber(findings), frames = with_file("frames", no_frames()),
      settings = list(
        files = path, limit = limit, time_limit = time_limit, n_lines = number("n_lines"),
        seconds = number("seconds"), cost = number("cost")
      ),
      call = call
    ),
    class = "sdc_script_check"
  )
}

no_frames <- function() {
  text <- character()
  frame(
    file = text, line = integer(), column = integer(), name = text, records = integer(),
    lens = text, verdict = text, keys = text, above = logical(), fix = text
  )
}
