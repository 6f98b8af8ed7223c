skip_on_cran()

keys <- c("BORNUSA", "CENREG", "DAGE3", "DRACE3", "EDUC3", "GENDER")

value_of <- function(found, measure, column = "value") {
  found$estimates[[column]][match(measure, found$estimates$measure)]
}

test_that("the figures are those of a slow computation", {
  set.seed(7)
  n <- 150
  a <- sample(9, n, TRUE)
  data <- data.frame(
    a = a, b = ifelse(runif(n) < 0.7, a %% 4, sample(4, n, TRUE)), c = sample(3, n, TRUE)
  )
  # Some values that hardly anybody shares.
  rare <- cbind(data[c("a", "c")], d = ifelse(runif(n) < 0.1, sample(80, n, TRUE), 0))
  for (file in list(data, rare)) {
    slow <- slow_population_risk(file, 1500, 400)
    found <- population_risk(file, pop_size = 1500)
    expect_equal(value_of(found, names(slow)), unname(slow), tolerance = 0.03)
  }
})

test_that("figures agree with each other and with the records", {
  found <- population_risk(nals_prison, keys, weight_var = "WEIGHT")
  e <- found$estimates
  expect_identical(e$measure, c(
    "uniqueness", "correctness", "tau1", "tau2", "reidentifications", "largest"
  ))
  for (column in c("value", "low", "high")) {
    of <- value_of(found, c("tau1", "tau2", "reidentifications"), column)
    expect_false(is.unsorted(of))
  }
  expect_true(all(e$low <= e$value & e$value <= e$high))
  expect_equal(sum(found$records$risk), value_of(found, "reidentifications"), tolerance = 1e-9)
  expect_equal(sum(found$records$prob_unique), value_of(found, "tau1"), tolerance = 1e-9)
  expect_identical(population_risk(nals_prison, keys, weight_var = "WEIGHT")$records, found$records)
})

test_that("a file of everybody has its own counts", {
  found <- population_risk(adult[1:500, ], c("age", "sex", "race"), pop_size = 500)
  f <- table(do.call(paste, adult[1:500, c("age", "sex", "race")]))
  truth <- c(mean(f[f == 1]) * sum(f == 1) / 500, length(f) / 500, rep(sum(f == 1), 2), length(f))
  names <- c("uniqueness", "correctness", "tau1", "tau2", "reidentifications")
  for (column in c("value", "low", "high")) {
    expect_equal(value_of(found, names, column), truth, tolerance = 1e-9)
  }
  expect_identical(value_of(found, "largest"), 1)
})

test_that("a known population is held", {
  set.seed(1)
  columns <- c("age", "education_num", "occupation", "race", "sex")
  people <- table(do.call(paste, adult[columns]))
  rows <- sample(nrow(adult), 3256)
  found <- population_risk(
    adult[rows, ], columns, pop_size = nrow(adult), missing = "category"
  )
  behind <- as.vector(people[do.call(paste, adult[rows, columns])])
  expect_equal(value_of(found, "reidentifications"), sum(1 / behind), tolerance = 0.1)
  expect_equal(value_of(found, "uniqueness"), mean(rep(people, people) == 1), tolerance = 0.2)
  truth <- c(
    uniqueness = mean(rep(people, people) == 1), correctness = length(people) / nrow(adult),
    tau1 = sum(behind == 1), reidentifications = sum(1 / behind)
  )
  expect_true(all(value_of(found, names(truth), "low") <= truth))
  expect_true(all(value_of(found, names(truth), "high") >= truth))
  # The riskiest are those that are found.
  top <- order(-found$records$risk)[1:300]
  expect_gt(mean(1 / behind[top]), 2 * mean(1 / behind))
})

test_that("the sampling fraction can be given in any way", {
  file <- adult[1:400, c("age", "sex", "race")]
  by_size <- population_risk(file, pop_size = 4000)
  file$w <- 10
  expect_equal(
    population_risk(file, c("age", "sex", "race"), weight_var = "w")$estimates, by_size$estimates
  )
  expect_equal(
    population_risk(file[1:3], sampling_fraction = 0.1)$estimates, by_size$estimates
  )
  file$w <- rep(c(5, 15), 200)
  uneven <- population_risk(file, c("age", "sex", "race"), weight_var = "w")
  expect_false(identical(uneven$estimates$value, by_size$estimates$value))
  expect_equal(value_of(uneven, "tau2"), value_of(by_size, "tau2"), tolerance = 0.2)
})

