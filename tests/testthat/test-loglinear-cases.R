# Cases beside the usual ones: formulas of any order, many key variables, kinds
# of columns, several waves, what is refused before any work.

test_that("models of any order equal stats::loglin and literal sums", {
  data <- loglinear_file(400, c(4, 3, 5, 2, 3), 71)
  keys <- letters[1:5]
  pi <- nrow(data) / sum(data$w)
  models <- list(
    list(~1, as.list(1:5)),
    list(~ a:b + b:c + c:d + d:a, list(1:2, 2:3, 3:4, c(4, 1), 5)),
    list(~ a:b + b:c + c:d + d:e + e:a, list(1:2, 2:3, 3:4, 4:5, c(5, 1))),
    list(~ a:b:c + c:d:e, list(1:3, 3:5)),
    list(~ a * b * c - a:b:c, list(1:2, 2:3, c(1, 3), 4, 5)),
    list(~ a * b * c * d * e, list(1:5)),
    list(~ a:b:d + d:e + a:e, list(c(1, 2, 4), 4:5, c(1, 5), 3)),
    list(~.^2, utils::combn(5, 2, simplify = FALSE))
  )
  columns <- c("n_cells", "n_unique", "tau1", "tau2", "b1", "z1", "b2", "z2", "z2_robust")
  for (sampling in c("overall", "cell")) {
    for (model in models) {
      found <- quiet_loglinear(
        data, keys,
        weight_var = "w", model = model[[1]], sampling = sampling, interval = "none"
      )
      table <- suppressWarnings(oracle_table(data, keys, data$w, model[[2]], pi))
      expect_equal(
        found$estimates[columns], oracle_loglinear(table, pi, sampling)[columns],
        tolerance = 1e-6, ignore_attr = TRUE, info = deparse(model[[1]])
      )
      expect_equal(sum(found$records$tau1), found$estimates$tau1)
      expect_equal(sum(found$records$tau2), found$estimates$tau2)
      expect_equal(sum(found$records$sample_unique), found$estimates$n_unique)
    }
  }
})

test_that("twenty key variables are a product of their margins", {
  set.seed(5)
  n <- 2000
  data <- as.data.frame(lapply(1:20, function(i) sample.int(2, n, TRUE, c(0.93, 0.07))))
  names(data) <- paste0("k", 1:20)
  data$w <- stats::runif(n, 5, 40)
  found <- quiet_loglinear(
    data, 1:20, weight_var = "w", sampling = "overall", interval = "none"
  )
  share <- lapply(data[1:20], function(x) (tapply(data$w, x, sum) / sum(data$w))[x])
  lambda <- sum(data$w) * as.vector(Reduce(`*`, share))
  key <- do.call(paste, data[1:20])
  unique <- !(duplicated(key) | duplicated(key, fromLast = TRUE))
  q <- (1 - n / sum(data$w)) * lambda
  expect_equal(found$estimates$n_cells, 2^20)
  expect_equal(found$records$lambda, lambda)
  expect_equal(found$records$sample_unique, unique)
  expect_equal(found$estimates$tau1, sum(exp(-q[unique])))
  expect_equal(found$estimates$tau2, sum(-expm1(-q[unique]) / q[unique]))
})

test_that("a key set stands on its own complete records, in any order", {
  data <- loglinear_file(120, c(4, 5, 3), 8)
  data$a[1:10] <- NA
  data$c[5:20] <- NA
  sets <- list(all = 1:3, two = c("a", "b"), back = c("c", "b", "a"))
  found <- quiet_loglinear(
    data, sets, weight_var = "w", sampling = "overall", interval = "none"
  )
  for (at in seq_along(sets)) {
    keys <- names(data[sets[[at]]])
    used <- stats::complete.cases(data[keys])
    pi <- sum(used) / sum(data$w[used])
    table <- oracle_table(data[used, ], keys, data$w[used], as.list(seq_along(keys)), pi)
    expect_equal(
      found$estimates[at, c("n", "n_unique", "tau1", "tau2", "z1", "z2")],
      oracle_loglinear(table, pi)[c("n", "n_unique", "tau1", "tau2", "z1", "z2")],
      ignore_attr = TRUE, tolerance = 1e-8
    )
    expect_identical(is.na(found$fits[[at]]$records$tau2), !used)
  }
})

test_that("key variables of any kind and name give the same numbers", {
  data <- loglinear_file(100, c(3, 5, 4), 3)
  risk <- function(data, model = "two_way") {
    quiet_loglinear(data, 1:3, weight_var = "w", model = model, interval = "none")$estimates[-1]
  }
  plain <- risk(data)
  kinds <- list(
    factor(data$b, labels = c("\u00e4", "\u00df", "c c", "-1", "")),
    factor(data$b, levels = 9:-3, ordered = TRUE), as.Date("1899-01-01") - 700 * data$b,
    as.character(data$b), data$b / 3, as.POSIXct("2000-01-01", tz = "UTC") + data$b
  )
  for (kind in kinds) {
    expect_equal(risk(replace(data, "b", list(kind))), plain, info = class(kind)[[1]])
  }
  odd <- rlang::set_names(data, c("my key", "a:b", "if", "w"))
  by_name <- risk(odd, list(~ `a:b` * `my key` + `if`, ~.^2))
  expect_equal(by_name$tau2, c(risk(data, ~ a:b)$tau2, plain$tau2))
})

