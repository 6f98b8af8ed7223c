# Functions that are watched while a script runs: those that write files, set or use random
# numbers, compare results, or end the process. Each gets one line in front of its body, so that
# calls inside functions, loops and other files are seen, too.

# The argument with the data, and that with the place, by package and function.
script_writers <- list(
  base = list(
    saveRDS = c("object", "file"), save = c("...", "file"), dput = c("x", "file"),
    serialize = c("object", "connection")
  ),
  utils = list(write.table = c("x", "file")),
  readr = list(
    write_csv = c("x", "file"), write_csv2 = c("x", "file"), write_tsv = c("x", "file"),
    write_delim = c("x", "file"), write_excel_csv = c("x", "file"), write_rds = c("x", "file")
  ),
  haven = list(
    write_sav = c("data", "path"), write_dta = c("data", "path"), write_xpt = c("data", "path"),
    write_sas = c("data", "path")
  ),
  data.table = list(fwrite = c("x", "file")),
  arrow = list(
    write_parquet = c("x", "sink"), write_feather = c("x", "sink"),
    write_csv_arrow = c("x", "sink"), write_dataset = c("dataset", "path")
  ),
  foreign = list(write.foreign = c("df", "datafile"), write.dta = c("dataframe", "file")),
  jsonlite = list(write_json = c("x", "path")), openxlsx = list(write.xlsx = c("x", "file")),
  writexl = list(write_xlsx = c("x", "path"))
)

# The same of functions that write text or bytes, which have no columns to follow.
text_writers <- list(
  base = list(
    writeLines = c("text", "con"), cat = c("...", "file"), write = c("x", "file"),
    writeBin = c("object", "con"), sink = c("", "file"), writeChar = c("object", "con"),
    dump = c("", "file")
  ),
  readr = list(write_lines = c("x", "file"), write_file = c("x", "file"))
)

# Functions that copy files: the arguments with the files, and with the place or folder.
file_copiers <- list(
  base = list(
    file.copy = c("from", "to"), file.rename = c("from", "to"), file.append = c("file2", "file1")
  ),
  utils = list(zip = c("files", "zipfile"), tar = c("files", "tarfile")),
  fs = list(
    file_copy = c("path", "new_path"), file_move = c("path", "new_path")
  ),
  zip = list(zip = c("files", "zipfile"), zipr = c("files", "zipfile"))
)

# Names by which a writer may stand in the script.
writer_names <- function(name) {
  if (name == "write.table") c("write.csv", "write.csv2", name) else name
}

script_readers <- c(
  "read.table", "read.csv", "read.csv2", "read.delim", "read.fwf", "readRDS", "load", "fread",
  "read_csv", "read_csv2", "read_tsv", "read_delim", "read_fwf", "read_rds", "read_sav",
  "read_dta", "read_sas", "read_xpt", "read_por", "read.spss", "read.dta", "read_parquet",
  "read_feather", "read_excel", "read.xlsx"
)

script_remedies <- c(
  "suppress_cells", "global_recode", "apply_recoding", "recode_search", "invariant_pram", "kAnon",
  "localSuppression", "globalRecode", "pram", "microaggregate", "top_code", "topBotCoding",
  "microaggregation", "mafast", "microaggrGower", "addNoise", "rankSwap", "shuffle", "dataGen"
)

script_randomisers <- list(
  sdcRisk = "invariant_pram",
  sdcMicro = c("pram", "addNoise", "rankSwap", "shuffle", "recordSwap", "dataGen")
)

# `tell` is told of every call: its kind, name, and the frame of the call.
watch_functions <- function(tell) {
  watched <- c(
    lapply(script_writers, function(of) rlang::set_names(rep("write", length(of)), names(of))),
    lapply(text_writers, function(of) rlang::set_names(rep("text", length(of)), names(of))),
    lapply(file_copiers, function(of) rlang::set_names(rep("copy", length(of)), names(of))),
    lapply(script_randomisers, function(names) rlang::set_names(rep("draw", length(names)), names))
  )
  watched$base <- c(watched$base, set.seed = "seed", quit = "quit", q = "quit")
  for (package in unique(names(watched))) {
    kinds <- unlist(unname(watched[names(watched) == package]))
    watch_package(package, kinds, tell)
  }
  watch_package("sdcRisk", c(compare_risk = "compare"), tell)
  watch_package("sdcRisk", c(sdc_report = "report", write_findings = "report"), tell)
}

