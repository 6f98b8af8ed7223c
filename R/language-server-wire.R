# Bytes between an editor and the language server: messages of JSON-RPC 2.0, each after a header
# with its length.

rpc_codes <- list(
  parse = -32700L, request = -32600L, method = -32601L, params = -32602L, internal = -32603L,
  not_initialized = -32002L, cancelled = -32800L, modified = -32801L
)

max_message <- 64e6
max_header <- 4096

# `parts` that arrived and are no whole message yet, `size` bytes in all; at `need` bytes it is
# worth to look again. `skip` bytes belong to a message that is too large.
new_wire <- function() {
  list2env(list(parts = list(), size = 0, need = 1, skip = 0), parent = emptyenv())
}

# The bytes of each message that these bytes complete, NULL if a message cannot be read.
take_bytes <- function(wire, bytes) {
  wire$parts <- c(wire$parts, list(bytes))
  wire$size <- wire$size + length(bytes)
  bodies <- list()
  if (wire$size < wire$need) {
    return(bodies)
  }
  rest <- do.call(c, wire$parts)
  repeat {
    gone <- min(wire$skip, length(rest))
    wire$skip <- wire$skip - gone
    rest <- bytes_at(rest, gone + 1, length(rest) - gone)
    header <- header_of(rest)
    if (is.null(header)) break
    wire$need <- header$size + header$length
    if (header$bad) {
      wire$skip <- wire$need
      bodies <- c(bodies, list(NULL))
    } else if (length(rest) >= wire$need) {
      bodies <- c(bodies, list(bytes_at(rest, header$size + 1, header$length)))
      wire$skip <- wire$need
    } else {
      break
    }
  }
  if (is.null(header)) wire$need <- length(rest) + 1
  wire$parts <- list(rest)
  wire$size <- length(rest)
  bodies
}

bytes_at <- function(bytes, from, n) if (n > 0) bytes[from:(from + n - 1)] else raw()

# `size` of the header that bytes begin with, `length` of the message after it, and whether it is
# `bad`; NULL if more bytes are needed.
header_of <- function(bytes) {
  top <- utils::head(bytes, max_header)
  end <- regexpr_raw("\r?\n\r?\n", top)
  if (is.null(end)) {
    return(if (length(top) == max_header) list(size = length(bytes), length = 0, bad = TRUE))
  }
  head <- as.integer(top[seq_len(end)])
  text <- rawToChar(as.raw(ifelse(head %in% 1:127, head, 32L)))
  said <- regmatches(text, regexec(
    "(^|\n)content-length:[ \t]*([0-9]{1,15})[ \t]*\r?\n", text, ignore.case = TRUE
  ))[[1]]
  length <- if (base::length(said)) as.double(said[[3]]) else 0
  list(size = end, length = length, bad = base::length(said) == 0 || length > max_message)
}

# Position at which the first match ends.
regexpr_raw <- function(pattern, bytes) {
  found <- grepRaw(pattern, bytes)
  if (length(found)) found - 1L + length(grepRaw(pattern, bytes, value = TRUE))
}

# Bytes of standard input, as Latin-1 so that each is one letter, or nothing if the process ends
# first or half a second has passed.
polled_input <- function() {
  con <- processx::conn_create_fd(0L, encoding = "ISO-8859-1")
  function(process, lacking) {
    watched <- c(list(con), if (!is.null(process)) list(process$get_poll_connection()))
    if (processx::poll(watched, 500L)[[1]] %in% c("silent", "timeout")) {
      return(raw())
    }
    # A zero byte is an error, and the end: no client sends it.
    text <- tryCatch(processx::conn_read_chars(con), error = function(e) NULL)
    over <- is.null(text) || !nzchar(text) && !processx::conn_is_incomplete(con)
    if (!over) iconv(text, "UTF-8", "ISO-8859-1", toRaw = TRUE)[[1]]
  }
}

# No more bytes than a message lacks, as more would be waited for. A check that runs comes to its
# end first.
blocking_input <- function(con) {
  open(con, "rb")
  function(process, lacking) {
    if (!is.null(process) && process$is_alive()) {
      process$wait(200)
      return(raw())
    }
    bytes <- readBin(con, "raw", lacking)
    if (length(bytes)) bytes
  }
}

write_stdout <- function(text) {
  sink()
  on.exit(sink(stderr()))
  cat(text, file = stdout())
}

# Messages ----------------------------------------------------------------------------

send <- function(server, ...) {
  json <- ascii_json(jsonlite::toJSON(
    list(jsonrpc = "2.0", ...), auto_unbox = TRUE, null = "null", digits = NA
  ))
  server$write(paste0("Content-Length: ", nchar(json), "\r\n\r\n", json))
}

send_result <- function(server, id, result) send(server, id = id, result = result)

# Only a request has an `id`, and gets an answer.
send_error <- function(server, id, code, message) {
  if (!is.null(id)) send(server, id = id, error = list(code = code, message = message))
}

notify <- function(server, method, params) send(server, method = method, params = params)

# Letters that are not ASCII as escapes, so that no locale changes them on their way.
ascii_json <- function(json) {
  code <- utf8ToInt(enc2utf8(json))
  wide <- code > 127
  if (!any(wide)) {
    return(as.character(json))
  }
  letter <- character(length(code))
  letter[!wide] <- rawToChar(as.raw(code[!wide]), multiple = TRUE)
  high <- 0xD800 + (code - 0x10000) %/% 0x400
  low <- 0xDC00 + (code - 0x10000) %% 0x400
  letter[wide] <- ifelse(
    code[wide] < 0x10000, sprintf("\\u%04x", code[wide]),
    sprintf("\\u%04x\\u%04x", as.integer(high[wide]), as.integer(low[wide]))
  )
  paste(letter, collapse = "")
}

# Positions and places -----------------------------------------------------------------

# Number of UTF-16 units of letters.
utf16_units <- function(text) 1L + (utf8ToInt(enc2utf8(text)) > 0xFFFF)

# A line and column of R, from 1, as a position of the protocol, from 0.
position_out <- function(lines, line, column) {
  before <- substr(lines[[line]], 1L, column - 1L)
  list(line = line - 1L, character = if (nzchar(before)) sum(utf16_units(before)) else 0L)
}

range_out <- function(lines, start, end) {
  list(
    start = position_out(lines, start[[1]], start[[2]]),
    end = position_out(lines, end[[1]], end[[2]])
  )
}

# The column of R at a position.
column_in <- function(text, character) {
  if (nzchar(text)) sum(cumsum(utf16_units(text)) <= character) + 1L else 1L
}

# NA if the URI names no file, as for a text that was never saved.
path_of_uri <- function(uri) {
  if (!grepl("^file://", uri)) {
    return(NA_character_)
  }
  path <- sub("^file://[^/]*", "", uri)
  path <- suppressWarnings(tryCatch(utils::URLdecode(path), error = function(e) NA_character_))
  Encoding(path) <- "UTF-8"
  sub("^/([A-Za-z]:)", "\\1", path)
}
