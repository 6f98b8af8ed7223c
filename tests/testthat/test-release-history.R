# A remedy's result stands for its release, which knows what was done and what was before.

skip_on_cran()

keys <- c("CENREG", "DAGE3", "EDUC3", "GENDER", "BORNUSA", "DRACE3")
file <- sdc_file(nals_prison, keys, weight_var = "WEIGHT")
blanked <- quietly(suppress_cells(file, k = 3))
n_below <- function(x) quietly(n_matches(x, below = 3))$estimates$n_below_3
summary_of <- function(x) quietly(summary(x))
holds_originals <- function(x) {
  any(vapply(attr(x, "kept"), function(part) {
    rlang::is_weakref(part) && !is.null(rlang::wref_value(part))
  }, NA))
}

test_that("files flow through remedies, measures and comparisons", {
  expect_identical(n_below(file), 88)
  expect_identical(n_below(blanked), 0)
  loss <- quietly(utility_loss(blanked))
  expect_identical(loss$estimates, quietly(utility_loss(file, blanked))$estimates)
  both <- as.data.frame(quietly(compare_risk(blanked)))
  k <- both[both$term == "k", ]
  expect_identical(k$estimate, c(1, 3))
  expect_identical(nrow(records_at_risk(blanked)), {
    nrow(records_at_risk(blanked, limit = 1 / 3))
  })
})

test_that("a release has roles, states and history, and no values of before", {
  out <- quietly(release_data(blanked))
  expect_s3_class(out, "sdc_file")
  expect_identical(sdc_roles(out), sdc_roles(file))
  found <- summary(out)
  expect_identical(found$history, "suppress_cells(k = 3): 97 values suppressed")
  expect_identical(sum(found$states$n_suppressed), 97L)
  expect_identical(
    found$states$n_suppressed,
    unname(vapply(found$states$variable, function(v) sum(is.na(out[[v]])), 0L)) -
      found$states$n_missing_before
  )
  expect_true(all(found$states$state == "suppressed"))
  expect_null(found$original)
  expect_false(holds_originals(out))
  expect_error(utility_loss(out), class = "sdcRisk_error_bad_argument")
  expect_identical(n_below(out), 0)
  swapped <- quietly(invariant_pram(file, unprotected = "keep"))
  perturbed <- quietly(release_data(swapped))
  expect_identical(summary_of(perturbed)$states$state, rep("randomised", length(keys)))
  expect_message(n_matches(perturbed), class = "sdcRisk_message_perturbed_keys")
})

test_that("data of a remedy are the file after it, in the order of the original", {
  data <- blanked$data
  expect_s3_class(data, "sdc_file")
  expect_identical(sdc_roles(data), sdc_roles(file))
  expect_identical(as.data.frame(data), suppress_cells(nals_prison, keys, k = 3)$data)
  expect_identical(summary_of(data)$history, "suppress_cells(k = 3): 97 values suppressed")
  # The weights are no key variable, and missing values are wildcards.
  expect_identical(n_below(data), 0)
  expect_identical(
    quietly(individual_risk(data))$estimates, quietly(individual_risk(blanked))$estimates
  )
  # It knows the values before, until it is saved.
  expect_identical(
    quietly(utility_loss(data))$estimates, quietly(utility_loss(blanked))$estimates
  )
  path <- tempfile(fileext = ".rds")
  on.exit(unlink(path))
  saveRDS(blanked, path)
  again <- readRDS(path)
  expect_false(holds_originals(again$data))
  expect_error(utility_loss(again$data), class = "sdcRisk_error_bad_argument")
  # The order reveals values whichever of the two is released.
  for (x in list(blanked, data, again$data)) {
    expect_message(out <- suppressWarnings(release_data(x)), class = "sdcRisk_message_shuffled")
    expect_false(identical(out$CENREG, data$CENREG))
  }
  # A second step counts on.
  swapped <- quietly(invariant_pram(data, unprotected = "keep"))
  expect_length(summary_of(swapped$data)$history, 2)
  expect_message(n_matches(swapped$data), class = "sdcRisk_message_perturbed_keys")
})

