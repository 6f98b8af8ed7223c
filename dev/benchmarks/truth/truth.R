# What is true of a sample from a known population, and how estimates compare
# with it. Plain R, without the package: an oracle of its own.

# The cell of every person: who agrees on all keys shares one.
cells_of <- function(data, keys) {
  codes <- lapply(data[keys], function(column) match(column, unique(column)))
  cell <- codes[[1]]
  for (code in codes[-1]) {
    both <- (cell - 1) * max(code) + code
    cell <- match(both, unique(both))
  }
  cell
}

# The quantities that estimators are after; `rows` are the people in the sample.
# All are between 0 and 1, so that errors can be compared.
truth_of <- function(cell, rows) {
  people <- tabulate(cell)[cell]
  n_alike <- tabulate(cell[rows], max(cell))[cell[rows]]
  alone <- n_alike == 1
  in_population <- people[rows]
  share <- function(x, of) if (of > 0) x / of else NA_real_
  n <- length(rows)
  c(
    # A unique match of a person drawn from the population is right.
    theta = share(sum(alone), sum(in_population[alone])),
    # People alone in their cell; distinct cells per person.
    uniqueness = mean(people == 1),
    correctness = length(unique(cell)) / length(cell),
    # Of the records: sample uniques that are population uniques; correct matches
    # among sample uniques, and among all records.
    tau1 = sum(in_population[alone] == 1) / n,
    tau2 = sum(1 / in_population[alone]) / n,
    reidentification = sum(1 / in_population) / n
  )
}

score_classes <- c("below 0.1", "0.1 to 0.5", "0.5 to 0.9", "above 0.9")

# Records by their likelihood of being unique in the population: how many, the
# mean likelihood, and the share that is unique.
score_table <- function(xi, unique_in_population) {
  class <- cut(xi, c(-Inf, 0.1, 0.5, 0.9, Inf), score_classes, right = FALSE)
  in_class <- split(seq_along(xi), class)
  mean_of <- function(x) {
    vapply(in_class, function(i) if (length(i)) mean(x[i]) else NA_real_, 0, USE.NAMES = FALSE)
  }
  data.frame(
    class = score_classes, n = lengths(in_class, use.names = FALSE),
    xi = mean_of(xi), unique = mean_of(as.numeric(unique_in_population))
  )
}

# Estimates against truth, over runs. A run whose estimate is missing is a
# failure; one whose truth does not exist (theta without sample uniques) is none.
compare_with_truth <- function(truth, estimate, low, high) {
  there <- !is.na(truth)
  failures <- sum(there & is.na(estimate))
  used <- there & !is.na(estimate)
  truth <- truth[used]
  error <- estimate[used] - truth
  bounded <- !is.na(low[used]) & !is.na(high[used])
  low <- low[used][bounded]
  high <- high[used][bounded]
  # The last digit of an interval is no miss.
  slack <- 1e-9 * pmax(1, abs(truth[bounded]))
  positive <- truth > 0
  data.frame(
    runs = length(truth), failures = failures,
    truth = average(truth), bias = average(error), rmse = sqrt(average(error^2)),
    median_ratio = middle((1 + error / truth)[positive]),
    median_error = middle((abs(error) / truth)[positive]),
    intervals = sum(bounded),
    coverage = average(truth[bounded] >= low - slack & truth[bounded] <= high + slack),
    truth_above = average(truth[bounded] > high + slack),
    mean_width = average(high - low), median_width = middle(high - low)
  )
}

average <- function(x) if (length(x)) mean(x) else NA_real_
middle <- function(x) if (length(x)) stats::median(x) else NA_real_
