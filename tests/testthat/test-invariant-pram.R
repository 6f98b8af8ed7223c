released <- function(...) quietly(invariant_pram(...))

test_that("cells of random files have the match probability of enumeration", {
  for (seed in seeds(60)) {
    data <- random_file(sample(3:7, 1), c(2, 3), missing_rate = 0.1, seed = seed)
    set.seed(seed)
    scope <- sample(c("all", "risky"), 1)
    bound <- sample(c(0.45, 0.5, 0.8, 0.95), 1)
    calibration <- if (bound < 0.5) "exact" else sample(c("exact", "paper"), 1)
    data$g <- sample(c("x", "y"), nrow(data), TRUE)
    within <- if (seed %% 3 == 0) "g"
    x <- released(
      data, c("v1", "v2"), bound,
      within = within, scope = scope, calibration = calibration, unprotected = "keep"
    )
    cell <- x$records$cell
    expect_equal(x$cells$count, as.vector(table(cell)), info = seed)
    oracle <- enumerated_groups(x$cells, cell, x$blocks$theta, seq_len(nrow(x$cells)))
    expect_equal(x$cells$match_prob, oracle$match_prob, tolerance = 1e-9, info = seed)
    expect_equal(oracle$mean, x$cells$count, tolerance = 1e-9, info = seed)
    expect_identical(x$estimates$worst_match_prob, max(x$cells$match_prob))
    # Who knows one key, or both and not the level.
    for (known in list("v1", "v2", c("v1", "v2"))) {
      codes <- lapply(data[known], oracle_codes)
      codes <- lapply(codes, function(code) ifelse(is.na(code), 0, code))
      group <- match(do.call(paste, codes), unique(do.call(paste, codes)))
      of_cell <- group[match(seq_len(nrow(x$cells)), cell)]
      audit <- pram_audit(x, data, 0, known)
      oracle <- enumerated_groups(x$cells, cell, x$blocks$theta, of_cell)
      expect_equal(
        audit$records$match_prob, oracle$match_prob[group], tolerance = 1e-9, info = seed
      )
      variance <- pram_variance(x, data, known)
      expect_equal(
        sort(variance$std_error), sort(sqrt(pmax(oracle$variance, 0))), tolerance = 1e-7
      )
    }
  }
})

test_that("the guarantee holds in real releases, and counts keep their expectation", {
  skip_on_cran()
  counts <- c(1, 1, 2, 3, 5)
  times <- 6000
  data <- repeated_levels(counts, times)
  cell <- paste(data$level, data$key)
  for (bound in c(0.45, 0.5, 0.8, 0.95)) {
    for (calibration in c("exact", "paper")) {
      set.seed(100 * bound)
      x <- released(
        data, "key", bound, within = "level", calibration = calibration, scope = "all"
      )
      stayed <- x$data$key == data$key
      after <- table(data$level, x$data$key)
      expect_identical(dim(after), c(as.integer(times), 5L))
      # Every level is one release of the same file.
      spread <- apply(after, 2, stats::sd) / sqrt(times)
      expect_true(all(abs(colMeans(after) - counts) <= 3 * spread))
      theta <- x$blocks$theta[[1]]
      expected <- pram_match_prob(counts, theta, 1:3)
      stayers <- table(data$level, factor(ifelse(stayed, as.character(data$key), NA), letters[1:5]))
      for (j in 1:5) {
        for (a in 1:3) {
          here <- after[, j] == a
          if (sum(here) < 100) next
          # One target per level: it is the pick with probability stayers / (T a).
          hit <- stats::runif(sum(here)) < stayers[here, j] / counts[[j]] / a
          error <- sqrt(mean(hit) * (1 - mean(hit)) / sum(here)) + 1e-12
          expect_lte(mean(hit), bound + 3 * error)
          expect_lte(abs(mean(hit) - expected[j, a]), 4 * error)
        }
      }
    }
  }
})

