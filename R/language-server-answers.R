# Handlers for the messages of a client to the language server.

receive <- function(server, body) {
  message <- tryCatch(message_in(body), error = function(e) NULL)
  if (is.null(message)) {
    return(send(server, id = NULL, error = list(
      code = rpc_codes$parse, message = "The message is not JSON after a Content-Length."
    )))
  }
  id <- if (is.list(message)) message[["id"]]
  if (!is_text(id) && !(is.numeric(id) && length(id) == 1)) id <- NULL
  method <- if (is.list(message)) message[["method"]]
  if (is.null(method) && !is.null(id)) {
    # The answer to a request of the server.
    return(invisible())
  }
  if (!is_text(method)) {
    return(send(server, id = id, error = list(
      code = rpc_codes$request, message = "The message has no method."
    )))
  }
  answer(server, method, message[["params"]], id)
}

message_in <- function(body) {
  text <- rawToChar(body)
  Encoding(text) <- "UTF-8"
  jsonlite::parse_json(text)
}

answer <- function(server, method, params, id) {
  early <- server$phase == "new" && !method %in% c("initialize", "exit")
  late <- server$phase == "down" && method != "exit"
  if (early || late || method == "initialize" && server$phase != "new") {
    return(send_error(
      server, id, if (early) rpc_codes$not_initialized else rpc_codes$request,
      if (early) "The first request must be initialize." else "This request comes too late."
    ))
  }
  handler <- server_methods()[[method]]
  if (is.null(handler)) {
    return(send_error(server, id, rpc_codes$method, paste0("No method ", shorten(method), ".")))
  }
  result <- tryCatch(list(handler(server, params, id)), error = function(e) {
    ours <- inherits(e, "sdcRisk_rpc")
    send_error(
      server, id, if (ours) rpc_codes$params else rpc_codes$internal,
      if (ours) conditionMessage(e) else paste0("An error of class ", class(e)[[1]], ".")
    )
    NULL
  })
  if (!is.null(id) && length(result) && !identical(result[[1]], deferred)) {
    send_result(server, id, result[[1]])
  }
}

# The result of a request that is answered later.
deferred <- structure(list(), class = "sdcRisk_deferred")

wrong_params <- function(message) {
  stop(errorCondition(message, class = "sdcRisk_rpc"))
}

server_methods <- function() {
  list(
    initialize = on_initialize,
    initialized = function(server, params, id) NULL,
    shutdown = function(server, params, id) {
      end_checks(server, "the server ends")
      server$phase <- "down"
      NULL
    },
    exit = function(server, params, id) {
      server$phase <- if (server$phase == "down") "over" else "gone"
    },
    `$/cancelRequest` = on_cancel,
    `$/setTrace` = function(server, params, id) NULL,
    `workspace/didChangeConfiguration` = function(server, params, id) {
      allow_runs(server, params$settings$sdcRisk)
    },
    `workspace/executeCommand` = on_command,
    `textDocument/didOpen` = on_open,
    `textDocument/didChange` = on_change,
    `textDocument/didSave` = on_save,
    `textDocument/didClose` = on_close,
    `textDocument/hover` = on_hover,
    `textDocument/codeAction` = on_code_action,
    `textDocument/codeLens` = on_code_lens
  )
}

on_initialize <- function(server, params, id) {
  server$phase <- "ready"
  if (is.numeric(params$processId)) server$client <- as.integer(params$processId)
  folders <- params$workspaceFolders
  root <- if (length(folders)) folders[[1]]$uri else params$rootUri
  if (is_text(root) && !is.na(path_of_uri(root))) server$root <- sub("/$", "", path_of_uri(root))
  server$refresh <- isTRUE(params$capabilities$workspace$codeLens$refreshSupport)
  allow_runs(server, params$initializationOptions)
  list(
    serverInfo = list(name = "sdcRisk", version = own_version()),
    capabilities = list(
      positionEncoding = "utf-16",
      textDocumentSync = list(openClose = TRUE, change = 1L, save = list(includeText = FALSE)),
      hoverProvider = TRUE, codeActionProvider = list(codeActionKinds = list("quickfix")),
      codeLensProvider = list(resolveProvider = FALSE),
      executeCommandProvider = list(commands = list(check_command))
    )
  )
}

check_command <- "sdcRisk.checkScript"

# When scripts may run without a command.
allow_runs <- function(server, options) {
  if (!is.list(options)) {
    return(NULL)
  }
  for (on in c("runOnSave", "runOnOpen")) {
    if (!is.null(options[[on]])) server$may_run[[on]] <- isTRUE(options[[on]])
  }
  NULL
}

on_cancel <- function(server, params, id) {
  all <- c(list(server$check), server$waiting)
  for (one in all) {
    if (!is.null(one$id) && identical(one$id, params$id)) {
      end_checks(server, "it was cancelled", one$uri, rpc_codes$cancelled)
      refresh_lenses(server)
    }
  }
  NULL
}

on_command <- function(server, params, id) {
  if (!identical(params$command, check_command)) {
    wrong_params(paste0("The command must be ", check_command, "."))
  }
  uri <- if (length(params$arguments)) params$arguments[[1]]
  script_at(server, uri)
  want_check(server, uri, id)
  deferred
}

# Text --------------------------------------------------------------------------------

script_at <- function(server, uri) {
  script <- if (is_text(uri) && nzchar(uri)) server$scripts[[uri]]
  if (is.null(script)) wrong_params("The URI must be that of a script that is open.")
  script
}

script_text <- function(text, version) {
  if (!is_text(text)) wrong_params("A script must have text.")
  ending <- if (grepl("\r\n", text, fixed = TRUE)) "\r\n" else "\n"
  list(lines = script_lines(text), ending = ending, version = version)
}