test_that("missing values match everything, are values, or leave records out", {
  file <- adult[1:600, c("age", "sex", "race", "education_num")]
  whole <- population_risk(file, pop_size = 6000)
  file$age[1:60] <- NA
  blanks <- population_risk(file, pop_size = 6000)
  expect_lt(sum(blanks$records$risk[1:60]), sum(whole$records$risk[1:60]) / 2)
  expect_equal(sum(blanks$records$risk), value_of(blanks, "reidentifications"), tolerance = 1e-9)
  expect_identical(value_of(blanks, "uniqueness", "status"), "unclear")
  expect_match(value_of(blanks, "uniqueness", "note"), "incomplete records")
  left_out <- suppressMessages(population_risk(file, pop_size = 6000, missing = "exclude"))
  expect_true(all(is.na(left_out$records$risk[1:60])))
  expect_false(anyNA(left_out$records$risk[61:600]))
  filled <- file
  filled$age[1:60] <- 999L
  expect_equal(
    population_risk(file, pop_size = 6000, missing = "category")$records,
    population_risk(filled, pop_size = 6000)$records
  )
})

test_that("a record of a household counts once", {
  file <- adult[rep(1:300, each = 2), c("age", "sex", "race")]
  file$home <- rep(1:300, each = 2)
  alone <- population_risk(adult[1:300, c("age", "sex", "race")], pop_size = 3000)
  homes <- population_risk(file, c("age", "sex", "race"), pop_size = 6000, hh_id = "home")
  expect_equal(value_of(homes, "reidentifications"), value_of(alone, "reidentifications"),
               tolerance = 1e-3)
  expect_identical(value_of(homes, "tau1"), 0)
})

test_that("intervals that are not known to hold are not relied on, and notes say why", {
  set.seed(3)
  file <- adult[sample(nrow(adult), 400), c("age", "sex", "education_num")]
  about <- function(...) {
    e <- population_risk(...)$estimates[1:5, ]
    paste(unique(e$status), unique(e$note))
  }
  expect_identical(about(file, pop_size = 4000), "ok ")
  expect_match(about(file, pop_size = 1e5), "^unclear the sampling fraction")
  sorted <- file[order(file$age, file$sex, file$education_num), ]
  expect_identical(about(sorted, pop_size = 4000), "ok ")
  # Two members of each household with the same keys, without and with their names.
  homes <- file[rep(1:200, each = 2), ]
  homes$home <- rep(1:200, each = 2)
  expect_match(about(homes, 1:3, pop_size = 4000), "^unclear neighbours")
  expect_identical(about(homes, 1:3, pop_size = 4000, hh_id = "home"), "ok ")
  expect_match(about(invariant_pram(file, names(file)), pop_size = 4000), "^not judged")
  file$sex[1:9] <- NA
  e <- population_risk(file, pop_size = 4000)$estimates
  expect_identical(e$status, rep(c("unclear", "ok"), c(2, 4)))
  expect_match(e$note[1:2], "^incomplete records do not say")
})

# 30,000 people: most with common values, `share` of them with one of 10^5 values.
with_loners <- function(share) {
  n <- 30000
  data.frame(
    a = sample(6, n, TRUE), b = sample(5, n, TRUE), c = ifelse(runif(n) < share, sample(1e5, n), 0)
  )
}

test_that("values that hardly anybody shares are seen as such", {
  set.seed(1300)
  for (share in c(0.03, 0.09)) {
    people <- with_loners(share)
    rows <- sample(30000, 3000)
    key <- do.call(paste, people)
    truth <- sum(table(key)[key[rows]] == 1)
    found <- population_risk(people[rows, ], pop_size = 30000)
    expect_equal(value_of(found, "tau1"), truth, tolerance = 0.1)
    expect_gte(value_of(found, "tau1", "high"), truth)
    judged <- measures(found, limit = list(tau1 = truth - 1))
    expect_identical(judged$verdict[judged$measure == "tau1"], "unclear")
  }
})