test_that("the risky scope keeps the guarantee in real releases", {
  # Levels of two uniques, of three, and of one unique beside a cell of two.
  parts <- list(c(1, 1), c(1, 1, 1), c(1, 2), c(1, 1, 4))
  data <- do.call(rbind, lapply(seq_along(parts), function(i) {
    part <- repeated_levels(parts[[i]], 5000)
    part$level <- part$level + 5000 * i
    part
  }))
  set.seed(3)
  x <- released(data, "key", 0.8, within = "level", scope = "risky")
  expect_lte(x$estimates$worst_match_prob, 0.8 + 1e-9)
  stayed <- x$data$key == data$key
  after <- table(data$level, x$data$key)
  kind <- (as.integer(rownames(after)) - 1) %/% 5000
  uniques <- x$records$match_prob_before == 1
  target <- which(uniques & data$key == "a")
  found <- after[, "a"]
  for (i in seq_along(parts)) {
    here <- kind == i & found == 1
    hit <- stayed[target][here]
    expect_lte(mean(hit), 0.8 + 3 * sqrt(0.16 / sum(here)))
    expect_gte(mean(hit), 0.8 - 4 * sqrt(0.16 / sum(here)))
  }
})

test_that("the same seed gives the same release on one thread and on two", {
  data <- adult[1:6000, c("age", "education_num", "sex", "workclass")]
  old <- options(sdcRisk.threads = 1)
  on.exit(options(old))
  run <- function(threads, seed, scope) {
    options(sdcRisk.threads = threads)
    set.seed(seed)
    x <- released(data, scope = scope)
    list(x$data, x$cells, x$estimates, pram_audit(x, data, 50)$simulation)
  }
  for (scope in c("all", "risky")) {
    expect_identical(run(1, 7, scope), run(2, 7, scope))
    expect_false(identical(run(1, 7, scope)[[1]], run(1, 8, scope)[[1]]))
  }
})

test_that("the released data keep class, types, levels, labels and order", {
  n <- 40
  set.seed(2)
  draw <- function(k) sample.int(k, n, TRUE)
  labelled <- structure(
    as.double(draw(3)), labels = c(low = 1, high = 3), label = "How much",
    class = c("haven_labelled", "vctrs_vctr", "double")
  )
  data <- data.frame(
    f = factor(letters[draw(3)], levels = c("z", "c", "b", "a")),
    o = factor(draw(3), levels = 1:4, ordered = TRUE), i = draw(3), d = draw(3) / 3,
    l = draw(2) == 1, c = c("\u00e9", "b", "c")[draw(3)], day = as.Date("2020-01-01") + draw(3),
    time = as.POSIXct("2020-01-01", tz = "UTC") + draw(3), untouched = seq_len(n),
    row.names = paste0("r", seq_len(n))
  )
  data$h <- labelled
  attr(data$i, "label") <- "An integer"
  data$f[3] <- NA
  data$d[4:5] <- c(NA, NaN)
  keys <- setdiff(names(data), "untouched")
  x <- released(data, keys)
  expect_gt(x$estimates$n_changed, 0)
  expect_identical(names(x$data), names(data))
  expect_identical(row.names(x$data), row.names(data))
  for (v in names(data)) expect_identical(attributes(x$data[[v]]), attributes(data[[v]]))
  expect_identical(vapply(x$data, typeof, ""), vapply(data, typeof, ""))
  expect_identical(x$data$untouched, data$untouched)
  same <- !x$records$changed
  expect_identical(x$data[same, ], data[same, ])
  # Only combinations of keys that occur.
  expect_true(all(names(cell_counts(x$data[keys])) %in% names(cell_counts(data[keys]))))
  expect_identical(sum(x$records$changed), x$estimates$n_changed)
})

test_that("tibbles and data.tables come back as such", {
  data <- adult[1:300, c("age", "sex", "education_num")]
  set.seed(1)
  plain <- released(data)$data
  if (requireNamespace("tibble", quietly = TRUE)) {
    set.seed(1)
    found <- released(tibble::as_tibble(data))$data
    expect_s3_class(found, "tbl_df")
    expect_identical(as.data.frame(found), plain, ignore_attr = "row.names")
  }
  if (requireNamespace("data.table", quietly = TRUE)) {
    original <- data.table::as.data.table(data)
    before <- data.table::copy(original)
    set.seed(1)
    found <- released(original)$data
    expect_s3_class(found, "data.table")
    expect_identical(original, before)
    expect_identical(as.list(found), as.list(plain))
    expect_silent(data.table::set(found, j = "new", value = 1))
  }
  if (requireNamespace("bit64", quietly = TRUE)) {
    wide <- data.frame(id = bit64::as.integer64(2)^53 + 1:12)
    found <- released(wide)
    expect_s3_class(found$data$id, "integer64")
    expect_true(all(as.character(found$data$id) %in% as.character(wide$id)))
  }
})

