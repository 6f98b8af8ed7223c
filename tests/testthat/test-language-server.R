# The language server: messages in this process, then with an editor in another.

skip_on_cran()

skip_if_not_installed("callr")
skip_if_not_installed("processx")

bytes_of <- function(...) charToRaw(paste0(...))
framed <- function(body) paste0("Content-Length: ", nchar(body, "bytes"), "\r\n\r\n", body)
whole <- function(wire, bytes) {
  vapply(take_bytes(wire, bytes), function(b) if (is.null(b)) "bad" else rawToChar(b), "")
}
new_wire <- sdcRisk:::new_wire
take_bytes <- sdcRisk:::take_bytes

test_that("messages are found however their bytes arrive", {
  text <- framed("{\"a\":\"\u00e9\U1F600\"}")
  both <- charToRaw(paste0(text, framed("2")))
  expect_identical(
    whole(new_wire(), both), c(rawToChar(charToRaw("{\"a\":\"\u00e9\U1F600\"}")), "2")
  )
  wire <- new_wire()
  one_by_one <- unlist(lapply(both, function(byte) whole(wire, byte)))
  expect_identical(one_by_one, whole(new_wire(), both))
  typed <- "Content-Type: x; charset=utf-8\r\ncontent-length:3\r\n\r\n123"
  expect_identical(whole(new_wire(), bytes_of(typed)), "123")
  empty <- bytes_of("Content-Length: 0\r\n\r\n", framed("7"))
  expect_identical(whole(new_wire(), empty), c("", "7"))
})

test_that("what is no message is passed over, and the next one is read", {
  wire <- new_wire()
  expect_identical(whole(wire, bytes_of("hello\r\n\r\n", framed("1"))), c("bad", "1"))
  expect_identical(whole(wire, bytes_of("Content-Length: -5\r\n\r\n", framed("1"))), c("bad", "1"))
  expect_identical(whole(wire, bytes_of("Content-Length: 1e3\r\n\r\n", framed("1"))), c("bad", "1"))
  expect_identical(whole(wire, as.raw(rep(c(0, 200, 65), 2000))), "bad")
  expect_identical(whole(wire, bytes_of(framed("1"))), "1")
  # A length of 65 million bytes is refused and its bytes are not kept.
  expect_identical(whole(wire, bytes_of("Content-Length: 65000000\r\n\r\n123")), "bad")
  expect_identical(whole(wire, raw(64999990)), character())
  expect_lt(wire$size, 10)
  expect_identical(whole(wire, bytes_of("1234567", framed("8"))), "8")
  expect_identical(whole(wire, bytes_of("Content-Length: 5\r\n")), character())
})

test_that("positions count units of UTF-16, lines of R letters", {
  line <- "\t\u00e9\U1F600x <- 1"
  expect_identical(sdcRisk:::position_out(line, 1L, 4), list(line = 0L, character = 4L))
  expect_identical(sdcRisk:::position_out(line, 1L, 1), list(line = 0L, character = 0L))
  expect_identical(sdcRisk:::column_in(line, 4), 4L)
  expect_identical(sdcRisk:::column_in(line, 0), 1L)
  expect_identical(sdcRisk:::column_in(line, 99), 10L)
  expect_identical(sdcRisk:::column_in("", 3), 1L)
  expect_identical(sdcRisk:::ascii_json("\"\u00e9\U1F600\""), "\"\\u00e9\\ud83d\\ude00\"")
  expect_identical(
    jsonlite::parse_json(sdcRisk:::ascii_json("\"a\u00e9\U1F600\u20ac\"")), "a\u00e9\U1F600\u20ac"
  )
  parsed <- sdcRisk:::parse_script(c("x <- 1", "\tf(1);\tg(2) ; '\u00e9'; h(3)"))
  expect_identical(parsed$column, c(1L, 2L, 8L, 15L, 20L))
  expect_identical(parsed$end, c(6L, 5L, 11L, 17L, 23L))
  expect_identical(sdcRisk:::position_of(parsed, 5, "h"), c(2L, 20L))
})

