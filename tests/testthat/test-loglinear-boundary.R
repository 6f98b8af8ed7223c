# Fits on the boundary of their model, whose figures depend on where the iterations stopped, and
# all others, which depend on no order.

quietly <- function(code) suppressWarnings(suppressMessages(code))

small_file <- function(seed) {
  set.seed(seed)
  n_keys <- sample(2:5, 1)
  n <- sample(c(20, 40, 80, 150, 300), 1)
  class <- runif(n)
  data <- as.data.frame(lapply(seq_len(n_keys), function(v) {
    k <- sample(2:5, 1)
    pmin(k, 1 + floor(runif(n) * (0.4 + 0.6 * class) * k))
  }))
  names(data) <- letters[seq_len(n_keys)]
  data$w <- if (runif(1) < 0.3) 10 else round(2 + 8 * runif(n), 1)
  data
}

# The records, the levels and the key variables in another order.
in_another_order <- function(data) {
  data <- data[sample(nrow(data)), ]
  keys <- setdiff(names(data), "w")
  for (key in keys) {
    values <- sort(unique(data[[key]]))
    data[[key]] <- sample(values)[match(data[[key]], values)]
  }
  data[c(sample(keys), "w")]
}

fits_of <- function(data, sampling) {
  keys <- setdiff(names(data), "w")
  models <- c("independence", "two_way", if (length(keys) < 5) "search")
  found <- quietly(
    loglinear_risk(data, keys, weight_var = "w", model = models, sampling = sampling)
  )
  e <- found$estimates
  data.frame(
    tau1 = e$tau1, tau2 = e$tau2, status = e$status,
    deviation = vapply(found$fits, `[[`, 0, "deviation")
  )
}

test_that("tau1 and tau2 depend on no order but on the boundary, which has that status", {
  # The first fits of two-way models creep.
  n_boundary <- 0
  for (seed in c(69, 128, 59, 63, 81, 1:15)) {
    data <- small_file(seed)
    sampling <- if (seed %% 2) "overall" else "raked"
    plain <- fits_of(data, sampling)
    other <- fits_of(in_another_order(data), sampling)
    expect_identical(plain$status == "boundary", plain$deviation > 1e-9)
    expect_identical(other$status, plain$status, info = seed)
    boundary <- plain$status == "boundary"
    n_boundary <- n_boundary + sum(boundary)
    for (tau in c("tau1", "tau2")) {
      off <- abs(other[[tau]] / plain[[tau]] - 1)[!boundary & plain[[tau]] > 0]
      expect_lt(max(off, 0), 1e-8)
    }
  }
  expect_gte(n_boundary, 1)
})

test_that("figures of a fit on the boundary are unclear everywhere", {
  data <- small_file(128)
  keys <- setdiff(names(data), "w")
  x <- quietly(
    loglinear_risk(data, keys, weight_var = "w", model = "two_way", sampling = "raked")
  )
  expect_identical(x$estimates$status, "boundary")
  table <- measures(x, limit = list())
  table <- table[table$measure != "n_unique", ]
  expect_identical(unique(table$verdict[!is.na(table$value)]), "unclear")
  expect_match(table$note[[1]], "boundary")
  expect_match(paste(format(x), collapse = " "), "tau1 and tau2 are unclear")
  file <- tempfile(fileext = ".html")
  quietly(sdc_report(x, file = file, internal = TRUE, pictures = FALSE))
  page <- paste(readLines(file), collapse = "")
  expect_match(page, "<td class=\"plain\">unclear</td>", fixed = TRUE)
})
