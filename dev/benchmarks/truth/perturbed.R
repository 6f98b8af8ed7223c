# Is perturbation_risk() right about samples of known populations that are perturbed? Samples are
# drawn, two key variables are exchanged, and the correct unique matches with the released file are
# counted, each with 1 / F of the population. Writes target/benchmarks/truth-perturbed.csv, one row
# per sample: what came true, what is expected if the population's sizes are known
# (`expected_given_sizes`: the part of the perturbation alone), the estimate with its interval, and
# tau2 without perturbation. The interval is of that expectation, not of one release.
#
#   Rscript dev/benchmarks/truth/perturbed.R [samples = 10]
#
# Populations are those of law-populations.R that nothing was chosen on, and eusilcP of simFrame.

source("dev/benchmarks/machine.R")
for (part in c("populations", "samples", "law-populations")) {
  source(file.path("dev", "benchmarks", "truth", paste0(part, ".R")))
}
suppressPackageStartupMessages(library(sdcRisk))
options(sdcRisk.threads = 1)

fractions <- c(0.05, 0.1, 0.2, 0.5)
most_records <- 6000

eusilc_people <- function(keys) {
  function() {
    people <- package_data("eusilcP", "simFrame")()
    if (!is.null(people)) {
      people$tens <- people$age %/% 10
      as.data.frame(lapply(people[keys], missing_as_value))
    }
  }
}

of_eusilc <- list(
  eusilcP_age = c("age", "gender", "ecoStat", "citizenship"),
  eusilcP_tens = c("tens", "gender", "ecoStat", "citizenship", "region", "hsize"),
  eusilcP_years = c("age", "gender", "ecoStat", "citizenship", "region", "hsize")
)

# One in seven leaves its value, for any other.
exchange <- function(values) {
  n <- length(values)
  leave <- 0.15 / max(n - 1, 1)
  move <- matrix(leave, n, n, dimnames = list(values, values))
  diag(move) <- 1 - leave * (n - 1)
  move
}

# Of the two variables with fewest values.
moves_of <- function(data) {
  values <- lapply(data, function(x) sort(unique(x)))
  lapply(utils::head(values[order(lengths(values))], 2), exchange)
}

released_from <- function(data, moves) {
  for (name in names(moves)) {
    of <- split(seq_len(nrow(data)), data[[name]])
    for (value in names(of)) {
      data[[name]][of[[value]]] <- sample(
        colnames(moves[[name]]), length(of[[value]]), TRUE,
        moves[[name]][match(value, rownames(moves[[name]])), ]
      )
    }
  }
  data
}

perturbed_sample <- function(data, name, kind, fraction, i) {
  set.seed(seed_of("perturbed", name, i, fraction))
  key <- do.call(paste, c(data, sep = "\r"))
  rows <- sample(nrow(data), round(fraction * nrow(data)))
  inverse <- 1 / as.vector(table(key)[key[rows]])
  drawn <- data[rows, , drop = FALSE]
  moves <- moves_of(drawn)
  found <- perturbation_risk(drawn, names(data), transition = moves, pop_size = nrow(data))
  released <- do.call(paste, c(released_from(drawn, moves), sep = "\r"))
  alone <- !(duplicated(released) | duplicated(released, fromLast = TRUE))
  e <- found$estimates
  data.frame(
    population = name, kind = kind, fraction = fraction, sample = i, n = length(rows),
    correct = sum(inverse[alone & released == key[rows]]),
    unique = sum(alone & released %in% key[rows]),
    expected_correct = e$expected_correct, low = e$correct_low, high = e$correct_high,
    expected_unique = e$expected_unique,
    expected_given_sizes = sum(found$records$prob_found * inverse),
    tau2 = e$tau2, status = e$status, note = e$note
  )
}

of_population <- function(name, n_samples) {
  chosen <- all_populations[[name]]
  data <- chosen$make()
  if (is.null(data) || !is.null(data$.home)) {
    return(NULL)
  }
  do.call(rbind, lapply(fractions[fractions * nrow(data) <= most_records], function(fraction) {
    do.call(rbind, lapply(seq_len(n_samples), function(i) {
      set.seed(seed_of("perturbed keys", name, i))
      keys <- if (chosen$kind == "eusilcP") {
        names(data)
      } else {
        sample(names(data), min(length(data), sample(3:6, 1)))
      }
      perturbed_sample(
        data.frame(lapply(data[keys], as.character)), name, chosen$kind, fraction, i
      )
    }))
  }))
}

all_populations <- c(
  Filter(function(p) !p$developed_on && p$kind %in% c("persons", "groups", "made-up"),
    law_populations),
  lapply(of_eusilc, function(keys) law_population("eusilcP", eusilc_people(keys)))
)

asked <- commandArgs(TRUE)
n_samples <- if (length(asked)) as.integer(asked[[1]]) else 10
runs <- do.call(rbind, lapply(names(all_populations), of_population, n_samples))
write_results(runs, result_file("truth-perturbed"))
within <- function(x) mean(x$low <= x$truth & x$truth <= x$high)
shown <- do.call(rbind, lapply(split(runs, runs[c("kind", "fraction")], drop = TRUE), function(r) {
  data.frame(
    r[1, c("kind", "fraction")], samples = nrow(r),
    bias = sum(r$expected_correct) / sum(r$correct) - 1,
    by_sizes = sum(r$expected_given_sizes) / sum(r$correct) - 1,
    unique = sum(r$expected_unique) / sum(r$unique) - 1,
    held = within(transform(r, truth = expected_given_sizes)),
    held_release = within(transform(r, truth = correct)),
    truth_above = mean(r$expected_given_sizes > r$high)
  )
}))
print(format(shown, digits = 3), row.names = FALSE)