test_that("URIs become paths", {
  path <- sdcRisk:::path_of_uri
  expect_identical(path("file:///home/a%20b/%C3%B6.R"), "/home/a b/\u00f6.R")
  expect_identical(path("file:///c%3A/Users/x.R"), "c:/Users/x.R")
  expect_identical(path("file:///C:/Users/x.R"), "C:/Users/x.R")
  expect_identical(path("file://localhost/tmp/x.R"), "/tmp/x.R")
  expect_identical(path("untitled:Untitled-1"), NA_character_)
})

test_that("lines follow edits, and edited ones are lost", {
  moved <- sdcRisk:::moved_lines
  before <- letters[1:5]
  expect_identical(moved(1:5, before, c("new", before)), 2:6)
  expect_identical(moved(1:5, before, append(before, c("x", "y"), 2)), c(1L, 2L, 5L, 6L, 7L))
  expect_identical(moved(1:5, before, before[-3]), c(1L, 2L, NA, 3L, 4L))
  expect_identical(moved(1:5, before, replace(before, 3, "z")), c(1L, 2L, NA, 4L, 5L))
  expect_identical(moved(1:5, before, before), 1:5)
  expect_identical(moved(1:2, c("a", "a"), "a"), c(1L, NA))
  expect_identical(moved(1:5, before, character()), rep(NA_integer_, 5))
})

test_that("a script of 10,000 lines is split in little time", {
  lines <- paste0("x", 1:10000, " <- c(", 1:10000, ", '\u00e9') # and what it is for")
  time <- system.time(split <- sdcRisk:::script_lines(paste(lines, collapse = "\r\n")))
  expect_identical(split, lines)
  # By a regular expression it took 4.9 seconds.
  expect_lt(time[["user.self"]], 1)
  expect_identical(sdcRisk:::script_lines("a\r\rb\r\n\n"), c("a", "", "b", ""))
})

test_that("a repair goes above or below a whole expression, or replaces it", {
  repair <- sdcRisk:::repair_of
  lines <- c(
    "#| sdc: allow = \"no_seed\"", "people |>", "  head() |>", "  f()", "\tset.seed(1); x <- 2"
  )
  expect_identical(
    repair(lines, 4L, 3L, "y", "above"), list(start = c(1L, 1L), end = c(1L, 1L), text = "y\n")
  )
  expect_identical(
    repair(lines, 3, 3, "y", "below"), list(start = c(4L, 6L), end = c(4L, 6L), text = "\ny")
  )
  expect_identical(
    repair(lines, 5, 2, "y", "replace"), list(start = c(5L, 2L), end = c(5L, 13L), text = "y")
  )
  expect_identical(repair(lines, 5, 16, "y", "replace")$start, c(5L, 15L))
  expect_null(repair(lines, 1, 1, "y", "above"))
  expect_null(repair(c(lines, "("), 4, 3, "y", "above"))
})

# A server in this process, and what it wrote.
local_server <- function() {
  said <- new.env()
  said$list <- list()
  server <- sdcRisk:::new_server(list(k = 3), 10, function(text) {
    body <- sub("^.*?\r\n\r\n", "", text, perl = TRUE)
    said$list <- c(said$list, list(jsonlite::parse_json(body)))
  })
  said$get <- function(json) {
    said$list <- list()
    sdcRisk:::receive(server, charToRaw(json))
    said$list
  }
  said$server <- server
  said
}

