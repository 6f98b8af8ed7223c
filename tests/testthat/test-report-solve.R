# An intruder who takes two figures of an external report, counts or shares of a known number, and
# subtracts them: numbers of suppressed values or of records with them that are withheld, since
# fewer than five have them, must not follow.

skip_on_cran()

skip_if_not_installed("xml2")

keys <- c("a", "b", "c")

# Files of three key variables, one of which has two to four suppressed values.
solvable_files <- function(n_files) {
  files <- list()
  seed <- 0
  while (length(files) < n_files) {
    seed <- seed + 1
    set.seed(seed)
    n <- sample(c(300, 500, 1000, 2000), 1)
    n_values <- c(sample(c(20, 40, 80), 1), sample(c(4, 8, 15), 1))
    data <- data.frame(
      a = sample(n_values[[1]], n, TRUE, seq_len(n_values[[1]])^-0.7),
      b = sample(n_values[[2]], n, TRUE), c = sample(3, n, TRUE, c(0.6, 0.35, 0.05)), w = 20
    )
    file <- sdc_file(data, keys, weight_var = "w")
    protected <- quietly(suppress_cells(file, k = 3))
    blank <- is.na(as.data.frame(protected$data)[keys])
    if (any(colSums(blank) %in% 2:4) && sum(blank) >= 100) {
      few <- c(colSums(blank), sum(rowSums(blank) > 1))
      files <- c(files, list(list(
        file = file, protected = protected, n = n, few = few[few > 0 & few < 5]
      )))
    }
  }
  files
}

# Every figure of the page and of the log by its place: numbers in tables, and those in sentences,
# each by its words.
figures_of <- function(results, internal = FALSE) {
  path <- tempfile(fileext = ".html")
  on.exit(unlink(c(path, sub("html$", "json", path))))
  quietly(do.call(sdc_report, c(
    results, list(file = path, pictures = FALSE, internal = internal)
  )))
  log <- jsonlite::read_json(sub("html$", "json", path))
  of_log <- lapply(log$results, function(result) {
    lapply(result$tables, function(columns) {
      lapply(names(columns), function(name) {
        value <- vapply(columns[[name]], function(v) if (is.numeric(v)) v else NA_real_, 0)
        rows <- if (is.null(columns$measure)) columns$variable else columns$measure
        if (is.null(rows)) rows <- seq_along(value)
        data.frame(place = paste(result$id, name, unlist(rows)), value = value)
      })
    })
  })
  parts <- xml2::xml_find_all(xml2::read_html(path), "//body//p|//body//li|//body//td")
  words <- unique(unlist(strsplit(xml2::xml_text(parts), "(?<=[.;:]) ", perl = TRUE)))
  # The time of the report is no figure.
  words <- words[!startsWith(words, "Written on")]
  number <- "[0-9]+(?:,[0-9]{3})*(?:[.][0-9]+)?%?"
  of_words <- lapply(words[nchar(words) > 12 & grepl("[0-9]", words)], function(text) {
    found <- regmatches(text, gregexpr(number, text, perl = TRUE))[[1]]
    data.frame(
      place = paste(gsub(number, "#", text, perl = TRUE), seq_along(found)),
      value = as.numeric(gsub("[,%]", "", found)) / ifelse(grepl("%", found), 100, 1)
    )
  })
  all <- do.call(rbind, c(unlist(unlist(of_log, FALSE), FALSE), of_words))
  all[!is.na(all$value) & !duplicated(all$place), ]
}

# Figures as counts: shares times the records, the values and the pairs of variables.
counts_of_figures <- function(figures, n) {
  share <- figures$value > 0 & figures$value < 1
  counts <- figures[figures$value == round(figures$value), ]
  for (times in c(1, 3)) {
    counts <- rbind(counts, data.frame(
      place = paste(figures$place, "of", times, "n")[share],
      value = round(figures$value * n * times)[share]
    ))
  }
  # Records with values suppressed in two variables, from the mean over pairs.
  at <- match(c("utility_loss n_blank 1", "utility_loss tv_pairs 1"), figures$place)
  both <- 2 * figures$value[at[[1]]] - round(figures$value[at[[2]]] * n * 3)
  counts <- rbind(counts, data.frame(place = c("n", "both"), value = c(n, n + both)))
  counts[!is.na(counts$value), ]
}

# Figures by place and file. What is the same in all files says nothing of one of them, and small
# numbers are near each other.
values_of <- function(attacked, least, of = "") {
  places <- unique(unlist(lapply(attacked, function(a) a$counts$place)))
  places <- places[grepl(of, places)]
  values <- vapply(attacked, function(a) {
    a$counts$value[match(places, a$counts$place)]
  }, numeric(length(places)))
  dimnames(values) <- list(places, NULL)
  values[values < least] <- NA
  values[apply(values, 1, function(v) length(unique(v[!is.na(v)])) > 1), ]
}

