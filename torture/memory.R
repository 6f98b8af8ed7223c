# One large call of each function under a limit of memory (ulimit -v), from the least with
# which R can load the package and read the file, in steps up to an answer.
#
#   Rscript torture/memory.R            goes on where `torture/results/memory.csv` ends;
#       ONLY=qar_risk,n_matches
#   Rscript torture/memory.R kept       what is kept after calls, and by whom
#
# | outcome | means |
# |---|---|
# | answered | within the limit |
# | refused | an error of the package's own; `said` is its class |
# | R's error | "cannot allocate", of R's own vectors |
# | no R | R could not load the package, read the file, or do what comes before the call |
# | ended R | a failure: the process is gone |
# | hangs | a failure: no answer in five minutes |
# | failed | a failure: any other error |

arguments <- commandArgs(trailingOnly = TRUE)
memory_file <- "torture/results/memory.csv"
limits <- c(seq(300, 800, 50), seq(900, 1600, 100), seq(1800, 3000, 200), 3500, 4000, 5000, 6000)

# Each file is as large as its method is made for, and its calls end within a minute.
large_files <- function() {
  set.seed(52)
  draw_people <- function(n) {
    data.frame(
      id = seq_len(n), a = sample(90L, n, TRUE), b = sample(200L, n, TRUE),
      c = sample(12L, n, TRUE), d = sample(30L, n, TRUE), e = sample(7L, n, TRUE),
      hh = sample(n %/% 3L, n, TRUE), w = stats::runif(n, 1, 90)
    )
  }
  wide <- as.data.frame(lapply(1:16, function(v) sample.int(10 + v, 1e5, TRUE)), col.names = 1:16)
  names(wide) <- paste0("v", 1:16)
  people <- draw_people(1e6)
  some <- draw_people(1e5)
  later <- some[sample(nrow(some)), ]
  later$a <- later$a + stats::rbinom(nrow(later), 1, 0.3)
  list(wide = wide, people = people, some = some, later = later)
}

# For each: which files it reads, what is done before the large call, the call.
keys <- c("a", "b", "c", "d", "e")
large_calls <- list(
  nothing = list("people", NULL, quote(nrow(people))),
  key_overview = list("people", NULL, quote(key_overview(people, keys))),
  n_matches = list("people", NULL, quote(n_matches(people, keys))),
  individual_risk = list("people", NULL, quote(individual_risk(people, keys, "w"))),
  household_risk = list("people", NULL, quote(household_risk(people, keys, "hh"))),
  population_uniqueness = list("people", NULL, quote(population_uniqueness(people, keys, 1e8))),
  qar_risk = list("people", NULL, quote(qar_risk(people, keys, p = 3))),
  qar_risk_wide = list("wide", NULL, quote(qar_risk(wide, p = 4))),
  risk_contribution = list(
    "wide", quote(x <- qar_risk(wide, p = 2, pi_u = 0.2)), quote(risk_contribution(x, wide))
  ),
  removal_path = list(
    "wide", quote(x <- qar_risk(wide, p = 2, pi_u = 0.2)), quote(removal_path(x, wide, 500))
  ),
  exhaustive_tabulation = list("people", NULL, quote(exhaustive_tabulation(people, keys, 1:4))),
  copula_fit = list("people", NULL, quote(copula_fit(people, keys))),
  copula_uniqueness = list(
    "people", NULL, quote(copula_uniqueness(people, keys, pop_size = 1e8))
  ),
  simulate = list("some", quote(x <- copula_fit(some, keys)), quote(simulate(x, 5e6))),
  loglinear_risk = list(
    "people", NULL, quote(loglinear_risk(people, keys[3:5], weight_var = "w", model = "search"))
  ),
  invariant_pram = list(
    "people", NULL, quote(invariant_pram(people, keys, unprotected = "keep"))
  ),
  suppress_cells = list("people", NULL, quote(suppress_cells(people, keys, k = 3))),
  suppress_cells_shared = list(
    "some", NULL, quote(suppress_cells(some, keys, k = 3, rule = "shared", n_rounds = 3))
  ),
  recode_search = list(
    "some", NULL, quote(recode_search(some, keys, constraint = list(k = 2), suppress = 0.3))
  ),
  longitudinal_link = list(c("some", "later"), NULL, quote(longitudinal_link(some, later, keys, "id"))),
  link_attack = list(c("some", "later"), NULL, quote(link_attack(some, later, keys, "id"))),
  key_stability = list(c("some", "later"), NULL, quote(key_stability(some, later, keys, "id"))),
  change_indicators = list(
    c("some", "later"), NULL, quote(change_indicators(some, later, keys, "id"))
  ),
  longitudinal_risk = list(
    c("some", "later"), NULL,
    quote(longitudinal_risk(some, later, keys, keys, "a", "id", weight_var = "w"))
  ),
  utility_loss = list("some", quote(changed <- some[nrow(some):1, ]), quote(utility_loss(some, changed, keys))),
  file_check = list("people", NULL, quote(file_check(people, keys, weight_var = "w", hh_id = "hh"))),
  pattern_table = list("people", NULL, quote(n_matches(pattern_table(people, keys)))),
  candidates = list("some", NULL, quote(candidates(lapply(some$a, function(v) v + 0:3)))),
  hierarchy = list("people", NULL, quote(hierarchy(people$w))),
  latest_values = list(c("some", "later"), NULL, quote(latest_values(list(some, later), "id")))
)

