# What can be solved for from the figures of an external report? Every figure has three
# digits at most, and those that one record or one category has are shared by several.

skip_on_cran()

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
      special_uniques(plain, sampling_fraction = 0.001),
      attribute_risk(data, attack_keys[-6], "DRACE3", released = later),
      attack_release(data, later, attack_keys[-6], "DRACE3", data[1:90, ]),
      uniqueness_by_size(fit, 123105, n_sim = 3), drawn, pram_audit(drawn, data, n_sim = 20),
      compare_risk(individual_risk(plain), individual_risk(released, attack_keys, "WEIGHT"))
    ),
    list(link_attack(data, later, attack_keys, "id")),
    list(longitudinal_link(data, later, attack_keys, "id")),
    list(key_stability(data, later, attack_keys, id = "id"))
  ))
}

# A file in which few records have what many figures are about: 3 sample uniques, 2 records that
# share a key, and their households. The weights of all others can be changed without theirs.
few_file <- function(few = c(1, 1), others = 1) {
  set.seed(3)
  data <- data.frame(
    a = rep(1:3, each = 60), b = rep(1:2, 90), c = rep(1:3, c(60, 60, 60)),
    s = rep(c("yes", "no"), c(100, 80))
  )
  data <- rbind(data, data.frame(
    a = c(4, 5, 6, 7, 7), b = c(1, 2, 1, 2, 2), c = c(1, 2, 3, 1, 1), s = "yes"
  ))
  data$home <- c((0:179) %/% 3, 60, 60, 60, 61, 61)
  data$w <- runif(62, 20, 60)[data$home + 1] * c(others, few[1], few[2])[
    rep(1:3, c(180, 3, 2))
  ]
  data
}

# The figures of the log of a report on it, as stated and as they are, in one row each.
few_figures <- function(data, which) {
  keys <- c("a", "b", "c")
  file <- sdc_file(data, keys, weight_var = "w", hh_id = "home", sensitive = "s")
  protected <- quietly(suppress_cells(data, keys, k = 3, weight_var = "w"))
  released <- quietly(release_data(protected, shuffle = FALSE))
  later <- transform(data, id = seq_len(185), b = rev(b))
  now <- transform(data, id = seq_len(185))
  set.seed(4)
  results <- quietly(switch(which,
    list(
      file_check(file), individual_risk(data, keys, "w"), protected,
      before = individual_risk(data, keys, "w", hh_id = "home", missing = "category"),
      after = individual_risk(released, keys, "w", hh_id = "home", missing = "category"),
      n_matches(data, keys, weight_var = "w", sensitive = "s"),
      n_matches(data, list(abc = keys, ab = keys[1:2]), weight_var = "w"),
      loglinear_risk(data, keys, weight_var = "w", model = c("independence", "two_way"))
    ),
    list(
      household_risk(data, keys, "home", weight_var = "w"),
      exhaustive_tabulation(data, keys, weight_var = "w", weight_threshold = 60),
      population_uniqueness(file, pop_size = sum(data$w)), key_overview(data, keys),
      utility_loss(data, protected, keys, weight_var = "w"),
      recode_search(data, keys, weight_var = "w", constraint = list(journalist = 0.06)),
      compare_risk(
        individual_risk(data, keys, "w", missing = "category"),
        individual_risk(released, keys, "w", missing = "category")
      ), protected
    ),
    list(link_attack(now, later, keys, "id")), list(longitudinal_link(now, later, keys, "id")),
    list(longitudinal_risk(now, later, keys, keys, "b", "id", weight_var = "w"))
  ))
  figures <- lapply(c(FALSE, TRUE), function(internal) {
    made <- attacked_report(results, internal = internal)
    unlist(lapply(seq_along(made$log$results), function(i) {
      columns <- Filter(is.numeric, logged(made, i))
      entry <- made$log$results[[i]]
      names(columns) <- paste0(entry$id, i, ": ", names(columns))
      # Rows of a file_check() have the names of their measures.
      measure <- logged(made, i)$measure
      for (name in names(columns)) names(columns[[name]]) <- measure
      unlist(columns)
    }))
  })
  names <- intersect(names(figures[[1]]), names(figures[[2]]))
  data.frame(stated = figures[[1]][names], exact = figures[[2]][names], row.names = names)
}

test_that("no figure, and no difference of two, is carried by few records", {
  # Of one record, to as many digits as several have: tested below.
  single <- "journalist$|household$|_max|_q9[59]|risk_(after|before)_max"
  for (which in 1:5) {
    plain <- few_figures(few_file(), which)
    few <- few_figures(few_file(few = c(1.2, 1.4)), which)
    others <- few_figures(few_file(others = 1.37), which)
    rows <- Reduce(intersect, lapply(list(plain, few, others), rownames))
    rows <- rows[!is.na(plain[rows, "stated"]) & !grepl(single, rows)]
    # A mean is a sum, too.
    rates <- grep("_mean|_rate|prop_|risk_mean", rows, value = TRUE)
    values <- function(table) c(table[rows, "exact"], 185 * table[rates, "exact"])
    names <- c(rows, paste("185 *", rates))
    parts <- lapply(list(plain, few, others), values)
    differences <- lapply(parts, function(x) outer(c(0, x), c(0, x), `-`))
    size <- outer(abs(c(0, parts[[1]])), abs(c(0, parts[[1]])), pmax)
    moved <- lapply(differences[-1], function(x) abs(x - differences[[1]]))
    # What three digits show.
    told <- moved[[2]] < 1e-9 * size & moved[[1]] > 1e-3 * size & size > 1e-9
    told <- which(told, arr.ind = TRUE)
    told <- sprintf("%s - %s", c("0", names)[told[, 1]], c("0", names)[told[, 2]])
    expect_identical(utils::head(told), character())
  }
})

