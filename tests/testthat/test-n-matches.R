table_2 <- data.frame(
  age = c(40, 36, NA, 40, 23, 23),
  gender = c("male", "female", "male", NA, "male", "male")
)

matches <- function(...) n_matches(...)$records$n_matches

test_that("Table 2 of Mulder comes out by the definition and as printed", {
  # Section 3.2; k is the size of the anonymity set after listwise deletion.
  expect_equal(matches(table_2), c(3, 1, 5, 3, 3, 3))
  expect_equal(matches(table_2, min_overlap = 1), c(3, 1, 4, 2, 3, 3))
  expect_equal(matches(table_2, missing = "exclude"), c(1, 1, NA, NA, 2, 2))
  x <- n_matches(table_2)
  expect_equal(x$estimates$n_unique, 1)
  expect_equal(x$estimates$n_complete, 4)
  expect_equal(x$estimates$n_unique_complete, 2)
  listwise <- n_matches(table_2, missing = "exclude")$estimates
  expect_equal(
    unlist(listwise[c("n_deleted", "n", "n_unique", "prop_unique", "prop_unique_all")]),
    c(n_deleted = 2, n = 4, n_unique = 2, prop_unique = 0.5, prop_unique_all = 1 / 3)
  )
})

test_that("Franconi's example with missing values agrees with freqCalc() of sdcMicro", {
  # Data set francdat of sdcMicro with the missing values of its ?freqCalc; the
  # numbers were made by running sdcMicro 5.8.0.
  data <- data.frame(
    key1 = c(1, 1, 1, 3, 4, 4, 6, 1), key2 = c(2, 2, 2, 3, 3, 3, 2, 2),
    key3 = c(5, 1, 1, 1, 1, 1, 1, 5), key4 = c(1, 1, 1, 5, 4, 1, 5, 1),
    w = c(18, 45.5, 39, 17, 541, 8, 5, 92)
  )
  complete <- n_matches(data, 1:4, weight_var = "w")$records
  expect_equal(complete$n_matches, c(2, 2, 2, 1, 1, 1, 1, 2))
  expect_equal(complete$n_matches_weighted, c(110, 84.5, 84.5, 17, 541, 8, 5, 110))
  data$key3[3] <- NA
  data$key1[4] <- NA
  data$key2[4] <- NA
  data$key4[5] <- NA
  data$key1[6] <- NA
  expected <- list(
    "1" = list(c(3, 2, 4, 3, 3, 2, 2, 3), c(149, 84.5, 194.5, 563, 566, 549, 22, 149)),
    "0.5" = list(
      c(2.5, 1.5, 4, 2.5, 2, 1.5, 1.5, 2.5),
      c(129.5, 65, 194.5, 292.5, 553.5, 278.5, 13.5, 129.5)
    ),
    "0" = list(c(2, 1, 4, 2, 1, 1, 1, 2), c(110, 45.5, 194.5, 22, 541, 8, 5, 110))
  )
  for (alpha in names(expected)) {
    found <- n_matches(
      data, c("key1", "key2", "key3", "key4"),
      weight_var = "w", partial_weight = as.numeric(alpha)
    )$records
    expect_equal(found$n_matches, expected[[alpha]][[1]], info = alpha)
    expect_equal(found$n_matches_weighted, expected[[alpha]][[2]], info = alpha)
  }
})