test_that("warnings are short where there are many key variables", {
  set.seed(6)
  data <- as.data.frame(lapply(1:20, function(i) sample.int(6, 200, TRUE)))
  names(data) <- paste0("variable_", 1:20)
  said <- rlang::catch_cnd(
    loglinear_risk(
      data, NULL,
      sampling_fraction = 0.1, model = ~ variable_1:variable_2:variable_3, interval = "none"
    ), "sdcRisk_warning_zero_margins"
  )
  expect_no_match(conditionMessage(said), "variable_7", fixed = TRUE)
  expect_match(conditionMessage(said), "alone on a margin", fixed = TRUE)
})

test_that("a population of no size is refused without a count nobody gave", {
  data <- loglinear_file(60, c(3, 2), 1)
  for (size in list(NA, Inf, "9", 0, c(100, 200))) {
    said <- rlang::catch_cnd(loglinear_risk(data, 1:2, pop_size = size), "error")
    expect_s3_class(said, "sdcRisk_error_bad_argument")
    expect_no_match(conditionMessage(said), "records, 1", fixed = TRUE)
  }
  expect_error(
    loglinear_risk(data, 1:2, pop_size = 59), "60", class = "sdcRisk_error_bad_argument"
  )
  data$w <- 1.7e308
  expect_error(
    loglinear_risk(data, 1:2, weight_var = "w"), "sum", class = "sdcRisk_error_bad_weights"
  )
})

# A panel of two waves, and what the scenarios should find in it.
two_waves <- function() {
  set.seed(4)
  wave <- function(n, from) {
    data.frame(
      id = from + seq_len(n), sex = sample.int(2, n, TRUE), born = sample.int(40, n, TRUE),
      kids = sample(0:3, n, TRUE), job = sample(letters[1:4], n, TRUE),
      w = stats::runif(n, 5, 30)
    )
  }
  first <- wave(300, 0)
  second <- rbind(first[sample.int(300, 220), ], wave(50, 1000))
  changed <- stats::runif(270) < 0.2
  second$kids[changed] <- pmin(3L, second$kids[changed] + 1L)
  second$job[stats::runif(270) < 0.1] <- "a"
  list(first = first, second = second)
}
two_wave_risk <- function(first, second, ..., link_vars = c("sex", "born"), id = "id") {
  suppressMessages(suppressWarnings(longitudinal_risk(
    first, second, c("sex", "kids", "job"), link_vars, c("kids", "job"), id,
    weight_var = "w", sampling = "overall", ..., interval = "none"
  )))
}

test_that("scenarios equal the whole tables of their definition", {
  waves <- two_waves()
  first <- waves$first
  second <- waves$second
  found <- two_wave_risk(first, second)
  partner <- match(second$id, first$id)
  kids <- as.integer(!is.na(partner) & second$kids != first$kids[partner])
  job <- as.integer(!is.na(partner) & second$job != first$job[partner])
  differ <- outer(second$sex, first$sex, "!=") + outer(second$born, first$born, "!=")
  least <- apply(differ, 1, min)
  at <- cbind(seq_along(partner), ifelse(is.na(partner), 1L, partner))
  certain <- !is.na(partner) & rowSums(differ == least) == 1 & differ[at] == least
  expect_identical(found$records$certain, certain)
  expected <- function(columns) {
    data <- cbind(second, columns)
    keys <- c("sex", "kids", "job", names(columns))
    pi <- nrow(data) / sum(data$w)
    pairs <- utils::combn(length(keys), 2, simplify = FALSE)
    suppressWarnings(oracle_loglinear(oracle_table(data, keys, data$w, pairs, pi), pi))
  }
  tables <- rbind(
    expected(data.frame(row.names = seq_along(kids))[, 0]),
    expected(data.frame(kc = kids * certain, jc = job * certain)),
    expected(data.frame(kc = kids, jc = job))
  )
  columns <- c("n_cells", "n_unique", "tau1", "tau2", "z1", "z2")
  expect_equal(
    found$estimates[columns], tables[columns], ignore_attr = TRUE, tolerance = 1e-5
  )
  before <- two_wave_risk(first, second, detail = "previous_value")
  value <- expected(data.frame(
    kc = ifelse(kids == 1, first$kids[partner] + 1, 0),
    jc = ifelse(job == 1, match(first$job[partner], letters), 0)
  ))
  expect_equal(before$estimates$n_unique[[3]], value$n_unique)
  expect_equal(before$estimates$tau2[[3]], value$tau2, tolerance = 1e-4)
})