test_that("no sum is left with few records by three others", {
  # Every choice of signs, one by one.
  slow <- function(own, shown) {
    all <- c(list(own), shown)
    values <- sort(unique(unlist(lapply(all, `[[`, "value"))))
    n <- vapply(all, function(x) {
      vapply(values, function(v) sum(x$n[x$value == v]), 0)
    }, numeric(length(values)))
    signs <- as.matrix(expand.grid(c(list(0), rep(list(-1:1), length(shown)))))[, -1, drop = FALSE]
    signs <- signs[rowSums(abs(signs)) <= 3, , drop = FALSE]
    any(apply(signs, 1, function(s) {
      rest <- matrix(n, length(values)) %*% c(1, s)
      left <- max(sum(rest[rest > 0]), -sum(rest[rest < 0]))
      left > 0 && left < 5
    }))
  }
  set.seed(8)
  drawn <- replicate(300, simplify = FALSE, {
    part <- function() {
      values <- sample(4, sample(3, 1))
      data.frame(value = values, n = as.double(sample(12, length(values), TRUE)))
    }
    list(own = part(), shown = replicate(sample(0:4, 1), part(), simplify = FALSE))
  })
  found <- vapply(drawn, function(x) leaves_few(x$own, x$shown), NA)
  expect_identical(found, vapply(drawn, function(x) slow(x$own, x$shown), NA))
  expect_true(all(table(found) > 50))
  # A total, and three parts that leave three of its records.
  sums <- list(
    whole = record_sum("risk", "whole", rep(c(0.1, 0.2, 0.3, 0.5), c(40, 30, 20, 3)))[[1]],
    a = record_sum("risk", "a", rep(0.1, 40))[[1]], b = record_sum("risk", "b", rep(0.2, 30))[[1]],
    c = record_sum("risk", "c", rep(0.3, 20))[[1]]
  )
  entries <- lapply(names(sums), function(name) {
    x <- structure(list(
      estimates = data.frame(sum(sums[[name]]$of$value * sums[[name]]$of$n)) |> setNames(name),
      sums = sums[name]
    ), class = c("sdc_of_four", "sdc_result"))
    list(exact = x, result = x, stage = "before", fun = "of_four")
  })
  shown <- vapply(withhold_few(entries), function(e) e$result$estimates[[1]], 0)
  expect_equal(shown, c(17.5, 4, 6, NA))
})

test_that("a withheld number is taken out of a sentence, its digits stay in others", {
  text <- "risk 1.00, not 0.0214; 0 of 0.148% and 10 of 1,000 records"
  expect_identical(
    coarse_text(text, c(0, 0.02136)), sub(
      "0 of 0.148", paste(withheld_in_words, "of 0.148"),
      sub("0.0214", withheld_in_words, text, fixed = TRUE), fixed = TRUE
    )
  )
})

test_that("what few records carry is called so in page, tables and checklist", {
  data <- few_file()
  keys <- c("a", "b", "c")
  exact <- individual_risk(data, keys, "w")
  model <- quietly(loglinear_risk(data, keys, weight_var = "w"))
  lost <- exact
  lost["records"] <- list(NULL)
  pairs <- n_matches(data, keys, weight_var = "w", sensitive = "s")
  made <- attacked_report(exact, model, pairs)
  expect_identical(logged(made)$expected_unique, NA)
  expect_identical(logged(made)$n_unique, NA)
  expect_true(all(is.na(unlist(logged(made, 2)[grep("^tau[12]", names(logged(made, 2)))]))))
  expect_true(all(is.na(unlist(logged(made, 3)[c("theta", "theta_se", "theta_low")]))))
  expect_false("l_entropy" %in% names(logged(made, 3)))
  not_shown <- "not shown: reveals fewer than 5 records"
  expect_match(made$html, paste0("expected_unique</td><td class=\"num\">", not_shown), fixed = TRUE)
  expect_match(
    made$html, paste0("(", not_shown, ") of (", not_shown, ") expected."), fixed = TRUE
  )
  expect_match(made$html, paste0("tau1, bias corrected: ", not_shown), fixed = TRUE)
  again <- replay(made$log_file, data)
  expect_true(all(again$equal))
  expect_false(any(again$figure == "individual_risk: n_unique"))
  inside <- attacked_report(exact, internal = TRUE)
  expect_identical(logged(inside)$expected_unique, exact$estimates$expected_unique)
  # Of a result of which nobody said what its figures are nothing but counts is shown.
  expect_identical(setdiff(c(names(record_sums), no_record_sums), ls(declared)), character())
  class(lost)[[1]] <- "sdc_of_a_new_kind"
  expect_null(sums_of(lost))
  class(lost)[[1]] <- "sdc_individual_risk"
  # Without records nobody can tell what carries a sum.
  expect_identical(logged(attacked_report(lost))$expected_reidentifications, NA)
})