test_that("random small files follow the definition, whatever is asked", {
  for (seed in seeds(120)) {
    set.seed(seed)
    data <- match_file(sample(1:14, 1), seed)
    rule <- sample(c("first", "overlap", "mean"), 1)
    missing <- sample(c("wildcard", "wildcard", "category"), 1)
    overlap <- sample(0:2, 1)
    alpha <- sample(c(1, 0.5, 0), 1)
    tolerance <- if ("c" %in% names(data)) list(c = sample(c(0, 5, 12), 1))
    groups <- list(one = names(data)[1:2])
    grouped <- seed %% 3 == 0 && ncol(data) > 3
    keys <- if (grouped) c(groups, names(data)[-(1:2)]) else as.list(names(data))
    w <- stats::runif(nrow(data), 1, 20)
    found <- n_matches(
      cbind(data, w = w), names(data),
      rule = rule, missing = missing, min_overlap = overlap, partial_weight = alpha,
      tolerance = tolerance, weight_var = "w", key_groups = if (grouped) groups
    )$records
    pairs <- oracle_match_matrix(
      data, NULL, rule, missing, overlap, alpha, tolerance, keys
    )
    expect_equal(as.numeric(found$n_matches), rowSums(pairs), info = seed)
    expect_equal(found$n_matches_weighted, as.vector(pairs %*% w), info = seed)
  }
})

test_that("outside patterns are looked up by their values", {
  for (seed in seeds(50)) {
    set.seed(seed)
    both <- match_file(19, seed)
    data <- both[1:12, ]
    patterns <- both[13:19, ]
    # Other values, other levels, another order of columns, plain values beside
    # candidates.
    if ("a" %in% names(data)) patterns$a <- as.character(patterns$a)
    if ("c" %in% names(patterns)) patterns$c[2] <- 77L
    if ("f" %in% names(data)) patterns$f <- c(5, 1, NA, 3, 99, 2, 2)
    rule <- sample(c("first", "overlap", "mean"), 1)
    alpha <- sample(c(1, 0.4), 1)
    overlap <- sample(0:1, 1)
    w <- stats::runif(nrow(data), 1, 20)
    pairs <- oracle_match_matrix(data, patterns, rule, "wildcard", overlap, alpha)
    found <- n_matches(
      cbind(data, w = w), names(data),
      patterns = rev(patterns), rule = rule, partial_weight = alpha, min_overlap = overlap,
      weight_var = "w"
    )
    expect_equal(as.numeric(found$records$n_matches), rowSums(pairs), info = seed)
    expect_equal(found$records$n_matches_weighted, as.vector(pairs %*% w), info = seed)
    expect_true(is.na(found$estimates$theta))
  }
})

test_that("an unseen value matches missing values and candidates that hold it only", {
  data <- data.frame(a = c("x", "y", NA), b = c(1, 1, 1))
  asked <- data.frame(a = c("x", "new", NA), b = c(1, 1, 2))
  expect_equal(matches(data, patterns = asked), c(2, 1, 0))
  months <- data.frame(m = candidates(list(c(2, 3), 4, NA)))
  expect_equal(matches(months, patterns = data.frame(m = c(3L, 4L, 9L))), c(2, 2, 1))
  x <- n_matches(data, patterns = asked)
  expect_identical(names(generics::augment(x, asked)), c("a", "b", ".n_matches"))
  expect_error(generics::augment(x, data), class = "sdcRisk_error_mismatched_data")
})

test_that("listwise deletion counts classes among complete records", {
  for (seed in seeds(25)) {
    data <- match_file(30, seed, candidates = FALSE)
    complete <- stats::complete.cases(data)
    key <- do.call(paste, c(lapply(data, oracle_codes), sep = "-"))
    size <- as.vector(table(key[complete])[key])
    expected <- ifelse(complete, size, NA_integer_)
    x <- n_matches(data, missing = "exclude")
    expect_equal(x$records$n_matches, expected, info = seed)
    expect_equal(x$estimates$n_deleted, sum(!complete))
    wildcard <- n_matches(data)
    expect_true(all(expected <= wildcard$records$n_matches, na.rm = TRUE))
    expect_equal(wildcard$estimates$n_complete, sum(complete))
    expect_equal(wildcard$estimates$n_unique_complete, sum(expected == 1, na.rm = TRUE))
  }
})

