draws <- function(seed, threads) {
  unwrap(rs_draws(seed, 10000L, threads))
}

test_that("random numbers obey set.seed() and not the number of threads", {
  set.seed(7)
  one <- draws(draw_seed(), 1L)
  set.seed(7)
  expect_identical(draws(draw_seed(), 2L), one)
  expect_false(identical(draws(draw_seed(), 2L), one))
  expect_true(all(one >= 0 & one < 1))
  # The mean of 10,000 uniforms lies within five standard errors of a half.
  expect_lt(abs(mean(one) - 0.5), 5 / sqrt(12 * 10000))
  expect_identical(anyDuplicated(one[c(1, 1025, 2049)]), 0L)
})

test_that("the number of threads is an option that is checked", {
  old <- options(sdcRisk.threads = NULL)
  on.exit(options(old))
  expect_identical(sdc_threads(), 2L)
  options(sdcRisk.threads = 5)
  expect_identical(sdc_threads(), 5L)
  for (bad in list(0, 1.5, "two", NA, c(1, 2))) {
    options(sdcRisk.threads = bad)
    expect_error(sdc_threads(), class = "sdcRisk_error_bad_argument")
  }
})

test_that("little work is done without threads, in forks of R too", {
  keys <- c("age", "sex", "race")
  small <- cbind(utils::head(adult, 500), w = 10)
  risks <- function(data) individual_risk(data, keys, "w")$estimates
  before <- risks(small)
  counts <- table(do.call(paste, small[keys]))
  expect_identical(before$n_unique, sum(counts == 1))
  # The same records 20 times over are beyond what one thread does.
  large <- risks(small[rep(1:500, 20), ])
  expect_identical(large$n_cells, before$n_cells)
  expect_identical(large$n_unique, 0L)
  skip_on_os("windows")
  skip_if_not_installed("parallel")
  both <- parallel::mclapply(1:2, function(i) list(risks(small), risks(small[rep(1:500, 20), ])))
  expect_identical(both[[1]], list(before, large))
  expect_identical(both[[2]], both[[1]])
  expect_identical(risks(small), before)
})

test_that("work is done without threads if none can be started, as in a browser", {
  skip_on_cran()
  skip_if(!all(nzchar(Sys.which(c("prlimit", "setpriv")))), "no way to limit the threads")
  script <- c(
    sprintf("library(sdcRisk, lib.loc = %s)", deparse1(.libPaths())),
    "cat(\"loaded\")",
    "invisible(system2(\"prlimit\", paste0(\"--nproc=1:1 --pid=\", Sys.getpid())))",
    "stopifnot(suppressWarnings(system2(\"true\")) != 0)",
    "large <- cbind(adult[rep(1:500, 20), ], w = 10)",
    "found <- individual_risk(large, c(\"age\", \"sex\", \"race\"), \"w\")",
    "cat(\"\\ncells:\", found$estimates$n_cells, \"\\n\")"
  )
  # The limit does not bind the administrator.
  nobody <- if (Sys.info()[["user"]] == "root") "setpriv --reuid=65534 --clear-groups"
  rscript <- shQuote(file.path(R.home("bin"), "Rscript"))
  found <- system(paste(nobody, rscript, "- 2>&1"), intern = TRUE, input = script)
  skip_if(!any(grepl("loaded", found)), "another user cannot read the library")
  n_cells <- nrow(unique(adult[1:500, c("age", "sex", "race")]))
  # R 4.5 also says that it cannot start a process to clean up.
  expect_identical(grep("cells:", found, value = TRUE), paste("cells:", n_cells, ""))
})