test_that("errors have the codes of the protocol", {
  editor <- local_server()
  code <- function(json) vapply(editor$get(json), function(m) m$error$code, 0L)
  early <- "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"textDocument/hover\",\"params\":{}}"
  expect_identical(code(early), -32002L)
  expect_identical(code("{\"id\":1,"), -32700L)
  expect_null(editor$get("nonsense")[[1]]$id)
  expect_identical(code(paste(rep(c("[", "]"), each = 1e6), collapse = "")), -32700L)
  expect_length(editor$get("{\"method\":\"textDocument/didOpen\",\"params\":{}}"), 0)
  begin <- "{\"id\":\"a\",\"method\":\"initialize\",\"params\":{\"processId\":null}}"
  first <- editor$get(begin)[[1]]
  expect_identical(first$id, "a")
  expect_identical(first$result$capabilities$textDocumentSync$change, 1L)
  expect_identical(first$result$capabilities$positionEncoding, "utf-16")
  expect_identical(code(begin), -32600L)
  expect_identical(code("{\"id\":1,\"method\":\"nowhere\"}"), -32601L)
  other <- "{\"id\":1,\"method\":\"workspace/executeCommand\",\"params\":{\"command\":\"rm\"}}"
  expect_identical(code(other), -32602L)
  expect_identical(code(early), -32602L)
  expect_identical(code("{\"id\":1,\"method\":7}"), -32600L)
  for (other in c("[]", "[1,2]", "7", "{}", "[{\"id\":1,\"method\":\"shutdown\"}]")) {
    expect_identical(code(other), -32600L)
  }
  # Answers, and notifications that are not known, get no answer.
  for (silent in c("{\"id\":\"sdcRisk-1\",\"result\":null}", "{\"method\":\"$/unknown\"}",
                   "{\"method\":\"$/cancelRequest\",\"params\":{\"id\":99}}")) {
    expect_length(editor$get(silent), 0)
  }
  down <- editor$get("{\"id\":2,\"method\":\"shutdown\"}")[[1]]
  expect_identical(names(down), c("jsonrpc", "id", "result"))
  expect_identical(code(early), -32600L)
  editor$get("{\"method\":\"exit\"}")
  expect_identical(editor$server$phase, "over")
})

test_that("a script runs only by command unless the editor allows more", {
  editor <- local_server()
  uri <- "file:///nowhere/a.R"
  get <- function(method, ...) {
    editor$get(jsonlite::toJSON(list(method = method, params = list(...)), auto_unbox = TRUE))
  }
  save <- function() {
    get("textDocument/didSave", textDocument = list(uri = uri))
    length(editor$server$waiting)
  }
  editor$get("{\"id\":1,\"method\":\"initialize\",\"params\":{}}")
  text <- "x <- 1\r\ny <- 2"
  get("textDocument/didOpen", textDocument = list(uri = uri, text = text, version = 1))
  expect_identical(editor$server$scripts[[uri]]$lines, c("x <- 1", "y <- 2"))
  expect_identical(editor$server$scripts[[uri]]$ending, "\r\n")
  expect_identical(save(), 0L)
  get("workspace/didChangeConfiguration", settings = list(sdcRisk = list(runOnSave = "yes")))
  expect_identical(save(), 0L)
  get("workspace/didChangeConfiguration", settings = list(sdcRisk = list(runOnSave = TRUE)))
  expect_identical(save(), 1L)
  expect_identical(save(), 1L)
  # A cancelled request is answered at once, and its check does not begin.
  editor$get(jsonlite::toJSON(list(
    id = 5, method = "workspace/executeCommand",
    params = list(command = "sdcRisk.checkScript", arguments = list(uri))
  ), auto_unbox = TRUE))
  expect_identical(length(editor$server$waiting), 1L)
  cancelled <- editor$get("{\"method\":\"$/cancelRequest\",\"params\":{\"id\":5}}")
  expect_identical(cancelled[[1]]$id, 5L)
  expect_identical(cancelled[[1]]$error$code, -32800L)
  expect_length(editor$server$waiting, 0)
  closed <- get("textDocument/didClose", textDocument = list(uri = uri))
  expect_identical(closed[[1]]$params, list(uri = uri, diagnostics = list()))
})

test_that("standard input can be read without watching it", {
  path <- tempfile()
  write <- function(...) writeBin(charToRaw(paste0(framed(c(...)), collapse = "")), path)
  messages <- c(
    "{\"id\":1,\"method\":\"initialize\",\"params\":{}}", "{\"id\":2,\"method\":\"shutdown\"}",
    "{\"method\":\"exit\"}"
  )
  for (n in 2:3) {
    write(messages[seq_len(n)])
    editor <- local_server()
    input <- sdcRisk:::blocking_input(file(path))
    sdcRisk:::serve(editor$server, input)
    close(environment(input)$con)
    expect_length(editor$list, 2)
    expect_identical(editor$server$phase, c("down", "over")[[n - 1]])
  }
})

