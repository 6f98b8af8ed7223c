# Do the figures of population_risk() and their intervals hold on known populations, beside
# the copula, Pitman's law, the log-linear model, the individual risk and sdcMicro's? Writes
# target/benchmarks/truth-law.csv, one row per sample, measure and estimator, and for the
# vignette `trust` inst/extdata/truth-kinds.csv: error, coverage and width by kind of
# population and fraction.
#
#   Rscript dev/benchmarks/truth/law.R [samples = 6] [which = held|developed|all] [law|all]
#
# `samples` is the number per kind and fraction. The law, its tests and its intervals were
# chosen on the populations that are `developed_on`, and on no others. Only a run of all
# estimators on the others is shipped.

source("dev/benchmarks/machine.R")
for (part in c("populations", "samples", "truth", "law-populations")) {
  source(file.path("dev", "benchmarks", "truth", paste0(part, ".R")))
}
suppressPackageStartupMessages(library(sdcRisk))
options(sdcRisk.threads = 1)

law_fractions <- c(0.01, 0.05, 0.2, 0.5)
law_measures <- c("uniqueness", "correctness", "tau1", "tau2", "reidentifications", "largest")

# Random keys of a population, all of one that is made to mislead.
law_keys <- function(data, name, i) {
  keys <- setdiff(names(data), ".home")
  if (law_populations[[name]]$kind == "misleading") {
    return(keys)
  }
  set.seed(seed_of("law keys", name, i))
  sizes <- min(3, length(keys)):min(8, length(keys))
  keys[sort(sample(length(keys), sizes[sample.int(length(sizes), 1)]))]
}

law_truth <- function(cell, rows) {
  found <- truth_of(cell, rows)
  n <- length(rows)
  c(
    found[c("uniqueness", "correctness")], n * found[c("tau1", "tau2")],
    reidentifications = n * found[["reidentification"]],
    largest = 1 / min(tabulate(cell)[cell[rows]])
  )
}

law_rows <- function(data, fraction) {
  if (is.null(data$.home)) {
    return(sort(sample(nrow(data), round(fraction * nrow(data)))))
  }
  homes <- unique(data$.home)
  which(data$.home %in% sample(homes, round(fraction * length(homes))))
}

answers <- function(estimator, measure, value, low = NA_real_, high = NA_real_, status = "") {
  data.frame(
    estimator = estimator, measure = measure, value = value, low = low, high = high,
    status = status
  )
}

of_law <- function(data, keys, n_people) {
  homes <- if (!is.null(data$.home)) ".home"
  found <- population_risk(data, keys, pop_size = n_people, hh_id = homes)$estimates
  found <- found[match(law_measures, found$measure), ]
  answers("law", found$measure, found$value, found$low, found$high, found$status)
}

of_copula <- function(data, keys, n_people) {
  e <- copula_uniqueness(data, keys, pop_size = n_people, records = FALSE)$estimates
  rbind(
    answers(
      "copula", "uniqueness", e$population_uniqueness, e$uniqueness_low, e$uniqueness_high
    ),
    answers(
      "copula", "correctness", e$population_correctness, e$correctness_low, e$correctness_high
    ),
    # Under equal chances E[re-identifications] = n correctness.
    answers(
      "copula", "reidentifications", nrow(data) * e$population_correctness,
      nrow(data) * e$correctness_low, nrow(data) * e$correctness_high
    )
  )
}

of_pitman <- function(data, keys, n_people) {
  e <- population_uniqueness(data, keys, n_people, "pitman")$estimates
  answers("pitman", "uniqueness", e$population_uniqueness)
}

of_loglinear <- function(data, keys, n_people) {
  e <- loglinear_risk(data, keys, pop_size = n_people, model = "search", max_cells = 2e7)$estimates
  corrected <- e$status %in% c("biased", "overfits", "ok") & !is.na(e$tau1_corrected)
  take <- function(name) if (corrected) e[[paste0(name, "_corrected")]] else e[[name]]
  rbind(
    answers("loglinear", "tau1", take("tau1"), e$tau1_low, e$tau1_high),
    answers("loglinear", "tau2", take("tau2"), e$tau2_low, e$tau2_high)
  )
}

of_individual <- function(data, keys, n_people) {
  data$.weight <- n_people / nrow(data)
  e <- individual_risk(data, keys, ".weight")$estimates
  answers("individual", "reidentifications", e$expected_reidentifications)
}

of_sdcmicro <- function(data, keys, n_people) {
  data$.weight <- n_people / nrow(data)
  data[keys] <- lapply(data[keys], function(column) match(column, unique(column)))
  found <- sdcMicro::indivRisk(sdcMicro::freqCalc(data, keys, w = ".weight"))
  answers("sdcMicro", "reidentifications", sum(found$rk))
}

quietly <- function(of, ...) {
  on.exit(setTimeLimit())
  setTimeLimit(cpu = 12, transient = TRUE)
  tryCatch(suppressMessages(suppressWarnings(of(...))), error = function(e) NULL)
}

