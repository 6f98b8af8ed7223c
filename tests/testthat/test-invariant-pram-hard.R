# Invariant PRAM on data and arguments that are out of the ordinary. The oracle
# is enumeration from the definition: all subsets of records that land in a group.

# Worst P(CM | S = a) over all a and all records of each group of cells, from the
# transition probabilities.
worst_by_enumeration <- function(x, group) {
  k <- nrow(x$cells)
  moves <- pram_transitions(x, seq_len(k))
  transition <- matrix(0, k, k)
  transition[cbind(moves$from, moves$to)] <- moves$prob
  n <- nrow(x$records)
  cell <- x$records$cell
  lands <- as.matrix(expand.grid(rep(list(0:1), n)))
  found <- rowSums(lands)
  vapply(seq_len(max(group)), function(g) {
    alpha <- rowSums(transition[, group == g, drop = FALSE])[cell]
    prob <- apply(lands, 1, function(z) prod(ifelse(z == 1, alpha, 1 - alpha)))
    worst <- 0
    for (a in seq_len(n)) {
      same <- found == a & prob > 0
      if (!any(same)) next
      hits <- vapply(which(group[cell] == g), function(b) sum(prob[same & lands[, b] == 1]), 0)
      worst <- max(worst, hits / a / sum(prob[same]))
    }
    worst
  }, 0)
}

test_that("any small file keeps its exact bound, whatever is asked", {
  n_done <- 0
  for (seed in seeds(60)) {
    set.seed(seed)
    n <- sample(2:7, 1)
    data <- data.frame(
      a = sample(c(1, 2, NA), n, TRUE), b = sample(letters[1:3], n, TRUE),
      g = sample(1:2, n, TRUE)
    )
    bound <- sample(c(0.3, 0.45, 0.5, 0.8, 0.99), 1)
    x <- tryCatch(
      suppressMessages(invariant_pram(
        data, c("a", "b"), bound,
        scope = sample(c("all", "risky"), 1), calibration = sample(c("exact", "paper"), 1),
        within = if (runif(1) < 0.4) "g", unprotected = sample(c("error", "merge"), 1)
      )),
      sdcRisk_error_unprotectable = function(e) NULL,
      sdcRisk_error_bad_argument = function(e) NULL
    )
    if (is.null(x)) next
    n_done <- n_done + 1
    exact <- worst_by_enumeration(x, seq_len(nrow(x$cells)))
    expect_equal(x$cells$match_prob, exact, tolerance = 1e-9)
    expect_lte(max(exact), bound + 1e-9)
    audit <- pram_audit(x, data, n_sim = 0, known_keys = "a")
    group <- audit$records$group[match(seq_len(nrow(x$cells)), x$records$cell)]
    expect_equal(audit$groups$match_prob, worst_by_enumeration(x, group), tolerance = 1e-9)
  }
  expect_gt(n_done, 0.3 * length(seeds(60)))
})

test_that("columns of every kind come back as they were", {
  set.seed(3)
  n <- 200
  data <- data.frame(
    f = factor(sample(c("x", "y", "z"), n, TRUE), levels = c("z", "x", "y", "unused")),
    o = factor(sample(1:3, n, TRUE), ordered = TRUE),
    day = structure(as.Date("2020-01-01") + sample(0:5, n, TRUE), label = "a day"),
    time = as.POSIXct("2020-01-01", tz = "Europe/Paris") + 3600 * sample(0:4, n, TRUE),
    number = sample(c(0.1, 0.2, NaN, NA, -0, 0), n, TRUE),
    truth = sample(c(TRUE, FALSE, NA), n, TRUE),
    text = sample(c(iconv("f\u00e9e", "UTF-8", "latin1"), "f\u00e9e", NA), n, TRUE)
  )
  rownames(data) <- paste0("r", n:1)
  attr(data, "mine") <- "kept"
  keys <- names(data)
  data$id <- seq_len(n)
  x <- invariant_pram(data, keys, within = "f")
  expect_identical(attributes(x$data), attributes(data))
  for (v in names(data)) {
    expect_identical(attributes(x$data[[v]]), attributes(data[[v]]))
    expect_type(x$data[[v]], typeof(data[[v]]))
  }
  expect_identical(x$data$f, data$f)
  expect_identical(x$data$id, data$id)
  stays <- !x$records$changed
  expect_identical(x$data[stays, ], data[stays, ])
  # What changed is another record, whole.
  moved <- which(x$records$changed)
  expect_gt(length(moved), 20)
  text <- function(d) do.call(paste, c(lapply(d[keys], function(v) enc2utf8(format(v))), sep = "|"))
  expect_true(all(text(x$data)[moved] %in% text(data)))
})

test_that("numbers too large to compute with are refused, not allocated", {
  expect_error(
    pram_match_prob(c(1e15, 1e15), 0.5, a = 1e15), class = "sdcRisk_error_too_large"
  )
  expect_error(pram_match_prob(c(1e6, 1e6), 0.5, a = 1e6), class = "sdcRisk_error_too_large")
  expect_error(
    pram_match_prob(rep(2^53, 3000), 0.5), class = "sdcRisk_error_too_large"
  )
  expect_identical(pram_match_prob(c(1, 2), 0.2, a = 1e7), c(NA_real_, NA_real_))
  # Records in cells of one: exchangeable, so the ratio is known.
  expect_equal(pram_match_prob(rep(1, 1e5), 0.3, a = 1e5), rep(1e-5, 1e5))
})

test_that("a column of bounds may repeat one", {
  expect_equal(pram_theta(c(0.8, 0.5, 0.8)), c(0.3903882032, 0.6180339887, 0.3903882032))
  expect_error(pram_theta(c(0.8, NA)), class = "sdcRisk_error_bad_argument")
  expect_error(pram_theta(c(0.8, 0.8), 1:3, "exact"), class = "sdcRisk_error_bad_argument")
})

test_that("releases with different bounds stand side by side", {
  data <- data.frame(a = 1:10)
  set.seed(1)
  strict <- invariant_pram(data, max_match_prob = 0.5)
  table <- as.data.frame(compare_risk(invariant_pram(data), strict))
  expect_false(anyNA(table$estimate))
  expect_equal(table$estimate[table$term == "worst_match_prob"], c(0.8, 0.5))
})

test_that("an untouched file is not said to be changed", {
  data <- data.frame(a = rep(1:3, each = 4))
  expect_message(x <- invariant_pram(data), class = "sdcRisk_message_nothing_to_do")
  expect_identical(x$data, data)
  said <- paste(interpret(x), collapse = " ")
  expect_match(said, "left as they are")
  expect_no_match(said, "changed at random")
  # A file in which nothing was exchanged is judged as any other.
  of <- function(x) quietly(file_check(x, limit = list(k = 2)))$estimates
  file <- sdc_file(data, names(data))
  done <- quietly(invariant_pram(file))
  expect_no_message(check <- file_check(done, limit = list(k = 2)))
  expect_identical(check$estimates$verdict, of(file)$verdict)
  expect_match(check$diagnostics$history, "no value exchanged", fixed = TRUE)
  after <- quietly(suppress_cells(done, k = 2))
  expect_false(any(of(after)$verdict == "not judged" & nzchar(of(file)$verdict) &
                     of(file)$verdict != "not judged"))
})