people <- c(
  "library(sdcRisk)", "keys <- c(\"CENREG\", \"DAGE3\", \"EDUC3\", \"GENDER\")",
  "people <- sdc_file(nals_prison[c(keys, \"SCORE\")], all_of(keys))"
)

# Edits of the server, applied as an editor does.
edited <- function(lines, edit) {
  expect_identical(edit$range$start, edit$range$end)
  at <- edit$range$start
  line <- lines[[at$line + 1]]
  new <- paste0(substr(line, 1, at$character), edit$newText, substring(line, at$character + 1))
  unlist(strsplit(append(lines[-(at$line + 1)], new, at$line), "\n", fixed = TRUE))
}

test_that("an editor sees findings, figures and repairs, and is not disturbed by the script", {
  editor <- start_editor()
  on.exit(editor$process$kill_tree())
  initialize_editor(editor)
  folder <- file.path(tempfile(), "mit \u00e4")
  dir.create(folder, recursive = TRUE)
  uri <- paste0("file://", utils::URLencode(file.path(folder, "skript \u00fc.R")))
  script <- c(
    people, "cat(\"Content-Length: 1\\r\\n\\r\\n\"); print(1); message(2); system(\"echo 3\")",
    "x <- '\u00e9\U1F600'; write.csv(people, \"a.csv\")", "y <- 1"
  )
  open_script(editor, uri, script, ending = "\r\n")
  save_script(editor, uri)
  found <- await_findings(editor, uri)
  expect_length(found, 1)
  expect_identical(found[[1]]$code, "above_limit")
  expect_identical(found[[1]]$severity, 1L)
  expect_match(found[[1]]$message, "19 of 182 records (10.4%)", fixed = TRUE)
  expect_identical(found[[1]]$range$start, list(line = 4L, character = 12L))
  expect_identical(found[[1]]$range$end, list(line = 4L, character = 38L))
  expect_true(file.exists(file.path(folder, "a.csv")))
  document <- list(uri = uri)
  lens <- answer_to(editor, "textDocument/codeLens", textDocument = document)$result
  expect_identical(lens[[1]]$command$title, "Check this script")
  expect_identical(lens[[2]]$range$start$line, 2L)
  expect_identical(lens[[2]]$command$title, "people: k = 1, 19 records below 3")
  hover <- function(line, character) {
    answer_to(
      editor, "textDocument/hover", textDocument = document,
      position = list(line = line, character = character)
    )$result
  }
  lines <- strsplit(hover(4L, 24L)$contents$value, "\n")[[1]]
  expect_length(lines, 3)
  expect_identical(lines[[1]], "people, line 3: k = 1, 19 records below 3")
  expect_match(lines[[2]], "182 records, key variables \"CENREG\"", fixed = TRUE)
  expect_match(lines[[3]], "19 of 182 records")
  expect_null(hover(4L, 0L))
  expect_null(hover(400L, 4L))

  action <- answer_to(
    editor, "textDocument/codeAction", textDocument = document,
    range = list(start = list(line = 4L, character = 0L), end = list(line = 4L, character = 1L)),
    context = list(diagnostics = list(), only = list("quickfix"))
  )$result
  expect_length(action, 1)
  expect_identical(action[[1]]$kind, "quickfix")
  edit <- action[[1]]$edit$changes[[uri]][[1]]
  expect_match(edit$newText, "\r\n$")
  edit$newText <- sub("\r\n", "\n", edit$newText)
  repaired <- edited(script, edit)
  expect_length(repaired, 7)
  # Until the next check, the finding is at its new line.
  change_script(editor, uri, repaired)
  expect_identical(await_findings(editor, uri)[[1]]$range$start$line, 5L)
  save_script(editor, uri)
  expect_identical(await_findings(editor, uri), list())

  # A new save ends the check that runs, and so does a request that is cancelled.
  marks <- file.path(folder, c("one", "two"))
  endless <- c(people, "writeLines(as.character(Sys.getpid()), \"one\")", "repeat Sys.sleep(0.1)")
  pid_in <- function(path) {
    until <- Sys.time() + 20
    while (!file.exists(path) && Sys.time() < until) Sys.sleep(0.05)
    Sys.sleep(0.05)
    as.integer(readLines(path))
  }
  gone <- function(pid) {
    until <- Sys.time() + 10
    while (tools::pskill(pid, 0L) && Sys.time() < until) Sys.sleep(0.05)
    !tools::pskill(pid, 0L)
  }
  change_script(editor, uri, endless, 3L)
  save_script(editor, uri)
  first <- pid_in(marks[[1]])
  change_script(editor, uri, sub("\"one\"", "\"two\"", endless), 4L)
  run <- ask(editor, "workspace/executeCommand", command = "sdcRisk.checkScript",
             arguments = list(uri))
  second <- pid_in(marks[[2]])
  lens <- answer_to(editor, "textDocument/codeLens", textDocument = document)$result
  expect_identical(lens[[1]]$command$title, "Checking this script")
  tell(editor, "$/cancelRequest", id = run)
  expect_identical(await_answer(editor, run)$error$code, -32800L)
  if (.Platform$OS.type == "unix") {
    expect_true(gone(first))
    expect_true(gone(second))
  }

  change_script(editor, uri, c("x <- 1", "x <- )"), 5L)
  run <- answer_to(
    editor, "workspace/executeCommand", command = "sdcRisk.checkScript", arguments = list(uri)
  )
  expect_match(run$result$message, "1 error")
  errors <- function(m) any(vapply(m$params$diagnostics, function(d) d$code == "syntax_error", NA))
  expect_identical(await(editor, errors)$params$diagnostics[[1]]$range$start$line, 1L)
  expect_null(answer_to(editor, "shutdown")$result)
  tell(editor, "exit")
  expect_identical(status_of(editor), 0L)
})

