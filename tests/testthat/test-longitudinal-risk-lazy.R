# longitudinal_risk() of tables of a database: all numbers are those of the data frames. The
# suite runs on every engine that is installed.

skip_on_cran()

keys <- c("gender", "age_group", "n_children")
link_vars <- c("gender", "degree_year", "birth_region")

# Some people of the panel, some of them without an id, and a release before the first.
some_waves <- function() {
  kept <- c("id", "gender", "age_group", "n_children", "degree_year", "birth_region", "weight")
  text <- function(wave, rows) {
    wave <- wave[rows, intersect(kept, names(wave))]
    of_text <- vapply(wave, is.factor, NA)
    wave[of_text] <- lapply(wave[of_text], as.character)
    wave$id[3:5] <- NA
    rownames(wave) <- NULL
    wave
  }
  one <- text(panel_waves$wave1, 1:500)
  older <- one[101:500, ]
  older$n_children[1:40] <- "0"
  list(older = older, one = one, two = text(panel_waves$wave2, 1:400))
}

for (engine in setdiff(suite_engines, "data frame")) {
  test_that(paste("panel risk on", engine, "is that of the data frames"), {
    waves <- some_waves()
    tables <- lapply(waves, function(wave) engine_table(engine, wave))
    waves <- lapply(tables, function(table) as.data.frame(dplyr::collect(table)))
    questions <- list(
      list(), list(weight_var = "weight", missing = "category", interval = "none"),
      list(detail = "previous_value", model = "independence", interval = "none")
    )
    for (more in if (engine == "spark") questions[2] else questions) {
      if (is.null(more$weight_var)) more$pop_size <- 1e5
      risk <- function(one, two) {
        quietly(do.call(longitudinal_risk, c(
          list(one, two, keys, link_vars, "n_children", "id"), more
        )))
      }
      several <- !is.null(more$weight_var)
      earlier <- function(data) if (several) data[c("older", "one")] else data$one
      found <- risk(earlier(tables), tables$two)
      expected <- risk(earlier(waves), waves$two)
      info <- paste(engine, paste(names(more), collapse = " "))
      expect_equal(found$estimates, expected$estimates, tolerance = 1e-9, info = info)
      expect_gt(expected$estimates$n_unique[[3]], 0)
      expect_equal(found$changes, expected$changes, info = info)
      expect_identical(format(found), format(expected), info = info)
      expect_identical(interpret(found), interpret(expected), info = info)
      a <- summary(found)
      b <- summary(expected)
      expect_equal(a$scenarios_by_link, b$scenarios_by_link, tolerance = 1e-9, info = info)
      expect_equal(a$risk_by_strata, b$risk_by_strata, tolerance = 1e-9, info = info)
      # By pattern what is said of records.
      expect_null(found$records)
      columns <- names(expected$records)
      expect_identical(names(found$patterns), c(keys, "n", columns))
      of <- function(table, n) {
        numbers <- lapply(table[columns], function(x) signif(as.double(x), 9))
        text <- do.call(paste, c(lapply(table[keys], as.character), numbers))
        counts <- tapply(n, text, sum)
        counts[order(names(counts))]
      }
      expect_equal(
        of(found$patterns, found$patterns$n),
        of(cbind(waves$two[keys], expected$records), rep(1, nrow(waves$two))), info = info
      )
      expect_null(found$fits$all_links$records)
      links <- if (several) found$link else list(found$link)
      expect_true(all(vapply(links, function(link) is.null(link$records), NA)))
    }
  })
}

test_that("some waves in a database, or too many persons apart, are errors", {
  waves <- some_waves()
  tables <- lapply(waves, function(wave) engine_table("sqlite", wave))
  risk <- function(one, two, ...) {
    quietly(longitudinal_risk(one, two, keys, link_vars, "n_children", "id", pop_size = 1e5, ...))
  }
  for (part in list(
    list(tables$one, waves$two), list(waves$one, tables$two),
    list(list(tables$one, waves$older), tables$two)
  )) {
    expect_error(
      risk(part[[1]], part[[2]]), "table of a database", class = "sdcRisk_error_bad_argument"
    )
  }
  expect_error(
    risk(tables$one, tables$two, max_patterns = 10), class = "sdcRisk_error_too_large"
  )
  expect_error(
    risk(tables$one, dplyr::filter(tables$two, weight < 0)), "at least one record",
    class = "sdcRisk_error_bad_data"
  )
  twice <- engine_table("sqlite", rbind(waves$one, waves$one[10, ]))
  expect_error(risk(twice, tables$two), "occur once", class = "sdcRisk_error_bad_data")
  expect_error(
    longitudinal_risk(
      tables$one, tables$two, keys, "nobody", "n_children", "id", pop_size = 1e5
    ),
    class = "sdcRisk_error_unknown_key_var"
  )
  # All persons of the first wave are in the second.
  both <- engine_table("sqlite", waves$two)
  found <- risk(both, tables$two)
  expect_equal(found$estimates, risk(waves$two, waves$two)$estimates, tolerance = 1e-9)
})

stop_engines()