test_that("if the file refutes the model, upper ends need none", {
  set.seed(8)
  n <- 16000
  people <- data.frame(a = sample(30, n, TRUE), b = sample(30, n, TRUE))
  # No single parent tells the third value.
  people$c <- ifelse(runif(n) < 0.05, sample(30, n, TRUE), (people$a + people$b) %% 30)
  file <- people[sample(n, 8000), ]
  f <- table(do.call(paste, file))
  found <- population_risk(file, pop_size = n)
  expect_match(found$estimates$note[[1]], "^the frequencies in the file refute the model")
  high <- value_of(found, c("tau1", "tau2", "reidentifications", "largest"), "high")
  expect_equal(high, c(rep(sum(f == 1), 2), length(f), 1))
  share <- c(sum(f == 1), length(f)) / 8000
  expect_equal(
    value_of(found, c("uniqueness", "correctness"), "high"),
    share + 2 * sqrt(share * (1 - share) / 8000)
  )
})

test_that("exceptions from what all variables together say are not judged by the law", {
  set.seed(6)
  n <- 50000
  people <- data.frame(a = sample(4, n, TRUE), b = sample(4, n, TRUE), c = sample(4, n, TRUE))
  people$d <- rowSums(people) %% 4
  off <- runif(n) < 0.004
  people$d[off] <- sample(4, sum(off), TRUE) - 1
  file <- people[sample(n, 1500), ]
  key <- do.call(paste, people)
  f <- table(do.call(paste, file))
  # A record that is alone in the population, among keys of 10 records and more.
  expect_identical(unname(c(table(key)[names(f)[f == 1]])), 1L)
  expect_gte(sort(f)[[4]], 10)
  found <- population_risk(file, pop_size = n)
  expect_match(found$estimates$note, "^the frequencies in the file refute the model")
  expect_identical(value_of(found, c("tau1", "largest"), "high"), c(1, 1))
  expect_gte(value_of(found, "uniqueness", "high"), mean(table(key)[key] == 1))
  page <- file_check(file, pop_size = n, limit = list(journalist = 0.2))$estimates
  page <- page[page$measure %in% "journalist", ]
  expect_identical(page$verdict, "unclear")
  # The same variables without the rule.
  people$d <- sample(4, n, TRUE)
  found <- population_risk(people[sample(n, 1500), ], pop_size = n)
  expect_identical(unique(found$estimates$status), "ok")
})

test_that("the largest risk is that of a record, and its interval about all of them", {
  set.seed(4)
  columns <- c("age", "education_num", "race", "sex")
  people <- table(do.call(paste, adult[columns]))
  rows <- sample(nrow(adult), 2000)
  found <- population_risk(adult[rows, ], columns, pop_size = nrow(adult))
  expect_identical(value_of(found, "largest"), max(found$records$risk))
  # Some record is unique in the population, and nobody knows which.
  expect_equal(value_of(found, "largest", "high"), 1)
  expect_lt(value_of(found, "largest"), 1)
  expect_equal(max(1 / people[do.call(paste, adult[rows, columns])]), 1)
  common <- population_risk(data.frame(a = rep(1:2, 300)), pop_size = 6000)
  # Keys of more than 500 people are all alike, two fifths of them for the error of the model.
  expect_equal(value_of(common, "largest", "high"), 1 / 300)
  hundred <- population_risk(data.frame(a = rep(1:60, 5)), pop_size = 6000)
  expect_gte(value_of(hundred, "largest", "high"), 0.01)
  expect_lt(value_of(hundred, "largest", "high"), 0.04)
})

test_that("a release without the numbers of its households has no certain interval", {
  set.seed(1)
  home <- rep(1:500, each = 4)
  d <- data.frame(home, region = rep(sample(6, 500, TRUE), each = 4), sex = sample(2, 2000, TRUE))
  x <- quietly(suppress_cells(sdc_file(d, c("region", "sex"), hh_id = "home", pop_size = 2e4)))
  status <- function(file) population_risk(file)$estimates$status[[6]]
  expect_identical(status(sdc_file(x$data)), "ok")
  out <- quietly(release_data(x))
  expect_false("home" %in% names(out))
  expect_identical(status(out), "unclear")
  expect_match(population_risk(out)$estimates$note[[6]], "household numbers were left out")
  numbered <- quietly(release_data(x, new_ids = "home"))
  expect_identical(status(numbered), "ok")
})

