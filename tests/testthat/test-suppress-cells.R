# Worked values, oracles in plain R, and the promise on real files.

skip_on_cran()

worked <- data.frame(
  a = c(1, 1, 1, 1, 1, 2), b = c(1, 1, 1, 1, 2, 2), c = c(1, 1, 2, 3, 4, 4)
)
rules <- c("own", "shared", "strict")

# The fewest weighted blanks with which one record fits k originals.
own_by_enumeration <- function(data, k, weights = rep(1, ncol(data))) {
  codes <- vapply(data, function(x) as.integer(factor(x)), integer(nrow(data)))
  fits <- function(i, keep) {
    differ <- t(codes[, keep, drop = FALSE]) != codes[i, keep]
    sum(colSums(differ & !is.na(differ)) == 0)
  }
  subsets <- expand.grid(rep(list(c(FALSE, TRUE)), ncol(data)))
  cost <- as.vector(as.matrix(subsets) %*% weights)
  subsets <- subsets[order(cost), ]
  cost <- sort(cost)
  of_record <- vapply(seq_len(nrow(data)), function(i) {
    for (s in seq_len(nrow(subsets))) {
      if (fits(i, !unlist(subsets[s, ])) >= k) return(cost[[s]])
    }
    Inf
  }, 0)
  sum(of_record)
}

random_file <- function(n, missing = 0) {
  data <- data.frame(
    a = sample(letters[1:3], n, TRUE), b = sample(1:4, n, TRUE), c = sample(1:5, n, TRUE),
    d = sample(c(TRUE, FALSE), n, TRUE)
  )
  data[] <- lapply(data, function(x) replace(x, stats::runif(n) < missing, NA))
  data
}

equal_records <- function(data) {
  text <- do.call(paste, c(lapply(data, as.character), sep = "\r"))
  as.vector(table(text)[text])
}

# What every release must be.
expect_release <- function(x, data, keys = names(data), k = x$estimates$k) {
  expect_identical(names(x$data), names(data))
  expect_identical(lapply(x$data, class), lapply(data, class))
  expect_true(all(n_matches(x$data, keys)$records$n_matches >= k))
  if (x$estimates$rule == "strict") {
    expect_true(all(equal_records(x$data[keys]) >= k))
  }
  before <- suppressMessages(n_matches(data, keys))$records$n_matches
  expect_identical(x$records$n_matches_before, before)
  expect_identical(x$records$n_matches, n_matches(x$data, keys)$records$n_matches)
  expect_identical(
    x$records$n_candidates,
    n_matches(x$data, keys, patterns = data[keys])$records$n_matches
  )
  if (x$estimates$rule != "strict") {
    expect_true(all(before[x$cells$record] < k))
  }
  blank <- is.na(x$data) & !is.na(data)
  expect_identical(sum(blank), nrow(x$cells))
  expect_true(all(blank[cbind(x$cells$record, match(x$cells$variable, names(data)))]))
  kept <- !blank
  expect_true(all(mapply(function(new, old, keep) {
    identical(new[keep], old[keep])
  }, x$data, data, as.data.frame(kept))))
  expect_identical(x$estimates$n_violations_after, 0L)
  expect_lte(x$estimates$lower_bound, x$estimates$cost + 1e-9)
}

test_that("a linked variable is not printed as a limit on l", {
  data <- data.frame(a = c(1, 1, 1, 2), b = 1, z = 1:4)
  made <- quietly(suppress_cells(data, c("a", "b"), k = 2, linked = list(a = "z")))
  expect_no_match(format(made), "l = ", fixed = TRUE)
})

test_that("a file whose missing values are no wildcards is not suppressed as if they were", {
  data <- data.frame(a = c(1, 1, 1, 2, 2, NA), b = c(1, 1, 1, 2, 2, 2), z = 1:6)
  for (rule in c("category", "exclude")) {
    file <- sdc_file(data, c(a, b), missing = rule)
    expect_equal(as.data.frame(file_check(file))$value[1], if (rule == "category") 1 else 2)
    error <- expect_error(suppress_cells(file, k = 2), class = "sdcRisk_error_bad_argument")
    found <- paste0("missing = \"", rule, "\"`, missing: \"a\".")
    expect_match(conditionMessage(error), found, fixed = TRUE)
    # Where nothing is missing, the rules are one.
    whole <- suppress_cells(sdc_file(data[1:5, ], c(a, b), missing = rule), k = 2)
    expect_identical(whole$estimates$n_suppressed, 0L)
  }
  wild <- suppress_cells(sdc_file(data, c(a, b), missing = "wildcard"), k = 2)
  expect_equal(as.data.frame(file_check(release_data(wild)))$value[1], 3)
})

