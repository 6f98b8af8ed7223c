# Findings of check_script(): code, severity and meaning. Help page, SARIF and editors read this
# table.
script_codes <- function() {
  frame(
    code = c(
      "above_limit", "limit_unclear", "identifier_written", "identifier_returned",
      "value_returned", "told_by_column", "remedy_undone", "original_written", "roles_lost",
      "weights_changed", "no_seed", "seed_in_script", "other_settings", "obsolete_call",
      "unknown_file", "not_followed", "bad_comment", "syntax_error", "script_error",
      "time_limit", "script_ended"
    ),
    severity = c(
      "error", "warning", "error", "error",
      "error", "warning", "error", "warning", "warning",
      "warning", "warning", "warning", "warning", "hint",
      "information", "information", "warning", "error", "error",
      "error", "warning"
    ),
    means = c(
      "A file is written that is above a limit",
      "A file is written and it is not known whether a limit is kept",
      "A file is written with a column that identifies persons or households",
      "An identifier that was left out comes back",
      "A protected value comes back in another column",
      "A file is written with a column that reveals a key variable",
      "A later line takes a remedy back",
      "A file is written that also holds the original values",
      "A file has lost its roles",
      "The weights change after the file has them",
      "Random numbers protect the file and no seed is set",
      "The script contains the seed of a protection",
      "Results are compared that were computed with different settings",
      "An obsolete call of sdcMicro that a function of sdcRisk answers",
      "A file is read of which the check knows no roles",
      "A file is written that the check cannot follow",
      "A comment does not give roles",
      "R cannot read the script",
      "The script stops with an error",
      "The script did not end within the time limit",
      "The script ends its process before its last line"
    )
  )
}

severities <- c("error", "warning", "information", "hint")

no_findings <- function() {
  text <- character()
  whole <- integer()
  frame(
    line = whole, column = whole, severity = text, code = text, message = text, fix = text,
    place = text
  )
}

# `fix` is a line of code, and `place` says whether it belongs above or below the line that was
# found, or replaces the call.
finding <- function(position, code, message, fix = "", place = "above", severity = NULL) {
  known <- script_codes()
  frame(
    line = as.integer(position[[1]]), column = as.integer(position[[2]]),
    severity = c(severity, known$severity[match(code, known$code)])[[1]], code = code,
    message = message,
    fix = fix, place = if (nzchar(fix)) place else ""
  )
}
