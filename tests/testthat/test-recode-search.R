skip_on_cran()

toy <- data.frame(age = c(21:24, 31:34), sex = rep(c("m", "m", "f", "f"), 2))
toy_levels <- list(age = hierarchy(toy$age, widths = 10), sex = hierarchy(toy$sex))

arx <- function() {
  data <- trial_file("arx/adult.csv", sep = ";", check.names = FALSE)
  # The order in which the published vectors name the variables.
  keys <- c(
    "sex", "age", "race", "marital-status", "education", "native-country", "workclass",
    "occupation", "salary-class"
  )
  files <- trial_path(paste0("arx/adult_hierarchy_", keys, ".csv"))
  list(data = data[keys], keys = keys, levels = rlang::set_names(as.list(files), keys))
}

vector_of <- function(x, i = 1) unlist(x$best[i, x$settings$key_vars], use.names = FALSE)

test_that("the toy of eight records has its known answers", {
  two <- recode_search(toy, hierarchies = toy_levels, constraint = list(k = 2))
  expect_identical(vector_of(two), c(1L, 0L))
  expect_equal(two$best$cost[[1]], 16)
  expect_true(two$estimates$proven)
  expect_equal(two$estimates$gap, 0)
  three <- recode_search(toy, hierarchies = toy_levels, constraint = list(k = 3))
  expect_identical(vector_of(three), c(1L, 1L))
  expect_identical(vector_of(three, 2), c(2L, 0L))
  expect_equal(three$best$cost[1:2], c(24, 24))
  expect_equal(recode_search(toy, hierarchies = toy_levels, constraint = list(k = 8))$best$cost, 32)
  expect_equal(three$estimates$cost_share, 24 / 32)
})

test_that("the optima published for ARX's Adult are found and proven", {
  adult9 <- arx()
  search <- function(...) recode_search(adult9$data, adult9$keys, adult9$levels, ..., n_best = 5)
  x <- search(constraint = list(k = 5))
  expect_identical(vector_of(x), c(1L, 2L, 1L, 1L, 3L, 2L, 2L, 1L, 1L))
  expect_equal(x$best$cost[[1]], 407289.5388925293, tolerance = 1e-12)
  expect_true(x$estimates$proven)
  expect_equal(x$estimates$n_nodes, 12960)
  # Cost against k, without blanks.
  expect_identical(
    round(1 / x$frontier$risk), c(1, 2, 5, 6, 16, 39, 69, 397, 406, 3636, 8926, 14086, 30162)
  )
  expect_equal(round(x$frontier$cost[c(2, 3, 13)]), c(379417, 407290, 558333))
  x <- search(constraint = list(k = 100))
  expect_identical(vector_of(x), c(0L, 4L, 1L, 1L, 3L, 2L, 2L, 1L, 1L))
  expect_equal(x$best$cost[[1]], 453196.8932458743, tolerance = 1e-12)
  x <- search(constraint = list(k = 5), suppress = 0.04)
  expect_identical(vector_of(x), c(1L, 0L, 1L, 1L, 3L, 2L, 2L, 0L, 1L))
  expect_equal(x$best$cost, c(
    267793.349768, 270628.935977, 271439.511785, 274136.622899, 277331.002231
  ), tolerance = 1e-11)
  expect_equal(x$best$n_suppressed, c(906, 988, 998, 977, 955))
  x <- search(constraint = list(k = 100), suppress = 0.04)
  expect_equal(x$best$cost[1:2], c(387289.805349, 390736.642296), tolerance = 1e-11)
  expect_equal(x$best$n_suppressed[1:2], c(866, 949))
})

test_that("a limit on uniques blanks those first that cost least", {
  adult9 <- arx()
  x <- recode_search(
    adult9$data, adult9$keys, adult9$levels,
    constraint = list(prop_unique = 0.01), suppress = 0.04, cost = "loss", n_best = 3
  )
  expect_identical(vector_of(x), c(0L, 3L, 0L, 0L, 1L, 1L, 1L, 1L, 0L))
  expect_equal(x$best$n_suppressed[[1]], 1059)
  expect_equal(x$best$n_unique[[1]], 1350)
  expect_lte(x$best$prop_unique[[1]], 0.01)
})

