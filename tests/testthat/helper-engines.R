# Engines that the suite for tables of a database runs on: each that is installed here.
# A server of PostgreSQL is started once, in a folder and on a socket of its own.

engine_state <- new.env(parent = emptyenv())

# A connection to an engine, or a skip where it is not installed. "data frame" needs none.
engine_connection <- function(engine) {
  if (engine == "data frame") {
    return(NULL)
  }
  testthat::skip_if_not_installed("dplyr")
  testthat::skip_if_not_installed("dbplyr")
  if (is.null(engine_state[[engine]])) {
    engine_state[[engine]] <- switch(engine,
      sqlite = connect_sqlite(), postgres = connect_postgres(), duckdb = connect_duckdb(),
      spark = connect_spark()
    )
  }
  engine_state[[engine]]
}

connect_sqlite <- function() {
  testthat::skip_if_not_installed("RSQLite")
  DBI::dbConnect(RSQLite::SQLite(), ":memory:")
}

connect_postgres <- function() {
  testthat::skip_if_not_installed("RPostgreSQL")
  folder <- utils::tail(sort(Sys.glob("/usr/lib/postgresql/*/bin")), 1)
  testthat::skip_if(length(folder) == 0, "PostgreSQL is not installed")
  # The server refuses to run as root.
  as_root <- Sys.info()[["effective_user"]] == "root"
  testthat::skip_if(as_root && !nzchar(Sys.which("runuser")), "PostgreSQL does not run as root")
  place <- tempfile("sdcrisk-pg-", tmpdir = "/tmp")
  dir.create(place, mode = "0700")
  if (as_root) system2("chown", c("postgres", place))
  run <- function(program, ...) {
    command <- c(file.path(folder, program), ...)
    if (as_root) command <- c("runuser", "-u", "postgres", "--", command)
    system2(command[[1]], command[-1], stdout = FALSE, stderr = FALSE)
  }
  files <- file.path(place, "data")
  made <- run(
    "initdb", "-D", files, "-U", "sdcrisk", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"
  )
  testthat::skip_if(made != 0, "PostgreSQL cannot make a cluster here")
  # No port of the machine: a socket in the folder alone.
  options <- shQuote(paste0("-c listen_addresses='' -c fsync=off -k ", place, " -p 5432"))
  log <- file.path(place, "log")
  started <- run("pg_ctl", "-D", files, "-w", "-t", "20", "-l", log, "-o", options, "start")
  testthat::skip_if(started != 0, "PostgreSQL does not start here")
  engine_state$stop_postgres <- function() {
    run("pg_ctl", "-D", files, "-m", "immediate", "stop")
    unlink(place, recursive = TRUE)
  }
  reg.finalizer(engine_state, stop_engines, onexit = TRUE)
  DBI::dbConnect(
    RPostgreSQL::PostgreSQL(), host = place, port = 5432, user = "sdcrisk", dbname = "postgres"
  )
}

stop_engines <- function(state = engine_state) {
  for (engine in c("sqlite", "postgres", "duckdb", "spark")) {
    if (!is.null(state[[engine]])) {
      try(DBI::dbDisconnect(state[[engine]]), silent = TRUE)
      state[[engine]] <- NULL
    }
  }
  for (stop in c("stop_postgres", "stop_spark", "stop_duckdb")) {
    if (!is.null(state[[stop]])) state[[stop]]()
    state[[stop]] <- NULL
  }
}

# RPostgreSQL speaks to dbplyr in an older way, of which dbplyr warns once.
lazy_table <- function(connection, name) suppressWarnings(dplyr::tbl(connection, name))

# Data as a table of the engine.
engine_table <- function(engine, data) {
  connection <- engine_connection(engine)
  if (is.null(connection)) {
    return(data)
  }
  engine_state$n_tables <- c(engine_state$n_tables, 0)
  name <- paste0("t", length(engine_state$n_tables))
  DBI::dbWriteTable(connection, name, as.data.frame(data), row.names = FALSE)
  lazy_table(connection, name)
}

# A table made by statements of SQL.
engine_sql <- function(engine, name, ...) {
  connection <- engine_connection(engine)
  for (statement in c(...)) DBI::dbExecute(connection, statement)
  lazy_table(connection, name)
}

# A file whose values every engine keeps: text, whole and other numbers, missing ones.
engine_file <- function(seed, n = 200) {
  set.seed(seed)
  some <- function(x, missing = 0.1) {
    values <- sample(x, n, TRUE)
    values[stats::runif(n) < missing] <- NA
    values
  }
  data.frame(
    region = some(c("a", "B", "c", "\u00e9")), age = some(20:24),
    income = some(c(0.5, 1e6, -3)), job = some(c("x", "y", "z"), 0),
    w = sample(c(1.5, 20, 3.25), n, TRUE), stringsAsFactors = FALSE
  )
}

suite_engines <- c("data frame", "sqlite", "postgres", "duckdb", "spark")