law_sample <- function(data, name, kind, fraction, i, others) {
  keys <- law_keys(data, name, i)
  cell <- cells_of(data, keys)
  set.seed(seed_of("law sample", name, i, fraction))
  rows <- law_rows(data, fraction)
  if (length(rows) < 50) {
    return(NULL)
  }
  truth <- law_truth(cell, rows)
  sample <- data[rows, ]
  took <- system.time(found <- quietly(of_law, sample, keys, nrow(data)))[["elapsed"]]
  if (others) {
    for (of in list(of_copula, of_pitman, of_loglinear, of_individual, of_sdcmicro)) {
      found <- rbind(found, quietly(of, sample[keys], keys, nrow(data)))
    }
  }
  if (!is.null(found)) {
    cbind(
      population = name, kind = kind, fraction = fraction, sample = i, n = length(rows),
      people = nrow(data), n_keys = length(keys), truth = unname(truth[found$measure]), found,
      seconds = took
    )
  }
}

# By kind, fraction and estimator: errors of shares as they are, of counts relative.
law_table <- function(runs, by = c("kind", "fraction", "estimator", "measure")) {
  share <- runs$measure %in% c("uniqueness", "correctness", "largest")
  size <- ifelse(share, 1, pmax(runs$truth, 1))
  runs$error <- abs(runs$value - runs$truth) / size
  slack <- ifelse(share, 0.5 / runs$people, 1e-9 * (1 + runs$truth))
  runs$held <- ifelse(
    is.na(runs$low), NA, runs$truth >= runs$low - slack & runs$truth <= runs$high + slack
  )
  runs$above <- ifelse(is.na(runs$high), NA, runs$truth > runs$high + slack)
  runs$width <- (runs$high - runs$low) / size
  groups <- split(runs, runs[by], drop = TRUE)
  rows <- lapply(groups, function(r) {
    data.frame(
      r[1, by, drop = FALSE], samples = nrow(r), error = mean(r$error),
      median_error = middle(r$error),
      median_ratio = middle((r$value / r$truth)[r$truth > 0]),
      held = mean(r$held, na.rm = TRUE),
      truth_above = mean(r$above, na.rm = TRUE), width = middle(r$width[!is.na(r$width)])
    )
  })
  out <- do.call(rbind, unname(rows))
  out[do.call(order, out[by]), ]
}

# Samples of populations that were written down before; as many of each as the command says.
judge_law <- function(name, fractions, each) {
  asked <- commandArgs(TRUE)
  if (length(asked)) each <- as.integer(asked[[1]])
  runs <- parallel::mclapply(names(law_populations), function(name) {
    data <- law_populations[[name]]$make()
    kind <- law_populations[[name]]$kind
    do.call(rbind, lapply(if (!is.null(data)) fractions, function(fraction) {
      do.call(rbind, lapply(seq_len(each), function(i) {
        law_sample(data, name, kind, fraction, i, FALSE)
      }))
    }))
  }, mc.cores = 2, mc.preschedule = FALSE)
  runs <- do.call(rbind, runs)
  write_results(runs, result_file(name))
  options(width = 150)
  print(format(law_table(runs, c("kind", "measure")), digits = 3), row.names = FALSE)
  print(format(law_table(runs, c("fraction", "measure")), digits = 3), row.names = FALSE)
}

if (sys.nframe() == 0) {
  asked <- commandArgs(TRUE)
  n_samples <- if (length(asked) > 0) as.integer(asked[[1]]) else 6
  which <- if (length(asked) > 1) asked[[2]] else "held"
  others <- length(asked) < 3 || asked[[3]] == "all"
  chosen <- Filter(function(p) {
    which == "all" || p$developed_on == (which == "developed")
  }, law_populations)
  kinds <- vapply(chosen, `[[`, "", "kind")
  runs <- parallel::mclapply(names(chosen), function(name) {
    data <- chosen[[name]]$make()
    each <- ceiling(n_samples / sum(kinds == kinds[[name]]))
    if (!is.null(data)) {
      do.call(rbind, lapply(law_fractions, function(fraction) {
        do.call(rbind, lapply(seq_len(each), function(i) {
          law_sample(data, name, kinds[[name]], fraction, i, others)
        }))
      }))
    }
  }, mc.cores = 2, mc.preschedule = FALSE)
  runs <- do.call(rbind, runs)
  write_results(runs, result_file("truth-law"))
  shown <- law_table(runs)
  if (others && which == "held") {
    numbers <- vapply(shown, is.double, NA)
    shown[numbers] <- lapply(shown[numbers], signif, 3)
    write_results(shown, shipped_file("truth-kinds"), paste("samples:", length(unique(
      paste(runs$population, runs$fraction, runs$sample)
    ))))
  }
  options(width = 150)
  print(format(shown, digits = 3), row.names = FALSE)
  print(format(law_table(runs, c("kind", "estimator", "measure")), digits = 3), row.names = FALSE)
}