test_that("the server ends with its editor, and the script with the server", {
  skip_on_os("windows")
  folder <- tempfile("script")
  dir.create(folder)
  uri <- paste0("file://", file.path(folder, "s.R"))
  editor <- start_editor()
  on.exit(editor$process$kill_tree())
  write_bytes(editor, "nonsense\r\n\r\n")
  nonsense <- await(editor, function(m) identical(m$error$code, -32700L))
  expect_true("id" %in% names(nonsense))
  initialize_editor(editor, options = list(runOnOpen = TRUE))
  open_script(editor, uri, c("writeLines(as.character(Sys.getpid()), \"pid\")", "repeat {}"))
  path <- file.path(folder, "pid")
  until <- Sys.time() + 20
  while (!file.exists(path) && Sys.time() < until) Sys.sleep(0.05)
  Sys.sleep(0.1)
  pid <- as.integer(readLines(path))
  expect_true(tools::pskill(pid, 0L))
  write_bytes(editor, "Content-Length: 400\r\n\r\n{\"half")
  close(editor$process$get_input_connection())
  expect_identical(status_of(editor), 1L)
  until <- Sys.time() + 10
  while (tools::pskill(pid, 0L) && Sys.time() < until) Sys.sleep(0.05)
  expect_false(tools::pskill(pid, 0L))

  # A server that is killed cannot end its script.
  editor <- start_editor()
  on.exit(editor$process$kill_tree(), add = TRUE)
  unlink(path)
  initialize_editor(editor, options = list(runOnOpen = TRUE))
  open_script(editor, uri, c("writeLines(as.character(Sys.getpid()), \"pid\")", "repeat {}"))
  until <- Sys.time() + 20
  while (!file.exists(path) && Sys.time() < until) Sys.sleep(0.05)
  Sys.sleep(0.1)
  pid <- as.integer(readLines(path))
  expect_true(tools::pskill(pid, 0L))
  tools::pskill(editor$process$get_pid(), 9L)
  until <- Sys.time() + 20
  while (tools::pskill(pid, 0L) && Sys.time() < until) Sys.sleep(0.05)
  expect_false(tools::pskill(pid, 0L))

  # An editor that was killed and whose pipe another process still holds.
  other <- processx::process$new("sleep", "60")
  editor <- start_editor()
  answer_to(editor, "initialize", processId = other$get_pid(), rootUri = NULL)
  other$kill()
  expect_identical(status_of(editor), 1L)
})

