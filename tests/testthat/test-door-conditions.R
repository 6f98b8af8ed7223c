# Bad input gives its classed error before any work, and no condition ever
# shows a value of a record.

skip_on_cran()

secret <- "SECRET42"

# A file whose cells all are values that must not appear in any message.
secret_file <- function() {
  data.frame(
    age = c(4711001, 4711002, 4711003, 4711001),
    region = c(secret, "SECRET43", secret, NA),
    job = factor(c(secret, "SECRET44", "SECRET44", secret)),
    birth = as.Date("1947-11-04") + c(0, 1, 0, 2)
  )
}

# Neither the text nor a field of the condition holds a value.
expect_no_secret <- function(condition) {
  fields <- setdiff(names(condition), c("call", "trace"))
  shown <- c(conditionMessage(condition), unlist(lapply(unclass(condition)[fields], format)))
  expect_false(any(grepl("SECRET|4711|1947", shown)))
}

# The error of `expr`, which must be of the kind and say `text`.
expect_kind <- function(expr, kind, text = NULL) {
  error <- expect_error(expr, class = paste0("sdcRisk_error_", kind))
  expect_s3_class(error, c(paste0("sdcRisk_error_", kind), "sdcRisk_error", "rlang_error"))
  for (part in text) {
    expect_match(conditionMessage(error), part, fixed = TRUE)
  }
  expect_no_secret(error)
  invisible(error)
}

# Evaluates `expr` in a session in which the core must not be asked to code
# or count anything.
without_work <- function(expr) {
  core <- c("rs_code", "rs_qar_risk")
  where <- asNamespace("sdcRisk")
  no_work <- quote(stop("the core was asked to work"))
  suppressMessages(for (f in core) trace(f, no_work, where = where, print = FALSE))
  on.exit(suppressMessages(for (f in core) untrace(f, where = where)))
  expr
}

# Data ---------------------------------------------------------------------

test_that("data must be a data frame", {
  for (data in list(
    as.matrix(secret_file()), as.list(secret_file()), secret, 1:3, NULL, mean,
    table(secret_file()$job)
  )) {
    error <- without_work(expect_kind(
      qar_risk(data, p = 1), "bad_data", c("data frame", class(data)[[1]])
    ))
    # A field of the condition holds the class, too.
    fields <- unclass(error)[setdiff(names(error), c("message", "trace", "call"))]
    expect_true(class(data)[[1]] %in% unlist(fields))
  }
  expect_kind(qar_risk(as.matrix(secret_file())), "bad_data", "as.data.frame()")
})

test_that("data must have records and columns", {
  data <- secret_file()
  expect_kind(qar_risk(data[0, ], p = 1), "bad_data", "0 records")
  expect_kind(qar_risk(data[, 0], p = 1), "bad_data", "0 columns")
  expect_kind(qar_risk(data.frame(), p = 1), "bad_data")
  expect_kind(qar_risk(data[0, ], "age", p = 1), "bad_data")
})

test_that("a file that loses all records by exclusion is an error", {
  data <- secret_file()
  data$job[1:3] <- NA
  error <- expect_kind(
    qar_risk(data, p = 1, missing = "exclude"), "bad_data", "missing = \"category\""
  )
  expect_s3_class(error, "sdcRisk_error_bad_data")
})

test_that("columns without defined values are named together with their classes", {
  data <- secret_file()
  data$list <- list(secret, 1, NULL, 2)
  data$complex <- c(4711i, 1, 2, 3)
  data$raw <- as.raw(1:4)
  data$matrix <- matrix(4711, 4, 2)
  data$frame <- secret_file()[1:2]
  data$span <- structure(c(4711, 1, 2, 3), class = "span")
  data[["calendar"]] <- as.POSIXlt(as.POSIXct("1947-11-04", tz = "UTC") + 0:3)
  bad <- c("list", "complex", "raw", "matrix", "frame", "span", "calendar")
  for (column in bad) {
    error <- without_work(expect_kind(
      qar_risk(data, c("age", column), p = 1), "bad_column",
      c(paste0("\"", column, "\""), class(data[[column]])[[1]])
    ))
    expect_identical(error$columns, column)
    expect_match(error$classes, class(data[[column]])[[1]], fixed = TRUE)
  }
  all <- without_work(expect_kind(qar_risk(data, p = 1), "bad_column"))
  expect_identical(all$columns, bad)
  expect_length(all$classes, 7)
  # The other columns can be used.
  expect_s3_class(quietly(qar_risk(data, names(secret_file()), p = 1)), "sdc_qar_risk")
})

test_that("factors and dates that are none are bad columns", {
  data <- secret_file()
  data$no_levels <- structure(1:4, class = "factor")
  data$text_date <- structure(rep("1947-11-04", 4), class = "Date")
  for (column in c("no_levels", "text_date")) {
    error <- expect_kind(qar_risk(data, c("age", column), p = 1), "bad_column", column)
    expect_identical(error$columns, column)
  }
})