# A package that is not loaded is watched when it is.
watch_package <- function(package, kinds, tell) {
  force(kinds)
  force(tell)
  now <- function(...) {
    for (name in names(kinds)) watch_function(package, name, kinds[[name]], tell)
  }
  if (isNamespaceLoaded(package)) now()
  setHook(packageEvent(package, "onLoad"), now)
  setHook(packageEvent(package, "attach"), now)
}

watch_function <- function(package, name, kind, tell) {
  on_path <- paste0("package:", package)
  places <- c(asNamespace(package), if (on_path %in% search()) as.environment(on_path))
  for (place in places) {
    f <- get0(name, place, mode = "function", inherits = FALSE)
    if (is.null(f) || is.primitive(f) || isS4(f) || is_watched(f)) next
    # A comparison is known when it is made.
    first <- if (kind == "compare") {
      bquote(on.exit(.(tell)(.(kind), .(name), returnValue(), TRUE), add = TRUE))
    } else {
      bquote(.(tell)(.(kind), .(name), environment(), FALSE))
    }
    body(f) <- call("{", first, body(f))
    rlang::env_binding_unlock(place, name)
    assign(name, f, place)
    rlang::env_binding_lock(place, name)
  }
}

is_watched <- function(f) {
  b <- body(f)
  first <- if (is.call(b) && length(b) > 1 && is.call(b[[2]])) b[[2]]
  if (is.call(first) && identical(first[[1]], quote(on.exit))) first <- first[[2]]
  is.call(first) && is.function(first[[1]])
}

# The data that a writer writes, by their names in the script if there are several.
written_by <- function(argument, frame) {
  if (argument == "...") saved_values(frame) else list(get(argument, frame))
}

# The file of a writer: its path, of a connection, too; NULL if that is not known.
place_of <- function(argument, frame) {
  place <- tryCatch(get(argument, frame), error = function(e) NULL)
  if (inherits(place, "connection")) place <- summary(place)$description
  if (is_text(place)) place
}

# The name of the package, or of the workspace, from which a function was called.
caller_of <- function(frame) {
  at <- match(TRUE, vapply(sys.frames(), identical, NA, frame))
  caller <- sys.parents()[[at]]
  environmentName(if (caller == 0) globalenv() else topenv(sys.frame(caller)))
}

# Calls of the script, and those by lapply().
is_by_script <- function(frame) caller_of(frame) %in% c("R_GlobalEnv", "base", "utils")

# The file that a call of a text writer writes, NULL if it writes none.
text_place <- function(argument, frame) {
  place <- get(argument, frame)
  if (inherits(place, "connection")) {
    about <- summary(place)
    if (about$class %in% c("terminal", "textConnection", "rawConnection")) {
      return(NULL)
    }
    place <- about$description
  }
  if (is_text(place) && nzchar(place)) place
}

# The number of lines or values it writes, which is not known before of sink().
text_size <- function(argument, frame) {
  values <- switch(argument,
    "..." = eval(quote(list(...)), frame), list(if (nzchar(argument)) get(argument, frame))
  )
  lines <- function(x) {
    if (!is.character(x)) {
      return(as.double(length(x)))
    }
    lines <- unlist(strsplit(x, "\n", fixed = TRUE))
    # A line can hold many values, as JSON does.
    max(0, length(lines), lengths(strsplit(lines, "[,;|\t]")))
  }
  if (nzchar(argument)) sum(vapply(values, lines, 0)) else Inf
}

is_temporary <- function(path) {
  startsWith(paste0(whole_path(path), "/"), paste0(whole_path(tempdir()), "/"))
}

# The same for every way to write a path, also before the file is there.
whole_path <- function(path) {
  file.path(normalizePath(dirname(path), "/", mustWork = FALSE), basename(path))
}

# save() has names, and an environment.
saved_values <- function(frame) {
  names <- as.character(eval(quote(substitute(list(...))), frame)[-1])
  names <- c(names, get("list", frame))
  from <- get("envir", frame)
  mget(names, envir = from, ifnotfound = list(NULL), inherits = TRUE)
}
