# Correct matches in a sample that is perturbed.

skip_on_cran()

stays <- function(values, p) {
  k <- length(values)
  matrix((1 - p) / max(k - 1, 1), k, k, dimnames = list(values, values)) + diag(
    p - (1 - p) / max(k - 1, 1), k
  )
}

prison <- c("CENREG", "DAGE3", "EDUC3", "GENDER")

test_that("without perturbation it is tau2", {
  same <- stays(as.character(sort(unique(nals_prison$CENREG))), 1)
  found <- perturbation_risk(
    nals_prison, prison, transition = list(CENREG = same), weight_var = "WEIGHT"
  )
  law <- population_risk(nals_prison, prison, weight_var = "WEIGHT", missing = "category")
  tau2 <- law$estimates[law$estimates$measure == "tau2", ]
  e <- found$estimates
  expect_equal(e$expected_correct, tau2$value)
  expect_equal(c(e$correct_low, e$correct_high), c(tau2$low, tau2$high))
  expect_identical(e$n_unique, 15L)
  expect_equal(e$expected_unique, 15)
  expect_equal(e$match_prob, tau2$value / 15)
  expect_equal(e$expected_changed, 0)
  alone <- n_matches(nals_prison, prison)$records$n_matches == 1
  expect_equal(found$records$risk, ifelse(alone, law$records$risk, 0))
  expect_equal(found$records$prob_found, as.numeric(alone))
})

test_that("matches are those of all releases, enumerated", {
  for (seed in 1:6) {
    set.seed(seed)
    data <- data.frame(a = sample(c("x", "y", "z"), 7, TRUE), b = sample(1:2, 7, TRUE))
    move <- list(a = stays(c("x", "y", "z"), runif(1)), b = stays(c("1", "2"), runif(1)))
    if (seed > 3) move$b <- NULL
    cells <- cells_of_transition(data, c("a", "b"), move, list())
    keys <- data[!duplicated(data), ]
    keys <- keys[order(unique(cells$cell)), ]
    full <- outer(seq_len(nrow(keys)), seq_len(nrow(keys)), Vectorize(function(i, j) {
      p <- move$a[keys$a[i], keys$a[j]]
      p * if (is.null(move$b)) {
        as.numeric(keys$b[i] == keys$b[j])
      } else {
        move$b[as.character(keys$b[i]), as.character(keys$b[j])]
      }
    }))
    # What leaves the keys of the file goes to a cell of its own.
    full <- cbind(rbind(full, 0), c(1 - rowSums(full), 1))
    slow <- slow_unique_matches(cells$cell, full)
    found <- unique_matches(cells)
    at <- seq_len(nrow(keys))
    expect_equal(found$unique, slow$unique[at])
    expect_equal(found$alone, slow$alone[at])
  }
})

test_that("records that surely move, and surely stay, are counted", {
  cells <- list(counts = c(1, 2, 1), groups = list(list(
    cells = 1:3, to = function(j) list(c(0, 1, 0), c(1, 0, 0), c(0, 0, 1))[[j]]
  )))
  found <- unique_matches(cells)
  expect_identical(found$unique, c(0, 1, 1))
  expect_identical(found$alone, c(0, 0, 1))
})

test_that("with invariant_pram() the exact match probabilities are those of the audit", {
  set.seed(3)
  secret <- invariant_pram(nals_prison, prison, max_match_prob = 0.7)
  found <- perturbation_risk(nals_prison, pram = secret, pop_size = 8e5)
  law <- population_risk(nals_prison, prison, pop_size = 8e5, missing = "category")
  for (block in stats::na.omit(unique(secret$cells$block))) {
    at <- which(secret$cells$block == block)
    counts <- secret$cells$count[at]
    theta <- secret$blocks$theta[secret$blocks$block == block]
    exact <- pram_match_prob(counts, theta, 1)
    own <- match(at, secret$records$cell)
    expect_equal(found$records$risk[own], counts * exact * law$records$risk[own])
  }
  # Repeated releases have as many right unique matches as expected.
  set.seed(4)
  cell <- secret$records$cell
  right <- replicate(300, {
    new <- vapply(seq_along(cell), function(i) {
      own <- cell[[i]]
      block <- which(secret$cells$block == secret$cells$block[[own]])
      stay <- secret$cells$stay_prob[[own]]
      if (length(block) < 2 || stats::runif(1) < stay) return(own)
      others <- setdiff(block, own)
      others[[sample.int(length(others), 1)]]
    }, 0L)
    one <- tabulate(new, nrow(secret$cells)) == 1
    sum((new == cell & one[new]) * law$records$risk)
  })
  error <- stats::sd(right) / sqrt(300)
  expect_lt(abs(mean(right) - found$estimates$expected_correct), 4 * error)
  expect_lt(found$estimates$expected_correct, found$estimates$tau2)
})

