# An editor: sends messages of the Language Server Protocol to a server in a process of its own.

start_editor <- function(code = "sdcRisk::language_server(time_limit = 20)") {
  editor <- new.env()
  env <- c("current", R_LIBS = paste(.libPaths(), collapse = .Platform$path.sep))
  editor$process <- processx::process$new(
    file.path(R.home("bin"), "Rscript"), c("-e", code), stdin = "|", stdout = "|",
    stderr = tempfile(), encoding = "UTF-8", env = env, cleanup_tree = TRUE
  )
  editor$text <- ""
  editor$messages <- list()
  editor$n <- 0L
  editor
}

write_bytes <- function(editor, bytes) {
  if (is.character(bytes)) bytes <- charToRaw(enc2utf8(bytes))
  while (length(bytes)) bytes <- editor$process$write_input(bytes)
}

write_message <- function(editor, ...) {
  json <- enc2utf8(as.character(jsonlite::toJSON(
    list(jsonrpc = "2.0", ...), auto_unbox = TRUE, null = "null"
  )))
  write_bytes(editor, paste0("Content-Length: ", nchar(json, "bytes"), "\r\n\r\n", json))
}

tell <- function(editor, method, ...) {
  write_message(editor, method = method, params = list(...))
}

# The id of a request.
ask <- function(editor, method, ...) {
  editor$n <- editor$n + 1L
  write_message(editor, id = editor$n, method = method, params = list(...))
  editor$n
}

# The next message that `wanted()` accepts; others are kept in `messages`.
await <- function(editor, wanted, seconds = 30) {
  until <- Sys.time() + seconds
  repeat {
    hit <- Position(wanted, editor$messages)
    if (!is.na(hit)) {
      message <- editor$messages[[hit]]
      editor$messages <- editor$messages[-hit]
      return(message)
    }
    if (Sys.time() > until) stop("No such message in time.")
    editor$process$poll_io(200)
    editor$text <- paste0(editor$text, editor$process$read_output())
    repeat {
      # The server writes ASCII only, so that letters are bytes.
      pattern <- "^Content-Length: ([0-9]+)\r\n\r\n"
      head <- regmatches(editor$text, regexec(pattern, editor$text))[[1]]
      if (length(head) == 0) {
        stopifnot(nchar(editor$text) < 30 || grepl("^Content-Length", editor$text))
        break
      }
      size <- nchar(head[[1]]) + as.integer(head[[2]])
      if (nchar(editor$text) < size) break
      body <- substr(editor$text, nchar(head[[1]]) + 1, size)
      editor$messages <- c(editor$messages, list(jsonlite::parse_json(body)))
      editor$text <- substr(editor$text, size + 1, nchar(editor$text))
    }
  }
}

await_answer <- function(editor, id, ...) {
  force(id)
  await(editor, function(m) identical(m$id, id) && is.null(m$method), ...)
}

await_findings <- function(editor, uri, ...) {
  await(editor, function(m) {
    identical(m$method, "textDocument/publishDiagnostics") && m$params$uri == uri
  }, ...)$params$diagnostics
}

answer_to <- function(editor, method, ...) await_answer(editor, ask(editor, method, ...))

initialize_editor <- function(editor, ..., options = list(runOnSave = TRUE)) {
  result <- answer_to(
    editor, "initialize", processId = Sys.getpid(), rootUri = NULL,
    capabilities = list(workspace = list(codeLens = list(refreshSupport = TRUE))),
    initializationOptions = options, ...
  )$result
  write_message(editor, method = "initialized", params = stats::setNames(list(), character()))
  result
}

open_script <- function(editor, uri, lines, ending = "\n") {
  tell(editor, "textDocument/didOpen", textDocument = list(
    uri = uri, languageId = "r", version = 1L, text = paste(lines, collapse = ending)
  ))
}

change_script <- function(editor, uri, lines, version = 2L) {
  tell(
    editor, "textDocument/didChange", textDocument = list(uri = uri, version = version),
    contentChanges = list(list(text = paste(lines, collapse = "\n")))
  )
}

save_script <- function(editor, uri) {
  tell(editor, "textDocument/didSave", textDocument = list(uri = uri))
}

# The exit status of the server after it has ended.
status_of <- function(editor, seconds = 20) {
  editor$process$wait(1000 * seconds)
  editor$process$get_exit_status()
}
