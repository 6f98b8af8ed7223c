# What can be solved for from the figures of an external report? Every figure has three
# digits at most, and those that one record or one category has are shared by several.

attack_keys <- c("CENREG", "DAGE3", "EDUC3", "GENDER", "BORNUSA", "DRACE3")
quietly <- function(code) suppressWarnings(suppressMessages(code))

attacked_report <- function(..., internal = FALSE) {
  file <- tempfile(fileext = ".html")
  quietly(sdc_report(..., file = file, internal = internal, pictures = FALSE))
  log <- sub("html$", "json", file)
  list(
    log_file = log, html = paste(readLines(file, encoding = "UTF-8"), collapse = "\n"),
    log = jsonlite::fromJSON(log, simplifyVector = FALSE)
  )
}

# The figures of one result in a log, NA for null.
logged <- function(made, i = 1, table = "estimates") {
  lapply(made$log$results[[i]]$tables[[table]], function(column) {
    unlist(lapply(column, function(v) if (is.null(v)) NA else v))
  })
}

weighted_file <- function() {
  set.seed(1)
  data.frame(
    a = sample(8, 600, TRUE), b = sample(6, 600, TRUE), c = sample(5, 600, TRUE),
    d = sample(4, 600, TRUE), w = runif(600, 5, 20)
  )
}

every_result <- function() {
  data <- nals_prison
  data$id <- seq_len(nrow(data))
  data$home <- (data$id - 1) %/% 2
  file <- sdc_file(data, attack_keys, weight_var = "WEIGHT", hh_id = "home")
  plain <- sdc_file(data, attack_keys, weight_var = "WEIGHT")
  protected <- suppress_cells(plain, k = 3)
  released <- release_data(protected)
  later <- data
  later$EDUC3 <- rev(later$EDUC3)
  risk <- quietly(qar_risk(data, attack_keys, pi_u = 0.4))
  fit <- quietly(copula_fit(data, attack_keys))
  set.seed(2)
  drawn <- quietly(invariant_pram(data, attack_keys))
  quietly(list(
    list(
      file_check(file), n_matches(plain), n_matches(data, attack_keys, hh_id = "home"),
      individual_risk(file), risk, loglinear_risk(plain), exhaustive_tabulation(plain),
      key_overview(plain),
      population_uniqueness(plain, pop_size = 123105),
      household_risk(data, attack_keys, "home"),
      protected, utility_loss(data, protected, attack_keys),
      risk_contribution(risk, data), removal_path(risk, data, 3), removal_bound(risk, data, 3),
      recode_search(plain), fit, copula_uniqueness(fit, pop_size = 123105),
      uniqueness_by_size(fit, 123105, n_sim = 3), drawn, pram_audit(drawn, data, n_sim = 20),
      compare_risk(individual_risk(plain), individual_risk(released, attack_keys, "WEIGHT"))
    ),
    list(link_attack(data, later, attack_keys, "id")),
    list(longitudinal_link(data, later, attack_keys, "id")),
    list(key_stability(data, later, attack_keys, id = "id"))
  ))
}

test_that("no figure of any method has more than three digits, in page and log", {
  are_coarse <- function(x) {
    x <- x[is.finite(x)]
    all(x == round(x) | abs(signif(x, 3) - x) <= 1e-12 * abs(x))
  }
  for (results in every_result()) {
    made <- attacked_report(results)
    for (i in seq_along(made$log$results)) {
      for (table in names(made$log$results[[i]]$tables)) {
        figures <- Filter(is.numeric, logged(made, i, table))
        fine <- names(figures)[!vapply(figures, are_coarse, NA)]
        expect_identical(fine, character(), info = made$log$results[[i]]$id)
      }
    }
    values <- regmatches(made$html, gregexpr("(?<=data-value=\")[^\"]*", made$html, perl = TRUE))
    expect_true(are_coarse(suppressWarnings(as.numeric(values[[1]]))))
    # Decimals in words: leading zeros do not count, nor do numbers of versions, works and time.
    text <- gsub("<[^>]*>", " ", sub(".*<body", "", made$html))
    text <- gsub("10[.][0-9]{4}/[^ ]+|[0-9]+[.][0-9]+[.][0-9]+", " ", text)
    numbers <- regmatches(text, gregexpr("[0-9]+[.][0-9]+", text))[[1]]
    digits <- nchar(gsub("^[0.]*|[.]", "", numbers))
    expect_identical(unique(numbers[digits > 3 & digits < 10]), character())
  }
})