test_that("it is not for the console, and its arguments are checked", {
  expect_error(language_server(limit = 3), class = "sdcRisk_error_bad_argument")
  expect_error(language_server(time_limit = -1), class = "sdcRisk_error_bad_argument")
  expect_error(language_server(lmit = 3), class = "sdcRisk_error_bad_argument")
  expect_error(sdcRisk:::no_client("a", "b", "c"), class = "sdcRisk_error_no_client")
})

test_that("Neovim shows findings and repairs a script", {
  nvim <- Sys.which("nvim")
  skip_if(nvim == "", "Neovim is not installed")
  folder <- tempfile("neovim")
  dir.create(folder)
  path <- file.path(folder, "skript \u00fc.R")
  script <- c(people, "x <- '\u00e9\U1F600'; write.csv(people, \"a.csv\")")
  writeLines(enc2utf8(script), path, useBytes = TRUE)
  server <- c(file.path(R.home("bin"), "Rscript"), "-e", "sdcRisk::language_server()")
  shown <- file.path(folder, "shown.json")
  lua <- normalizePath(test_path("neovim.lua"))
  run <- processx::run(
    nvim, c("--headless", "-u", "NONE", "-i", "NONE", "-n", "-S", lua),
    env = c(
      "current", R_LIBS = paste(.libPaths(), collapse = ":"), SDCRISK_SCRIPT = path,
      SDCRISK_SERVER = jsonlite::toJSON(server), SDCRISK_SHOWN = shown, HOME = folder
    ),
    wd = folder, timeout = 90, error_on_status = FALSE
  )
  shown <- jsonlite::fromJSON(shown)
  expect_null(shown$problem)
  expect_identical(shown$found$line, 3L)
  expect_identical(shown$found$text, "write.csv(people, \"a.csv\")")
  expect_identical(shown$found[c("severity", "code")], list(severity = 1L, code = "above_limit"))
  expect_identical(shown$lenses, c("Check this script", "people: k = 1, 19 records below 3"))
  expect_match(shown$hover, "^people, line 3: k = 1, 19 records below 3\n182 records")
  expect_identical(shown$actions, 1L)
  expect_match(shown$message, "no finding")
  expect_identical(shown$status, 0L)
  repaired <- readLines(path, encoding = "UTF-8")
  expect_identical(repaired[-4], script)
  expect_match(repaired[[4]], "^people <- suppress_cells")
})

# Recorded by dev/editor/record.js, with the client of the protocol that VS Code uses.
test_that("Microsoft's client of the protocol is answered as it was recorded", {
  folder <- tempfile("session")
  dir.create(folder)
  here <- paste0("file://", utils::URLencode(folder))
  session <- paste(readLines(test_path("session.json"), encoding = "UTF-8"), collapse = "\n")
  session <- jsonlite::parse_json(gsub("SDCRISK_FOLDER", here, session, fixed = TRUE))
  editor <- start_editor()
  on.exit(editor$process$kill_tree())
  # How often lenses are to be asked for again depends on time.
  refresh <- function(m) identical(m$method, "workspace/codeLens/refresh")
  answers <- 0L
  for (said in Filter(function(said) !refresh(said$message), session)) {
    message <- said$message
    if (is.null(message)) {
      expect_identical(status_of(editor), said$status)
    } else if (said$from == "client") {
      if (!is.null(message$method)) do.call(write_message, c(list(editor), message[-1]))
    } else if (is.null(message$method)) {
      version <- message$result$serverInfo$version
      if (!is.null(version)) {
        message$result$serverInfo$version <- as.character(utils::packageVersion("sdcRisk"))
      }
      answer <- await_answer(editor, message$id)
      # Whether a cancelled check had begun depends on time.
      if (!is.null(message$error)) answer$error$message <- message$error$message
      expect_identical(answer, message)
      answers <- answers + 1L
    } else {
      expect_identical(await(editor, function(m) identical(m$method, message$method)), message)
    }
  }
  expect_identical(answers, 7L)
})
