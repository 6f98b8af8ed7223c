# The campaign's functions, and the oracles of the tests.
for (oracle in list.files("tests/testthat", "^helper-oracle", full.names = TRUE)) source(oracle)
for (part in c("data", "calls-files", "calls-risk", "calls-linked", "calls-verbs", "calls-lazy", "calls-texts", "judge")) {
  source(file.path("torture", paste0(part, ".R")))
}

# Every exported function has a generator.
unprovided <- setdiff(getNamespaceExports("sdcRisk"), ls(draws))
if (length(unprovided)) {
  stop("No generator for exported ", paste(sort(unprovided), collapse = ", "), call. = FALSE)
}
