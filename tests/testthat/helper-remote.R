# As much of DBI as dbplyr asks for, over a connection that is a list of functions: engines
# of the suite whose R packages are not in every repository. `state` has
#   query(sql)         runs a query, and gives a named list of columns
#   execute(sql)       runs a statement
#   write(name, data, append)  makes a table of a data frame, or adds its rows to one

# The classes and their methods, made with the first connection. dbplyr knows a dialect by
# the name of the class; its older versions know Hive alone, which Spark speaks.
remote_classes <- function(where = globalenv()) {
  class_of <- function(...) methods::setClass(..., where = where)
  loadNamespace("DBI")
  class_of(
    "RemoteEngine", contains = c("DBIConnection", "VIRTUAL"), slots = c(state = "environment")
  )
  class_of("Hive", contains = c("RemoteEngine", "VIRTUAL"))
  class_of("Spark SQL", contains = "Hive")
  class_of("PqConnection", contains = c("RemoteEngine", "VIRTUAL"))
  class_of("DuckDB", contains = "PqConnection")
  class_of("RemoteResult", contains = "DBIResult", slots = c(found = "data.frame"))
  method <- function(name, signature, code) {
    methods::setMethod(getExportedValue("DBI", name), signature, code, where = where)
  }
  text <- c("RemoteEngine", "character")
  query <- function(conn, statement) {
    columns <- conn@state$query(as.character(statement))
    structure(columns, row.names = seq_along(columns[[1]]), class = "data.frame")
  }
  method("dbGetQuery", text, function(conn, statement, ...) query(conn, statement))
  method("dbSendQuery", text, function(conn, statement, ...) {
    methods::new("RemoteResult", found = query(conn, statement))
  })
  method("dbFetch", "RemoteResult", function(res, n = -1, ...) {
    if (n < 0) res@found else utils::head(res@found, n)
  })
  method("dbHasCompleted", "RemoteResult", function(res, ...) TRUE)
  method("dbClearResult", "RemoteResult", function(res, ...) invisible(TRUE))
  method("dbExecute", text, function(conn, statement, ...) {
    conn@state$execute(as.character(statement))
    0
  })
  method("dbWriteTable", c(text, "data.frame"), function(conn, name, value, ...,
                                                         append = FALSE) {
    conn@state$write(name, value, append)
    invisible(TRUE)
  })
  method("dbExistsTable", text, function(conn, name, ...) {
    !inherits(try(query(conn, paste("SELECT * FROM", name, "LIMIT 0")), silent = TRUE), "try-error")
  })
  method("dbRemoveTable", text, function(conn, name, ...) {
    conn@state$execute(paste("DROP TABLE", name))
    invisible(TRUE)
  })
  method("dbDisconnect", "RemoteEngine", function(conn, ...) invisible(TRUE))
  method("dbQuoteIdentifier", c("Spark SQL", "character"), function(conn, x, ...) {
    if (methods::is(x, "SQL")) x else DBI::SQL(paste0("`", gsub("`", "``", x), "`"))
  })
}

remote_connection <- function(class, ...) {
  remote_classes()
  methods::new(class, state = list2env(list(...), parent = emptyenv()))
}

# The values of a column of an engine, NULL for none, in R's type for its own.
remote_column <- function(values, type) {
  if (is.null(values)) values <- logical()
  switch(tolower(sub("\\(.*", "", type)),
    string = , varchar = as.character(values), boolean = as.logical(values),
    tinyint = , smallint = , int = , integer = as.integer(values),
    bigint = , hugeint = , float = , double = , decimal = as.double(values),
    stop("The tests read no column of type ", type)
  )
}

# A data frame of text, logical values and numbers as a file of lines of JSON, and the
# columns as SQL declares them.
remote_file <- function(file, data) {
  out <- file(file, "wb")
  on.exit(close(out))
  jsonlite::stream_out(data, out, verbose = FALSE, na = "null", digits = NA)
  types <- c(
    character = "STRING", factor = "STRING", integer = "INT", numeric = "DOUBLE",
    logical = "BOOLEAN"
  )
  rlang::set_names(types[vapply(data, function(x) class(x)[[1]], "")], names(data))
}
