skip_on_cran()

test_that("recoded data keep the limit, and the printed code gives the same data", {
  data <- people()
  keys <- c("age", "region", "job", "sex", "born")
  x <- recode_search(
    data, keys, people_levels(data), constraint = list(k = 3), suppress = 0.05, weight_var = "w"
  )
  for (which in seq_len(min(5, nrow(x$best)))) {
    recoded <- apply_recoding(x, data, which)
    here <- list2env(list(data = data))
    eval(parse(text = x$code[[which]]), here)
    expect_identical(as.data.frame(recoded), here$data[names(data)])
    complete <- rowSums(!is.na(recoded[keys])) > 0
    expect_equal(sum(!complete), x$best$n_suppressed[[which]])
    cell <- do.call(paste, as.data.frame(recoded)[complete, keys])
    expect_gte(min(table(cell)), 3)
    expect_equal(min(table(cell)), x$best$k[[which]])
    expect_identical(recoded$w, data$w)
  }
  uniques <- recode_search(
    data, keys, people_levels(data), constraint = list(prop_unique = 0.02), suppress = 0.05
  )
  here <- list2env(list(data = data))
  eval(parse(text = uniques$code[[1]]), here)
  expect_identical(as.data.frame(apply_recoding(uniques, data)), here$data)
  kept <- here$data[rowSums(!is.na(here$data[keys])) > 0, ]
  measured <- n_matches(kept, keys, missing = "category")
  expect_lte(measured$estimates$prop_unique, 0.02)
})

test_that("all classes of data frames come back in their class", {
  for (make in list(tibble::as_tibble, data.table::as.data.table)) {
    data <- make(people(200))
    x <- recode_search(
      data, c("age", "sex"), people_levels(data)[c("age", "sex")], constraint = list(k = 4),
      suppress = 0.02
    )
    before <- as.data.frame(data)
    recoded <- apply_recoding(x, data)
    expect_identical(class(recoded), c("sdc_file", class(data)))
    expect_identical(as.data.frame(data), before)
    expect_equal(
      as.data.frame(recoded), as.data.frame(apply_recoding(
        recode_search(
          before, c("age", "sex"), people_levels(before)[c("age", "sex")],
          constraint = list(k = 4), suppress = 0.02
        ), before
      ))
    )
  }
})

test_that("code says its values in a locale that lacks their letters", {
  values <- c("\u0131", "\u00e4 b", "back\\slash", "10")
  expr <- bquote(data$x <- factor(data$x, .(values)))
  text <- sdcRisk:::code_text(expr, locale_has_all = FALSE)
  expect_identical(
    text, "data$x <- factor(data$x, c(\"\\U{131}\", \"\\U{e4} b\", \"back\\\\slash\", \"10\"))"
  )
  here <- list2env(list(data = data.frame(x = values[c(2, 1, 1, 4)])))
  eval(parse(text = text), here)
  expect_identical(here$data$x, factor(values[c(2, 1, 1, 4)], values))
  expect_identical(eval(parse(text = sdcRisk:::code_text(expr))[[1]][[3]][[3]]), values)
})

test_that("the code of every recoding is text that runs, also where nothing is recoded", {
  data <- data.frame(a = rep(1:2, 9), b = "x")
  found <- quietly(recode_search(data, constraint = list(k = 2)))
  expect_identical(found$code[[1]], character())
  expect_true(all(vapply(found$code, is.character, NA)))
  expect_identical(as.data.frame(quietly(apply_recoding(found, data))), data)
})

test_that("integer64 and long numbers are recoded as the numbers they are", {
  skip_if_not_installed("bit64")
  set.seed(4)
  data <- data.frame(income = sample(c(1e5, 100001, 3, NA), 200, TRUE), age = sample(60, 200, TRUE))
  levels <- hierarchy(data.frame(c("100000", "100001", "3"), c("high", "high", "low"), "*"))
  wide <- data
  wide$age <- bit64::as.integer64(data$age)
  recoded <- lapply(list(data, wide), function(d) {
    found <- quietly(recode_search(
      d, hierarchies = list(income = levels), keep = list(income = 1, age = 1),
      constraint = list(k = 1), n_best = 1
    ))
    here <- list2env(list(data = d))
    eval(parse(text = found$code[[1]]), here)
    expect_identical(as.data.frame(apply_recoding(found, d)), here$data)
    here$data
  })
  expect_identical(recoded[[1]], recoded[[2]])
  expect_identical(
    as.character(recoded[[1]]$income), c("high", "low")[1 + (data$income == 3)]
  )
})

