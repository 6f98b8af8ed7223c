#' Check scripts in an editor
#'
#' Which line lets the risk out, while I write it? `language_server()` speaks the Language Server
#' Protocol over standard input and output. An editor starts it and shows the findings of
#' [check_script()] at their lines. It shows the figures of a data frame above the line that makes
#' it and at its name, and inserts the line that repairs a finding.
#'
#' @details
#' ```
#' Rscript -e "sdcRisk::language_server()"
#' ```
#'
#' is the command that an editor is given; `vignette("beside-the-script")` has the settings of
#' Neovim, VS Code, Positron and RStudio.
#'
#' **When a script runs.** By the command `sdcRisk.checkScript` and the lens "Check this script"
#' above its first line, which check the text as it is in the editor. On each save only if the
#' editor sends `runOnSave: true`, and when it is opened only if it sends `runOnOpen: true`, in
#' `initializationOptions` or as the setting `sdcRisk` of the workspace. Allow it for projects
#' whose scripts you trust. A script runs in the folder of the workspace, or in its own if it is
#' in no workspace. One script runs at a time; saving it again stops its run and begins anew.
#'
#' **What travels.** Line numbers, names of variables, counts, figures and messages. No value of
#' a record does, and what the script prints is discarded.
#'
#' **What the editor shows.** Findings as diagnostics with their code; `fix` as a quick fix, above
#' or below the whole expression that was found; `lens` of each data frame above its line;
#' its records, key variables and verdict at its name. Text that is edited moves them, and an
#' edited line loses its findings until the next check.
#'
#' **How it ends.** On `exit`, when standard input ends, or when the process of the editor is gone.
#' The process of a running check ends with it.
#'
#' On Windows standard input cannot be watched while a script runs: a check goes to its end before
#' the next message is read, so that it is not cancelled by a new save. This part is tested with
#' files on Linux, not on Windows.
#'
#' @section Cost:
#' The server waits without computing. A check costs the run of the script and `settings$cost` of
#' [check_script()].
#' @inheritParams check_script
#' @return `NULL`, invisibly, after the editor has asked for `shutdown` and `exit`.
#'
#'   Errors, which make the exit status of `Rscript` 1: `no_client` if the editor ends without
#'   `shutdown`, or if R is interactive, `bad_argument`, `missing_package` without callr.
#' @family scripts
#' @export
#' @examples
#' # An editor runs this line in a process of its own:
#' code <- quote(sdcRisk::language_server(k = 5, time_limit = 60))
language_server <- function(..., limit = list(k = 3, journalist = 0.05), k = NULL,
                            time_limit = 600) {
  announce("language_server")
  check_no_dots(...)
  limit <- check_limits(with_k(limit, k))
  check_seconds(time_limit)
  check_installed("callr", "run scripts in processes of their own")
  if (interactive()) no_client(by_editor, "This session is interactive.", editor_command)
  # Other output must not reach the editor.
  sink(stderr())
  on.exit(sink(), add = TRUE)
  server <- new_server(limit, time_limit, write_stdout)
  input <- if (.Platform$OS.type == "windows") blocking_input(file("stdin")) else polled_input()
  serve(server, input)
  if (server$phase != "over") {
    no_client(by_editor, "It ended without `shutdown` and `exit`.", editor_command)
  }
  invisible()
}

no_client <- function(must, found, advice) {
  stop_sdc("no_client", c(must, x = found, i = advice))
}

by_editor <- "An editor must start language_server() and end it."
editor_command <- "Give it the command: Rscript -e \"sdcRisk::language_server()\"."

# `phase`: "new", "ready" after initialize, "down" after shutdown, "over" after exit, "gone" if
#   exit came first.
# `scripts`: what is open, by URI: `lines`, `version`, line `ending`, and the `result` of the last
#   check, whose lines follow edits.
# `check`: the check that runs, as of begin_check(), its `uri`, and the `id` of the request that
#   waits for it, if there is one; `waiting`: those to come.
new_server <- function(limit, time_limit, write) {
  list2env(list(
    phase = "new", scripts = list(), check = NULL, waiting = list(), limit = limit,
    time_limit = time_limit, write = write, root = NULL, client = NULL, may_run = list(),
    refresh = FALSE, n_sent = 0L
  ), parent = emptyenv())
}

