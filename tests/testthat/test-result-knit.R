# Results in knitted documents.

skip_on_cran()

knitted <- function(code, env) {
  text <- c("```{r, echo = FALSE, message = FALSE}", code, "```")
  quietly(strsplit(knitr::knit(text = text, quiet = TRUE, envir = env), "\n")[[1]])
}

test_that("every result is a table and sentences of Markdown with the figures of its print", {
  skip_if_not_installed("knitr")
  results <- results_in_words()
  numbers_of <- function(text) {
    text <- gsub("[0-9]{1,3}(,[0-9]{3})+", "", paste(text, collapse = " "))
    unique(regmatches(text, gregexpr("[0-9][0-9.]*[0-9]|[0-9]", text))[[1]])
  }
  for (name in names(results)) {
    x <- results[[name]]
    if (!inherits(x, c("sdc_result", "sdc_comparison"))) next
    lines <- knitted("x", list2env(list(x = x)))
    # No line of a console.
    expect_false(any(grepl("^## ", lines)), info = name)
    expect_match(lines[nzchar(lines)][[1]], "^[*][*].*[*][*]$", info = name)
    expect_identical(
      setdiff(numbers_of(format(x, width = 1e4, rows = Inf)), numbers_of(lines)), character(),
      info = name
    )
  }
})

test_that("a page of a file is knitted with its tables whole", {
  skip_if_not_installed("knitr")
  keys <- c("GENDER", "CENREG", "DAGE3", "EDUC3")
  x <- quietly(file_check(nals_prison, keys, weight_var = "WEIGHT"))
  env <- list2env(list(x = x))
  lines <- knitted("x", env)
  at <- which(lines == "| figure | value | limit |")
  expect_length(at, 1)
  expect_identical(lines[at + 1], "| :--- | :--- | :--- |")
  n_above <- sum(n_matches(nals_prison, keys)$records$n_matches < 3)
  expect_identical(lines[at + 2], paste0(
    "| Fewest matches, k (prosecutor) | 1 | below 3: ", n_above, " records |"
  ))
  # Each row of a table has its cells.
  rows <- grep("^[|]", lines, value = TRUE)
  expect_true(all(grepl("[|]$", rows)))
  said <- trimws(paste(knitted("interpret(x)", env), collapse = " "))
  expect_identical(gsub("\\\\(.)", "\\1", said), as.character(interpret(x)))
})

test_that("names that mean something in Markdown are themselves", {
  skip_if_not_installed("knitr")
  data <- data.frame(a_b_c = rep(1:2, 5), "x*y" = rep(1:5, 2), check.names = FALSE)
  lines <- knitted("x", list2env(list(x = quietly(key_overview(data)))))
  expect_true(any(grepl("a\\_b\\_c", lines, fixed = TRUE)))
  expect_true(any(grepl("x\\*y", lines, fixed = TRUE)))
  skip_if_not(rmarkdown::pandoc_available("1.12.3"))
  file <- tempfile(fileext = ".Rmd")
  on.exit(unlink(sub("Rmd$", "*", file)))
  writeLines(c(
    "---", "title: t", "output: md_document", "---", "```{r, message = FALSE}",
    "library(sdcRisk)", "n_matches(nals_prison, c(\"GENDER\", \"CENREG\"))", "```"
  ), file)
  out <- quietly(rmarkdown::render(file, quiet = TRUE))
  expect_false(any(grepl("^ *## ", readLines(out))))
})

test_that("a document without Markdown has the lines of the console", {
  skip_if_not_installed("knitr")
  x <- quietly(n_matches(nals_prison, c("GENDER", "CENREG")))
  old <- knitr::opts_knit$get("out.format")
  knitr::opts_knit$set(out.format = "latex")
  on.exit(knitr::opts_knit$set(out.format = old))
  shown <- utils::capture.output(knitr::knit_print(x))
  expect_identical(shown, utils::capture.output(print(x)))
})