test_that("another file is recoded alike, without blanks", {
  set.seed(5)
  d <- data.frame(age = sample(20:59, 400, TRUE), job = sample(letters[1:6], 400, TRUE, 6:1))
  levels <- list(age = hierarchy(20:59, widths = c(5, 10), name = "age"))
  for (blanks in c("records", "cells")) {
    x <- suppressMessages(recode_search(
      d, c("age", "job"), levels, constraint = list(k = 3), suppress = 0.05, blanks = blanks
    ))
    bare <- quietly(apply_recoding(x, d, blanks = FALSE))
    full <- suppressMessages(apply_recoding(x, d))
    expect_false(anyNA(bare))
    expect_true(anyNA(full))
    for (v in c("age", "job")) {
      known <- !is.na(full[[v]])
      expect_identical(as.character(bare[[v]][known]), as.character(full[[v]][known]))
    }
    # Another file with the same variables: each record as its equal here.
    other <- d[sample(400, 100), ]
    again <- apply_recoding(x, other, blanks = FALSE)
    expect_identical(as.list(as.data.frame(again)), as.list(as.data.frame(bare)[rownames(other), ]))
    # A file with roles and history like the one with suppressed values.
    expect_identical(sdc_roles(bare), sdc_roles(full))
    expect_identical(sdc_roles(again)$key_vars, c("age", "job"))
    expect_match(format(summary(bare)), "apply_recoding", all = FALSE)
    expect_no_match(format(summary(bare)), "blanked")
    expect_identical(quietly(suppress_cells(bare, k = 3))$settings$key_vars, c("age", "job"))
    expect_error(apply_recoding(x, other), class = "sdcRisk_error_mismatched_data")
  }
  expect_error(
    apply_recoding(x, data.frame(age = letters, job = letters), blanks = FALSE),
    class = "sdcRisk_error"
  )
  expect_error(
    apply_recoding(x, d["age"], blanks = FALSE), class = "sdcRisk_error_unknown_key_var"
  )
  expect_error(apply_recoding(x, d, blanks = NA), class = "sdcRisk_error_bad_argument")
})

test_that("the code of a search that needs no recoding is empty, and no script is read on", {
  found <- suppressMessages(
    recode_search(data.frame(a = rep(1:2, 30), b = rep(1:3, 20)), c("a", "b"))
  )
  expect_identical(found$code[[1]], character())
  expect_length(parse(text = found$code[[1]]), 0)
})

test_that("the page of a recoded file says what its household numbers reveal", {
  set.seed(6)
  home <- rep(1:700, sample(1:6, 700, TRUE))
  people <- data.frame(
    home, region = sample(9, 700, TRUE, 9:1)[home], rooms = sample(3, 700, TRUE)[home],
    age = sample(9, length(home), TRUE), sex = sample(2, length(home), TRUE)
  )
  keys <- c("region", "rooms", "age", "sex")
  file <- sdc_file(people, keys, hh_id = "home")
  recoded <- quietly(apply_recoding(recode_search(file, k = 3, suppress = 0.05)))
  page <- quietly(file_check(recoded, limit = list(k = 3)))
  lost <- which(is.na(recoded$rooms))
  # From other members of the household.
  known <- vapply(lost, function(r) any(home == home[[r]] & !is.na(recoded$rooms)), NA)
  told <- page$diagnostics$told_by_ids
  told <- told[told$variable == "rooms", ]
  expect_identical(told[c("by", "n")], data.frame(by = "home", n = sum(known)), ignore_attr = TRUE)
  expect_equal(told$share, mean(known))
  expect_gt(told$n, 20)
  shown <- paste(format(page), collapse = " ")
  expect_match(shown, paste0(
    "Not for release as it is: .*\"home\" +reveals +", told$n, " +of +", length(lost),
    " +values +of +\"rooms\"; +release_data\\(\\) +leaves +out +\"home\""
  ))
  expect_match(page$next_steps, "release_data(file)", fixed = TRUE, all = FALSE)
  # Released without them there is nothing to say.
  released <- quietly(file_check(release_data(recoded), limit = list(k = 3)))
  expect_identical(NROW(released$diagnostics$told_by_ids), 0L)
})
