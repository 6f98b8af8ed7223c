# ?confidential: which objects hold values, and that nothing that is said does.

# Text values hold "zqc", numbers are near 774400.
secret_file <- function(n = 120) {
  set.seed(7)
  data <- data.frame(
    a = paste0("zqc", sample(letters[1:6], n, TRUE)), b = 774400 + sample(9, n, TRUE),
    c = factor(paste0("zqc", sample(3, n, TRUE))), id = 774500L + seq_len(n),
    home = rep(seq_len(n / 3), each = 3), w = 20
  )
  data$a[[1]] <- "zqc alone"
  data
}
secret <- "zqc|(?<![0-9])(774[45][0-9][0-9]|774,[45][0-9][0-9])(?![0-9])"
tells <- function(text) any(grepl(secret, text, perl = TRUE))
holds <- function(x) tells(rawToChar(serialize(x, NULL, ascii = TRUE)))

secret_results <- function() {
  data <- secret_file()
  keys <- c("a", "b", "c")
  later <- data
  later$b <- rev(later$b)
  quietly({
    qar <- qar_risk(data, keys, p = 2, pi_u = 0.4, alpha = 0.1)
    fit <- copula_fit(data, keys)
    bare <- invariant_pram(data[keys], unprotected = "keep")
    list(
      silent = list(
        key_overview = key_overview(data, keys), n_matches = n_matches(data, keys),
        household_risk = household_risk(data, keys, "home"),
        individual_risk = individual_risk(data, keys, "w", "home"),
        population_uniqueness = population_uniqueness(data, keys, 2400),
        file_check = file_check(data, keys, weight_var = "w", hh_id = "home"),
        utility_loss = utility_loss(data, later, keys), qar_risk = qar,
        risk_contribution = risk_contribution(qar, data),
        removal_path = removal_path(qar, data, 3), removal_bound = removal_bound(qar, data, 3),
        uniqueness_by_size = uniqueness_by_size(fit, 2400),
        validate_uniqueness = validate_uniqueness(fit, data),
        pram_audit = pram_audit(bare, data[keys], n_sim = 3),
        key_stability = key_stability(data, later, keys, id = "id"),
        loglinear_risk = loglinear_risk(data, keys, weight_var = "w"),
        compare_risk = compare_risk(n_matches(data, keys), n_matches(later, keys)),
        predict = predict(fit, data, 2400),
        records_at_risk = records_at_risk(n_matches(data, keys), 0.2)
      ),
      speaking = list(
        sdc_file = sdc_file(data, keys), copula_fit = fit,
        pattern_table = pattern_table(data, keys),
        n_matches_of_patterns = n_matches(pattern_table(data, keys)),
        copula_uniqueness = copula_uniqueness(fit, pop_size = 2400),
        uniqueness_profile = uniqueness_profile(fit, data[1, keys], 2400),
        exhaustive_tabulation = exhaustive_tabulation(data, keys),
        hierarchy = hierarchy(data$a), recode_search = recode_search(data, keys),
        invariant_pram = bare, suppress_cells = suppress_cells(data, keys, k = 2),
        latest_values = latest_values(list(data, later), "id"),
        panel_members = panel_members(data, list(later), "id"),
        longitudinal_link = longitudinal_link(data, later, keys, "id"),
        link_attack = link_attack(data, later, keys, "id"),
        longitudinal_risk = longitudinal_risk(
          data, later, keys, keys, "b", "id", weight_var = "w"
        ),
        pram_variance = pram_variance(bare, data[keys]), simulate = simulate(fit, 5)
      )
    )
  })
}

test_that("the objects that hold values are those of the help page", {
  results <- secret_results()
  expect_identical(names(which(vapply(results$silent, holds, NA))), character())
  expect_identical(names(which(!vapply(results$speaking, holds, NA))), character())
})

test_that("no print, sentence, table of figures or report says a value", {
  results <- unlist(unname(secret_results()), recursive = FALSE)
  of_ours <- Filter(function(x) inherits(x, c("sdc_result", "sdc_comparison", "sdc_file")), results)
  # What is asked for as values; and categories, but none that few records hold.
  of_ours$uniqueness_profile <- NULL
  expect_false(any(grepl("zqc alone", format(of_ours$exhaustive_tabulation))))
  of_ours$exhaustive_tabulation <- NULL
  expect_gt(length(of_ours), 24)
  for (name in names(of_ours)) {
    x <- of_ours[[name]]
    said <- utils::capture.output(print(x))
    if (!inherits(x, "sdc_file")) {
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