# Key variables ------------------------------------------------------------

test_that("key variables must be columns", {
  data <- secret_file()
  error <- without_work(expect_kind(
    qar_risk(data, c("age", "height", NA, "")), "unknown_key_var", "\"height\""
  ))
  expect_identical(error$unknown, c("height", NA, ""))
  expect_match(conditionMessage(error), "region")
  for (bad in list(NA_real_, NaN, c(1, 99), c(1, 1.5), c(-1, 2), c(Inf, 0))) {
    error <- expect_kind(qar_risk(data, bad, p = 1), "unknown_key_var")
    expect_identical(error$unknown, bad[!bad %in% 1:4])
  }
  for (lone in list(0, 1, 5, -1, 1.5, Inf)) {
    expect_kind(qar_risk(data, lone, p = 1), "bad_argument", "single number")
  }
})

test_that("key variables must be names or positions, each once, and at least one", {
  data <- secret_file()
  for (bad in list(
    c("age", "age"), c(2, 1, 2), character(), integer(), TRUE, factor("age"), list("age"),
    as.Date(1, origin = "1970-01-01"), ~age
  )) {
    error <- without_work(expect_kind(qar_risk(data, bad, p = 1), "bad_argument", "key_vars"))
    expect_identical(error$argument, "key_vars")
  }
  expect_kind(qar_risk(data, c("age", "job", "age")), "bad_argument", "\"age\"")
})

test_that("two columns of one name are an error where they are used", {
  data <- secret_file()
  names(data) <- c("age", "age", "job", "birth")
  error <- expect_kind(qar_risk(data), "bad_data", "\"age\"")
  expect_identical(error$names, "age")
  expect_kind(qar_risk(data, c("age", "job"), p = 1), "bad_data", "\"age\"")
  expect_kind(qar_risk(data, 1:3, p = 1), "bad_data", "\"age\"")
  used <- quietly(qar_risk(data, c(2, 3), p = 1))
  expect_identical(sort(used$sets$key_set), c("age", "job"))
  names(data)[1:2] <- c("", NA)
  expect_kind(qar_risk(data), "bad_data", "1, 2")
})

test_that("key groups must be named, known, disjoint and of key variables", {
  data <- secret_file()
  for (bad in list(
    list(c("age", "job")), list(g = c("age", "job"), c("region", "birth")), c("age", "job"),
    list(g = c("age", "job"), g = "region"), list(g = character()), "age", TRUE,
    list(g = c("age", "job"), h = c("job", "region")), list(g = c("age", "age")),
    list(region = c("age", "job")), list(g = list("age", "job"))
  )) {
    error <- without_work(expect_kind(
      qar_risk(data, p = 1, key_groups = bad), "bad_argument", "key_groups"
    ))
    expect_identical(error$argument, "key_groups")
  }
  unknown <- expect_kind(
    qar_risk(data, p = 1, key_groups = list(g = c("age", "height"))), "unknown_key_var",
    c("key_groups", "\"height\"")
  )
  expect_identical(unknown$unknown, "height")
  expect_kind(
    qar_risk(data, c("age", "job"), p = 1, key_groups = list(g = c("age", "region"))),
    "bad_argument", "\"region\""
  )
})

# Arguments ----------------------------------------------------------------

expect_bad <- function(argument, values, text = argument) {
  for (value in values) {
    arguments <- list(secret_file(), p = 1)
    arguments[argument] <- list(value)
    error <- without_work(expect_kind(do.call(qar_risk, arguments), "bad_argument", text))
    expect_identical(error$argument, argument)
  }
}

test_that("p must be whole numbers from one to the number of key variables", {
  expect_bad("p", list(
    0, 1.5, NA, NA_integer_, NaN, Inf, -1, "1", c(1, 1), c(1, NA), numeric(), NULL, TRUE,
    list(1), factor(1), 1e10, 1i
  ))
})

test_that("p beyond the number of key variables is an error before any work", {
  expect_bad("p", list(5, c(1, 5), 1e6))
  error <- without_work(expect_kind(
    qar_risk(secret_file(), p = 4, key_groups = list(g = c("age", "job"))),
    "bad_argument", "3"
  ))
  expect_identical(error$argument, "p")
})

test_that("alpha must be distinct probabilities of at most pi_u", {
  expect_bad("alpha", list(
    0, 1, -0.1, NA, NaN, "0.01", numeric(), NULL, c(0.01, 0.01), c(0.01, NA), 0.051,
    c(0.01, 0.2), list(0.01), TRUE
  ))
  expect_kind(
    qar_risk(secret_file(), p = 1, alpha = 0.1), "bad_argument", c("pi_u", "0.05")
  )
})