test_that("recodings and suppression are one history", {
  search <- quietly(recode_search(file, k = 2, suppress = 0.2))
  recoded <- quietly(apply_recoding(search))
  expect_identical(
    as.data.frame(recoded), as.data.frame(quietly(apply_recoding(search, file)))
  )
  both <- quietly(suppress_cells(recoded, k = 3))
  out <- quietly(release_data(both))
  history <- summary_of(out)$history
  expect_length(history, 2)
  expect_match(history[[1]], "^apply_recoding\\(\\): ")
  expect_match(history[[2]], "^suppress_cells\\(k = 3\\): ")
  # The loss of both steps.
  expect_identical(
    quietly(utility_loss(both))$estimates,
    quietly(utility_loss(as.data.frame(file), both$data, keys, weight_var = "WEIGHT"))$estimates
  )
  # Not of a saved one.
  saved <- unserialize(serialize(recoded, NULL))
  expect_identical(as.data.frame(saved), as.data.frame(recoded))
  expect_error(utility_loss(saved), class = "sdcRisk_error_bad_argument")
})

test_that("one pipe leads from a file to its report", {
  path <- tempfile(fileext = ".html")
  on.exit(unlink(c(path, sub("html$", "json", path))))
  quietly(
    file |> recode_search(k = 2, suppress = 0.2) |> apply_recoding() |> suppress_cells(k = 3) |>
      sdc_report(path)
  )
  log <- jsonlite::read_json(sub("html$", "json", path))
  checks <- Filter(function(r) r$call[["function"]] == "file_check", log$results)
  expect_identical(vapply(checks, `[[`, "", "stage"), c("before", "after"))
  # The last protection is an entry, after the recoding that it was made from.
  functions <- vapply(log$results, function(r) r$call[["function"]], "")
  expect_identical(functions, c("file_check", "file_check", "suppress_cells", "utility_loss"))
  last <- log$results[[3]]
  expect_identical(last$id, "after apply_recoding()")
  expect_identical(last$stage, "after")
  both <- quietly(
    file |> recode_search(k = 2, suppress = 0.2) |> apply_recoding() |> suppress_cells(k = 3)
  )
  expect_equal(last$tables$estimates$n_suppressed[[1]], both$estimates$n_suppressed)
  # The first lines have both protections, their numbers in the agency alone.
  page <- readLines(path, encoding = "UTF-8")
  done <- "Protected by apply_recoding(); then suppress_cells(k = 3)."
  expect_true(any(grepl(done, page, fixed = TRUE)))
  entry <- list(exact = list(diagnostics = list(history = c("a(): 2 values", "b(k = 3): 1 value"))))
  expect_identical(
    history_lines(list(entry), TRUE), "Protected by a(): 2 values; then b(k = 3): 1 value."
  )
  expect_identical(history_lines(list(entry), FALSE), "Protected by a(); then b(k = 3).")
  k <- file |> suppress_cells(k = 3) |> file_check() |> quietly() |> measures()
  # The detailed age, which stays in the file, tells the suppressed age group.
  expect_identical(k$verdict[k$measure == "k"], "unclear")
  # The weights show three suppressed regions, as the protection found.
  k <- subset(file, select = c(keys, "WEIGHT")) |> suppress_cells(k = 3) |>
    file_check() |> quietly() |> measures()
  expect_identical(k$verdict[k$measure == "k"], "unclear")
  expect_match(k$note[k$measure == "k"], "\"WEIGHT\" reveals 3 of 72 values of \"CENREG\"")
  k <- quietly(subset(file, select = keys)) |> suppress_cells(k = 3) |>
    file_check() |> quietly() |> measures()
  expect_identical(k$verdict[k$measure == "k"], "ok")
})

test_that("a report of a protected file alone has before, after and loss", {
  path <- tempfile(fileext = ".html")
  on.exit(unlink(c(path, sub("html$", "json", path))))
  quietly(sdc_report(blanked, path))
  log <- jsonlite::read_json(sub("html$", "json", path))
  functions <- vapply(log$results, function(r) r$call[["function"]], "")
  expect_identical(functions, c("file_check", "file_check", "suppress_cells", "utility_loss"))
  found <- quietly(replay(sub("html$", "json", path), file))
  expect_gt(sum(found$equal %in% TRUE), 50)
  expect_false(any(found$equal %in% FALSE))
  expect_error(sdc_report(quietly(release_data(blanked)), tempfile(fileext = ".html")),
               class = "sdcRisk_error_bad_argument")
})