test_that("the worked values come out", {
  own <- suppress_cells(worked, k = 2)
  expect_identical(
    own$cells,
    data.frame(
      record = 3:6, variable = c("c", "c", "a", "a"), reason = rep("violation", 4)
    )
  )
  expect_identical(own$records$n_matches, c(4L, 4L, 4L, 4L, 2L, 2L))
  expect_equal(own$estimates$tau_after, 2)
  expect_equal(own$estimates$tau_intruder, 2.5)
  expect_identical(own$estimates$gap, 0)
  expect_identical(as.data.frame(own), own$cells)
  expect_release(own, worked)

  shared <- suppress_cells(worked, k = 2, rule = "shared")
  expect_identical(shared$estimates$n_suppressed, 2L)
  expect_equal(shared$estimates$lower_bound, 2)
  expect_identical(shared$estimates$n_intact, 2L)
  expect_identical(shared$estimates$n_single_candidate, 2L)
  expect_release(shared, worked)

  strict <- suppress_cells(worked, k = 2, rule = "strict")
  expect_identical(strict$cells, own$cells)
  expect_release(strict, worked)

  expect_identical(suppress_cells(worked)$estimates$n_suppressed, 9L)
  expect_lte(suppress_cells(worked, rule = "shared")$estimates$n_suppressed, 5L)
})

test_that("\"own\" costs the sum of enumerated optima, and every release holds", {
  set.seed(1)
  for (round in 1:8) {
    data <- random_file(30, missing = (round %% 2) * 0.1)
    weights <- if (round > 4) c(a = 1, b = 2.5, c = 1, d = 3) else c(a = 1, b = 1, c = 1, d = 1)
    k <- 2 + round %% 3
    own <- suppress_cells(data, k = k, importance = weights)
    # Missing values cost nothing: enumeration blanks them for free only without weights.
    if (!anyNA(data)) {
      expect_equal(own$estimates$cost, own_by_enumeration(data, k, weights))
    }
    expect_release(own, data)
    for (rule in rules[-1]) {
      other <- suppress_cells(data, k = k, rule = rule, importance = weights)
      expect_release(other, data)
      if (rule == "shared") expect_lte(other$estimates$cost, own$estimates$cost + 1e-9)
      if (rule == "strict") expect_gte(other$estimates$cost, own$estimates$cost - 1e-9)
    }
  }
})

test_that("real files lose about what is known to be needed", {
  data <- trial_file("testdata.csv")
  keys <- c("urbrur", "roof", "walls", "water", "electcon", "relat", "sex")
  data <- data[keys]
  own <- suppress_cells(data, keys)
  expect_identical(own$estimates$n_suppressed, 283L)
  expect_identical(own$estimates$n_violations_before, 281L)
  expect_equal(own$estimates$tau_before, 412)
  expect_release(own, data)
  shared <- suppress_cells(data, keys, rule = "shared")
  expect_lte(shared$estimates$n_suppressed, 150L)
  expect_gte(shared$estimates$lower_bound, 119)
  expect_release(shared, data)
  strict <- suppress_cells(data, keys, rule = "strict")
  expect_lte(strict$estimates$n_suppressed, 365L)
  expect_gte(strict$estimates$lower_bound, 349)
  expect_identical(strict$estimates$n_single_candidate, 0L)
  expect_true(all(strict$records$n_candidates >= 3))
  expect_release(strict, data)
  # An integer program over sets of at most three variables ends with 643 cells.
  five <- suppress_cells(data, keys, k = 5, rule = "strict")
  expect_lte(five$estimates$n_suppressed, 680L)
  expect_true(five$estimates$lower_bound >= 620 && five$estimates$lower_bound <= 643)
  expect_release(five, data)
})

