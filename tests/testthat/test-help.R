# The words of the field lead to the function, as `??"local suppression"` does for a user.

test_that("every term of the field finds the help page of its function", {
  index <- system.file("Meta", "hsearch.rds", package = "sdcRisk")
  skip_if_not(nzchar(index), "installed without help")
  found <- function(term) {
    utils::help.search(
      term, fields = c("alias", "concept", "title"), package = "sdcRisk",
      lib.loc = dirname(system.file(package = "sdcRisk")), agrep = FALSE, types = "help"
    )$matches$Topic
  }
  pages <- c(
    "k-anonymity" = "n_matches", "l-diversity" = "attribute_risk", "SUDA" = "special_uniques",
    "local suppression" = "suppress_cells", "global recoding" = "recode_search",
    "equivalence class" = "n_matches", "information loss" = "utility_loss",
    "quasi-identifier" = "sdc_file", "attribute disclosure" = "attribute_risk",
    "microaggregation" = "microaggregate", "record linkage" = "link_attack",
    "re-identification risk" = "population_risk"
  )
  for (term in names(pages)) {
    expect_true(pages[[term]] %in% found(term), label = paste(term, "finds", pages[[term]]))
  }
})
