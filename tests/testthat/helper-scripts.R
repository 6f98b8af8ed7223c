# Scripts whose faults are known: a comment `#> code` ends the line that has one.

script_folder <- function(...) testthat::test_path("scripts", ...)

wanted_findings <- function(path) {
  lines <- readLines(path, encoding = "UTF-8")
  at <- grep("#> ", lines, fixed = TRUE)
  codes <- strsplit(sub(".*#> ", "", lines[at]), " ", fixed = TRUE)
  data.frame(line = rep(at, lengths(codes)), code = as.character(unlist(codes)))
}

# Runs text as a script in a folder of its own.
check_text <- function(lines, ..., ending = "\n", encoding = NULL) {
  folder <- tempfile("script")
  dir.create(folder)
  path <- file.path(folder, "script.R")
  text <- paste0(paste(lines, collapse = ending), ending)
  if (!is.null(encoding)) text <- iconv(enc2utf8(text), "UTF-8", encoding, toRaw = TRUE)[[1]]
  writeBin(if (is.raw(text)) text else charToRaw(enc2utf8(text)), path)
  check_script(path, ..., dir = folder)
}

# The findings of many scripts, each in a fork of one process that has the package.
check_many <- function(scripts) {
  if (.Platform$OS.type == "windows") {
    return(lapply(scripts, function(lines) check_text(lines)$findings))
  }
  folders <- vapply(scripts, function(lines) tempfile("script"), "")
  lapply(folders, dir.create)
  logs <- file.path(folders, "check.log")
  file.create(logs)
  limit <- list(k = 3, journalist = 0.05)
  callr::r(function(scripts, logs, limit) {
    run <- asNamespace("sdcRisk")$run_script
    parallel::mclapply(seq_along(scripts), function(i) {
      setwd(dirname(logs[[i]]))
      run(scripts[[i]], limit, logs[[i]])
      NULL
    }, mc.cores = 2, mc.preschedule = FALSE)
    NULL
  }, list(scripts, logs, limit), libpath = .libPaths(), env = sdcRisk:::script_env())
  ended <- list(is_alive = function() FALSE, get_exit_status = function() 0L)
  Map(function(lines, log) {
    findings <- sdcRisk:::end_check(list(
      lines = lines, log = log, begun = Sys.time(), time_limit = Inf, process = ended,
      parsed = sdcRisk:::parse_script(lines)
    ))$findings
    findings <- findings[order(findings$line, findings$column), ]
    rownames(findings) <- NULL
    findings
  }, scripts, logs)
}

# The script after an editor has applied a repair.
repaired <- function(lines, f) {
  edit <- sdcRisk:::repair_of(lines, f$line, f$column, f$fix, f$place)
  first <- edit$start[[1]]
  last <- edit$end[[1]]
  text <- paste0(
    substr(lines[[first]], 1, edit$start[[2]] - 1), edit$text,
    substr(lines[[last]], edit$end[[2]], nchar(lines[[last]]))
  )
  c(
    lines[seq_len(first - 1)], strsplit(text, "\n")[[1]], lines[-seq_len(last)]
  )
}

codes_at <- function(x) paste(x$findings$line, x$findings$code)