# Pairs of figures whose difference, in the files where `asked()` says so, is in nearly all of
# them one of the numbers `hidden`, a vector for each file.
solving_pairs <- function(values, hidden, asked = function(apart, hidden) apart %in% 1:4) {
  both <- right <- matrix(0, nrow(values), nrow(values))
  for (i in seq_along(hidden)) {
    apart <- abs(outer(values[, i], values[, i], `-`))
    both <- both + asked(apart, hidden[[i]])
    right <- right + apart %in% hidden[[i]]
  }
  at <- which(both >= 8 & right >= 0.85 * both & upper.tri(both), arr.ind = TRUE)
  list(n = sum(both), found = paste(
    rownames(values)[at[, 1]], "-", rownames(values)[at[, 2]], recycle0 = TRUE
  ))
}

test_that("no two figures of an external report tell few suppressed values or records", {
  files <- solvable_files(24)
  made <- lapply(files, function(x) {
    loss <- quietly(utility_loss(x$protected))
    quietly(list(
      loss = list(loss), both = list(x$protected, loss), all = list(
        file_check(x$file), x$protected, after = file_check(x$protected), loss,
        n_matches(x$file), after_matches = n_matches(x$protected$data, keys), key_overview(x$file)
      )
    ))
  })
  attack <- function(which, internal = FALSE) {
    Map(function(results, x) {
      figures <- figures_of(results[[which]], internal)
      list(counts = counts_of_figures(figures, x$n), few = x$few)
    }, made, files)
  }
  few <- lapply(files, `[[`, "few")
  changed <- paste0(
    "^(suppress_cells|utility_loss) (n_(suppr|blank|rec|viol)|lower).* [0-9]$|miss a key .*1$"
  )
  for (which in names(made[[1]])) {
    attacked <- attack(which)
    expect_identical(solving_pairs(values_of(attacked, 20), few)$found, character(), info = which)
    # No two counts of what changed are near each other in any file.
    expect_identical(solving_pairs(values_of(attacked, 5, changed), few)$n, 0, info = which)
  }
  # The attack finds them in an internal report.
  found <- solving_pairs(values_of(attack("all", internal = TRUE), 20), few)$found
  for (pair in c("n_blank 1 - utility_loss tv_pairs_max", "miss a key value", "both")) {
    expect_match(found, pair, all = FALSE)
  }
})

test_that("no withheld count is the difference of two figures of an external report", {
  attacked <- lapply(1:45, function(seed) {
    set.seed(seed)
    n <- sample(c(300, 317, 523, 1049), 1)
    n_values <- c(sample(c(6, 12, 20, 30), 1), sample(c(2, 4, 8), 1))
    data <- data.frame(
      a = sample(n_values[[1]], n, TRUE, seq_len(n_values[[1]])^-sample(c(0.5, 1, 1.5), 1)),
      b = sample(n_values[[2]], n, TRUE), c = sample(3, n, TRUE, c(0.6, 0.35, 0.05)),
      ill = sample(3, n, TRUE, c(0.8, 0.15, 0.05)), w = sample(c(10, 20, 30), n, TRUE)
    )
    if (seed %% 3 == 0) data$a[sample(n, sample(c(3, 9, 30), 1))] <- NA
    file <- sdc_file(data, keys, weight_var = "w", sensitive = "ill")
    results <- quietly(list(
      file_check(file), n_matches(file), special_uniques(file), attribute_risk(file),
      suppress_cells(file, k = 3), key_overview(file)
    ))
    shown <- figures_of(results)
    exact <- figures_of(results, internal = TRUE)
    gone <- exact[!exact$place %in% shown$place & exact$value %in% 1:4, ]
    list(
      counts = counts_of_figures(shown, n), exact = counts_of_figures(exact, n),
      hidden = gone[grepl("^[a-z_]+ (value )?n_", gone$place), ]
    )
  })
  values <- values_of(attacked, 5)
  internal <- values_of(lapply(attacked, function(a) list(counts = a$exact)), 5)
  places <- table(unlist(lapply(attacked, function(a) a$hidden$place)))
  found <- 0
  for (place in names(places)[places >= 8]) {
    hidden <- lapply(attacked, function(a) a$hidden$value[a$hidden$place == place])
    told <- function(apart, hidden) length(hidden) > 0 & !is.na(apart)
    expect_identical(solving_pairs(values, hidden, told)$found, character(), info = place)
    found <- found + length(solving_pairs(internal, hidden, told)$found)
  }
  # An internal report tells them.
  expect_gt(found, 20)
})