test_that("T of QaR is that of qar_risk(), and its limit has the known optima", {
  adult9 <- arx()
  keys <- adult9$keys[c(1:6, 8)]
  ask <- function(limit) {
    suppressWarnings(recode_search(
      adult9$data, keys, adult9$levels[keys], constraint = list(qar = limit), n_best = 1
    ))
  }
  x <- ask(0.10)
  expect_identical(vector_of(x), c(0L, 0L, 0L, 0L, 1L, 0L, 0L))
  expect_equal(x$best$cost, 35691.213, tolerance = 1e-7)
  expect_equal(x$best$risk, 0.0965748679, tolerance = 1e-5)
  recoded <- apply_recoding(x, adult9$data)
  risk <- suppressMessages(suppressWarnings(qar_risk(recoded, keys)))
  expect_equal(risk$estimates$risk, x$best$risk, tolerance = 1e-12)
  x <- ask(0.05)
  expect_identical(vector_of(x), c(0L, 1L, 0L, 0L, 0L, 1L, 0L))
  expect_equal(x$best$risk, 0.0454279241, tolerance = 1e-5)
})

test_that("the cheapest is that of all recodings tried one by one", {
  data <- people(150)[c("age", "region", "sex")]
  levels <- people_levels(people(150))[c("age", "region", "sex")]
  x <- recode_search(data, hierarchies = levels, constraint = list(k = 3), suppress = 0.1)
  nodes <- expand.grid(lapply(levels, function(h) seq_along(h$steps) - 1L))
  cost <- apply(nodes, 1, function(node) {
    parts <- Map(function(column, h, level) {
      text <- addNA(factor(as.character(column)))
      after <- if (level > 0) factor(eval(h$steps[[level + 1]]$expr, list(x = column)))
      recoded <- if (level == 0) text else addNA(after)
      list(before = as.integer(text), after = as.integer(recoded))
    }, data, levels[names(data)], node)
    cell <- do.call(paste, lapply(parts, `[[`, "after"))
    blank <- as.vector(table(cell)[cell]) < 3
    if (sum(blank) > 15) return(Inf)
    sum(vapply(parts, function(p) {
      n <- length(p$before)
      lost <- log2(tabulate(p$after)[p$after] / tabulate(p$before)[p$before])
      lost[blank] <- log2(n / tabulate(p$before)[p$before][blank])
      sum(lost)
    }, 0))
  })
  expect_equal(x$best$cost[[1]], min(cost))
  expect_equal(vector_of(x), unname(unlist(nodes[which.min(cost), ])))
})

# The row of a page for a limit, as the remedies hold it.
page_row <- function(file, limit, ...) {
  page <- suppressMessages(file_check(file, ..., limit = limit))$estimates
  page <- page[match(names(limit), page$measure), ]
  rownames(page) <- NULL
  page[c("measure", "value", "low", "high", "limit", "verdict")]
}

# A remedy's words are the page's, to the last digit.
expect_one_law <- function(law, file, limit, ...) {
  testthat::expect_identical(as.list(law[-7]), as.list(page_row(file, limit, ...)))
}

test_that("limits of the population are kept as the page judges them", {
  data <- people()
  keys <- c("age", "region", "sex")
  levels <- people_levels(data)[keys]
  nodes <- as.matrix(expand.grid(lapply(levels, function(h) seq_along(h$steps) - 1L)))
  for (limit in list(
    list(journalist = 0.05), list(tau1_rate = 0.02), list(population_uniqueness = 0.01)
  )) {
    x <- recode_search(data, keys, levels, constraint = limit, weight_var = "w", n_best = 2)
    released <- apply_recoding(x, data)
    law <- x$diagnostics$law
    expect_identical(law$verdict, "ok")
    expect_lte(law$high, limit[[1]])
    expect_identical(x$best$risk[[1]], law$value)
    expect_one_law(law, released, limit)
    expect_match(paste(format(x), collapse = " "), "In the population")
  }
  # Cheaper ones break it by themselves, or are finer than one that does.
  x <- recode_search(data, keys, levels, constraint = list(journalist = 0.05), weight_var = "w")
  kept <- apply(nodes, 1, function(node) {
    here <- Map(function(column, h, level) {
      if (level > 0) eval(h$steps[[level + 1]]$expr, list(x = column)) else column
    }, data[keys], levels, node)
    found <- population_risk(cbind(as.data.frame(here), w = data$w), keys, weight_var = "w")
    rows <- measures(found, limit = list(journalist = 0.05))
    rows$verdict[rows$measure == "largest"] == "ok"
  })
  codes <- lapply(data[keys], function(x) addNA(factor(x)))
  cost <- apply(nodes, 1, function(node) {
    sum(mapply(function(code, column, h, level) {
      group <- if (level > 0) eval(h$steps[[level + 1]]$expr, list(x = column)) else column
      group <- addNA(factor(group))
      sum(log2(tabulate(group)[group] / tabulate(code)[code]))
    }, codes, data[keys], levels, node))
  })
  best <- which(colSums(t(nodes) == vector_of(x)) == 3)
  expect_equal(cost[[best]], x$best$cost[[1]])
  expect_true(kept[[best]])
  for (i in which(kept & cost < cost[[best]] * (1 - 1e-9))) {
    coarser <- colSums(t(nodes) >= nodes[i, ]) == 3
    expect_true(any(!kept[coarser]))
  }
})

