# DuckDB as an engine of the suite: by its R package, or by that of Python where
# SDCRISK_PYTHON names an interpreter that has it (`make test-duckdb` makes one), in one
# process for all queries; in the dialect of PostgreSQL, which DuckDB understands.

connect_duckdb <- function() {
  if (rlang::is_installed("duckdb")) {
    # Not in every repository of packages, and so not among those suggested.
    return(DBI::dbConnect(getExportedValue("duckdb", "duckdb")()))
  }
  python <- Sys.getenv("SDCRISK_PYTHON")
  testthat::skip_if(!nzchar(python), "neither R package duckdb nor SDCRISK_PYTHON is there")
  testthat::skip_if_not_installed("processx")
  place <- tempfile("sdcrisk-duckdb-")
  dir.create(place)
  process <- duckdb_start(python, place)
  engine_state$stop_duckdb <- function() {
    process$kill()
    unlink(place, recursive = TRUE)
  }
  run <- function(sql) duckdb_run(process, place, sql)
  remote_connection(
    "DuckDB", query = run, execute = run,
    write = function(name, data, append) {
      file <- file.path(place, paste0(name, ".json"))
      types <- sub("STRING", "VARCHAR", remote_file(file, data))
      columns <- paste0("'", names(data), "': '", types, "'", collapse = ", ")
      run(sprintf(
        "%s %s SELECT * FROM read_json('%s', columns = {%s})",
        if (append) "INSERT INTO" else "CREATE OR REPLACE TABLE",
        if (append) name else paste(name, "AS"), file, columns
      ))
    }
  )
}

# Answers each line, the query of a file, by a line, until its input ends.
duckdb_script <- c(
  "import duckdb, json, sys",
  "place = sys.argv[1]",
  "connection = duckdb.connect(place + '/tables.duckdb')",
  "def plain(x):",
  "    if x is None or isinstance(x, (bool, int, str)): return x",
  "    return repr(float(x))",
  "def answer():",
  "    with open(place + '/query.sql', encoding='utf-8') as file:",
  "        result = connection.execute(file.read())",
  "    names = [column[0] for column in result.description or []]",
  "    types = [str(column[1]) for column in result.description or []]",
  "    rows = result.fetchall() if names else []",
  "    columns = [[plain(row[i]) for row in rows] for i in range(len(names))]",
  "    with open(place + '/result.json', 'w', encoding='utf-8') as file:",
  "        json.dump([names, types, columns], file)",
  "    return 'done'",
  "for line in sys.stdin:",
  "    try: said = answer()",
  "    except Exception as error: said = str(error).splitlines()[0]",
  "    print(said, flush=True)"
)

duckdb_start <- function(python, place) {
  script <- file.path(place, "run.py")
  writeLines(duckdb_script, script)
  processx::process$new(python, c(script, place), stdin = "|", stdout = "|", stderr = "2>&1")
}

duckdb_run <- function(process, place, sql) {
  writeLines(enc2utf8(sql), file.path(place, "query.sql"), useBytes = TRUE)
  process$write_input("query\n")
  said <- character()
  while (!length(said)) {
    process$poll_io(-1)
    said <- process$read_output_lines(1)
    if (!length(said) && !process$is_alive()) said <- "DuckDB ended."
  }
  if (said != "done") stop(said)
  found <- jsonlite::fromJSON(
    file.path(place, "result.json"), simplifyVector = FALSE, bigint_as_char = TRUE
  )
  columns <- lapply(found[[3]], function(values) {
    values[vapply(values, is.null, NA)] <- NA
    unlist(values)
  })
  rlang::set_names(Map(remote_column, columns, unlist(found[[2]])), unlist(found[[1]]))
}