test_that("pi_u must be one probability", {
  expect_bad("pi_u", list(0, 1, 1.2, -1, NA, "0.05", c(0.05, 0.1), NULL, numeric(), Inf))
})

test_that("words must be words of the list", {
  expect_bad("pwm", list("plot", NA, 1, NULL, character(), c("unbiased", "plotting"), "PLOTTING"))
  expect_bad("theta_one", list("none", NA, 1, NULL, TRUE))
  expect_bad("missing", list("drop", NA, TRUE, NULL))
  expect_kind(qar_risk(secret_file(), pwm = "plot"), "bad_argument", c("plotting", "unbiased"))
})

test_that("missing = \"wildcard\" is refused with the reason", {
  expect_kind(
    qar_risk(secret_file(), missing = "wildcard"), "bad_argument",
    c("wildcard", "category", "exclude")
  )
})

test_that("sets must be TRUE or FALSE, max_sets a whole number", {
  expect_bad("sets", list(NA, "TRUE", 1, NULL, c(TRUE, FALSE)))
  expect_bad("max_sets", list(0, NA, "many", 1.5, NULL, -1))
})

test_that("an argument that does not exist is an error that names it", {
  error <- without_work(expect_kind(
    qar_risk(secret_file(), p = 1, missng = "exclude"), "bad_argument", "\"missng\""
  ))
  expect_identical(error$argument, "missng")
  two <- expect_kind(
    qar_risk(secret_file(), p = 1, pmw = "unbiased", weights = 1), "bad_argument",
    c("pmw", "weights")
  )
  expect_identical(two$argument, c("pmw", "weights"))
  unnamed <- expect_kind(qar_risk(secret_file(), NULL, 1, 0.01, 0.05, "exclude"), "bad_argument")
  expect_match(conditionMessage(unnamed), "unnamed")
})

test_that("too many key sets are an error at once", {
  data <- as.data.frame(matrix(0L, 200, 60))
  took <- system.time(error <- without_work(expect_kind(
    qar_risk(data, p = 30), "too_large", c("60 key variables", "100,000,000")
  )))
  expect_lt(took[["elapsed"]], 1)
  expect_identical(error$n_sets, choose(60, 30))
  expect_identical(nrow(quietly(qar_risk(data[1:5], p = 2, max_sets = 10))$sets), 10L)
})

test_that("the error names the function that was called", {
  for (error in list(
    tryCatch(qar_risk(1), error = identity),
    tryCatch(qar_risk(secret_file(), p = 0), error = identity),
    tryCatch(qar_risk(secret_file(), alpha = 0.5), error = identity),
    tryCatch(qar_risk(secret_file(), p = 1, key_groups = 1), error = identity),
    tryCatch(qar_risk(secret_file(), key_vars = "height"), error = identity)
  )) {
    expect_identical(as.character(conditionCall(error)[[1]]), "qar_risk")
  }
})

test_that("names with percent signs and braces stand in messages as they are", {
  data <- secret_file()
  names(data)[1] <- "100%s %d%n {x}"
  expect_kind(qar_risk(data, "{y} %s"), "unknown_key_var", c("{y} %s", "100%s %d%n {x}"))
  data[[1]] <- as.list(1:4)
  error <- expect_kind(qar_risk(data), "bad_column", "100%s %d%n {x}")
  expect_identical(error$columns, "100%s %d%n {x}")
  data[[1]] <- 0
  warned <- tryCatch(qar_risk(data, p = 1), sdcRisk_warning = identity)
  expect_s3_class(warned, "sdcRisk_warning_constant_column")
  expect_match(conditionMessage(warned), "100%s %d%n {x}", fixed = TRUE)
})

test_that("warnings, messages and prints show no values", {
  data <- secret_file()
  seen <- list()
  keep <- function(condition) {
    seen <<- c(seen, list(condition))
    tryInvokeRestart("muffleWarning")
    tryInvokeRestart("muffleMessage")
  }
  withCallingHandlers(
    {
      data$same <- secret
      results <- list(qar_risk(data, p = c(1, 2, 5)), qar_risk(data[1:2], p = 2))
      qar_risk(data, p = 1, alpha = 0.3, pi_u = 0.3, theta_one = "exclude")
    },
    sdcRisk_warning = keep, sdcRisk_message = keep
  )
  expect_gte(length(seen), 4)
  for (condition in seen) {
    expect_no_secret(condition)
  }
  for (result in results) {
    shown <- c(
      format(result), format(summary(result)), interpret(result),
      utils::capture.output(utils::str(unclass(result)))
    )
    expect_false(any(grepl("SECRET|4711|1947", shown)))
  }
})