test_that("remedies say of testdata, eusilc and ses what the page says", {
  skip_if_not_installed("sdcMicro")
  skip_if_not_installed("laeken")
  from <- c(testdata = "sdcMicro", eusilc = "laeken", ses = "laeken")
  of <- list(
    testdata = list(c("urbrur", "roof", "sex", "age"), 0.05),
    eusilc = list(c("db040", "rb090", "age", "pb220a"), 0.2),
    ses = list(c("location", "size", "sex", "age", "education"), 0.09)
  )
  for (name in names(of)) {
    place <- new.env()
    utils::data(list = name, package = from[[name]], envir = place)
    data <- utils::head(place[[name]], 4000)
    data <- data[of[[name]][[1]]]
    file <- sdc_file(data, names(data), pop_size = 40 * nrow(data))
    limit <- list(journalist = of[[name]][[2]])
    x <- suppressMessages(recode_search(file, constraint = limit, n_best = 1))
    expect_identical(x$diagnostics$law$verdict, "ok")
    expect_one_law(x$diagnostics$law, suppressMessages(apply_recoding(x, file)), limit)
    x <- suppressMessages(suppress_cells(file, max_risk = limit$journalist))
    expect_one_law(x$diagnostics$law, x, limit)
  }
})

test_that("bad input is refused by name", {
  bad <- "sdcRisk_error_bad_argument"
  expect_error(recode_search(toy, hierarchies = list(ages = toy_levels$age)), class = bad)
  expect_error(recode_search(toy, constraint = list(k = 9)), "at most the number of records")
  expect_error(recode_search(toy, constraint = list(kk = 2)), class = bad)
  expect_error(recode_search(toy, constraint = list()), class = bad)
  expect_error(recode_search(toy, importance = c(income = 2)), "income")
  error <- expect_error(recode_search(toy, importance = c(age = Inf)), class = bad)
  expect_match(conditionMessage(error), "\"age\"")
  error <- expect_error(recode_search(toy, importance = c(age = 0)), class = bad)
  expect_match(conditionMessage(error), "keep = list")
  for (price in c(0, Inf)) {
    expect_error(recode_search(toy, blank_price = price), "finite number above 0", class = bad)
  }
  expect_error(recode_search(toy, keep = list(age = 9), hierarchies = toy_levels), "keep\\$age")
  expect_error(
    recode_search(toy, constraint = list(journalist = 0.1)), "come with `weight_var`"
  )
  partial <- data.frame(v = 21:30, g = "x", all = "*")
  error <- expect_error(
    suppressMessages(recode_search(toy, hierarchies = list(age = partial))), class = bad
  )
  expect_match(conditionMessage(error), "\"age\" must cover every value")
  expect_identical(error$variable, "age")
  short <- hierarchy(toy$age, widths = 10, drop = FALSE)
  error <- expect_error(
    recode_search(
      toy, hierarchies = list(age = short, sex = toy_levels$sex), constraint = list(k = 5)
    ),
    class = "sdcRisk_error_unprotectable"
  )
  expect_match(conditionMessage(error), "leaves 8 records in smaller classes")
  expect_error(apply_recoding(1, toy), class = bad)
  x <- recode_search(toy, hierarchies = toy_levels)
  expect_error(apply_recoding(x, toy[8:1, ]), class = "sdcRisk_error_mismatched_data")
  expect_error(apply_recoding(x, toy, which = 99), class = bad)
})

test_that("one key variable, one record and one value are enough", {
  x <- recode_search(toy["age"], hierarchies = toy_levels["age"], constraint = list(k = 4))
  expect_identical(vector_of(x), 1L)
  expect_equal(x$best$cost, c(16, 24))
  expect_identical(nlevels(apply_recoding(x, toy["age"])$age), 2L)
  cells <- recode_search(
    toy["age"], hierarchies = toy_levels["age"], constraint = list(k = 4), blanks = "cells"
  )
  expect_equal(cells$best$cost, c(16, 24))
  alone <- recode_search(toy[1, ], hierarchies = toy_levels, constraint = list(k = 1))
  expect_equal(alone$best$cost[[1]], 0)
  constant <- suppressMessages(recode_search(data.frame(v = rep("a", 3)), constraint = list(k = 3)))
  expect_equal(constant$best$cost, 0)
  expect_identical(apply_recoding(constant, data.frame(v = rep("a", 3)))$v, rep("a", 3))
})

