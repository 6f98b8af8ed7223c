# Every class that has a picture draws all of them, by autoplot() and by plot(); every class has
# figures in tidy().

skip_on_cran()

drawn_results <- function() {
  keys <- c("GENDER", "CENREG", "DAGE3", "EDUC3")
  file <- sdc_file(nals_prison, keys, weight_var = "WEIGHT")
  protected <- suppress_cells(file, k = 3)
  risk <- qar_risk(adult[1:600, 1:5], p = 2, pi_u = 0.4)
  c(results_in_words(), list(
    file_check = file_check(file), suppress_cells = protected, loss = utility_loss(protected),
    recode_search = recode_search(file, k = 3, suppress = 0.1),
    paths = compare_risk(
      removal_path(risk, adult[1:600, 1:5], 10),
      removal_path(risk, adult[1:600, 1:5], 10, by = "surprisal")
    ),
    counted = n_matches(file)
  ))
}

# The pictures of a result: the words that `type` offers, NA if it has one picture.
types_of <- function(x, methods) {
  method <- intersect(paste0("autoplot.", class(x)), methods)[[1]]
  offered <- eval(formals(get(method, asNamespace("sdcRisk")))$type)
  if (inherits(x, "sdc_loglinear_risk")) offered <- c("intervals", "records", "uniques")
  if (is.null(offered)) NA else offered
}

test_that("every class with a picture draws each of them, with something in every layer", {
  skip_if_not_installed("ggplot2")
  results <- quietly(drawn_results())
  methods <- grep("^autoplot[.]sdc_", ls(asNamespace("sdcRisk")), value = TRUE)
  # Those of files say what has a picture.
  methods <- grep(
    "[.]sdc_(file|open_file|pattern_table|hierarchy)$", methods, value = TRUE, invert = TRUE
  )
  drawn <- lapply(results, function(x) paste0("autoplot.", class(x)))
  expect_identical(setdiff(methods, unlist(drawn)), character())
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  for (name in names(results)[vapply(drawn, function(d) any(d %in% methods), NA)]) {
    x <- results[[name]]
    for (type in types_of(x, methods)) {
      args <- list(x)
      if (!is.na(type)) args$type <- type
      if (identical(type, "strata")) args$by <- rep_len(c("a", "b"), nrow(x$records))
      picture <- tryCatch(
        do.call(ggplot2::autoplot, args),
        # A picture that this result does not have says why.
        sdcRisk_error_bad_argument = function(e) e
      )
      about <- paste(name, type)
      if (inherits(picture, "error")) {
        expect_match(conditionMessage(picture), "\n.* ", info = about)
        next
      }
      built <- ggplot2::ggplot_build(picture)$data
      rows <- vapply(built, nrow, 1L)
      expect_gt(sum(rows), 0, label = about)
      places <- lapply(built[rows > 0], function(layer) {
        unlist(layer[intersect(c("x", "y", "xintercept", "yintercept", "intercept", "xmin"),
                               names(layer))])
      })
      expect_true(all(vapply(places, function(p) any(!is.na(p)), NA)), info = about)
      expect_true(nzchar(picture$labels$title), info = about)
      expect_no_warning(returned <- withVisible(do.call(plot, args)))
      expect_false(returned$visible, info = about)
    }
  }
})

test_that("tidy() of every class has one figure a row, between its limits", {
  results <- quietly(drawn_results())
  results <- Filter(function(x) inherits(x, c("sdc_result", "sdc_comparison")), results)
  classes <- unique(vapply(results, function(x) class(x)[[1]], ""))
  expect_gt(length(classes), 30)
  for (name in names(results)) {
    long <- tidy(results[[name]])
    expect_true(all(c("estimate") %in% names(long)), info = name)
    expect_gt(nrow(long), 0, label = name)
    expect_true(is.numeric(long$estimate), info = name)
    expect_true(all(vapply(long, is.atomic, NA)), info = name)
    expect_false(anyNA(long$term), info = name)
    expect_identical(anyDuplicated(long[setdiff(names(long), "estimate")]), 0L, info = name)
    limits <- c("conf.low", "conf.high")
    if (all(limits %in% names(long))) {
      known <- !is.na(long$conf.low) & !is.na(long$conf.high) & !is.na(long$estimate)
      expect_true(all(long$conf.low[known] <= long$estimate[known] + 1e-9), info = name)
      expect_true(all(long$conf.high[known] >= long$estimate[known] - 1e-9), info = name)
      # Every bound of a term is there.
      estimates <- results[[name]]$estimates
      columns <- grep("(^|_)low$", names(estimates), value = TRUE)
      of_terms <- vapply(sub("_?low$", "", columns), function(stem) {
        any(endsWith(long$term, stem))
      }, NA)
      lows <- as.double(unlist(estimates[columns[of_terms]]))
      expect_identical(setdiff(lows, c(long$conf.low, NA)), numeric(), info = name)
    }
  }
})
