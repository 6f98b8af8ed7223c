# A register larger than one data frame should be: records come in chunks, update() adds the
# patterns of each, and the methods read the pattern table.
#   Rscript dev/benchmarks/beyond.R 1e8           records; chunks of 1e7
#   Rscript dev/benchmarks/beyond.R 1e7 1e6       chunks of 1e6
#   Rscript dev/benchmarks/beyond.R 1e6 1e5 check  all records at once too, and the same answers
# adds the rows of this size to target/benchmarks/beyond.csv, with seconds and the peak of
# resident memory so far. Draws are those of a seed for each chunk.

source("dev/benchmarks/machine.R")
arguments <- commandArgs(TRUE)
n <- as.numeric(arguments[[1]])
size <- min(n, if (length(arguments) > 1) as.numeric(arguments[[2]]) else 1e7)
check <- "check" %in% arguments
library(sdcRisk)
options(sdcRisk.threads = 2)

# Ten coded variables, most drawn given an earlier one: 2 to 32 levels, of which some are
# rare, 1% of three variables missing.
variables <- list(
  region = c(32, 0), sex = c(2, 0), age = c(18, 0), marital = c(5, 3), children = c(5, 4),
  education = c(6, 3), status = c(6, 6), occupation = c(20, 7), industry = c(12, 8),
  tenure = c(4, 1)
)
incomplete <- c("education", "occupation", "tenure")
places <- 1000
# The smaller, the more a variable follows from the one before.
shape <- 0.15

# The level at each of 1,000 places of a draw, by the level of the variable before.
set.seed(20)
lookup <- lapply(variables, function(one) {
  of <- if (one[[2]] == 0) 1 else variables[[one[[2]]]][[1]]
  vapply(seq_len(of), function(parent) {
    weight <- (stats::rgamma(one[[1]], shape) + 1e-4)
    sample(one[[1]], places, TRUE, weight)
  }, integer(places))
})

records <- function(chunk) {
  set.seed(chunk)
  m <- min(size, n - (chunk - 1) * size)
  data <- list()
  for (name in names(variables)) {
    before <- variables[[name]][[2]]
    parent <- if (before == 0) 0L else data[[before]] - 1L
    data[[name]] <- lookup[[name]][parent * places + sample.int(places, m, TRUE)]
  }
  for (name in incomplete) data[[name]][sample.int(m, m %/% 100)] <- NA
  as.data.frame(data)
}

peak_memory <- function() {
  status <- readLines("/proc/self/status")
  round(as.numeric(gsub("\\D", "", grep("^VmHWM", status, value = TRUE))) / 1024)
}

rows <- list()
measured <- function(task, code, check) {
  seconds <- system.time(found <- suppressMessages(suppressWarnings(code)))[["elapsed"]]
  rows[[length(rows) + 1]] <<- data.frame(
    task = task, rows = n, chunk = size, columns = length(variables),
    seconds = round(seconds, 1), peak_mb = peak_memory(), check = check(found)
  )
  message(paste(format(rows[[length(rows)]]), collapse = "  "))
  found
}

questions <- list(
  qar_risk = list(
    function(data) qar_risk(data, p = 3, pi_u = 0.1),
    function(x) format(x$estimates$risk, digits = 15)
  ),
  n_matches = list(
    function(data) n_matches(data, missing = "wildcard"),
    function(x) paste(x$estimates$n_unique, format(x$estimates$risk_mean, digits = 15))
  ),
  exhaustive_tabulation = list(
    function(data) exhaustive_tabulation(data, names(variables), dims = 1:3),
    function(x) paste(x$estimates$n_cell_violations, x$estimates$n_records_violating)
  )
)

making <- 0
whole <- measured("pattern_table", {
  table <- NULL
  for (chunk in seq_len(ceiling(n / size))) {
    making <- making + system.time(data <- records(chunk))[["elapsed"]]
    table <- if (is.null(table)) {
      pattern_table(data, max_patterns = Inf)
    } else {
      update(table, data)
    }
    rm(data)
  }
  table
}, nrow)
rows[[1]]$seconds <- round(rows[[1]]$seconds - making, 1)
rows <- c(list(transform(rows[[1]], task = "make records", seconds = round(making, 1))), rows)
answers <- lapply(names(questions), function(name) {
  measured(name, questions[[name]][[1]](whole), questions[[name]][[2]])$estimates
})

if (check) {
  everything <- do.call(rbind, lapply(seq_len(ceiling(n / size)), records))
  at_once <- lapply(questions, function(question) {
    suppressMessages(suppressWarnings(question[[1]](everything)))$estimates
  })
  same <- all.equal(unname(at_once), answers, tolerance = 1e-9)
  message("As of all records at once: ", if (isTRUE(same)) "yes" else same)
  if (!isTRUE(same)) quit(status = 1)
}

file <- result_file("beyond")
table <- do.call(rbind, rows)
if (file.exists(file)) {
  before <- utils::read.csv(file, comment.char = "#", colClasses = c(check = "character"))
  table <- rbind(before[before$rows != n, ], table)
}
write_results(table[order(table$rows), ], file)