on_open <- function(server, params, id) {
  document <- params$textDocument
  if (!is_text(document$uri) || !nzchar(document$uri)) wrong_params("A script must have a URI.")
  server$scripts[[document$uri]] <- script_text(document$text, document$version)
  if (isTRUE(server$may_run$runOnOpen)) want_check(server, document$uri)
  NULL
}

on_change <- function(server, params, id) {
  uri <- params$textDocument$uri
  before <- script_at(server, uri)
  after <- script_text(utils::tail(params$contentChanges, 1)[[1]]$text, params$textDocument$version)
  if (!is.null(before$result)) {
    after$result <- moved_result(before$result, before$lines, after$lines)
  }
  server$scripts[[uri]] <- after
  if (!is.null(after$result)) publish(server, uri)
  NULL
}

on_save <- function(server, params, id) {
  script_at(server, params$textDocument$uri)
  if (isTRUE(server$may_run$runOnSave)) want_check(server, params$textDocument$uri)
  NULL
}

on_close <- function(server, params, id) {
  uri <- params$textDocument$uri
  script_at(server, uri)
  end_checks(server, "the script was closed", uri)
  server$scripts[[uri]] <- NULL
  publish(server, uri)
  NULL
}

# Findings ----------------------------------------------------------------------------

publish <- function(server, uri) {
  script <- server$scripts[[uri]]
  found <- script$result$findings
  about <- list(uri = uri, diagnostics = lapply(seq_len(NROW(found)), function(i) {
    diagnostic_of(script$lines, found[i, ])
  }))
  if (!is.null(script$version)) about$version <- script$version
  notify(server, "textDocument/publishDiagnostics", about)
}

# From where a finding begins to the end of its line.
diagnostic_of <- function(lines, f) {
  lines <- if (length(lines)) lines else ""
  end <- max(f$column, nchar(lines[[f$line]])) + 1L
  list(
    range = range_out(lines, c(f$line, f$column), c(f$line, end)),
    severity = match(f$severity, severities), code = f$code, source = "sdcRisk",
    message = f$message
  )
}

on_code_action <- function(server, params, id) {
  uri <- params$textDocument$uri
  script <- script_at(server, uri)
  only <- unlist(params$context$only)
  if (is.null(script$result) || length(only) && !"quickfix" %in% only) {
    return(list())
  }
  repairs <- repairs_in(script$result)
  rows <- params$range$start$line + 1L <= repairs$line & repairs$line <= params$range$end$line + 1L
  repairs <- repairs[rows, ]
  if (nrow(repairs) == 0) {
    return(list())
  }
  parsed <- parse_script(script$lines)
  actions <- lapply(seq_len(nrow(repairs)), function(i) {
    one <- repairs[i, ]
    edit <- repair_of(script$lines, one$line, one$column, one$fix, one$place, parsed)
    if (is.null(edit)) {
      return(NULL)
    }
    text <- gsub("\n", script$ending, edit$text, fixed = TRUE)
    change <- list(range = range_out(script$lines, edit$start, edit$end), newText = text)
    list(
      title = shorten(one$title, 100), kind = "quickfix",
      edit = list(changes = stats::setNames(list(list(change)), uri))
    )
  })
  Filter(Negate(is.null), actions)
}

# Data frames -------------------------------------------------------------------------

on_code_lens <- function(server, params, id) {
  uri <- params$textDocument$uri
  script <- script_at(server, uri)
  lens <- function(line, command) {
    at <- list(line = line, character = 0L)
    list(range = list(start = at, end = at), command = command)
  }
  runs <- identical(server$check$uri, uri)
  run <- list(
    title = if (runs) "Checking this script" else "Check this script", command = check_command,
    arguments = list(uri)
  )
  frames <- script$result$frames
  c(list(lens(0L, run)), lapply(seq_len(NROW(frames)), function(i) {
    lens(frames$line[[i]] - 1L, list(
      title = paste0(frames$name[[i]], ": ", frames$lens[[i]]), command = ""
    ))
  }))
}

refresh_lenses <- function(server) {
  if (server$refresh && server$phase == "ready") {
    server$n_sent <- server$n_sent + 1L
    send(server, id = paste0("sdcRisk-", server$n_sent), method = "workspace/codeLens/refresh")
  }
}

# Three lines on the data frame whose name is at the position, as it is made there or above.
on_hover <- function(server, params, id) {
  script <- script_at(server, params$textDocument$uri)
  line <- params$position$line + 1L
  frames <- script$result$frames
  if (NROW(frames) == 0 || line > length(script$lines)) {
    return(NULL)
  }
  text <- script$lines[[line]]
  name <- name_at(text, column_in(text, params$position$character))
  found <- utils::tail(frames[frames$name == name & frames$line <= line, ], 1)
  if (nrow(found)) {
    list(contents = list(kind = "plaintext", value = paste0(
      name, ", line ", found$line, ": ", found$lens, "\n", plural(found$records, "record"),
      ", key variables ", found$keys, "\n", found$verdict
    )))
  }
}

# The name of a variable that a column of a line is in, "" if it is in none.
name_at <- function(text, column) {
  found <- gregexpr("(*UCP)`[^`]+`|[\\p{L}.][\\p{L}\\p{N}._]*", text, perl = TRUE)[[1]]
  at <- which(found <= column & column <= found + attr(found, "match.length"))
  if (length(at) == 0 || found[[1]] < 0) {
    return("")
  }
  gsub("`", "", regmatches(text, list(found))[[1]][[at[[1]]]], fixed = TRUE)
}