test_that("the number of threads must be a whole number from 1 to 1024", {
  old <- options(sdcRisk.threads = NULL)
  on.exit(options(old))
  expect_identical(sdc_threads(), 2L)
  options(sdcRisk.threads = 5)
  expect_identical(sdc_threads(), 5L)
  for (bad in list(0, -1, 1.5, 1025, NA, "2", c(1, 2), list(2))) {
    options(sdcRisk.threads = bad)
    error <- expect_kind(sdc_threads(), "bad_argument", "sdcRisk.threads")
    expect_match(error$argument, "sdcRisk.threads", fixed = TRUE)
    expect_kind(qar_risk(secret_file(), p = 1), "bad_argument", "sdcRisk.threads")
  }
})

# The core fails -----------------------------------------------------------

test_that("failures in the core are classed errors with their message intact", {
  message <- "100%s %d%n {x}"
  fail <- function(how) {
    tryCatch(sdcRisk:::unwrap(sdcRisk:::rs_fail(how, message)), error = identity)
  }
  for (how in c("panic", "thread")) {
    error <- fail(how)
    expect_s3_class(error, c("sdcRisk_error_internal", "sdcRisk_error"))
    expect_match(conditionMessage(error), message, fixed = TRUE)
    expect_match(conditionMessage(error), "Please report", fixed = TRUE)
  }
  expect_s3_class(fail("error"), c("sdcRisk_error_bad_argument", "sdcRisk_error"))
  expect_identical(conditionMessage(fail("error")), message)
  # Here the message is R's own.
  error <- fail("r_error")
  expect_s3_class(error, c("sdcRisk_error_internal", "sdcRisk_error"))
  expect_match(conditionMessage(error), "names")
  expect_identical(sdcRisk:::unwrap(sdcRisk:::rs_wait(1L, NULL)), TRUE)
})

test_that("arguments the core does not know are errors, not crashes", {
  for (bad in list(NULL, 1, "x", NA_character_, list(1), c("a", "b"), mean, quote(a))) {
    expect_s3_class(sdcRisk:::rs_fail(bad, bad), "sdcRisk_rust_error")
    expect_s3_class(sdcRisk:::rs_fail("error", 1), "sdcRisk_rust_error")
    expect_s3_class(
      sdcRisk:::rs_code(list(bad), list(threads = 2L, tick = NULL)), "sdcRisk_rust_error"
    )
  }
  kinds <- c("integer", "double", "text", "logical", "levels", "wide", "other")
  wrong <- list(
    integer = "a", double = 1L, text = 1, logical = "a", levels = "a", wide = 1L, other = 1
  )
  for (kind in kinds) {
    column <- list(
      values = wrong[[kind]], kind = kind, level_is_missing = logical(), scale = "text",
      level_names = NULL, unordered = FALSE
    )
    request <- list(
      columns = list(column), names = "a", roles = NULL, ends = integer(), listwise = FALSE,
      follows = FALSE, keys = NULL, n_levels = NULL
    )
    outcome <- sdcRisk:::rs_code(list(request), list(threads = 2L, tick = NULL))
    expect_s3_class(outcome, "sdcRisk_rust_error")
  }
  rows <- sdcRisk:::key_table(data.frame(a = 1:3))$pointer
  for (bad in list(0L, 4L, NA_integer_, -1L, "a", 1)) {
    part <- list(columns = bad, listwise = FALSE, keys = NULL)
    expect_s3_class(sdcRisk:::rs_part(rows, part, list(threads = 2L)), "sdcRisk_rust_error")
  }
})

test_that("failures in the core leave a session alive and its error output empty", {
  path <- getNamespaceInfo("sdcRisk", "path")
  skip_if_not(file.exists(file.path(path, "Meta", "package.rds")), "not installed")
  script <- tempfile(fileext = ".R")
  output <- tempfile()
  errors <- tempfile()
  on.exit(unlink(c(script, output, errors)))
  writeLines(c(
    paste0("library(sdcRisk, lib.loc = ", deparse(dirname(path)), ")"),
    "for (how in c('panic', 'thread', 'error', 'r_error')) {",
    "  kind <- tryCatch(",
    "    sdcRisk:::unwrap(sdcRisk:::rs_fail(how, '100%s %d%n {x}')),",
    "    error = function(e) class(e)[[1]]",
    "  )",
    "  cat(how, kind, '\\n')",
    "}",
    "cat(suppressWarnings(qar_risk(data.frame(a = 1:2, b = 0), p = 1))$estimates$risk)"
  ), script)
  status <- system2(
    file.path(R.home("bin"), "Rscript"), c("--no-init-file", shQuote(script)),
    stdout = output, stderr = errors
  )
  expect_identical(status, 0L)
  expect_identical(readLines(errors), character())
  expect_identical(trimws(readLines(output, warn = FALSE)), c(
    "panic sdcRisk_error_internal", "thread sdcRisk_error_internal",
    "error sdcRisk_error_bad_argument", "r_error sdcRisk_error_internal", "1"
  ))
})