test_that("inside `within` joint counts are kept exactly, key variable or not", {
  data <- adult[1:3000, c("sex", "race", "age", "education_num")]
  x <- released(data, c("sex", "race", "age"), within = "sex", unprotected = "merge")
  expect_identical(x$data$sex, data$sex)
  y <- released(data, c("race", "age"), within = c("sex", "education_num"), unprotected = "merge",
                scope = "risky")
  expect_identical(y$data[c("sex", "education_num")], data[c("sex", "education_num")])
  if (y$diagnostics$n_merged == 0) {
    expect_identical(
      table(y$data$sex, y$data$age > 0), table(data$sex, data$age > 0)
    )
  }
  # The bound holds for those who do not know the level, too.
  audit <- pram_audit(y, data, 0, c("race", "age"))
  expect_lte(audit$estimates$worst_match_prob, 0.8 + 1e-9)
})

test_that("forbidden pairs are never exchanged, in both scopes", {
  data <- adult[1:2000, c("sex", "marital_status", "age")]
  values <- levels(factor(data$marital_status))
  rule <- list(
    sex = matrix(levels(factor(data$sex)), ncol = 2),
    marital_status = data.frame(values[c(1, 1)], values[c(2, 3)])
  )
  for (scope in c("all", "risky")) {
    x <- released(data, forbid = rule, scope = scope, unprotected = "keep")
    expect_gt(x$estimates$n_changed, 0)
    expect_identical(x$data$sex, data$sex)
    moves <- paste(data$marital_status, x$data$marital_status)
    for (other in values[2:3]) {
      expect_false(any(moves %in% c(paste(values[1], other), paste(other, values[1]))))
    }
  }
})

test_that("blocks of the risky scope are small, near and cheap", {
  data <- adult[1:8000, c("age", "education_num", "sex", "workclass")]
  x <- released(data, scope = "risky")
  uniques <- sum(x$cells$count == 1)
  expect_lte(x$estimates$expected_changed / uniques, 0.40)
  expect_true(all(x$blocks$n_cells <= 3))
  expect_true(all(is.na(x$cells$block[x$cells$count > 1])))
  expect_identical(
    x$cells$match_prob[x$cells$count > 1], 1 / x$cells$count[x$cells$count > 1]
  )
  # By level, with at least two uniques in each.
  y <- released(data, scope = "risky", within = "sex")
  expect_lte(y$estimates$expected_changed / sum(y$cells$count == 1), 0.40)
  for (bound in c(0.5, 0.6, 0.8, 0.95)) {
    for (within in list(NULL, "sex")) {
      for (prefer in c("fewest_changes", "nearest")) {
        changed <- function(...) {
          released(data[1:500, ], max_match_prob = bound, within = within, prefer = prefer,
                   unprotected = "merge", ...)$estimates$expected_changed
        }
        expect_lte(
          changed(scope = "risky"), changed(scope = "all", calibration = "paper") + 1e-9
        )
      }
    }
  }
  # The odd unique joins two others; a single one takes the nearest cell.
  small <- data.frame(a = factor(c("p", "q", "r", "s", "s", "t", "t")), b = 1)
  z <- released(small, scope = "risky")
  expect_equal(z$blocks$n_cells, 3)
  near <- data.frame(a = c(1, 4, 4, 9, 9, 30, 30))
  z <- released(near, scope = "risky")
  expect_identical(which(!is.na(z$cells$block)), 1:2)
})

test_that("nearest means fewest differing keys, then fewest steps", {
  # Uniques 1 and 2 differ in one key, 3 and 4 likewise; 1 and 3 in both.
  data <- data.frame(
    area = c("n", "n", "s", "s", "n", "n", "s", "s"), age = c(20, 22, 40, 41, 70, 70, 80, 80)
  )
  x <- released(data, scope = "risky")
  expect_identical(x$cells$block[1:2], rep(x$cells$block[1], 2))
  expect_identical(x$cells$block[3:4], rep(x$cells$block[3], 2))
  # Nearest of whatever count: 22 beside two of 23.
  data <- data.frame(age = c(20, 22, 23, 23, 50, 90, 90))
  y <- released(data, scope = "risky", prefer = "nearest")
  block <- y$cells$block
  age <- data$age[match(seq_along(block), y$records$cell)]
  expect_identical(block[age == 22], block[age == 20])
})