test_that("households, sensitive values and their weights are counted once", {
  for (seed in seeds(40)) {
    set.seed(seed)
    data <- match_file(15, seed)
    hh <- sample(c(letters[1:6], NA), 15, TRUE)
    income <- sample(c(10, 20, 30, NA), 15, TRUE)
    own <- ifelse(is.na(hh), paste("alone", 1:15), hh)
    w <- (match(own, unique(own)) + 1) / 2
    hit <- oracle_match_matrix(data) > 0
    found <- n_matches(
      cbind(data, hh = hh, income = income, w = w), names(data),
      hh_id = "hh", sensitive = "income", weight_var = "w"
    )$records
    households <- apply(hit, 1, function(h) length(unique(own[h])))
    expect_equal(found$n_matches, households, info = seed)
    expect_equal(found$n_matched_records, rowSums(hit))
    expect_equal(
      found$n_matches_weighted,
      apply(hit, 1, function(h) sum(w[match(unique(own[h]), own)]))
    )
    expect_equal(
      found$n_sensitive,
      apply(hit, 1, function(h) length(unique(income[h & !is.na(income)])))
    )
    expect_equal(found$n_matches_household, as.vector(tapply(households, own, min)[own]))
  }
})

test_that("l and t of sensitive values follow their definitions", {
  skip_on_cran()
  fields <- c("n_sensitive", "l_entropy", "t_closeness")
  wanted <- function(hit, values, ordered, all = values) {
    rows <- apply(hit, 1, function(h) {
      as.data.frame(oracle_diversity(values[h], all, ordered))
    }, simplify = FALSE)
    do.call(rbind, rows)
  }
  for (seed in 1:60) {
    set.seed(seed)
    n <- sample(1:20, 1)
    data <- match_file(n, seed)
    keys <- names(data)
    income <- sample(c(10, 20, 30, 70, NA), n, TRUE, prob = c(4, 2, 1, 1, 2))
    illness <- factor(sample(c("a", "b", "c", NA), n, TRUE), rev(letters[1:3]))
    rated <- factor(illness, ordered = TRUE)
    data <- cbind(data, income = income, illness = illness, rated = rated)
    hit <- oracle_match_matrix(data[keys]) > 0
    several <- n_matches(data, keys, sensitive = c("income", "illness", "rated"))
    of <- function(name) {
      rlang::set_names(several$records[paste0(fields, "_", name)], fields)
    }
    expect_equal(of("income"), wanted(hit, income, TRUE), info = seed)
    expect_equal(of("illness"), wanted(hit, as.character(illness), FALSE), info = seed)
    expect_equal(of("rated"), wanted(hit, as.integer(rated), TRUE), info = seed)
    one <- n_matches(data, keys, sensitive = "illness")
    expect_identical(unname(as.list(one$records[fields])), unname(as.list(of("illness"))))
    known <- several$records[grep("^n_sensitive", names(several$records))]
    expect_identical(several$estimates$n_homogeneous, sum(rowSums(known == 1) > 0))
    least <- function(field, f) {
      columns <- grep(paste0("^", field), names(several$records))
      values <- unlist(several$records[columns], use.names = FALSE)
      values <- values[!is.na(values) & (values > 0 | field == "t_closeness")]
      if (length(values)) f(values) else values[NA_integer_]
    }
    expect_equal(several$estimates$l_distinct, least("n_sensitive", min))
    expect_equal(several$estimates$l_entropy, least("l_entropy", min))
    expect_equal(several$estimates$t_closeness, least("t_closeness", max))
    expect_identical(several$sensitive$variable, c("income", "illness", "rated"))
    expect_identical(several$sensitive$n_homogeneous[[2]], one$estimates$n_homogeneous)
    # Listwise deletion: among the records that are left, beside these.
    left <- stats::complete.cases(data[keys])
    if (any(left)) {
      listwise <- quietly(n_matches(data, keys, missing = "exclude", sensitive = "income"))
      among <- oracle_match_matrix(data[left, keys]) > 0
      expect_equal(
        as.list(listwise$records[left, fields]),
        as.list(wanted(among, income[left], TRUE)), ignore_attr = TRUE, info = seed
      )
    }
  }
})