# The risk of a record that is alone with its key is log(w) / (w - 1).
test_that("largest risks point at no record", {
  risk_of <- function(w) log(w) / (w - 1)
  census <- weighted_file()
  files <- list(
    list(census, c("a", "b", "c", "d"), "w"),
    list(nals_prison, attack_keys, "WEIGHT"),
    list(transform(nals_prison, WEIGHT = round(WEIGHT, -3) + 1000), attack_keys, "WEIGHT")
  )
  shown <- 0
  for (f in files) {
    exact <- individual_risk(f[[1]], f[[2]], f[[3]])
    protected <- suppress_cells(f[[1]], f[[2]], k = 3, weight_var = f[[3]])
    check <- quietly(file_check(sdc_file(f[[1]], f[[2]], weight_var = f[[3]]), models = FALSE))
    made <- attacked_report(check, exact, protected)
    of_check <- logged(made, 1)
    found <- c(
      of_check$value[of_check$measure == "journalist"],
      unlist(logged(made, 2)[c("journalist_max", "risk_q99", "risk_q95")]),
      unlist(logged(made, 3)[c("risk_max_before", "risk_max_after")])
    )
    risks <- risk_of(f[[1]][[f[[3]]]])
    for (value in found[!is.na(found)]) {
      shown <- shown + 1
      digits <- if (signif(value, 2) == value) 2 else 3
      expect_gte(sum(signif(risks, digits) == value), 5)
    }
    if (is.na(found[[1]])) {
      words <- sprintf("%.3g", exact$estimates$journalist_max)
      expect_no_match(made$html, words, fixed = TRUE)
    }
  }
  expect_gte(shown, 6)
})

test_that("a largest risk that one record alone has is withheld, and judged", {
  exact <- individual_risk(nals_prison, attack_keys, "WEIGHT")
  made <- attacked_report(exact)
  expect_identical(logged(made)$journalist_max, NA)
  expect_no_match(made$html, "0.0348", fixed = TRUE)
  expect_match(made$html, "it would tell a single record</td>", fixed = TRUE)
  expect_match(made$html, "ithin the limit: all figures that have one (1)", fixed = TRUE)
  tight <- attacked_report(exact, limit = list(journalist = 0.03))
  expect_match(tight$html, "1 of 1 figure with a limit is above it", fixed = TRUE)
  inside <- attacked_report(exact, internal = TRUE)
  expect_identical(logged(inside)$journalist_max, exact$estimates$journalist_max)
  expect_match(inside$html, "0.03484", fixed = TRUE)
  # A sum over a few uniques is as good as one of them.
  data <- data.frame(a = c(1, rep(2:3, each = 30)), w = c(7.3, rep(11.9, 60)))
  few <- attacked_report(individual_risk(data, "a", "w"))
  expect_identical(logged(few)$expected_unique, NA)
})

# All ways to divide n records among categories, smallest first.
partitions <- function(n, levels, least = 1) {
  if (levels == 1) {
    return(if (n >= least) list(n))
  }
  unlist(lapply(seq(least, n %/% levels), function(first) {
    lapply(partitions(n - first, levels - 1, first), function(rest) c(first, rest))
  }), recursive = FALSE)
}

test_that("sizes of categories do not follow from the overview of key variables", {
  for (results in list(
    list(key_overview(nals_prison, attack_keys)),
    list(key_overview(weighted_file(), c("a", "b", "c", "d")))
  )) {
    made <- attacked_report(results)
    overview <- logged(made)
    expect_false(any(c("entropy", "largest_share", "bits") %in% names(overview)))
    expect_no_match(made$html, "entropy|largest_share")
    # What is left, numbers of records and of levels, fits every division of the file.
    expect_true(all(c("n_levels", "unique_change") %in% names(overview)))
  }
  # The two figures, even rounded, told the categories of nals_prison.
  counts <- tabulate(nals_prison$GENDER)
  entropy <- function(p) -sum(p * log(p))
  told <- Filter(function(x) {
    signif(entropy(x / 182), 3) == signif(entropy(counts / 182), 3) &&
      signif(max(x) / 182, 2) == signif(max(counts) / 182, 2)
  }, partitions(182, 2))
  expect_identical(told, list(sort(as.double(counts))))
  # Nor from the bits of a loss on one variable.
  released <- nals_prison
  released$GENDER[seq(1, 182, 2)] <- NA
  released$DAGE3[1:40] <- NA
  loss <- attacked_report(utility_loss(nals_prison, released, "GENDER"))
  expect_false(any(grepl("bits", names(logged(loss)))))
  later <- transform(nals_prison, id = seq_len(182))
  stability <- attacked_report(quietly(
    key_stability(later, later, attack_keys, id = "id")
  ))
  expect_false("entropy" %in% names(logged(stability)))
})

test_that("a rounded log is computed again, and a changed one is found", {
  data <- weighted_file()
  keys <- c("a", "b", "c", "d")
  protected <- suppress_cells(data, keys, k = 3, weight_var = "w")
  released <- release_data(protected)
  made <- attacked_report(
    n_matches(data, keys), individual_risk(data, keys, "w"), key_overview(data, keys), protected,
    n_matches(released, keys), utility_loss(data, protected, keys),
    quietly(file_check(sdc_file(data, keys, weight_var = "w")))
  )
  again <- replay(made$log_file, data)
  expect_true(all(again$equal))
  expect_gt(nrow(again), 80)
  expect_match(format(again)[[1]], "equal, rounded as in the log.", fixed = TRUE)
  text <- paste(readLines(made$log_file), collapse = "\n")
  other <- sub("(\"journalist_mean\": \\[\\s*0[.])", "\\11", text)
  expect_false(identical(other, text))
  writeLines(other, made$log_file)
  found <- replay(made$log_file, data)
  expect_identical(found$figure[found$equal %in% FALSE], "individual_risk: journalist_mean")
})