test_that("a record with missing values is joined by others without a blank of its own", {
  data <- data.frame(a = 1L, b = c(NA, rep(1L, 9)), c = 1L)
  expect_no_message(x <- suppress_cells(data, k = 3, rule = "strict"))
  expect_identical(x$estimates$cost, 2)
  expect_identical(x$cells$variable, c("b", "b"))
  expect_identical(x$estimates$lower_bound, 2)
  expect_release(x, data)
})

test_that("sdcMicro finds no violation either", {
  skip_if_not_installed("sdcMicro")
  set.seed(2)
  for (missing in c(0, 0.1)) {
    data <- random_file(120, missing)
    for (rule in rules) {
      x <- suppress_cells(data, k = 3, rule = rule)
      codes <- as.data.frame(lapply(x$data, function(v) as.integer(factor(v))))
      found <- sdcMicro::freqCalc(codes, seq_along(codes), alpha = 1)$fk
      expect_true(all(found >= 3))
      # freqCalc() does not count records that miss all key variables as matches.
      blank <- sum(rowSums(is.na(codes)) == ncol(codes))
      ours <- as.double(x$records$n_matches)
      expect_true(all(found <= ours & ours - found <= blank))
    }
  }
})

test_that("class, types, levels, labels and order of the data are kept", {
  n <- 40
  set.seed(3)
  data <- data.frame(
    f = factor(sample(c("x", "y", "z"), n, TRUE), levels = c("z", "y", "x", "never")),
    o = factor(sample(c("low", "high"), n, TRUE), c("low", "high"), ordered = TRUE),
    t = sample(c("\u00e4", "b"), n, TRUE), i = sample(1:3, n, TRUE),
    d = as.Date("2020-01-01") + sample(0:2, n, TRUE), l = sample(c(TRUE, FALSE), n, TRUE),
    p = as.POSIXct("2020-01-01", tz = "UTC") + 3600 * sample(0:1, n, TRUE),
    other = seq_len(n) / 2, row.names = paste0("r", seq_len(n))
  )
  data$h <- structure(
    sample(c(1, 2), n, TRUE),
    class = c("haven_labelled", "vctrs_vctr", "double"), labels = c(no = 1, yes = 2)
  )
  attr(data$i, "label") <- "an integer"
  keys <- setdiff(names(data), "other")
  for (rule in rules) {
    x <- suppress_cells(data, keys, rule = rule)
    expect_gt(nrow(x$cells), 0)
    expect_identical(lapply(x$data, attributes), lapply(data, attributes))
    expect_identical(vapply(x$data, typeof, ""), vapply(data, typeof, ""))
    expect_identical(x$data$other, data$other)
    expect_identical(row.names(x$data), row.names(data))
    released <- release_data(x, shuffle = FALSE)
    expect_identical(rownames(released), as.character(seq_len(n)))
    expect_identical(levels(released$f), setdiff(levels(data$f), "never"))
    expect_identical(lapply(released, as.vector), lapply(x$data, as.vector))
  }
  if (requireNamespace("data.table", quietly = TRUE)) {
    given <- data.table::as.data.table(data)
    kept <- data.table::copy(given)
    x <- suppress_cells(given, keys)
    expect_s3_class(x$data, "data.table")
    expect_identical(given, kept)
    # A copy that takes columns without a complaint.
    expect_no_warning(data.table::set(x$data, j = "new", value = 1))
  }
  if (requireNamespace("tibble", quietly = TRUE)) {
    expect_s3_class(suppress_cells(tibble::as_tibble(data), keys)$data, "tbl_df")
  }
})

test_that("whole numbers of 64 bits become missing", {
  skip_if_not_installed("bit64")
  data <- data.frame(a = rep(1:2, c(5, 4)), b = 1)
  data$id <- bit64::as.integer64(c(7, 8, 7, 7, 7, 9, 9, 9, 9))
  x <- suppress_cells(data, k = 2, importance = c(a = 5, b = 5))
  expect_identical(which(is.na(x$data$id)), 2L)
  expect_s3_class(x$data$id, "integer64")
})