test_that("a list of key sets is what each of them is alone", {
  data <- adult[1:400, ]
  data$age[5:60] <- NA
  data$occupation[40:90] <- NA
  sets <- list(
    one = c("age", "sex"), two = c("age", "occupation", "sex"), c("sex", "race")
  )
  for (missing in c("wildcard", "category", "exclude")) {
    all <- n_matches(data, sets, missing = missing, pop_size = 1e5)
    expect_identical(names(all$records), c("one", "two", "sex + race"))
    expect_identical(all$estimates$key_set, names(all$records))
    for (i in 1:3) {
      alone <- n_matches(data, sets[[i]], missing = missing, pop_size = 1e5)
      expect_equal(all$records[[i]], alone$records$n_matches)
      expect_equal(all$estimates[i, -1], alone$estimates[, -1], ignore_attr = TRUE)
    }
  }
  weighted <- n_matches(cbind(data, w = 2), sets[1:2], weight_var = "w")$records
  expect_identical(
    names(weighted), c("one", "one_n_matches_weighted", "two", "two_n_matches_weighted")
  )
})

test_that("a key set may name a group of columns", {
  data <- adult[1:300, ]
  groups <- list(origin = c("race", "native_country"))
  named <- n_matches(data, list(a = c("age", "origin")), key_groups = groups)
  expect_equal(named$records$a, matches(data, c("age", "race", "native_country")))
  expect_identical(named$settings$key_sets$a, c("age", "origin"))
  expect_error(
    n_matches(data, c("age", "origin"), key_groups = groups, min_overlap = 3),
    class = "sdcRisk_error_bad_argument"
  )
})

test_that("results are the same on any number of threads", {
  data <- match_file(2000, 3)
  data$w <- stats::runif(2000, 1, 9)
  keys <- setdiff(names(data), "w")
  found <- lapply(c(1, 2, 7), function(threads) {
    old <- options(sdcRisk.threads = threads)
    on.exit(options(old))
    n_matches(data, keys, weight_var = "w", rule = "overlap")[c("records", "estimates")]
  })
  expect_identical(found[[1]], found[[2]])
  expect_identical(found[[1]], found[[3]])
})

test_that("order of records and names of values do not matter", {
  data <- match_file(200, 8)
  order <- sample(200)
  expect_identical(matches(data)[order], matches(data[order, ]))
})

test_that("one record, no values, equal and unique records have right answers", {
  expect_equal(matches(data.frame(a = 1)), 1)
  expect_equal(matches(data.frame(a = NA)), 1)
  expect_equal(matches(data.frame(a = c(NA, NA), b = c(NA, NA))), c(2, 2))
  expect_equal(matches(data.frame(a = rep(1, 100))), rep(100, 100))
  expect_equal(matches(data.frame(a = 1:100)), rep(1, 100))
  expect_equal(matches(data.frame(a = c(1, 2, 2), b = NA)), c(1, 2, 2))
  nothing <- n_matches(data.frame(a = c(1, 2, 2), b = NA), missing = "exclude")
  expect_identical(nothing$records$n_matches, rep(NA_integer_, 3))
  expect_equal(nothing$estimates$n, 0)
  expect_equal(nothing$estimates$n_deleted, 3)
  expect_match(lines_of(nothing), "No record is complete", all = FALSE)
  # An all-missing row matches everything, and everything matches it.
  data <- data.frame(a = c(1:5, NA), b = c(1:5, NA))
  expect_equal(matches(data), c(2, 2, 2, 2, 2, 6))
  expect_equal(matches(data, min_overlap = 1), rep(1, 6))
})