test_that("levels are kept to those allowed, and importance moves the choice", {
  x <- recode_search(
    toy, hierarchies = toy_levels, constraint = list(k = 3), keep = list(sex = 0)
  )
  expect_identical(vector_of(x), c(2L, 0L))
  x <- recode_search(
    toy, hierarchies = toy_levels, constraint = list(k = 3), importance = c(sex = 3)
  )
  expect_identical(vector_of(x), c(2L, 0L))
  expect_message(
    recode_search(toy, constraint = list(k = 2)), class = "sdcRisk_message_proposed_hierarchy"
  )
})

test_that("a search says what it found", {
  local_reproducible_output(width = 80)
  data <- people()
  x <- recode_search(
    data, c("age", "region", "sex"), people_levels(data)[c("age", "region", "sex")],
    constraint = list(k = 3), suppress = 0.05
  )
  expect_snapshot(x)
  expect_snapshot(interpret(x), transform = no_version)
  expect_lte(length(utils::capture.output(print(x))), 16)
  expect_identical(as.data.frame(x), x$best)
  expect_s3_class(summary(x), "sdc_summary")
  expect_identical(nrow(generics::glance(x)), 1L)
  expect_true("cost" %in% generics::tidy(x)$term)
  skip_if_not_installed("ggplot2")
  picture <- ggplot2::autoplot(x)
  expect_s3_class(picture, "ggplot")
  expect_identical(ggplot2::layer_data(picture, 1)$x, x$frontier$cost)
})

test_that("the optimum is that of looking at all recodings, whatever a blank costs", {
  data <- local({
    set.seed(3)
    data.frame(
      a = sample(1:8, 30, TRUE, prob = 2^-(1:8)), b = sample(1:6, 30, TRUE),
      c = sample(1:4, 30, TRUE)
    )
  })
  levels <- list(
    a = hierarchy(data$a, widths = c(2, 4)), b = hierarchy(data$b, widths = c(2, 4)),
    c = hierarchy(data$c, widths = 2)
  )
  nodes <- expand.grid(lapply(levels, function(made) seq_along(made$labels)))
  bits <- function(x, of) sum(log2(c(table(of)[as.character(of)]) / c(table(x)[as.character(x)])))
  for (price in c(0.5, 1, 4, 20)) {
    costs <- apply(nodes, 1, function(node) {
      recoded <- Map(
        function(x, made, at) made$labels[[at]][match(x, made$values)], data, levels, node
      )
      key <- do.call(paste, c(recoded, sep = "|"))
      small <- c(table(key)[key]) < 3
      if (sum(small) > 9) return(Inf)
      lift <- function(of) sum(log2(30 / c(table(of)[of]))[small])
      sum(unlist(Map(bits, data, recoded))) + price * sum(vapply(recoded, lift, 1))
    })
    x <- recode_search(
      data, hierarchies = levels, constraint = list(k = 3), suppress = 0.3,
      blank_price = price, n_best = 3
    )
    expect_true(x$estimates$proven)
    expect_equal(x$best$cost, sort(costs)[1:3])
  }
})

test_that("a key variable may have the name of a figure of the search", {
  set.seed(8)
  data <- data.frame(
    A = sample(c("a", "b", "c", "d"), 400, TRUE, c(0.6, 0.3, 0.08, 0.02)),
    B = sample(20, 400, TRUE), C = sample(c("u", "v"), 400, TRUE)
  )
  ways <- list(list(), list(blanks = "cells", suppress = 0.2))
  searched <- function(data, way) {
    quietly(do.call(recode_search, c(list(data, names(data), k = 5), way)))
  }
  plain <- lapply(ways, searched, data = data)
  for (name in c("levels", "smallest", "violating", "within", "kept", "qar", "c", "finished")) {
    named <- stats::setNames(data, c(name, "B", "C"))
    for (i in 1:2) {
      found <- searched(named, ways[[i]])
      expect_identical(names(found$best)[1:3], names(named))
      expect_identical(unname(as.list(found$best[1:8])), unname(as.list(plain[[i]]$best[1:8])))
      expect_identical(found$frontier$cost, plain[[i]]$frontier$cost)
      columns <- function(x) lapply(unname(as.list(x)), as.character)
      expect_identical(
        columns(quietly(apply_recoding(found, named))),
        columns(quietly(apply_recoding(plain[[i]], data)))
      )
    }
  }
  # Those of the table of recodings are refused.
  for (name in c("cost", "risk", "n_suppressed", "k", "n_unique", "text")) {
    said <- expect_error(
      searched(stats::setNames(data, c(name, "B", "C")), list()),
      class = "sdcRisk_error_bad_argument"
    )
    expect_match(conditionMessage(said), paste0("Found: \"", name, "\"."), fixed = TRUE)
  }
})