test_that("the rarest of few keys may be unlike the others", {
  high <- function(counts, pop_size) {
    d <- data.frame(key = rep(seq_along(counts), counts))
    e <- population_risk(d, "key", pop_size = pop_size)$estimates
    e$high[e$measure == "largest"]
  }
  # A key of one or two records is unlike n others of this kind with chance 1/(n + 1); of m people a
  # sample of 1 in 50 has one or more with chance 1 - .98^m, 2.5% in all.
  least <- function(n_alike) {
    m <- 1
    while ((1 - 0.98^m) / (n_alike + 1) < 0.025) m <- m + 1
    1 / m
  }
  expect_equal(high(c(1, 100, 90, 80), 271 * 50), least(1))
  expect_gte(high(c(1, 2, 100, 90, 80), 273 * 50), least(2))
  # Many of its kind say what it is like.
  alike <- function(n) list(count = 1, n_alike = n, fraction = 0.02)
  expect_equal(sdcRisk:::risk_unlike(list(sampled = TRUE, rarest = alike(2))), least(2))
  expect_null(sdcRisk:::risk_unlike(list(sampled = TRUE, rarest = alike(39))))
  # Of a file of everybody nothing is in doubt.
  expect_equal(high(c(4, 100, 90), 194), 1 / 4)
  # Populations of 16 keys, the rarest of one person to many: no limit seems kept that is not.
  set.seed(4)
  found <- t(vapply(1:30, function(i) {
    sizes <- round(exp(seq(log(3500), log(4), length.out = 8)) * stats::runif(8, 0.6, 1.6))
    d <- data.frame(class = rep(1:8, sizes), sex = sample(2, sum(sizes), TRUE))
    people <- stats::ave(d$class, d, FUN = length)
    rows <- sample(nrow(d), 0.05 * nrow(d))
    e <- population_risk(d[rows, ], c("class", "sex"), pop_size = nrow(d))$estimates
    c(e$high[e$measure == "largest"], 1 / min(people[rows]))
  }, c(0, 0)))
  expect_gte(sum(found[, 2] > 0.09), 15)
  expect_identical(sum(found[, 1] <= 0.09 & found[, 2] > 0.09), 0L)
})

test_that("the lower end of the largest risk allows for keys less rare than they seem", {
  cells <- expand.grid(a = 1:12, b = 1:4, d = 1:4)
  too_high <- vapply(1:3, function(seed) {
    set.seed(seed)
    of <- function(key, spread) exp(stats::rnorm(max(key), 0, spread))[key]
    p <- of(cells$a, 0.5) * of(cells$b, 0.5) * of(cells$d, 0.5) * of(seq_len(nrow(cells)), 0.6)
    people <- pmax(15, round(40000 * p / sum(p)))
    key <- rep(seq_len(nrow(cells)), people)
    sum(vapply(1:10, function(i) {
      rows <- sample(length(key), 4000)
      e <- population_risk(cells[key[rows], ], pop_size = length(key))$estimates
      e$low[e$measure == "largest"] > 1 / min(people[key[rows]]) + 1e-9
    }, NA))
  }, 0L)
  expect_lte(sum(too_high), 1)
})

test_that("a limit is kept by the whole interval, exceeded by it, or unclear", {
  set.seed(5)
  file <- adult[sample(nrow(adult), 800), c("age", "sex", "education_num")]
  found <- population_risk(file, pop_size = 8000)
  e <- found$estimates[found$estimates$measure == "tau2", ]
  expect_lt(e$low, e$value)
  verdict <- function(limit) {
    rows <- measures(found, limit = list(tau2 = limit))
    rows$verdict[rows$measure == "tau2"]
  }
  expect_identical(verdict(e$high), "ok")
  expect_identical(verdict(e$high - 1e-6), "unclear")
  expect_identical(verdict(e$value - 1e-6), "unclear")
  expect_identical(verdict(e$low), "unclear")
  expect_identical(verdict(e$low - 1e-6), "above")
  # Too small a fraction: the interval is not known to hold.
  small <- population_risk(file, pop_size = 8e5)
  rows <- measures(small, limit = list(tau2 = 800))
  expect_identical(rows$verdict[rows$measure == "tau2"], "unclear")
  largest <- measures(found)
  expect_identical(
    largest$n_above[largest$measure == "largest"], as.double(sum(found$records$risk > 0.05))
  )
})