# `input()` waits a while for bytes, or for the process that it is given; NULL is the end.
serve <- function(server, input) {
  wire <- new_wire()
  on.exit(end_checks(server, "the server ends"))
  while (!server$phase %in% c("over", "gone") && client_lives(server)) {
    bytes <- input(server$check$process, wire$need - wire$size)
    if (is.null(bytes)) break
    for (body in take_bytes(wire, bytes)) receive(server, body)
    run_checks(server)
  }
}

client_lives <- function(server) {
  # On Windows a signal of any number ends a process.
  is.null(server$client) || .Platform$OS.type == "windows" || tools::pskill(server$client, 0L)
}

# Checks ------------------------------------------------------------------------------

want_check <- function(server, uri, id = NULL) {
  end_checks(server, "the script is checked anew", uri)
  server$waiting <- c(server$waiting, list(list(uri = uri, id = id)))
}

run_checks <- function(server) {
  if (!is.null(server$check) && is_over(server$check)) finish_check(server)
  while (is.null(server$check) && length(server$waiting)) {
    one <- server$waiting[[1]]
    server$waiting <- server$waiting[-1]
    lines <- server$scripts[[one$uri]]$lines
    check <- begin_check(
      lines, server$limit, server$time_limit, script_folder_of(server, one$uri), supervise = TRUE
    )
    server$check <- c(check, one)
    refresh_lenses(server)
    if (is_over(server$check)) finish_check(server)
  }
}

# Ends checks of a script, or all, that run or wait; a request that waits for one is told.
end_checks <- function(server, why, uri = NULL, code = rpc_codes$modified) {
  ended <- function(one) is.null(uri) || one$uri == uri
  if (!is.null(server$check) && ended(server$check)) {
    server$check$process$kill_tree()
    unlink(server$check$log)
    send_error(server, server$check$id, code, paste0("The check was ended: ", why, "."))
    server$check <- NULL
  }
  over <- vapply(server$waiting, ended, NA)
  for (one in server$waiting[over]) {
    send_error(server, one$id, code, paste0("The check did not begin: ", why, "."))
  }
  server$waiting <- server$waiting[!over]
}

finish_check <- function(server) {
  check <- server$check
  server$check <- NULL
  script <- server$scripts[[check$uri]]
  path <- path_of_uri(check$uri)
  found <- new_script_check(
    if (is.na(path)) check$uri else path, list(end_check(check)), server$limit,
    server$time_limit, NULL
  )
  script$result <- moved_result(found, check$lines, script$lines)
  server$scripts[[check$uri]] <- script
  publish(server, check$uri)
  refresh_lenses(server)
  title <- script_title(found)
  notify(server, "window/logMessage", list(type = 3L, message = title))
  if (!is.null(check$id)) send_result(server, check$id, list(message = title))
}

# The folder of the workspace that the script is in, else its own.
script_folder_of <- function(server, uri) {
  path <- path_of_uri(uri)
  inside <- !is.null(server$root) && (is.na(path) || startsWith(path, paste0(server$root, "/")))
  folder <- if (inside) server$root else dirname(path)
  if (is.na(folder) || !dir.exists(folder)) "." else folder
}

# A result with its lines as they are after an edit; what was found in edited lines is left out.
moved_result <- function(result, before, after) {
  for (part in c("findings", "frames")) {
    table <- result[[part]]
    table$line <- moved_lines(table$line, before, after)
    result[[part]] <- table[!is.na(table$line), ]
  }
  result
}

moved_lines <- function(line, before, after) {
  n <- min(length(before), length(after))
  n_alike <- function(a, b) match(FALSE, a == b, n + 1L) - 1L
  top <- n_alike(utils::head(before, n), utils::head(after, n))
  bottom <- n_alike(rev(utils::tail(before, n)), rev(utils::tail(after, n)))
  below <- line > length(before) - min(bottom, n - top)
  ifelse(line <= top, line, ifelse(below, line + length(after) - length(before), NA_integer_))
}
