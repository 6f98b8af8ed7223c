# How near do estimates come to the truth? Samples known populations and writes
#   target/benchmarks/truth.csv         per population, fraction, design, estimator
#   target/benchmarks/truth-scores.csv  calibration of the records' likelihoods
#   target/benchmarks/truth-keys.csv    the populations and their key sets
#   inst/extdata/truth.csv, truth-scores.csv   the same over populations
#
#   Rscript dev/benchmarks/truth/run.R <minutes>
#
# No sample is begun after so many minutes; the last ones are finished.
# Runs are kept in target/truth/, by a checksum of the sources: a second call goes
# on where the first one stopped, and changed sources begin anew. The package
# must be installed from these sources. 0 minutes writes the results of the runs
# that are there.

source("dev/benchmarks/machine.R")
for (part in c("populations", "samples", "truth", "estimators")) {
  source(file.path("dev", "benchmarks", "truth", paste0(part, ".R")))
}

n_workers <- 2

sources_checksum <- function() {
  files <- sort(list.files(
    c("R", "src/rust", "dev/benchmarks/truth"), "[.](R|rs)$",
    recursive = TRUE, full.names = TRUE
  ))
  list <- tempfile()
  on.exit(unlink(list))
  writeLines(paste(files, tools::md5sum(files)), list)
  unname(tools::md5sum(list))
}

# Populations -----------------------------------------------------------------

# The populations at hand, with their key sets and cells.
load_populations <- function() {
  found <- lapply(names(populations), function(name) {
    data <- load_population(name)
    if (is.null(data)) {
      message("not at hand: ", name)
      return(NULL)
    }
    data$sets <- key_sets_of(name)
    data$cells <- lapply(data$sets, function(keys) cells_of(data$data, keys))
    data
  })
  names(found) <- names(populations)
  Filter(Negate(is.null), found)
}

describe_populations <- function(loaded) {
  do.call(rbind, lapply(loaded, function(p) {
    do.call(rbind, lapply(seq_along(p$sets), function(i) {
      cell <- p$cells[[i]]
      data.frame(
        population = p$name, developed_on = populations[[p$name]]$developed_on,
        people = nrow(p$data), by = populations[[p$name]]$by, key_set = i,
        n_keys = length(p$sets[[i]]), n_cells = length(unique(cell)),
        uniqueness = signif(mean(tabulate(cell)[cell] == 1), 4),
        keys = paste(p$sets[[i]], collapse = " + ")
      )
    }))
  }))
}

# Runs ------------------------------------------------------------------------

plan_of <- function(loaded) {
  tasks <- do.call(rbind, lapply(loaded, function(p) {
    expand.grid(
      population = p$name, key_set = seq_along(p$sets),
      fraction = Filter(function(f) worth_sampling(nrow(p$data), f), fractions),
      design = designs, stringsAsFactors = FALSE
    )
  }))
  rownames(tasks) <- NULL
  tasks
}

# All rows of one sample: the estimates, and the classes of likelihoods.
run_task <- function(task, round, loaded) {
  p <- loaded[[task$population]]
  seed <- seed_of(task$population, task$key_set, task$fraction, task$design, round)
  set.seed(seed)
  drawn <- draw_sample(task$design, p$by, task$fraction)
  cell <- p$cells[[task$key_set]]
  truth <- truth_of(cell, drawn$rows)
  data <- p$data[drawn$rows, p$sets[[task$key_set]], drop = FALSE]
  data$.weight <- drawn$weights
  sample <- list(
    data = data, keys = p$sets[[task$key_set]], n_people = nrow(p$data),
    weights = drawn$weights
  )
  runs <- estimators_for(sample)
  found <- Map(function(name, run) {
    set.seed(seed)
    answer(name, run, sample)
  }, names(runs), runs)
  xi <- attr(found$copula, "xi")
  rows <- do.call(rbind, c(unname(found), list(nearest_z2(found))))
  rows$truth <- truth[rows$quantity]
  rows$n <- 1L
  if (!is.null(xi)) {
    scores <- score_table(xi, tabulate(cell)[cell][drawn$rows] == 1)
    rows <- rbind(rows, data.frame(
      estimator = "xi", quantity = scores$class, estimate = scores$xi, low = NA, high = NA,
      failed_by = NA, truth = scores$unique, n = scores$n
    ))
  }
  cbind(task, round = round, rows, row.names = NULL)
}

run_name <- function(tasks, round) {
  paste(tasks$population, tasks$key_set, tasks$fraction, tasks$design, round)
}

