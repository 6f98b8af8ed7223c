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
    expect_identical(recoded, here$data[names(data)])
    complete <- rowSums(!is.na(recoded[keys])) > 0
    expect_equal(sum(!complete), x$best$n_suppressed[[which]])
    cell <- do.call(paste, recoded[complete, keys])
    expect_gte(min(table(cell)), 3)
    expect_equal(min(table(cell)), x$best$k[[which]])
    expect_identical(recoded$w, data$w)
  }
  uniques <- recode_search(
    data, keys, people_levels(data), constraint = list(prop_unique = 0.02), suppress = 0.05
  )
  here <- list2env(list(data = data))
  eval(parse(text = uniques$code[[1]]), here)
  expect_identical(apply_recoding(uniques, data), here$data)
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
    expect_identical(class(recoded), class(data))
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