test_that("similar weights form blocks of similar weight", {
  set.seed(4)
  data <- data.frame(key = 1:200, w = exp(stats::rnorm(200, 0, 2)))
  shift <- function(prefer) {
    x <- released(data, "key", scope = "risky", prefer = prefer, weight_var = "w")
    mean(abs(x$cells$weighted_expected / x$cells$weighted_before - 1))
  }
  expect_lt(shift("similar_weights"), shift("fewest_changes") / 10)
  expect_error(
    invariant_pram(data, "key", prefer = "similar_weights"),
    class = "sdcRisk_error_bad_argument"
  )
})

test_that("weighted counts before and expected are those of the transitions", {
  data <- adult[1:400, c("age", "sex", "education_num")]
  set.seed(8)
  data$w <- stats::runif(400, 1, 20)
  for (scope in c("all", "risky")) {
    warned <- NULL
    x <- withCallingHandlers(
      invariant_pram(data, scope = scope, weight_var = "w"),
      sdcRisk_warning_weighted_shift = function(w) {
        warned <<- w
        tryInvokeRestart("muffleWarning")
      }
    )
    total <- as.vector(rowsum(data$w, x$records$cell))
    expect_equal(x$cells$weighted_before, total)
    moves <- pram_transitions(x, seq_len(nrow(x$cells)))
    expected <- rowsum(total[moves$from] * moves$prob, moves$to)
    expect_equal(x$cells$weighted_expected, as.vector(expected), tolerance = 1e-9)
    expect_equal(sum(x$cells$weighted_expected), sum(data$w))
    expect_true("age" %in% warned$variables)
    expect_gt(max(warned$shift), 0.01)
  }
  data$w <- 3
  expect_silent(y <- invariant_pram(data, scope = "risky", weight_var = "w"))
  expect_equal(y$cells$weighted_before, y$cells$weighted_expected)
  # The worked case of a weighted total that falls from 400 to 260 or so.
  counts <- c(1, 1, 2, 3, 5)
  uneven <- data.frame(k = rep(1:5, counts), w = rep(c(400, 1, 1, 1, 1), counts))
  z <- released(uneven, "k", weight_var = "w", calibration = "paper", scope = "all")
  expect_lt(z$cells$weighted_expected[[1]], 270)
})

test_that("a bound above the limit of the check is said to be", {
  keys <- c("CENREG", "DAGE3", "EDUC3", "GENDER", "BORNUSA", "DRACE3")
  set.seed(1)
  # 0.8 is 2.4 times 1/3.
  plain <- quietly(invariant_pram(nals_prison[keys], within = "GENDER"))
  expect_match(text_of(plain), "Worst case 0.800: 2.4 times the risk of k = 3.", fixed = TRUE)
  limited <- quietly(invariant_pram(nals_prison[keys], max_match_prob = 0.8, limit = 0.5,
                                    within = "GENDER"))
  expect_match(text_of(limited), "Worst case 0.800: 1.6 times the limit of 0.5.", fixed = TRUE)
  kept <- quietly(invariant_pram(nals_prison[keys], within = "GENDER", limit = 0.9))
  expect_no_match(text_of(kept), "That is")
  # A limit that was given is the bound, unless another one was.
  expect_identical(kept$estimates$max_match_prob, 0.9)
  own <- quietly(invariant_pram(nals_prison[keys], keys[1:4], limit = 0.5, unprotected = "merge"))
  expect_identical(own$estimates$max_match_prob, 0.5)
  expect_lte(own$estimates$worst_match_prob, 0.5 + 1e-9)
  # A result is a file with roles.
  once <- quietly(suppress_cells(nals_prison[keys], keys[1:4], k = 2))
  for (file in list(once, sdc_file(once))) {
    twice <- quietly(invariant_pram(file, unprotected = "keep"))
    expect_identical(twice$estimates$max_match_prob, 1 / 3)
  }
  # What cannot be reached says what can.
  two <- data.frame(a = rep(1:2, c(1, 9)))
  e <- expect_error(invariant_pram(two, limit = 0.05), class = "sdcRisk_error_unprotectable")
  expect_match(conditionMessage(e), "The lowest bound this file can reach is", fixed = TRUE)
  reached <- quietly(invariant_pram(two, max_match_prob = e$lowest))
  expect_lte(reached$estimates$worst_match_prob, e$lowest + 1e-6)
})
