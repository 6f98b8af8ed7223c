# The campaign's functions, and the oracles of the tests.
for (oracle in list.files("tests/testthat", "^helper-oracle", full.names = TRUE)) source(oracle)
calls <- paste0("calls-", c("files", "risk", "linked", "verbs", "lazy"))
for (part in c("data", calls, "judge")) {
  source(file.path("dev", "torture", paste0(part, ".R")))
}

# Every exported function has a generator; `<name>_control()` is reached by that of its function.
exported <- grep("_control$", getNamespaceExports("sdcRisk"), value = TRUE, invert = TRUE)
unprovided <- setdiff(exported, ls(draws))
if (length(unprovided)) {
  stop("No generator for exported ", paste(sort(unprovided), collapse = ", "), call. = FALSE)
}