test_that("the number of few incomplete records that are left out is not told by shares or words", {
  solved <- function(seed, internal) {
    set.seed(seed)
    n <- sample(c(300, 400, 900), 1)
    data <- data.frame(
      a = sample(sample(c(12, 20, 40), 1), n, TRUE), b = sample(4, n, TRUE), c = sample(3, n, TRUE),
      w = sample(c(20, 30), n, TRUE), ill = sample(3, n, TRUE)
    )
    data$a[sample(n, 2 + seed %% 3)] <- NA
    file <- sdc_file(data, keys, weight_var = "w", sensitive = "ill", missing = "exclude")
    figures <- figures_of(quietly(list(
      file_check(file), n_matches(file), individual_risk(file), special_uniques(file),
      attribute_risk(file), exhaustive_tabulation(file), population_risk(file),
      loglinear_risk(file), qar_risk(file, p = 2), copula_fit(file)
    )), internal)
    # A count by its share, of three digits, may leave one number of records alone.
    shares <- figures$value > 0 & figures$value < 1
    share <- signif(figures$value[shares], 3)
    half <- 10^(floor(log10(share)) - 2) / 2
    counts <- figures[figures$value >= 5 & figures$value == round(figures$value), ]
    least <- ceiling(outer(counts$value, share + half, `/`))
    most <- floor(outer(counts$value, share - half, `/`))
    complete <- sum(stats::complete.cases(data))
    at <- which(least == complete & most == complete, arr.ind = TRUE)
    list(pairs = paste(counts$place[at[, 1]], "/", figures$place[shares][at[, 2]], recycle0 = TRUE),
         words = sum(counts$value == complete) +
           sum(grepl("# incomplete records? (excluded|deleted)", figures$place)))
  }
  often <- function(internal) {
    found <- lapply(1:12, solved, internal)
    pairs <- table(unlist(lapply(found, `[[`, "pairs")))
    list(pairs = names(pairs)[pairs >= 3], words = sum(vapply(found, `[[`, 0, "words")))
  }
  expect_identical(often(FALSE), list(pairs = character(), words = 0))
  exact <- often(TRUE)
  expect_gt(length(exact$pairs), 20)
  expect_gt(exact$words, 20)
})

# Numbers of a page by the name of their row or column, NA if they are not shown.
shown_as <- function(results, names) {
  found <- figures_of(results)
  vapply(names, function(name) {
    value <- found$value[grepl(paste0("\\b", name, "\\b"), found$place)]
    if (length(value) && !all(is.na(value))) value[!is.na(value)][[1]] else NA_real_
  }, 0)
}

test_that("other figures do not tell the counts of few records that are withheld", {
  base <- expand.grid(age = 1:7, region = letters[1:5], copy = 1:20)[1:2]
  few <- rbind(base, data.frame(age = 91:93, region = "a"))
  # The three records have all the violations.
  found <- quietly(exhaustive_tabulation(few, c("age", "region"), dims = 1))
  expect_identical(found$estimates$violations_sum, 3)
  expect_true(all(is.na(shown_as(
    list(found), c("n_records_violating", "violations_sum", "violations_mean", "prop_cells")
  ))))
  # expected_changed = theta n_risky.
  found <- quietly(invariant_pram(few, max_match_prob = 0.8))
  expect_identical(found$estimates$n_risky, 3L)
  expect_true(all(is.na(shown_as(list(found), c("n_risky", "expected_changed")))))
  # tcap is the share of the records that disco counts.
  ill <- expand.grid(age = 1:7, region = letters[1:5], ill = c("a", "b"), copy = 1:10)[1:3]
  ill <- rbind(ill[1:697, ], data.frame(age = 91:93, region = "a", ill = "a"))
  found <- quietly(attribute_risk(ill, c("age", "region"), "ill", released = ill))
  e <- found$estimates
  expect_equal(e$value[e$measure == "tcap"], 3 / 700)
  expect_true(all(is.na(shown_as(list(found), c("disco", "tcap")))))
  # Records with fewer than five matches, less those with a risk above 2/7: four.
  d <- data.frame(
    age = c(1:4, rep(5:6, each = 3), rep(7, 4), rep(8:20, length.out = 686)), w = 100
  )
  found <- list(
    quietly(n_matches(d, "age", below = 5)),
    quietly(individual_risk(d, "age", "w", tau_prosecutor = 2 / 7))
  )
  expect_equal(shown_as(found, c("n_below_5", "prosecutor_above")), c(
    n_below_5 = 14, prosecutor_above = NA
  ))
})