test_that("a release in its old order is unclear for as long as it is in it", {
  set.seed(31)
  n <- 600
  people <- data.frame(
    region = sort(sample(12, n, TRUE)), job = sample(9, n, TRUE), sex = sample(2, n, TRUE)
  )
  sorted <- sdc_file(people, c("region", "job", "sex"))
  safe <- quietly(suppress_cells(sorted, k = 3))
  told <- safe$diagnostics$told_by_order
  # The neighbours' region, or that of most of them, for a suppressed one.
  hidden <- which(is.na(safe$data$region))
  seen <- setdiff(seq_len(n), hidden)
  back <- vapply(hidden, function(i) safe$data$region[max(seen[seen < i])], 0L)
  expect_equal(told$share[told$variable == "region"], mean(back == people$region[hidden]),
    tolerance = 0.1
  )
  verdict <- function(x) {
    rows <- quietly(file_check(x, limit = list(k = 3)))$estimates
    rows[rows$measure == "k", c("verdict", "reason")]
  }
  as_it_was <- quietly(release_data(safe, shuffle = FALSE))
  expect_identical(verdict(as_it_was)$verdict, "unclear")
  expect_match(verdict(as_it_was)$reason, "order of the records")
  page <- paste(format(quietly(file_check(as_it_was))), collapse = " ")
  expect_match(page, "The order reveals region")
  expect_message(records_at_risk(as_it_was), class = "sdcRisk_message_unlisted_records")
  for (out in list(safe, quietly(release_data(safe)), quietly(release_data(as_it_was)))) {
    expect_identical(verdict(out)$verdict, "ok")
    expect_no_message(
      quietly(records_at_risk(file_check(out))), class = "sdcRisk_message_unlisted_records"
    )
  }
  # Another protection of it does not forget the first one's order.
  again <- quietly(release_data(suppress_cells(as_it_was, k = 4)))
  expect_false(identical(again$job[!is.na(again$job)], as_it_was$job[!is.na(again$job)]))
})

test_that("a column that cannot be compared leaves no protected file within its limits", {
  set.seed(1)
  people <- data.frame(age = c(sample(20:60, 2000, TRUE), 95, 96), sex = sample(2, 2002, TRUE))
  verdict_with <- function(column) {
    people$other <- column
    safe <- quietly(release_data(suppress_cells(sdc_file(people, c("age", "sex")), k = 3)))
    page <- quietly(file_check(safe, limit = list(k = 3)))
    if (length(page$diagnostics$not_compared)) {
      expect_message(records_at_risk(page), class = "sdcRisk_message_unlisted_records")
    }
    page$estimates[page$estimates$measure == "k", c("verdict", "reason")]
  }
  for (column in list(scale(people$age), as.list(people$age), people$age + 0i)) {
    expect_identical(verdict_with(column)$verdict, "unclear")
  }
  expect_match(verdict_with(scale(people$age))$reason, "are not compared .* \"other\"")
  expect_identical(verdict_with(rep(1:2, 1001))$verdict, "ok")
  # Nothing was protected, so nothing can be revealed.
  twins <- data.frame(a = rep(1:2, 10), other = I(as.list(1:20)))
  rows <- quietly(file_check(twins, "a", limit = list(k = 3)))$estimates
  expect_identical(rows$verdict[rows$measure == "k"], "ok")
})

test_that("the width of a suppressed text is not released", {
  town <- structure(c(rep(c("A", "B"), 50), "Llanfairpwllgwyngyll"), format.stata = "%20s")
  attr(town, "display_width") <- 20L
  safe <- quietly(suppress_cells(data.frame(town, n = 1), c("town", "n"), k = 2))
  expect_null(attributes(release_data(safe)$town))
})

test_that("blank text that SPSS and Stata write for missing values is judged as missing", {
  skip_if_not_installed("haven")
  set.seed(32)
  n <- 400
  school <- sample(40, n, TRUE)
  people <- data.frame(
    county = paste("county", school %/% 5), sex = sample(2, n, TRUE), age = sample(12, n, TRUE),
    school = paste("school", school)
  )
  people$county[sample(n, 60)] <- NA
  path <- tempfile(fileext = ".sav")
  on.exit(unlink(path))
  haven::write_sav(people, path)
  back <- haven::read_sav(path)
  expect_identical(sum(back$county == ""), 60L)
  for (file in list(people, back, transform(as.data.frame(back), county = factor(county)))) {
    page <- quietly(file_check(file, c("county", "sex", "age"), limit = list(k = 1)))
    expect_identical(page$estimates$verdict[page$estimates$measure == "k"], "unclear")
    told <- page$diagnostics$told_missing
    expect_identical(told$n[told$variable == "county" & told$by == "school"], 60L)
  }
})