test_that("tau1 <= tau2 <= re-identifications in every file", {
  set.seed(6)
  for (i in 1:25) {
    n <- sample(c(30, 120, 400), 1)
    columns <- lapply(sample(2:12, sample(1:5, 1), TRUE), function(k) {
      sample(k, n, TRUE, rgamma(k, 1))
    })
    file <- as.data.frame(columns, col.names = paste0("v", seq_along(columns)))
    if (i %% 3 == 0) file$v1[sample(n, n %/% 5)] <- NA
    file$w <- if (i %% 2) 1 + rexp(n, 0.1) else sample(1:30, 1)
    found <- population_risk(file, setdiff(names(file), "w"), weight_var = "w")
    for (column in c("value", "low", "high")) {
      figures <- value_of(found, c("tau1", "tau2", "reidentifications"), column)
      expect_true(all(diff(figures) >= -1e-9), info = paste(i, column))
    }
    expect_equal(sum(found$records$risk), value_of(found, "reidentifications"), tolerance = 1e-8)
    expect_equal(sum(found$records$prob_unique), value_of(found, "tau1"), tolerance = 1e-8)
  }
})

test_that("figures stay within what the file says", {
  file <- data.frame(a = rep(1:4, 50), b = rep(1:2, each = 100))
  found <- population_risk(file, pop_size = 400)
  keys <- nrow(unique(file))
  expect_gte(value_of(found, "correctness", "low"), keys / 400)
  # All 200 others may have the key of a class of 25.
  expect_gte(value_of(found, "reidentifications", "low"), keys * 25 / (25 + 200) - 1e-9)
  # Nobody is alone with a key, and a count of people is whole.
  expect_identical(value_of(found, "tau1", c("high")), 0)
  rare <- population_risk(rbind(file, data.frame(a = 5, b = 2)), pop_size = 1e5)
  expect_true(value_of(rare, "tau1", "low") %in% 0)
  expect_identical(value_of(rare, "tau1", "high"), 1)
})

test_that("an external report withholds what few records carry", {
  x <- structure(list(estimates = data.frame(
    measure = c("tau1", "tau2"), value = c(1.5, 2.5), low = c(0, 1), high = c(3, 4)
  )), class = "sdc_population_risk")
  left <- without_figures(x, list(figures = c("tau1", "uniqueness"), row = 1))$estimates
  expect_true(all(is.na(left[1, 2:4])))
  expect_equal(left$value[[2]], 2.5)
  set.seed(3)
  found <- population_risk(adult[sample(32561, 300), c("age", "sex", "race")], pop_size = 3000)
  sums <- sums_of(found)
  of <- vapply(sums, function(s) sum(s$of$value * s$of$n), 0)
  expect_equal(of, value_of(found, c("reidentifications", "tau2", "tau1")), tolerance = 1e-6)
})

test_that("patterns and their records have the same risks", {
  file <- adult[1:500, c("sex", "race", "education_num")]
  table <- pattern_table(file)
  by_pattern <- population_risk(table, pop_size = 5000)
  by_record <- population_risk(file, pop_size = 5000)
  expect_equal(by_pattern$estimates, by_record$estimates)
})

test_that("what cannot be answered is refused", {
  expect_error(population_risk(nals_prison, keys), class = "sdcRisk_error_bad_argument")
  file <- adult[1:50, c("age", "sex")]
  expect_error(population_risk(file, pop_size = 49), class = "sdcRisk_error_bad_argument")
  expect_error(
    population_risk(file, pop_size = 500, missing = "ignore"),
    class = "sdcRisk_error_bad_argument"
  )
  file$w <- 0.5
  expect_error(
    population_risk(file, c("age", "sex"), weight_var = "w"),
    class = "sdcRisk_error_bad_weights"
  )
  expect_error(
    population_risk(file, c("age", "sex"), "more", pop_size = 500),
    class = "sdcRisk_error_bad_argument"
  )
})

