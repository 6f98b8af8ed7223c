# The property tests of the core, each with as many cases as its share of the minutes
# allows: first a few, to see what a case costs, then the rest.
#
# The tests are those that `cargo test` builds, or the program that CORE_TESTS names.
# `torture/results/properties.csv` adds up what was drawn. Cases differ from run to run, but
# for those of `tiny_tests`, which are numbered: a run goes on with the next number, a
# failure tells its own, and the test says how many were distinct (within a run) and how
# many reached more than a trivial answer.

properties_file <- "torture/results/properties.csv"

test_program <- function() {
  given <- Sys.getenv("CORE_TESTS")
  if (nzchar(given)) return(normalizePath(given))
  said <- system2(
    "cargo", c("test", "-p", "sdcrisk-core", "--lib", "--no-run", "--message-format=json"),
    stdout = TRUE
  )
  found <- regmatches(said, regexpr("(?<=\"executable\":\")[^\"]+", said, perl = TRUE))
  utils::tail(found, 1)
}

# Names of functions within `proptest! { }`, whatever they draw.
drawn_functions <- function(file) {
  lines <- readLines(file)
  begins <- grep("^\\s*(proptest::)?proptest! \\{", lines)
  unlist(lapply(begins, function(begin) {
    own <- lines[begin:length(lines)]
    indent <- sub("\\S.*", "", own[[1]])
    own <- own[seq_len(match(paste0(indent, "}"), own))]
    sub(".*fn ([a-z0-9_]+).*", "\\1", grep("^\\s*fn ", own, value = TRUE))
  }))
}

is_tiny <- function(test) grepl("::tiny_tests::", test)

property_tests <- function(program) {
  folder <- "src/rust/core/src"
  files <- list.files(folder, "[.]rs$", recursive = TRUE)
  modules <- gsub("/", "::", sub("(/mod)?[.]rs$", "", files))
  listed <- sub(": test$", "", grep(": test$", system2(program, "--list", stdout = TRUE), value = TRUE))
  found <- Map(function(file, module) {
    drawn <- drawn_functions(file.path(folder, file))
    own <- listed[startsWith(listed, paste0(module, "::"))]
    own[sub(".*::", "", own) %in% drawn | is_tiny(own)]
  }, files, modules)
  unique(unlist(found, use.names = FALSE))
}

# Draws `cases` of a test, numbered ones from `from`: seconds it took, NA where it failed,
# and what a test of tiny cases says of them.
draw_cases <- function(program, test, cases, from) {
  output <- tempfile()
  status <- 0
  took <- system.time(status <- system2(
    program, c("--exact", test, "--nocapture"), stdout = output, stderr = output,
    env = c(paste0("PROPTEST_CASES=", format(cases, scientific = FALSE)),
      paste0("CASES_FROM=", format(from, scientific = FALSE)),
      "PROPTEST_MAX_GLOBAL_REJECTS=4000000000", "PROPTEST_MAX_LOCAL_REJECTS=4000000000")
  ))[["elapsed"]]
  said <- readLines(output)
  if (status != 0 || !any(grepl("test result: ok. 1 passed", said))) {
    writeLines(said)
    return(c(took = NA, distinct = 0, reached = 0))
  }
  of <- function(word) {
    line <- grep(paste0("[0-9]+ ", word), said, value = TRUE)
    as.numeric(sub(paste0(".*?([0-9]+) ", word, ".*"), "\\1", c(line, NA)[[1]]))
  }
  c(took = took, distinct = of("distinct"), reached = of("reached"))
}

run_properties <- function(minutes) {
  program <- test_program()
  tests <- property_tests(program)
  only <- Sys.getenv("ONLY")
  if (nzchar(only)) tests <- grep(only, tests, value = TRUE)
  none <- data.frame(
    test = character(), cases = numeric(), seconds = numeric(), failed = numeric(),
    distinct = numeric(), reached = numeric()
  )
  done <- if (file.exists(properties_file)) utils::read.csv(properties_file) else none
  share <- 60 * minutes / length(tests)
  add <- function(test, cases, told) {
    took <- told[["took"]]
    at <- match(test, done$test)
    if (is.na(at)) {
      at <- nrow(done) + 1
      done[at, ] <<- list(test, 0, 0, 0, if (is_tiny(test)) 0 else NA, if (is_tiny(test)) 0 else NA)
    }
    if (is.na(took)) {
      done$failed[[at]] <<- done$failed[[at]] + 1
    } else {
      done$cases[[at]] <<- done$cases[[at]] + cases
      done$seconds[[at]] <<- round(done$seconds[[at]] + took, 1)
      for (what in c("distinct", "reached")) {
        done[[what]][[at]] <<- done[[what]][[at]] + told[[what]]
      }
    }
    utils::write.csv(done[order(done$test), ], properties_file, row.names = FALSE)
  }
  for (test in tests) {
    cases <- 50
    left <- share
    repeat {
      told <- draw_cases(program, test, cases, sum(done$cases[done$test == test]))
      took <- told[["took"]]
      add(test, cases, told)
      left <- left - max(took, 0.01)
      if (is.na(took) || left < 0.2 * share) break
      # What is left, by what a case has cost; not more at once than a hundred times the last.
      cases <- max(50, floor(min(100 * cases, 0.9 * left / max(took, 0.01) * cases, 1e6)))
      if (took / share > 0.3 && cases * took > left) break
    }
    cat(test, done$cases[done$test == test], done$seconds[done$test == test], "\n")
  }
  cat(sum(done$cases), "cases of", nrow(done), "tests in", sum(done$seconds), "seconds;",
    sum(done$failed), "runs failed\n")
}
