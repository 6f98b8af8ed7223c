# Every figure is declared once, and everything that speaks of it reads the declaration.

skip_on_cran()

exported <- function() getNamespaceExports("sdcRisk")

# Functions that give a result of sdcRisk, and what the class of the result is called.
measuring <- c(
  "n_matches", "qar_risk", "individual_risk", "population_risk", "household_risk",
  "loglinear_risk",
  "longitudinal_risk", "copula_fit", "copula_uniqueness", "uniqueness_profile",
  "uniqueness_by_size", "validate_uniqueness", "population_uniqueness", "exhaustive_tabulation",
  "risk_contribution", "removal_path", "removal_bound", "longitudinal_link", "link_attack",
  "key_overview", "key_stability", "invariant_pram", "pram_audit", "suppress_cells",
  "recode_search", "utility_loss", "file_check", "compare_risk", "latest_values",
  "panel_members", "birth_month", "pattern_table", "special_uniques", "attribute_risk",
  "attack_release", "interval_disclosure", "joint_release_risk", "perturbation_risk"
)

test_that("every figure has a label, unit, scenario, direction and reference", {
  for (of in names(declared)) {
    figures <- declared[[of]]$figures
    for (name in names(figures)) {
      f <- figures[[name]]
      info <- paste(of, name)
      expect_false(is.null(f$label), info = info)
      expect_true(f$unit %in% c("matches", "count", "risk", "share", "number"), info = info)
      expect_true(
        all(f$scenario %in% c("prosecutor", "journalist", "tables", "none")), info = info
      )
      expect_true(f$direction %in% c("more", "less", "none"), info = info)
      # A limit is of one direction.
      if (!is.null(f$key) || !is.null(f$limit)) expect_false(f$direction == "none", info = info)
      expect_identical(f$direction == "less" && !is.null(f$key), f$unit == "matches", info = info)
    }
    known <- declared[[of]]$reference
    if (length(figures)) expect_true(length(known) > 0, info = of)
    expect_true(all(known %in% names(references)), info = of)
  }
})

test_that("every exported function that measures has a declaration with words", {
  expect_true(all(measuring %in% exported()))
  classes <- sub(
    "validate_uniqueness", "uniqueness_validation", sub("compare_risk", "comparison", measuring)
  )
  expect_setequal(c(classes, "open_file"), names(declared))
  for (of in names(declared)) {
    expect_false(is.null(declared[[of]]$title), info = of)
    tables <- c("comparison", "pattern_table", "open_file")
    if (!of %in% c(tables, "file_check")) expect_false(is.null(declared[[of]]$question), info = of)
    if (!of %in% tables[-1]) expect_false(is.null(declared[[of]]$limits), info = of)
  }
})

test_that("figures that a result has are rows of measures(), and of its print", {
  results <- Filter(function(x) inherits(x, "sdc_result"), results_in_words())
  for (name in names(results)) {
    x <- results[[name]]
    rows <- measures(x)
    printed <- Filter(function(f) f$print, declaration_of(x)$figures)
    own <- rows[rows$measure %in% names(printed), ]
    if (nrow(x$estimates) > 1 && any(lengths(lapply(printed, `[[`, "head")))) next
    shown <- gsub(" +", " ", paste(format(x, width = 1000, rows = Inf), collapse = "\n"))
    for (label in sub(" among [0-9,]+ people$", "", own$label)) {
      expect_true(grepl(label, shown, fixed = TRUE), info = name)
    }
  }
})

test_that("a print keeps its rows whatever the width, and its limit says the direction", {
  x <- n_matches(nals_prison, c("GENDER", "CENREG", "DAGE3", "EDUC3"))
  expect_match(text_of(x), "Fewest matches, k +1 +below 3: 19 records")
  expect_match(text_of(x), "Sample uniques +15 \\(8.24%\\)")
  for (width in c(60, 75, 80, 120)) {
    lines <- format(x, width = width)
    expect_true(length(lines) <= 16 && max(nchar(lines)) <= width)
    expect_length(grep("Sample uniques|Fewest matches|Mean record risk|Fewer than 5", lines), 4)
  }
  common <- n_matches(data.frame(a = rep(1, 10)))
  expect_match(text_of(common), "Fewest matches, k +10 +at least 3")
})