test_that("several key sets are all served", {
  set.seed(4)
  data <- random_file(60)
  sets <- list(first = c("a", "b", "c"), second = c("c", "d"), third = c("a", "d"))
  for (rule in rules) {
    x <- suppress_cells(data, sets, rule = rule)
    for (set in sets) {
      expect_true(all(n_matches(x$data, set)$records$n_matches >= 3))
      if (rule == "strict") expect_true(all(equal_records(x$data[set]) >= 3))
    }
    expect_identical(x$sets$key_set, names(sets))
    expect_identical(x$sets$n_violations_after, rep(0L, 3))
    expect_identical(x$settings$key_sets, sets)
  }
})

test_that("importance chooses the variables, and Inf keeps one whole", {
  set.seed(5)
  data <- random_file(80)
  cheap <- suppress_cells(data, importance = c(c = 0.01))
  expect_gt(
    cheap$variables$n_suppressed[[3]], suppress_cells(data)$variables$n_suppressed[[3]]
  )
  for (rule in rules) {
    kept <- suppress_cells(data, rule = rule, importance = c(a = Inf))
    expect_identical(kept$variables$n_suppressed[[1]], 0L)
    expect_identical(kept$data$a, data$a)
    expect_release(kept, data)
  }
})

test_that("linked variables go together", {
  set.seed(6)
  data <- random_file(60)
  data$exact <- data$b + 0.5
  for (rule in rules) {
    x <- suppress_cells(
      data, c("a", "b", "c", "d"), rule = rule, linked = list(b = "exact"),
      importance = c(a = 5, c = 5, d = 5)
    )
    expect_true(all(is.na(x$data$exact[is.na(x$data$b)])))
    expect_identical(is.na(x$data$exact), is.na(x$data$b))
    expect_true("linked" %in% x$cells$reason)
    both <- suppress_cells(data[1:4], rule = rule, linked = list(c("a", "d")))
    expect_identical(is.na(both$data$a), is.na(both$data$d))
  }
})

test_that("strata and households are respected", {
  set.seed(7)
  data <- random_file(90)
  data$region <- rep(c("north", "south", NA), 30)
  data$hh <- rep(1:30, each = 3)
  data$a <- rep(sample(letters[1:3], 30, TRUE), each = 3)
  keys <- c("a", "b", "c", "d")
  for (rule in rules) {
    x <- suppress_cells(data, keys, rule = rule, strata_var = "region")
    expect_false(anyNA(x$data$region[data$region %in% c("north", "south")]))
    for (part in split(x$data[keys], addNA(data$region))) {
      expect_true(all(n_matches(part)$records$n_matches >= 3))
    }
    y <- suppress_cells(data, c("a", "b", "d"), rule = rule, hh_id = "hh")
    counted <- n_matches(y$data, c("a", "b", "d"), hh_id = "hh")$records$n_matches
    expect_true(all(counted >= 3))
    blank <- tapply(is.na(y$data$a), data$hh, function(x) length(unique(x)))
    expect_true(all(blank == 1))
  }
  # Names as text and without quotes are the same.
  expect_identical(suppress_cells(data, keys, strata_var = region)$settings$strata_var, "region")
})

test_that("max_risk is an inverse k, and both hold where both are given", {
  expect_identical(suppress_cells(worked, max_risk = 0.5)$estimates$k, 2L)
  expect_identical(suppress_cells(worked, max_risk = 1 / 3)$estimates$k, 3L)
  expect_identical(suppress_cells(worked, max_risk = 0.4)$estimates$k, 3L)
  expect_identical(suppress_cells(worked, k = 4, max_risk = 0.5)$estimates$k, 4L)
})

test_that("the search obeys the seed and the threads do not matter", {
  data <- adult[1:3000, c("education_num", "marital_status", "race", "sex")]
  set.seed(8)
  first <- suppress_cells(data, rule = "shared", n_rounds = 200)
  set.seed(8)
  old <- options(sdcRisk.threads = 1)
  on.exit(options(old))
  second <- suppress_cells(data, rule = "shared", n_rounds = 200)
  expect_identical(first$cells, second$cells)
  plain <- suppress_cells(data, rule = "shared")
  expect_lte(first$estimates$cost, plain$estimates$cost)
  one <- suppress_cells(data, rule = "strict")
  options(sdcRisk.threads = 2)
  expect_identical(suppress_cells(data, rule = "strict")$cells, one$cells)
})

