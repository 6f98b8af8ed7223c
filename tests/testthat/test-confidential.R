# ?confidential: which objects hold values, and that nothing that is said does.

skip_on_cran()

test_that("the objects that hold values are those of the help page", {
  results <- secret_results()
  expect_identical(names(which(vapply(results$silent, holds, NA))), character())
  expect_identical(names(which(!vapply(results$speaking, holds, NA))), character())
})

test_that("no print, sentence, table of figures or report says a value", {
  results <- unlist(unname(secret_results()), recursive = FALSE)
  of_ours <- Filter(function(x) {
    inherits(x, c("sdc_result", "sdc_comparison", "sdc_open_file"))
  }, results)
  # What is asked for as values; and categories, but none that few records hold.
  of_ours$uniqueness_profile <- NULL
  expect_false(any(grepl("zqcanary alone", format(of_ours$exhaustive_tabulation))))
  of_ours$exhaustive_tabulation <- NULL
  expect_gt(length(of_ours), 24)
  for (name in names(of_ours)) {
    x <- of_ours[[name]]
    said <- utils::capture.output(print(x))
    if (!inherits(x, "sdc_open_file")) {
      said <- c(said, utils::capture.output(print(interpret(x))), unlist(glance(x)))
    }
    expect_false(tells(said), info = name)
  }
  expect_false(tells(utils::capture.output(print(pattern_table(secret_file(), c("a", "b"))))))
  file <- tempfile(fileext = ".html")
  data <- secret_file()
  keys <- c("a", "b", "c")
  quietly(sdc_report(
    n_matches(data, keys), individual_risk(data, keys, "w"), qar_risk(data, keys, p = 2),
    exhaustive_tabulation(data, keys), suppress_cells(data, keys, k = 2), file = file
  ))
  of_patterns <- tempfile(fileext = ".html")
  quietly(sdc_report(n_matches(pattern_table(data, keys)), file = of_patterns))
  for (path in c(file, of_patterns)) {
    expect_false(tells(readLines(path, warn = FALSE)))
    expect_false(tells(readLines(sub("html$", "json", path), warn = FALSE)))
  }
})

# What a picture writes, and the numbers of the data behind it as text.
written_in <- function(picture) {
  file <- tempfile(fileext = ".pdf")
  on.exit(unlink(file))
  grDevices::pdf(file, compress = FALSE, useKerning = FALSE)
  tryCatch(quietly(print(picture)), finally = grDevices::dev.off())
  page <- readLines(file, warn = FALSE, encoding = "latin1")
  texts <- grep("Tj", page, value = TRUE, useBytes = TRUE)
  expect_gt(length(texts), 2)
  gsub("^.*[(]|[)] Tj.*$", "", texts, useBytes = TRUE)
}

test_that("no picture says a value", {
  skip_if_not_installed("ggplot2")
  # The words of a picture are found.
  words <- ggplot2::ggplot(data.frame(x = 1), ggplot2::aes(x, x)) +
    ggplot2::ggtitle("zqcanary found")
  expect_true(tells(written_in(words)))
  results <- unlist(unname(secret_results()), recursive = FALSE)
  drawn <- character()
  for (name in names(results)) {
    x <- results[[name]]
    if (!inherits(x, c("sdc_result", "sdc_comparison"))) next
    picture <- tryCatch(quietly(ggplot2::autoplot(x)), sdcRisk_error = function(e) NULL)
    if (is.null(picture)) next
    drawn <- c(drawn, name)
    words <- written_in(picture)
    # Categories, but none that few records hold.
    if (name == "exhaustive_tabulation") words <- grep("zqcanary alone", words, value = TRUE)
    expect_false(tells(words), info = name)
  }
  expect_gt(length(drawn), 15)
})

test_that("no error, warning or message says a value", {
  data <- secret_file()
  faults <- list(
    quote(n_matches(data, c("a", "b"), weight_var = "a")), quote(n_matches(data, "zz")),
    quote(qar_risk(data, c("a", "id"), p = 1)), quote(individual_risk(data, "a", "b", "id")),
    quote(household_risk(data, "a", "home", hh_vars = "b")),
    quote(suppress_cells(data, c("a", "id"), k = 90, importance = c(a = Inf, id = Inf))),
    quote(longitudinal_link(data[c(1, 1), ], data, c("a", "b"), "id")),
    quote(latest_values(list(data[c(1, 1), ]), "id")),
    quote(hierarchy(data$a, digits = 2)), quote(hierarchy(data$b, widths = c(2, 5))),
    quote(recode_search(data, c("a", "id"), constraint = list(k = 500))),
    quote(birth_month(data, "id", "b", "b", "b")),
    quote(copula_uniqueness(data, c("a", "b"), 4)), quote(loglinear_risk(data, c("a", "b"))),
    quote(utility_loss(data, data[1:4, ], "a")), quote(sdc_file(data, "a", weight_var = "c")),
    quote(exhaustive_tabulation(data, c("a", "id"), 1)), quote(key_overview(data))
  )
  n <- 0
  for (fault in faults) {
    hear <- function(condition) {
      n <<- n + 1
      fields <- unclass(condition)[setdiff(names(condition), c("trace", "call", "parent"))]
      said <- c(conditionMessage(condition), unlist(fields))
      expect_false(tells(said), info = deparse(fault[[1]]))
    }
    tryCatch(
      withCallingHandlers(
        eval(fault),
        message = function(c) {
          hear(c)
          tryInvokeRestart("muffleMessage")
        },
        warning = function(c) {
          hear(c)
          tryInvokeRestart("muffleWarning")
        }
      ),
      error = hear
    )
  }
  expect_gte(n, length(faults) - 2)
})