test_that("samples of a known population: estimates are near the truth", {
  skip_if_not(nzchar(Sys.getenv("SDCRISK_EXTENDED")), "takes a minute")
  people <- adult[c("age", "sex", "race", "education_num")]
  key <- do.call(paste, people)
  size <- table(key)
  move <- list(
    race = stays(levels(factor(people$race)), 0.9), sex = stays(levels(factor(people$sex)), 0.95)
  )
  set.seed(1)
  runs <- replicate(10, {
    at <- sample(nrow(people), 2000)
    found <- perturbation_risk(people[at, ], names(people), transition = move, pop_size = 32561)
    truth <- sum(found$records$prob_found / as.vector(size[key[at]]))
    e <- found$estimates
    c(truth, e$expected_correct, e$correct_low <= truth && truth <= e$correct_high)
  })
  expect_lt(abs(sum(runs[2, ]) / sum(runs[1, ]) - 1), 0.15)
  expect_gte(mean(runs[3, ]), 0.8)
})

test_that("what is no perturbation is a classed error", {
  regions <- as.character(sort(unique(nals_prison$CENREG)))
  move <- stays(regions, 0.9)
  bad <- function(class, ...) {
    expect_error(
      perturbation_risk(nals_prison, prison, pop_size = 8e5, ...),
      class = paste0("sdcRisk_error_", class)
    )
  }
  bad("bad_argument")
  bad("bad_argument", transition = list(CENREG = move), pram = 1)
  bad("bad_argument", pram = 1)
  bad("bad_argument", transition = move)
  bad("bad_argument", transition = list(RACE = move))
  bad("bad_argument", transition = list(CENREG = move * 2))
  bad("bad_argument", transition = list(CENREG = move[-1, ]))
  bad("bad_argument", transition = list(CENREG = -move))
  set.seed(1)
  secret <- invariant_pram(nals_prison, prison)
  expect_error(
    quietly(perturbation_risk(secret, pop_size = 8e5, pram = secret)),
    class = "sdcRisk_error_bad_data"
  )
  expect_error(
    perturbation_risk(nals_prison[-1, ], pop_size = 8e5, pram = secret),
    class = "sdcRisk_error_mismatched_data"
  )
})

test_that("records hold what their sums are made of, and few of them are withheld", {
  set.seed(2)
  people <- data.frame(a = c(11:13, rep(1:4, 49)), b = sample(3, 199, TRUE))
  values <- as.character(sort(unique(people$a)))
  move <- matrix(0, 7, 7, dimnames = list(values, values))
  diag(move) <- 1
  move["11", c("11", "12")] <- c(0.7, 0.3)
  found <- perturbation_risk(people, transition = list(a = move), pop_size = 5000)
  law <- population_risk(people, pop_size = 5000, missing = "category")
  alone <- n_matches(people)$records$n_matches == 1
  expect_identical(found$records$tau2 > 0, alone)
  expect_identical(found$records$tau2[alone], law$records$risk[alone])
  expect_equal(sum(found$records$tau2), found$estimates$tau2)
  expect_equal(found$records$prob_changed, c(0.3, rep(0, 198)))
  path <- tempfile(fileext = ".html")
  on.exit(unlink(c(path, sub("html$", "json", path))))
  quietly(sdc_report(found, file = path, pictures = FALSE))
  shown <- jsonlite::fromJSON(sub("html$", "json", path))$results$tables$estimates
  few <- c(
    "match_prob", "match_prob_low", "match_prob_high", "expected_correct", "correct_low",
    "correct_high", "expected_unique", "tau2", "expected_changed"
  )
  expect_true(all(is.na(unlist(shown[few]))))
  expect_true(all(is.na(unlist(shown$n_unique))))
})

test_that("key variables that `pram` does not exchange are refused", {
  set.seed(3)
  secret <- invariant_pram(nals_prison, prison[1:3], max_match_prob = 0.7)
  expect_error(
    perturbation_risk(nals_prison, prison, pram = secret, pop_size = 8e5),
    class = "sdcRisk_error_bad_argument"
  )
  expect_identical(
    perturbation_risk(nals_prison, prison[3:1], pram = secret, pop_size = 8e5)$estimates,
    perturbation_risk(nals_prison, pram = secret, pop_size = 8e5)$estimates
  )
})

test_that("text that is empty is a value", {
  data <- data.frame(a = c("", "x", "x", "y"), b = c(1, 1, 2, 2))
  named <- data
  named$a[1] <- "none"
  of <- function(data, values) {
    perturbation_risk(
      data, c("a", "b"), transition = list(a = stays(values, 0.8)), pop_size = 40
    )$estimates
  }
  expect_identical(of(data, c("", "x", "y")), of(named, c("none", "x", "y")))
})