test_that("what cannot be done is said, with the variable named", {
  caught <- function(...) {
    tryCatch(suppress_cells(worked, ...), sdcRisk_error = function(e) e)
  }
  expect_class <- function(e, kind) expect_s3_class(e, paste0("sdcRisk_error_", kind))
  expect_class(caught(k = 7), "unprotectable")
  expect_class(caught(importance = c(a = Inf, b = Inf, c = Inf)), "unprotectable")
  e <- caught(importance = c(A = 2))
  expect_class(e, "bad_argument")
  expect_match(conditionMessage(e), "\"A\"")
  expect_match(conditionMessage(caught(importance = c(a = 0))), "\"a\"")
  expect_class(caught(importance = 1:3), "bad_argument")
  e <- caught(linked = list(a = "zzz"))
  expect_class(e, "unknown_key_var")
  expect_identical(e$unknown, "zzz")
  expect_class(caught(linked = "a"), "bad_argument")
  expect_class(caught(key_vars = c("a", "q")), "unknown_key_var")
  expect_class(caught(k = 1), "bad_argument")
  expect_class(caught(k = 2.5), "bad_argument")
  expect_class(caught(max_risk = 0), "bad_argument")
  expect_class(caught(max_risk = 20), "bad_argument")
  expect_class(caught(rule = "nosuch"), "bad_argument")
  expect_class(caught(strata = "a"), "bad_argument")
  expect_class(caught(key_vars = c("a", "b"), strata_var = "b"), "bad_argument")
  expect_class(caught(hh_id = "nosuch"), "unknown_key_var")
  expect_error(suppress_cells(1:3), class = "sdcRisk_error_bad_data")
  expect_error(suppress_cells(worked[0, ]), class = "sdcRisk_error_bad_data")
  expect_error(suppress_cells(), class = "sdcRisk_error_bad_argument")
})

test_that("nothing to do is said and changes nothing", {
  data <- data.frame(a = rep(1, 5), b = rep("x", 5))
  expect_message(x <- suppress_cells(data), class = "sdcRisk_message_nothing_to_do")
  expect_identical(x$data, data)
  expect_identical(nrow(x$cells), 0L)
  expect_identical(x$estimates$gap, 0)
  expect_match(format(x)[[1]], "Local suppression")
})

test_that("the print says what each rule protects", {
  old <- options(width = 80, OutDec = ".")
  on.exit(options(old))
  for (rule in rules) {
    x <- suppress_cells(worked, k = 2, rule = rule)
    lines <- utils::capture.output(print(x))
    expect_lte(length(lines), 16)
    expect_true(all(nchar(lines) <= 80))
    expect_snapshot(print(x))
    text <- as.character(interpret(x))
    text <- gsub("sdcRisk [0-9.]+", "sdcRisk", text)
    expect_snapshot(cat(text))
  }
})

test_that("the verbs work", {
  x <- suppress_cells(worked, k = 2)
  expect_identical(nrow(generics::glance(x)), 1L)
  tidied <- generics::tidy(x)
  expect_identical(tidied$estimate[tidied$term == "n_suppressed"], 4)
  expect_identical(generics::augment(x, worked)$.n_suppressed, c(0L, 0L, 1L, 1L, 1L, 1L))
  expect_error(generics::augment(x, worked[6:1, ]), class = "sdcRisk_error_mismatched_data")
  expect_identical(summary(x, by = worked$a)$risk_by_strata$n, c(5L, 1L))
  expect_identical(x$settings$key_vars, names(worked))
  expect_false(any(vapply(x$settings, is.data.frame, NA)))
})