test_that("a written release is judged by the order it kept", {
  set.seed(3)
  d <- data.frame(region = sort(sample(8, 1200, TRUE)), sex = sample(2, 1200, TRUE),
                  age = sample(12, 1200, TRUE))
  keys <- c("region", "sex", "age")
  x <- quietly(suppress_cells(sdc_file(d, keys), k = 6, importance = c(age = 3)))
  read <- function(shuffle) {
    path <- tempfile(fileext = ".csv")
    on.exit(unlink(path))
    utils::write.csv(quietly(release_data(x, shuffle = shuffle)), path, row.names = FALSE)
    quietly(file_check(utils::read.csv(path), keys, limit = list(k = 6)))
  }
  kept <- read(FALSE)
  row <- kept$estimates[kept$estimates$measure == "k", ]
  expect_identical(row$verdict, "unclear")
  expect_identical(row$reason, "the order of the records reveals missing values")
  told <- kept$diagnostics$told_by_order
  expect_identical(told$variable, "region")
  expect_identical(told$n, x$variables$n_suppressed[[1]])
  # Runs of missing values between equal values, or such that are next to each other.
  seen <- x$data$region
  runs <- rle(is.na(seen))
  at <- which(runs$values)
  at <- at[at > 1 & at < length(runs$values)]
  after <- cumsum(runs$lengths)[at] + 1
  steps <- abs(seen[after] - seen[after - runs$lengths[at] - 1])
  expect_true(told$share %in% c(mean(steps == 0), mean(steps <= 1)))
  expect_match(paste(lines_of(kept), collapse = " "), "shuffle the records", fixed = TRUE)
  shuffled <- read(NULL)
  expect_identical(shuffled$estimates$verdict[shuffled$estimates$measure == "k"], "ok")
  expect_null(shuffled$diagnostics$told_by_order)
})

test_that("households that lack a value reveal none by their places", {
  found <- vapply(1:20, function(seed) {
    set.seed(seed)
    home <- rep(seq_len(300), sample(6, 300, TRUE))
    d <- data.frame(region = sample(4, 300, TRUE)[home], sex = sample(2, length(home), TRUE))
    d$region[home %in% sample(300, 30)] <- NA
    is.null(quietly(file_check(d, c("region", "sex")))$diagnostics$told_by_order)
  }, NA)
  expect_true(all(found))
})

test_that("a written release is judged by weights with ties", {
  set.seed(2)
  size <- sample(7, 1200, TRUE, c(.3, .3, .15, .12, .07, .04, .02))
  home <- rep(seq_along(size), size)
  d <- data.frame(
    region = sort(sample(5, 1200, TRUE))[home], size = size[home],
    sex = sample(2, length(home), TRUE), age = sample(6, length(home), TRUE),
    weight = round(stats::runif(1200, 10, 60), 2)[home]
  )
  keys <- c("region", "size", "sex", "age")
  x <- quietly(suppress_cells(sdc_file(d, keys, weight_var = "weight"), k = 3))
  path <- tempfile(fileext = ".csv")
  on.exit(unlink(path))
  utils::write.csv(quietly(release_data(x)), path, row.names = FALSE)
  page <- quietly(file_check(utils::read.csv(path), keys, weight_var = "weight", k = 3))
  expect_identical(page$estimates$verdict[page$estimates$measure == "k"], "unclear")
  told <- page$diagnostics$told_missing
  expect_identical(told[c("variable", "by")], frame(variable = "region", by = "weight"))
  # Missing values of which other records with the weight show one, by the share that agrees.
  gone <- is.na(x$data$region)
  counts <- table(d$weight[!gone], d$region[!gone])
  shares <- (apply(counts, 1, max) / rowSums(counts))[as.character(d$weight[gone])]
  expect_identical(told$n, as.integer(round(sum(shares, na.rm = TRUE))))
})