# Works through the rounds, every task once in each, until time is up. Its runs
# are appended to a file of its own.
work <- function(worker, tasks, loaded, folder, until) {
  suppressPackageStartupMessages(library(sdcRisk))
  options(sdcRisk.threads = 1)
  file <- file.path(folder, paste0("worker-", worker, ".csv"))
  earlier <- read_runs(folder)
  done <- unique(run_name(earlier, earlier$round))
  for (round in seq_len(1e6)) {
    set.seed(seed_of("round", round))
    mine <- sample(nrow(tasks))
    mine <- mine[seq_along(mine) %% n_workers == worker - 1]
    for (i in mine) {
      if (Sys.time() > until) {
        return(invisible())
      }
      if (run_name(tasks[i, ], round) %in% done) next
      rows <- run_task(tasks[i, ], round, loaded)
      utils::write.table(
        rows, file,
        append = file.exists(file), sep = ",", row.names = FALSE,
        col.names = !file.exists(file)
      )
    }
  }
}

read_runs <- function(folder) {
  files <- list.files(folder, "^worker-.*[.]csv$", full.names = TRUE)
  do.call(rbind, lapply(files, utils::read.csv))
}

# Results ---------------------------------------------------------------------

# One row per group of runs, `by` being names of columns.
by_group <- function(runs, by, summary) {
  if (nrow(runs) == 0) {
    return(NULL)
  }
  groups <- split(runs, runs[rev(by)], drop = TRUE, sep = "\r")
  rows <- lapply(groups, function(group) {
    cbind(group[1, by, drop = FALSE], summary(group), row.names = NULL)
  })
  out <- do.call(rbind, unname(rows))
  numbers <- vapply(out, is.double, NA)
  out[numbers] <- lapply(out[numbers], signif, 4)
  out
}

compare_group <- function(group) {
  found <- compare_with_truth(group$truth, group$estimate, group$low, group$high)
  reasons <- sort(table(group$failed_by), decreasing = TRUE)
  found$failed_by <- if (length(reasons)) names(reasons)[[1]] else NA
  found
}

# Records of all runs together.
scores_group <- function(group) {
  group <- group[group$n > 0, ]
  n <- sum(group$n)
  data.frame(
    runs = length(unique(run_name(group, group$round))), records = n,
    mean_xi = sum(group$n * group$estimate) / n, unique = sum(group$n * group$truth) / n
  )
}

# The classes, and all records: their ratio is that of sum(xi) to the number of
# records that are unique in the population.
tally_scores <- function(runs, by) {
  runs <- runs[runs$n > 0, ]
  all <- runs
  all$quantity <- rep("all", nrow(all))
  names <- c(by, "quantity")
  out <- by_group(rbind(runs, all), names, scores_group)
  names(out)[names(out) == "quantity"] <- "class"
  out
}

write_all <- function(loaded, folder) {
  runs <- read_runs(folder)
  if (is.null(runs)) {
    message("no runs")
    return(invisible())
  }
  runs$developed_on <- vapply(runs$population, function(p) populations[[p]]$developed_on, NA)
  is_score <- runs$estimator == "xi"
  one <- c("population", "developed_on", "fraction", "design")
  both <- setdiff(one, "population")
  write_results(
    by_group(runs[!is_score, ], c(one, "estimator", "quantity"), compare_group),
    result_file("truth")
  )
  write_results(tally_scores(runs[is_score, ], one), result_file("truth-scores"))
  write_results(describe_populations(loaded), result_file("truth-keys"))
  lines <- where_from(runs)
  summed <- by_group(runs[!is_score, ], c(both, "estimator", "quantity"), function(group) {
    cbind(populations = length(unique(group$population)), compare_group(group))
  })
  write_results(summed, shipped_file("truth"), lines)
  write_results(
    tally_scores(runs[is_score, ], both), shipped_file("truth-scores"), lines
  )
  message(paste(lines, collapse = "\n"))
}

# Above the tables that the package ships.
where_from <- function(runs) {
  names_of <- function(runs) paste(sort(unique(runs$population)), collapse = ", ")
  c(
    paste("sdcRisk:", utils::packageVersion("sdcRisk")),
    paste("samples:", length(unique(run_name(runs, runs$round)))),
    paste("new files:", names_of(runs[!runs$developed_on, ])),
    paste("files that constants were chosen on:", names_of(runs[runs$developed_on, ]))
  )
}

main <- function(minutes) {
  until <- Sys.time() + 60 * minutes
  folder <- file.path("target", "truth", sources_checksum())
  dir.create(folder, showWarnings = FALSE, recursive = TRUE)
  loaded <- load_populations()
  tasks <- plan_of(loaded)
  message(nrow(tasks), " samples a round")
  # The parent never loads the package: its threads would not survive a fork.
  ended <- parallel::mclapply(seq_len(n_workers), function(worker) {
    work(worker, tasks, loaded, folder, until)
  }, mc.cores = n_workers, mc.set.seed = FALSE)
  write_all(loaded, folder)
  broken <- Filter(function(result) inherits(result, "try-error"), ended)
  if (length(broken)) stop(broken[[1]])
}

arguments <- commandArgs(TRUE)
minutes <- if (length(arguments)) as.numeric(arguments[[1]]) else 5
if (is.na(minutes) || minutes < 0) stop("the number of minutes, at least 0")
main(minutes)