test_that("ids of any kind say who is who", {
  waves <- two_waves()
  plain <- two_wave_risk(waves$first, waves$second)$estimates
  kinds <- list(
    function(i) paste0("p", i), function(i) factor(i), function(i) i * 1e9 + 0.5,
    function(i) as.Date("1890-01-01") + i
  )
  for (kind in kinds) {
    first <- transform(waves$first, id = kind(id))
    second <- transform(waves$second, id = kind(id))
    expect_equal(two_wave_risk(first, second)$estimates, plain)
  }
  by_place <- two_wave_risk(waves$first, waves$second[c(6:1)], link_vars = 2:3, id = "id")
  expect_equal(by_place$estimates, plain)
  one <- two_wave_risk(list(waves$first), waves$second)$estimates
  expect_equal(one, plain)
})

test_that("mistakes are found before waves are linked, under the caller's names", {
  waves <- two_waves()
  first <- waves$first
  first$kids <- as.character(first$kids) # a warning of the linkage
  refused <- function(text, kind = "bad_argument", first_wave = first, ...) {
    given <- utils::modifyList(list(
      wave1 = first_wave, wave2 = waves$second, key_vars = c("sex", "kids"),
      link_vars = "born", change_vars = "kids", id = "id", weight_var = "w"
    ), list(...), keep.null = TRUE)
    expect_no_warning(expect_error(
      do.call(longitudinal_risk, given), text, fixed = TRUE,
      class = paste0("sdcRisk_error_", kind)
    ))
  }
  refused("`level`", level = 2)
  refused("`max_cells`", max_cells = 0)
  refused("`model`", model = ~ sex:zz)
  refused("`link_vars`", link_vars = NULL)
  refused("`link_vars`", link_vars = c("born", "id"))
  refused("`link_vars`", "unknown_key_var", first_wave = first[-3])
  refused("`change_vars`", "unknown_key_var", first_wave = first[-4])
  refused("Already there", wave2 = cbind(waves$second, kids_changed = 1))
  expect_error(
    longitudinal_risk(first, waves$second), "`key_vars` must be given",
    class = "sdcRisk_error_bad_argument"
  )
})

test_that("ratios to next to no risk are not printed to many digits", {
  waves <- two_waves()
  found <- two_wave_risk(waves$first, waves$second)
  found$estimates$ratio <- c(1, 2.346, 141032.53)
  text <- lines_of(found)
  expect_match(text, "141,000", fixed = TRUE, all = FALSE)
  expect_match(text, "2.35", fixed = TRUE, all = FALSE)
})

test_that("a percentage of next to nothing is short", {
  found <- quiet_loglinear(
    nals_prison, c("BORNUSA", "CENREG", "DAGE3", "DRACE3"), pop_size = 1e12
  )
  expect_lt(found$estimates$tau1, 1e-50)
  expect_true(all(nchar(strsplit(interpret(found), "[[:space:]]+")[[1]]) < 20))
  expect_no_match(paste(lines_of(found), collapse = " "), "0.0000000", fixed = TRUE)
  # Sentences do not tell powers of ten of what nobody knows; the result does.
  expect_match(interpret(found), "(95% interval 0 to below 1e-6)", fixed = TRUE)
  expect_match(
    lines_of(found), "Risk of single records (1/F): largest below 1e-6, 99% of the",
    fixed = TRUE, all = FALSE
  )
})

test_that("records left out for a missing value are told with their share", {
  data <- loglinear_file(120, c(4, 5, 3), 8)
  data$a[1:30] <- NA
  found <- quiet_loglinear(data, 1:3, weight_var = "w", interval = "none")
  expect_match(lines_of(found), "30 incomplete records excluded (25%)", fixed = TRUE, all = FALSE)
  expect_match(interpret(found), "30 incomplete records excluded (25%)", fixed = TRUE)
})

test_that("advice can be followed", {
  row <- data.frame(
    status = "overfits", z2 = -8.5, model = "independence", sampling = "raked", tau1_low = 1
  )
  expect_no_match(fit_advice(row), "drop interactions", fixed = TRUE)
  expect_match(fit_advice(row), "coarser categories", fixed = TRUE)
  row$model <- "~a:b"
  expect_match(fit_advice(row), "drop interactions", fixed = TRUE)
})

test_that("a search names keys in the order of the key variables", {
  keys <- c("DRACE3", "EDUC3", "CENREG", "GENDER")
  found <- quiet_loglinear(
    nals_prison, keys, weight_var = "WEIGHT", model = "search", interval = "none"
  )
  pairs <- strsplit(c(found$fits[[1]]$path$added[-1], found$fits[[1]]$tried$added), ":")
  places <- vapply(pairs, function(p) match(p, keys), integer(2))
  expect_true(all(places[1, ] < places[2, ]))
})

test_that("every analysis has a line of its own in the picture", {
  skip_if_not_installed("ggplot2")
  data <- loglinear_file(80, c(3, 2, 4), 2)
  long <- strrep("a long name of what an intruder knows ", 2)
  found <- quiet_loglinear(
    data, rlang::set_names(list(1:3, 1:2), c(long, paste0(long, "too"))),
    weight_var = "w", model = c("independence", "two_way"), interval = "none"
  )
  expect_length(unique(analysis_labels(found$estimates)), 4)
  expect_length(levels(ggplot2::autoplot(found)$data$analysis), 4)
})