test_that("a function that ends leaves nothing behind, however it ends", {
  keys <- c("CENREG", "DAGE3")
  nothing <- function(code) {
    try(quietly(code), silent = TRUE)
    expect_identical(sdcRisk:::running$ask$.name, NULL)
  }
  result <- n_matches(nals_prison, keys)
  fit <- quietly(copula_fit(nals_prison, keys))
  nothing(n_matches(nals_prison, "height"))
  nothing(n_matches(sdc_file(nals_prison, "height")))
  nothing(file_check(nals_prison, keys))
  nothing(stats::simulate(fit, 5, seed = 1))
  nothing(summary(result, by = "height", data = nals_prison))
  nothing(summary(structure(list(), class = class(result))))
  nothing(candidates(1:2) < 1)
  # The user's handler leaves by a jump.
  nothing(withCallingHandlers(
    file_check(nals_prison, "height"), error = function(e) invokeRestart("computeRestarts")
  ))
})

test_that("every exported function announces itself, and keeps what is to be done at its end", {
  space <- asNamespace("sdcRisk")
  doors <- c("announce", "enter", "enter_waves", "enter_verb", "new_control")
  exports <- setdiff(getNamespaceExports(space), c("tidy", "glance", "augment", "sdc_threads"))
  for (name in exports) {
    inside <- all.names(body(get(name, space)))
    expect_true(any(c(doors, "UseMethod") %in% inside), info = name)
  }
  exits <- function(code) {
    if (!is.call(code)) {
      return(list())
    }
    own <- if (identical(code[[1]], quote(on.exit))) list(code)
    c(own, unlist(lapply(Filter(is.call, as.list(code)), exits), recursive = FALSE))
  }
  for (name in ls(space, all.names = TRUE)) {
    f <- get(name, space)
    if (is.function(f) && any(doors %in% all.names(body(f)))) {
      for (code in exits(body(f))) expect_true(isTRUE(code$add), info = name)
    }
  }
})

test_that("a result has its call and its notes by whatever name its function is called", {
  keys <- c("CENREG", "DAGE3")
  alias <- n_matches
  results <- list(
    n_matches(nals_prison, keys), sdcRisk::n_matches(nals_prison, keys),
    alias(nals_prison, keys), do.call(n_matches, list(nals_prison, keys)),
    do.call("n_matches", list(nals_prison, keys)), lapply(list(nals_prison), n_matches, keys)[[1]]
  )
  for (x in results) {
    expect_identical(x$call[[1]], quote(n_matches))
    expect_identical(attr(x, "asked")$arguments$key_vars, keys)
    expect_true(attr(x, "asked")$repeatable)
    expect_lt(as.double(utils::object.size(x$call)), 5000)
  }
})

test_that("nothing that a build leaves behind ends R or writes to its console", {
  skip_on_cran()
  check <- utils::getFromNamespace("check_compiled_code", "tools")
  expect_length(check(system.file(package = "sdcRisk")), 0)
  # R 4.5 looks into static libraries, too: that of a source package goes when R is linked to it.
  root <- test_path("..", "..")
  skip_if_not(file.exists(file.path(root, "tools", "config.R")), "the tools are not here")
  skip_if(Sys.which("make") == "" || .Platform$OS.type == "windows", "there is no make")
  skip_if_not_installed("callr")
  folder <- tempfile("source")
  on.exit(unlink(folder, recursive = TRUE))
  files <- c(
    "DESCRIPTION", "tools/config.R", "tools/msrv.R", "src/Makevars.in", "src/rust/Cargo.toml",
    "src/rust/standalone.toml", "src/rust/core/Cargo.toml"
  )
  for (file in files) {
    dir.create(dirname(file.path(folder, file)), FALSE, TRUE)
    file.copy(file.path(root, file), file.path(folder, file))
  }
  callr::rscript("tools/config.R", wd = folder, show = FALSE)
  steps <- system2(
    "make", c("-C", file.path(folder, "src"), "-n", "-f", "Makevars", "all", "SHLIB=sdcRisk.so"),
    stdout = TRUE
  )
  built <- grep("cargo build", steps)
  expect_length(built, 1)
  removed <- grep("rm -rf rust/target$", steps)
  expect_length(removed, 1)
  expect_gt(removed, built)
})