test_that("largest risks of households and of a search point at no one", {
  data <- few_file()
  keys <- c("a", "b", "c")
  homes <- quietly(household_risk(data, keys, "home", weight_var = "w"))
  largest <- logged(attacked_report(homes))$journalist_max
  if (!is.na(largest)) {
    alike <- signif(homes$records$journalist_risk[!duplicated(data$home)], 2)
    expect_gte(sum(alike == largest, na.rm = TRUE), 5)
  }
  found <- quietly(
    recode_search(data, keys, weight_var = "w", constraint = list(journalist = 0.06))
  )
  expect_identical(logged(attacked_report(found))$risk, NA)
  expect_false(is.na(logged(attacked_report(quietly(recode_search(data, keys))))$risk))
})

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
        counts <- figures[setdiff(grep("^n_", names(figures), value = TRUE), other_counts)]
        few <- names(counts)[vapply(counts, function(x) any(x %in% 1:4), NA)]
        expect_identical(few, character(), info = made$log$results[[i]]$id)
      }
    }
    values <- regmatches(made$html, gregexpr("(?<=data-value=\")[^\"]*", made$html, perl = TRUE))
    expect_true(are_coarse(suppressWarnings(as.numeric(values[[1]]))))
    # Decimals in words: leading zeros do not count, nor do numbers of versions, works and time.
    text <- gsub("<[^>]*>", " ", sub(".*<body", "", made$html))
    text <- gsub("10[.][0-9]{4,5}/[^ ]+|[0-9]+[.][0-9]+[.][0-9]+", " ", text)
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
    check <- quietly(file_check(sdc_file(f[[1]], f[[2]], weight_var = f[[3]])))
    made <- attacked_report(check, exact, protected)
    of_check <- logged(made, 1)
    found <- c(
      of_check$value[of_check$measure == "journalist"],
      unlist(logged(made, 2)[c("journalist_max", "risk_q99", "risk_q95")])
    )
    risks <- risk_of(f[[1]][[f[[3]]]])
    for (value in found[!is.na(found)]) {
      shown <- shown + 1
      digits <- if (signif(value, 2) == value) 2 else 3
      expect_gte(sum(signif(risks, digits) == value), 5)
    }
    # What is withheld stands nowhere else, nor do the ends of its interval.
    page <- check$estimates[check$estimates$measure == "journalist", ]
    if (is.na(found[[1]])) {
      expect_no_match(made$html, sprintf("%.3g", page$value), fixed = TRUE)
      at <- which(of_check$measure == "journalist")
      expect_identical(c(of_check$low[at], of_check$high[at]), c(NA_real_, NA_real_))
    }
    if (is.na(found[[2]])) {
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
  expect_match(
    made$html, "Largest record risk: not shown: reveals fewer than 5 records</td>", fixed = TRUE
  )
  # By weights alone no limit is known to be kept.
  expect_match(made$html, "<td class=\"plain\">unclear</td>", fixed = TRUE)
  tight <- attacked_report(exact, limit = list(journalist = 0.03))
  expect_match(tight$html, "1 of 1 figure with a limit is above it", fixed = TRUE)
  inside <- attacked_report(exact, internal = TRUE)
  expect_identical(logged(inside)$journalist_max, exact$estimates$journalist_max)
  expect_match(inside$html, "0.03484", fixed = TRUE)
  # A sum over a few uniques is as good as one of them.
  data <- data.frame(a = c(1, rep(2:3, each = 60)), w = c(7.3, rep(11.9, 120)))
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

test_that("sizes of categories do not follow from shares of the information lost", {
  counts <- as.double(sort(table(nals_prison$DAGE3)))
  entropy <- function(x) -sum(x / 182 * log(x / 182))
  share <- function(x, at) (entropy(x) - entropy(c(sum(x[at]), x[-at]))) / entropy(x)
  # The two smallest in one: few divisions of the file fit three digits.
  told <- Filter(function(x) {
    signif(share(x, 1:2), 3) == signif(share(counts, 1:2), 3)
  }, partitions(182, 3))
  expect_lte(length(told), 5)
  found <- quietly(recode_search(nals_prison, "DAGE3", constraint = list(k = 10)))
  made <- attacked_report(found)
  expect_identical(logged(made)$cost_share, NA)
  # Of many variables two digits are left.
  several <- quietly(recode_search(nals_prison, attack_keys, constraint = list(k = 3)))
  exact <- several$estimates$cost_share
  made <- attacked_report(several)
  expect_identical(logged(made)$cost_share, signif(exact, 2))
  expect_true(all(replay(made$log_file, nals_prison)$equal))
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