test_that("no distance tells the number of one record that was changed", {
  set.seed(5)
  d <- data.frame(
    sex = sample(c("f", "m"), 500, TRUE), region = sample(letters[1:4], 500, TRUE),
    income = round(stats::rnorm(500, 30000, 8000))
  )
  d$income[[17]] <- 91777
  file <- sdc_file(d, c("sex", "region"), num_vars = "income", pop_size = 5000)
  x <- quietly(top_code(file, income = 60000))
  expect_identical(quietly(utility_loss(file, x))$numbers$n_changed, 1L)
  path <- tempfile(fileext = ".html")
  quietly(sdc_report(x, file = path, pictures = FALSE))
  page <- paste(readLines(path), collapse = " ")
  expect_no_match(page, "IL1s|change of a mean")
  expect_match(page, "distances that few changed values could be told from are left out")
  unlink(c(path, sub("html$", "json", path)))
})

test_that("the risk of one key set does not tell the number of equivalence classes", {
  # With counts below each size, the numbers of classes and of records in them give the uniques.
  told <- function(seed) {
    set.seed(seed)
    n <- 1200
    data <- data.frame(
      a = sample(12, n, TRUE, (12:1)^2), b = sample(3, n, TRUE, c(6, 3, 1)), w = 20
    )
    sizes <- table(data$a, data$b)
    n_unique <- sum(sizes == 1)
    found <- figures_of(quietly(list(
      n_matches(data, c("a", "b")), qar_risk(data, c("a", "b"), p = 2)
    )))
    # As a share, or as the number itself.
    c(n_unique, sum(found$value %in% c(signif(sum(sizes > 0) / n, 3), sum(sizes > 0))))
  }
  found <- vapply(1:30, told, c(0, 0))
  few <- found[1, ] %in% 1:4
  expect_gt(sum(few), 5)
  expect_identical(found[2, few], rep(0, sum(few)))
  expect_gt(max(found[2, !few]), 0)
})

test_that("no measure tells the number of classes that another withholds", {
  set.seed(7)
  n <- 2000
  data <- data.frame(
    a = sample(1:4, n, TRUE, c(0.4, 0.3, 0.2, 0.1)), b = sample(c("m", "f"), n, TRUE),
    c = sample(1:5, n, TRUE), w = rep(c(10, 20), n / 2)
  )
  data[1:4, 1:3] <- list(c(5, 5, 5, 1), c("m", "f", "m", "m"), c(1, 1, 2, 1))
  file <- sdc_file(data, keys, weight_var = "w")
  n_classes <- nrow(unique(data[keys]))
  figures <- figures_of(quietly(list(
    individual_risk(file), population_risk(file), exhaustive_tabulation(file, dims = 3),
    invariant_pram(file, max_match_prob = 0.9, unprotected = "keep")
  )))
  # As a number, or as a share of the people.
  told <- figures$value == n_classes | figures$value == signif(n_classes / sum(data$w), 3)
  expect_identical(figures$place[told], character())
  expect_identical(figures$value[grepl("tabulation n_cells", figures$place)], 45)
  # Ewens: the expected number of classes is a sum of theta / (theta + i).
  theta <- shown_as(list(quietly(population_uniqueness(file))), "theta")
  exact <- quietly(population_uniqueness(file))$estimates$theta
  classes <- function(theta) sum(theta / (theta + seq_len(n) - 1))
  expect_equal(round(classes(exact)), n_classes)
  expect_gt(abs(classes(theta) - n_classes), 1)
})

test_that("the number of many classes is rounded, too", {
  data <- expand.grid(copy = 1:3, b = 1:30, a = 1:40)[c("a", "b")]
  data <- rbind(data, data.frame(a = 101:103, b = 1))
  data$w <- 20
  file <- sdc_file(data, c("a", "b"), weight_var = "w")
  figures <- figures_of(quietly(list(
    individual_risk(file), exhaustive_tabulation(file, dims = 2)
  )))
  shown <- figures$value[grepl("n_cells 1$", figures$place)]
  expect_identical(shown, 1205)
  expect_false(1203 %in% figures$value)
})

test_that("a bound that is withheld does not follow from the cost and its gap", {
  n_withheld <- 0
  for (seed in 1:12) {
    set.seed(seed)
    data <- data.frame(
      a = sample(9, 300, TRUE, 1 / 1:9), b = sample(5, 300, TRUE, 1 / 1:5), c = sample(3, 300, TRUE)
    )
    x <- quietly(suppress_cells(data, keys, k = c(3, 5)[[1 + seed %% 2]], rule = "strict"))
    path <- tempfile(fileext = ".html")
    quietly(sdc_report(x, file = path, pictures = FALSE))
    page <- xml2::read_html(path)
    unlink(c(path, sub("html$", "json", path)))
    value <- function(name) {
      row <- sprintf("//tr[*[1][normalize-space() = '%s']]/*[2]", name)
      xml2::xml_text(xml2::xml_find_first(page, row))
    }
    if (grepl("^not shown", value("lower_bound"))) {
      n_withheld <- n_withheld + 1
      expect_match(value("gap"), "^not shown", info = seed)
    }
  }
  expect_gt(n_withheld, 1)
})
