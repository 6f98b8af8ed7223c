# Apache Spark as an engine of the suite: a session in the process of R through rJava, with
# two executors in processes of their own. It is used where SPARK_HOME names an installation
# (`make test-spark` makes one) and Java runs.

# What Spark reaches into, closed in Java since 17.
spark_opens <- c(
  "java.lang", "java.lang.invoke", "java.lang.reflect", "java.io", "java.net", "java.nio",
  "java.util", "java.util.concurrent", "java.util.concurrent.atomic", "jdk.internal.ref",
  "sun.nio.ch", "sun.nio.cs", "sun.security.action", "sun.util.calendar"
)

connect_spark <- function() {
  home <- Sys.getenv("SPARK_HOME")
  jars <- Sys.glob(file.path(home, "jars", "*.jar"))
  testthat::skip_if(!nzchar(home) || length(jars) == 0, "SPARK_HOME has no Spark")
  testthat::skip_if(!rlang::is_installed("rJava"), "R package rJava is not installed")
  place <- tempfile("sdcrisk-spark-")
  dir.create(place)
  # Executors are started from here, and look for these.
  Sys.setenv(
    SPARK_LOCAL_IP = "127.0.0.1", SPARK_SCALA_VERSION = "2.13", SPARK_LOCAL_DIRS = place
  )
  silent <- file.path(place, "log4j2.properties")
  # Without an appender Spark brings its own.
  writeLines(
    c(
      "appender.none.type = Null", "appender.none.name = none", "rootLogger.level = off",
      "rootLogger.appenderRef.none.ref = none"
    ), silent
  )
  # Small and soon warm: a short life of small queries.
  small <- c("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
  options(java.parameters = c(
    "-Xmx768m", "-Xrs", small, "-Djdk.reflect.useDirectMethodHandle=false",
    paste0("-Dlog4j2.configurationFile=", silent),
    sprintf("--add-opens=java.base/%s=ALL-UNNAMED", spark_opens)
  ))
  getExportedValue("rJava", ".jinit")(jars)
  settings <- c(
    spark.master = "local-cluster[2,1,1024]", spark.executor.memory = "768m",
    spark.executor.extraJavaOptions = paste(small, collapse = " "),
    spark.ui.enabled = "false", spark.driver.host = "127.0.0.1",
    spark.sql.shuffle.partitions = "4",
    spark.sql.warehouse.dir = file.path(place, "warehouse"),
    # NULL is written too: a column that is missing everywhere stays one.
    spark.sql.jsonGenerator.ignoreNullFields = "false"
  )
  session <- getExportedValue("rJava", "J")("org.apache.spark.sql.SparkSession")$builder()
  for (name in names(settings)) session <- session$config(name, settings[[name]])
  session <- session$getOrCreate()
  engine_state$stop_spark <- function() {
    session$stop()
    unlink(place, recursive = TRUE)
  }
  reg.finalizer(engine_state, stop_engines, onexit = TRUE)
  remote_connection(
    "Spark SQL", session = session,
    query = function(sql) spark_query(session, sql),
    execute = function(sql) session$sql(sql),
    write = function(name, data, append) {
      file <- tempfile(paste0(name, "-"), place, ".json")
      types <- remote_file(file, data)
      schema <- paste0("`", names(types), "` ", types, collapse = ", ")
      # In pieces, for all executors.
      pieces <- session$read()$schema(schema)$json(file)$repartition(4L)
      mode <- if (append) "append" else "errorifexists"
      pieces$write()$mode(mode)$saveAsTable(name)
    }
  )
}

# Runs a query and brings its rows, one text of JSON each. `watch` is called again and
# again while it runs.
spark_query <- function(session, sql, watch = engine_state$watch) {
  data <- session$sql(sql)
  fields <- data$schema()$fields()
  names <- vapply(fields, function(f) f$name(), "")
  types <- vapply(fields, function(f) f$dataType()$simpleString(), "")
  running <- data$toJSON()$javaRDD()$collectAsync()
  while (!running$isDone()) {
    if (!is.null(watch)) watch()
    Sys.sleep(0.01)
  }
  rows <- getExportedValue("rJava", "J")("java.lang.String")$join(
    ",", getExportedValue("rJava", ".jcast")(running$get(), "java/lang/Iterable")
  )
  Encoding(rows) <- "UTF-8"
  found <- jsonlite::fromJSON(paste0("[", rows, "]"), bigint_as_char = TRUE)
  rlang::set_names(
    Map(function(name, type) remote_column(if (length(found)) found[[name]], type), names, types),
    names
  )
}

# The executors of this session: processes that this one is the parent of.
spark_executors <- function() {
  of_process <- function(folder) {
    # A process may end while it is looked at.
    read <- function(name) {
      tryCatch(
        suppressWarnings(readLines(file.path(folder, name), skipNul = TRUE)),
        error = function(e) character()
      )
    }
    parent <- sub("^PPid:\\s*", "", grep("^PPid:", read("status"), value = TRUE))
    command <- paste(read("cmdline"), collapse = " ")
    if (identical(parent, as.character(Sys.getpid())) && grepl("ExecutorBackend", command)) {
      as.integer(basename(folder))
    }
  }
  unlist(lapply(Sys.glob("/proc/[0-9]*"), of_process))
}

# Numbers of tasks that are running, and that have failed so far, in the stages at work.
spark_tasks <- function(session) {
  tracker <- session$sparkContext()$statusTracker()
  counts <- vapply(tracker$getActiveStageIds(), function(stage) {
    info <- tracker$getStageInfo(stage)
    if (!info$isDefined()) {
      return(c(running = 0, failed = 0))
    }
    c(running = info$get()$numActiveTasks(), failed = info$get()$numFailedTasks())
  }, c(running = 0, failed = 0))
  if (length(counts)) rowSums(counts) else c(running = 0, failed = 0)
}