test_that("the print says what was found", {
  found <- population_risk(nals_prison, keys, weight_var = "WEIGHT")
  expect_snapshot(print(found))
  expect_snapshot(interpret(found))
  rows <- measures(found)
  expect_identical(rows$measure, c(
    "uniqueness", "correctness", "tau1", "tau1_rate", "tau2", "reidentifications",
    "reidentification_rate", "largest"
  ))
  own <- rows[!endsWith(rows$measure, "_rate"), ]
  expect_equal(own$value, value_of(found, own$measure))
  expect_equal(own$high, value_of(found, own$measure, "high"))
  of <- function(measure) unlist(rows[rows$measure == measure, c("value", "low", "high")])
  expect_equal(of("tau1_rate"), of("tau1") / 182)
  expect_equal(of("reidentification_rate"), of("reidentifications") / 182)
})

test_that("a file without its rare keys is not known to be safe", {
  set.seed(3)
  keys <- c("commune", "sex", "married")
  people <- data.frame(
    commune = sample(190, 8000, TRUE, prob = stats::rgamma(190, 1)), sex = sample(2, 8000, TRUE),
    married = sample(2, 8000, TRUE)
  )
  n_false <- 0
  for (draw in 1:4) {
    file <- sdc_file(people[sample(8000, 160), ], keys, pop_size = 8000)
    release <- quietly(release_data(suppress_cells(file, k = 3)))
    risk <- population_risk(release)$estimates
    expect_identical(unique(risk$status), "unclear")
    page <- as.data.frame(quietly(file_check(release)))
    journalist <- page[page$measure == "journalist", ]
    expect_identical(journalist$verdict, "unclear")
    expect_match(journalist$reason, "more than 1% of the key values are missing")
    # The people who fit what a record shows.
    fits <- vapply(seq_len(nrow(release)), function(i) {
      known <- keys[!is.na(release[i, keys])]
      sum(Reduce(`&`, lapply(known, function(key) people[[key]] == release[[key]][[i]]), TRUE))
    }, 0)
    n_false <- n_false + (journalist$high < max(1 / fits[fits > 0]))
  }
  # The interval of what is left does end too low.
  expect_gt(n_false, 0)
  # One value of 480.
  few <- as.data.frame(file)
  few$married[[1]] <- NA
  risk <- population_risk(few, keys, pop_size = 8000)
  expect_identical(risk$estimates$status[3:6], rep("ok", 4))
  # A file that is its own population: more come back than the interval says.
  census <- population_risk(as.data.frame(release), keys, pop_size = 160)$estimates
  expect_identical(census$status[3:6], rep("unclear", 4))
})

test_that("one record has no law of the population", {
  d <- data.frame(a = c("x", "y"), b = 1)
  expect_error(population_risk(d[1, ], pop_size = 10), class = "sdcRisk_error_bad_data")
  expect_s3_class(population_risk(d, pop_size = 10), "sdc_population_risk")
})

test_that("the largest risk is at most one by the records of the rarest key", {
  set.seed(5)
  people <- data.frame(
    a = sample(10, 20000, TRUE, (10:1)^2), b = sample(6, 20000, TRUE, (6:1)^2),
    d = sample(2, 20000, TRUE)
  )
  rows <- people[sample(20000, 16000), ]
  counts <- stats::ave(rows$a, rows, FUN = length)
  file <- rows[counts >= 22, ]
  expect_equal(
    value_of(population_risk(file, pop_size = 20000), "largest", "high"),
    1 / min(counts[counts >= 22])
  )
})

test_that("a census with suppressed values is no surer than a sample", {
  keys <- c("CENREG", "DAGE3", "EDUC3", "GENDER", "BORNUSA", "DRACE3")
  file <- sdc_file(nals_prison[keys], keys, pop_size = 182)
  x <- quietly(suppress_cells(file, k = 3, rule = "strict"))
  # How many people each released record fits.
  fit <- vapply(seq_len(182), function(i) {
    used <- keys[!is.na(x$data[i, keys])]
    same <- lapply(used, function(v) as.character(nals_prison[[v]]) == as.character(x$data[i, v]))
    sum(Reduce(`&`, same))
  }, 0)
  page <- quietly(file_check(x, limit = list(k = 3, expected_reidentifications = 30)))
  rows <- tidy(page)
  row <- rows[rows$term == "expected_reidentifications", ]
  expect_gt(sum(1 / fit), row$conf.high)
  expect_equal(row$verdict, "unclear")
  expect_equal(quietly(population_risk(x))$estimates$status, rep("unclear", 6))
  complete <- quietly(population_risk(file))
  expect_equal(complete$estimates$status, rep("ok", 6))
})