test_that("print and report have one figure of correct matches, that of who knows the originals", {
  keys <- c("CENREG", "DAGE3", "EDUC3", "GENDER", "BORNUSA", "DRACE3")
  x <- quietly(suppress_cells(nals_prison, keys, k = 3))
  # In base R: the released records that an original fits.
  before <- as.matrix(data.frame(lapply(nals_prison[keys], as.character)))
  after <- as.matrix(data.frame(lapply(as.data.frame(x$data)[keys], as.character)))
  fitting <- apply(before, 1, function(own) {
    sum(colSums(t(after) == own | is.na(t(after))) == length(keys))
  })
  expect_equal(x$estimates$tau_intruder, sum(1 / fitting))
  words <- format(signif(sum(1 / fitting), 3), nsmall = 1)
  expect_match(text_of(x), paste0("knows the originals +", words))
  expect_match(interpret(x), paste("all original key values expects", words), fixed = TRUE)
  row <- measures(x)[measures(x)$measure == "tau_intruder", ]
  expect_equal(row$value, sum(1 / fitting))
  path <- tempfile(fileext = ".html")
  on.exit(unlink(c(path, sub("html$", "json", path))))
  quietly(sdc_report(x, file = path, internal = TRUE, pictures = FALSE))
  html <- paste(readLines(path, encoding = "UTF-8"), collapse = "\n")
  board <- sub("<h2>Methods.*", "", html)
  groups <- length(unique(do.call(paste, nals_prison[keys])))
  expect_match(board, paste0(
    "<td>Correct matches of someone who knows the originals: before: ", groups, "[.]0",
    "</td>[^\n]*data-value=\"[^\"]*\">", words, "</td>"
  ))
  # The smaller figure is no other's name.
  expect_no_match(board, "Expected correct matches|released values alone")
})

test_that("more matches than the file has records are out of reach at once", {
  data <- data.frame(a = rep(1:2, 5), b = 1:10)
  for (rule in c("own", "shared", "strict")) {
    said <- expect_error(
      suppress_cells(data, k = 11, rule = rule), class = "sdcRisk_error_unprotectable"
    )
    expect_match(conditionMessage(said), "has 10 records: not even full", fixed = TRUE)
  }
  expect_error(
    suppress_cells(data, max_risk = 0.01), "must have the 100 records that each is to match",
    class = "sdcRisk_error_unprotectable"
  )
  # All records are alike if every value is suppressed.
  expect_identical(quietly(suppress_cells(data, k = 10, rule = "own"))$estimates$n_suppressed, 20L)
})

test_that("after an earlier protection candidates are those of the first originals", {
  keys <- c("CENREG", "DAGE3", "EDUC3", "GENDER", "BORNUSA")
  data <- nals_prison[keys]
  # Released records whose values fit each original, its own among them.
  fitting <- function(released) {
    vapply(seq_len(nrow(data)), function(i) {
      fits <- Reduce(`&`, lapply(keys, function(key) {
        shown <- as.character(released[[key]])
        is.na(shown) | is.na(data[[key]][[i]]) | shown == as.character(data[[key]][[i]])
      }))
      if (fits[[i]]) sum(fits) else Inf
    }, 0)
  }
  file <- sdc_file(data, keys)
  expect_first <- function(x) {
    n <- fitting(as.data.frame(x$data))
    expect_equal(as.double(x$records$n_candidates), n)
    expect_equal(x$estimates$n_single_candidate, sum(n == 1))
    expect_equal(x$estimates$tau_intruder, sum(1 / n))
  }
  once <- quietly(suppress_cells(file, k = 3))
  expect_gt(once$estimates$n_single_candidate, 0)
  expect_first(once)
  twice <- quietly(suppress_cells(once, k = 4))
  expect_gt(twice$estimates$n_single_candidate, 0)
  expect_first(twice)
  expect_equal(
    quietly(suppress_cells(as.data.frame(once$data), keys, k = 4, original = data))$records,
    twice$records
  )
  swapped <- quietly(invariant_pram(file, max_match_prob = 0.6, unprotected = "merge"))
  after <- quietly(suppress_cells(swapped, k = 2))
  expect_true(any(is.infinite(after$records$n_candidates)))
  expect_first(after)
  # Recoded values count in their groups.
  banded <- quietly(global_recode(file, EDUC3 = c(0, 2, 4)))
  data$EDUC3 <- as.data.frame(banded)$EDUC3
  expect_lt(length(unique(data$EDUC3)), length(unique(nals_prison$EDUC3)))
  expect_first(quietly(suppress_cells(quietly(suppress_cells(banded, k = 2)), k = 3)))
})