test_that("tolerance is for numbers, Dates and times, and symmetric", {
  data <- data.frame(
    income = c(1000, 1050, 1101, NA), day = as.Date("2020-01-01") + c(0, 1, 3, 3)
  )
  expect_equal(matches(data, "income", tolerance = list(income = 50)), c(3, 3, 2, 4))
  expect_equal(matches(data, "day", tolerance = list(day = 1)), c(2, 2, 2, 2))
  asked <- data.frame(income = c(1075, 5000))
  expect_equal(
    matches(data, "income", patterns = asked, tolerance = list(income = 26)), c(3, 1)
  )
  for (bad in list(1, list(1), list(income = -1), list(income = NA), list(size = 1))) {
    expect_error(n_matches(data, tolerance = bad), class = "sdcRisk_error_bad_argument")
  }
  expect_error(
    n_matches(adult[1:9, ], "sex", tolerance = list(sex = 1)),
    class = "sdcRisk_error_bad_column"
  )
})

test_that("bad input is refused with a class before work starts", {
  data <- data.frame(a = 1:3, w = c(1, NA, 2), h = 1:3)
  refused <- function(kind, ...) {
    expect_error(n_matches(...), class = paste0("sdcRisk_error_", kind))
  }
  refused("bad_data", list(a = 1))
  refused("bad_data", data[0, ])
  refused("unknown_key_var", data, "b")
  refused("unknown_key_var", data, list(x = "b"))
  refused("bad_argument", data, list())
  refused("bad_argument", data, list(x = character()))
  refused("bad_argument", data, list(x = "a", x = "h"))
  refused("bad_argument", data, "a", misspelt = 1)
  refused("bad_argument", data, "a", missing = "drop")
  refused("bad_argument", data, "a", rule = "last")
  refused("bad_argument", data, "a", min_overlap = 2)
  refused("bad_argument", data, "a", min_overlap = -1)
  for (alpha in list(-0.1, 1.1, NA, "1", c(0, 1))) {
    refused("bad_argument", data, "a", partial_weight = alpha)
  }
  refused("bad_argument", data, "a", below = 0)
  refused("bad_argument", data, "a", level = 1)
  refused("bad_weights", data, "a", weight_var = "w")
  for (w in list(c(1, -1, 2), c(1, 0, 2), c(1, Inf, 2), letters[1:3])) {
    refused("bad_weights", transform(data, w = w), "a", weight_var = "w")
  }
  for (fraction in list(0, -1, 1.01, NA, "a")) {
    refused("bad_argument", data, "a", sampling_fraction = fraction)
  }
  refused("bad_argument", data, "a", pop_size = 2)
  refused("bad_argument", data, "a", pop_size = 30, sampling_fraction = 0.5)
  refused("bad_argument", data, "a", patterns = 1)
  refused("bad_argument", data, "a", patterns = data.frame(b = 1))
  refused("bad_data", data, "a", patterns = data.frame(a = integer()))
  refused("unknown_key_var", data, "a", hh_id = "nothing")
  refused("bad_argument", data, "a", hh_id = "h", rule = "mean")
  refused("bad_argument", data, "a", hh_id = "h", partial_weight = 0.5)
  refused("bad_weights", data.frame(a = 1:3, w = 1:3, h = 1), "a", hh_id = "h", weight_var = "w")
  refused("unknown_key_var", data, "a", sensitive = "nothing")
  refused("bad_argument", data, "a", key_groups = c("a", "h"))
  refused("bad_column", data.frame(a = I(list(1, 2))))
  halves <- data.frame(a = candidate_interval(c(0.5, 1), c(1.5, 2)))
  refused("bad_argument", halves, rule = "mean")
  expect_equal(matches(halves, rule = "overlap"), c(2, 2))
  wide <- as.data.frame(rep(list(candidate_interval(c(0, 5), c(1e9, 1e9))), 4))
  names(wide) <- letters[1:4]
  refused("too_large", wide, rule = "mean")
})

test_that("other methods refuse candidates by their class", {
  data <- data.frame(a = 1:3, m = candidates(list(c(2, 3), 4, NA)))
  error <- expect_error(qar_risk(data, p = 1), class = "sdcRisk_error_bad_column")
  expect_identical(error$columns, "m")
})