if (identical(arguments[1], "child")) {
  folder <- arguments[[3]]
  say <- function(...) cat(..., "\n", sep = "\t", file = file.path(folder, "said"))
  suppressMessages(library(sdcRisk))
  options(sdcRisk.threads = 2)
  case <- large_calls[[arguments[[2]]]]
  for (file in case[[1]]) assign(file, readRDS(file.path(arguments[[4]], paste0(file, ".rds"))))
  suppressMessages(suppressWarnings(eval(case[[2]])))
  say("began")
  end <- tryCatch(
    {
      suppressMessages(suppressWarnings(x <- eval(case[[3]])))
      c("answered", "")
    },
    sdcRisk_error = function(e) c("refused", sub("sdcRisk_error_", "", class(e)[[1]])),
    error = function(e) {
      words <- conditionMessage(e)
      if (grepl("annot allocate|vector memory|memory exhausted", words)) {
        c("R's error", sub(" .*", "", words))
      } else {
        c("failed", gsub("[\r\n\t]+", " ", words))
      }
    }
  )
  say(end[[1]], end[[2]])
  quit(status = 0)
}

# One call under one limit.
under <- function(name, limit, data) {
  folder <- tempfile("memory")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  output <- file.path(folder, "output")
  status <- system(paste0(
    "ulimit -c 0; ulimit -v ", 1024 * limit, "; exec timeout -s KILL 300 Rscript torture/memory.R child ",
    name, " ", folder, " ", data, " >", output, " 2>&1"
  ))
  said <- file.path(folder, "said")
  line <- if (file.exists(said)) strsplit(readLines(said), "\t")[[1]] else ""
  if (line[[1]] == "began") {
    words <- gsub("[\"\t]+", " ", paste(utils::tail(readLines(output), 3), collapse = " / "))
    return(list(if (status == 137) "hangs" else "ended R", substr(words, 1, 200)))
  }
  if (length(line) == 0 || !nzchar(line[[1]])) return(list("no R", ""))
  list(line[[1]], if (length(line) > 1) line[[2]] else "")
}

run_limits <- function() {
  data <- tempfile("files")
  dir.create(data)
  files <- large_files()
  for (file in names(files)) {
    saveRDS(files[[file]], file.path(data, paste0(file, ".rds")), compress = FALSE)
  }
  rm(files)
  gc()
  none <- data.frame(
    fun = character(), limit_mb = numeric(), outcome = character(), said = character(),
    seconds = numeric()
  )
  read <- function() {
    if (!file.exists(memory_file)) return(none)
    utils::read.csv(memory_file, colClasses = unlist(lapply(none, class)), na.strings = NULL)
  }
  names <- names(large_calls)
  only <- Sys.getenv("ONLY")
  if (nzchar(only)) names <- strsplit(only, ",")[[1]]
  for (name in names) {
    for (limit in limits) {
      done <- read()
      own <- done[done$fun == name, ]
      if (any(own$outcome == "answered")) break
      # What R alone needs, no call has without.
      alone <- done$limit_mb[done$fun == "nothing" & done$outcome == "answered"]
      if (limit %in% own$limit_mb || (length(alone) && limit < min(alone) - 100)) next
      began <- proc.time()[["elapsed"]]
      found <- under(name, limit, data)
      row <- data.frame(
        fun = name, limit_mb = limit, outcome = found[[1]], said = found[[2]],
        seconds = round(proc.time()[["elapsed"]] - began, 1)
      )
      done <- rbind(read(), row)
      utils::write.csv(done[order(done$fun, done$limit_mb), ], memory_file, row.names = FALSE)
      cat(name, limit, found[[1]], found[[2]], "\n")
    }
  }
  unlink(data, recursive = TRUE)
  done <- read()
  print(table(done$outcome))
  print(done[done$outcome %in% c("ended R", "hangs", "failed"), ], row.names = FALSE)
}

# Resident memory before, after three calls whose answers are let go, and after the C library
# has been told to give back what is free. What is then left beyond `before`, while R's heap
# and malloc hold no more, are pages of R's heap that R keeps.
run_kept <- function() {
  suppressMessages(library(sdcRisk))
  options(sdcRisk.threads = 2)
  source("torture/held.R", local = globalenv())
  allocator()
  people <- large_files()$people
  fit <- suppressMessages(copula_fit(people[1:1e5, ], keys))
  calls <- list(
    simulate = quote(simulate(fit, 5e6)),
    individual_risk = quote(individual_risk(people, keys, "w", "hh")),
    candidates = quote(candidates(lapply(people$a, function(v) v + 0:3))),
    list_alone = quote(lapply(people$a, function(v) v + 0:3)),
    n_matches = quote(n_matches(people, keys)),
    copula_uniqueness = quote(copula_uniqueness(fit, pop_size = 1e7, newdata = people))
  )
  only <- Sys.getenv("ONLY")
  if (nzchar(only)) calls <- calls[strsplit(only, ",")[[1]]]
  rows <- lapply(names(calls), function(name) {
    # In a process of its own, which has what this one has.
    child <- parallel::mcparallel({
      before <- figures()
      for (i in 1:3) suppressMessages(suppressWarnings(eval(calls[[name]])))
      after <- figures()
      invisible(.C("trimmed", integer(1)))
      data.frame(
        fun = name, when = c("before", "after", "trimmed"), rbind(before, after, figures()),
        row.names = NULL
      )
    })
    parallel::mccollect(child)[[1]]
  })
  table <- do.call(rbind, rows)
  utils::write.csv(table, "torture/results/memory-kept.csv", row.names = FALSE)
  print(table, row.names = FALSE)
}

if (identical(arguments[1], "kept")) run_kept() else run_limits()
