# How often would a limit on the largest record risk seem to be kept and is not? Of known
# populations, key sets of one to four variables whose rare values are merged, so that the rarest
# key of a sample has one to many people. Writes target/benchmarks/truth-largest.csv, one row per
# sample, and prints the limits.
#
#   Rscript dev/benchmarks/truth/largest.R [tries = 40] [which = unseen|held|developed]

source(file.path("dev", "benchmarks", "truth", "law.R"))
source(file.path("dev", "benchmarks", "truth", "largest-unseen.R"))

merge_rare <- function(x, least) {
  x <- as.character(x)
  x[is.na(x)] <- "NA"
  counts <- table(x)
  replace(x, x %in% names(counts)[counts < least], "(other)")
}

# Few samples whose rarest key has one person: there are enough of these.
is_wanted <- function(rows, truth) {
  length(rows) >= 50 && length(rows) <= 60000 && (truth < 1 || runif(1) >= 0.6)
}

largest_samples <- function(data, name, i) {
  n_people <- nrow(data)
  all <- setdiff(names(data), ".home")
  set.seed(seed_of("coarse", name, i))
  keys <- sample(all, min(length(all), sample(1:4, 1)))
  least <- n_people * 10^runif(1, -3.5, -0.5)
  coarse <- as.data.frame(lapply(data[keys], merge_rare, least))
  coarse$.home <- data$.home
  keys <- setdiff(names(coarse), ".home")
  cell <- cells_of(coarse, keys)
  cell <- match(cell, unique(cell))
  people <- tabulate(cell)[cell]
  if (min(people) > 120) {
    return(NULL)
  }
  do.call(rbind, lapply(law_fractions, function(fraction) {
    rows <- law_rows(coarse, fraction)
    truth <- if (length(rows)) 1 / min(people[rows]) else 1
    if (!is_wanted(rows, truth)) {
      return(NULL)
    }
    homes <- if (!is.null(coarse$.home)) ".home"
    found <- quietly(population_risk, coarse[rows, ], keys, pop_size = n_people, hh_id = homes)
    if (!is.null(found)) {
      e <- found$estimates[found$estimates$measure == "largest", ]
      counts <- tabulate(cell[rows])
      data.frame(
        population = name, fraction = fraction, sample = i, n = length(rows), people = n_people,
        k = min(counts[counts > 0]), truth = truth, value = e$value, low = e$low, high = e$high,
        status = e$status
      )
    }
  }))
}

# Verdicts "ok" of a limit, those of keys with enough records apart.
limit_table <- function(runs, limits = c(0.05, 0.09, 0.2)) {
  do.call(rbind, lapply(limits, function(limit) {
    beyond <- runs$truth > limit + 1e-9
    ok <- runs$high <= limit + 1e-9 & runs$status == "ok"
    data.frame(
      limit = limit, samples = nrow(runs), truth_above = sum(beyond), ok = sum(ok),
      ok_by_law = sum(ok & 1 / runs$k > limit + 1e-9), false_ok = sum(ok & beyond)
    )
  }))
}

run_largest <- function(chosen, n_tries) {
  do.call(rbind, parallel::mclapply(names(chosen), function(name) {
    data <- chosen[[name]]$make()
    if (!is.null(data)) {
      do.call(rbind, lapply(seq_len(n_tries), function(i) largest_samples(data, name, i)))
    }
  }, mc.cores = 2, mc.preschedule = FALSE))
}

if (sys.nframe() == 0) {
  asked <- commandArgs(TRUE)
  n_tries <- if (length(asked) > 0) as.integer(asked[[1]]) else 40
  which <- if (length(asked) > 1) asked[[2]] else "unseen"
  chosen <- if (which == "unseen") {
    largest_unseen
  } else {
    Filter(function(p) {
      p$developed_on == (which == "developed") && p$kind != "misleading"
    }, law_populations)
  }
  runs <- run_largest(chosen, n_tries)
  write_results(runs, result_file("truth-largest"))
  cat(
    "Upper ends below the truth:", sum(runs$high < runs$truth - 1e-9), "and lower ends above it:",
    sum(runs$low > runs$truth + 1e-9), "of", nrow(runs), "\n"
  )
  print(limit_table(runs), row.names = FALSE)
}