test_that("the verbs of results work", {
  data <- adult[1:500, c("age", "sex", "race", "occupation")]
  data$age[1:50] <- NA
  sets <- list(short = c("age", "sex"), long = names(data))
  one <- n_matches(data, pop_size = 1e5)
  many <- n_matches(data, sets, pop_size = 1e5)
  for (x in list(one, many, n_matches(data, patterns = data[1:3, ]))) {
    lines <- lines_of(x)
    expect_lte(length(lines), 16)
    expect_s3_class(interpret(x), "sdc_sentence")
    expect_identical(nrow(generics::glance(x)), 1L)
    expect_true(all(c("term", "estimate") %in% names(generics::tidy(x))))
    expect_s3_class(summary(x), "sdc_summary")
  }
  expect_match(interpret(one), "match only themselves")
  risk <- summary(one, by = "sex", data = data)$record_risk
  by_hand <- tapply(1 / one$records$n_matches, data$sex, mean)
  expect_equal(risk$mean, as.vector(by_hand))
  expect_equal(summary(many)$record_risk$mean, mean(1 / do.call(pmin, many$records)))
  expect_equal(generics::augment(many, data)$.long, many$records$long)
  comparison <- compare_risk(n_matches(data), n_matches(transform(data, age = age %/% 10)))
  expect_s3_class(comparison, "sdc_comparison")
  expect_equal(max(1 / one$records$n_matches), one$estimates$risk_max)
})

test_that("quantiles of record risks are those of quantile()", {
  set.seed(4)
  for (n in c(1:7, 50, 333)) {
    for (matches in list(sample(0:6, n, TRUE), stats::runif(n, 1, 4))) {
      spread <- sdcRisk:::match_counts(matches)
      risk <- ifelse(matches > 0, 1 / matches, 0)
      for (p in c(0.95, 0.99, 1)) {
        expect_equal(
          sdcRisk:::counted_quantile(spread$risk, spread$n, p),
          stats::quantile(risk, p, type = 8, names = FALSE)
        )
      }
      expect_equal(sum(spread$risk * spread$n) / n, mean(risk))
    }
  }
})

test_that("pictures are drawn", {
  skip_if_not_installed("ggplot2")
  data <- adult[1:500, c("age", "sex", "race", "occupation")]
  data$age[1:50] <- NA
  x <- n_matches(data, list(short = c("age", "sex"), long = names(data)))
  for (type in c("matches", "unique")) {
    expect_s3_class(ggplot2::autoplot(x, type), "ggplot")
    expect_s3_class(ggplot2::autoplot(n_matches(data), type), "ggplot")
  }
  many <- n_matches(data, utils::combn(names(data), 2, simplify = FALSE))
  for (type in c("matches", "unique")) {
    caption <- function(n) paste(ggplot2::autoplot(many, type, n = n)$labels$caption, "")
    expect_match(caption(2), paste0("The 2 of ", nrow(many$estimates), " key sets"))
    expect_no_match(caption(100), "key sets")
  }
  expect_error(ggplot2::autoplot(x, "pie"), class = "sdcRisk_error_bad_argument")
})

test_that("prints and sentences hold no values of records", {
  data <- data.frame(a = c("secret1", "secret2", NA), b = c(123457, NA, 123457))
  for (x in list(n_matches(data), n_matches(data, list(x = "a", y = c("a", "b"))))) {
    text <- c(lines_of(x), interpret(x), format(summary(x)))
    expect_false(any(grepl("secret|12345", text)))
  }
})

test_that("every key set has its own interval of theta in measures()", {
  keys <- c("CENREG", "DAGE3", "EDUC3", "GENDER", "BORNUSA", "DRACE3")
  sets <- list(a = keys[1:3], b = keys, c = keys[1:5])
  x <- suppressMessages(n_matches(nals_prison, sets, weight_var = "WEIGHT"))
  rows <- expect_no_warning(measures(x))
  rows <- rows[rows$measure == "theta", ]
  expect_identical(rows$low, x$estimates$theta_low)
  expect_identical(rows$high, x$estimates$theta_high)
})
