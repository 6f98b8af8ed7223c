# Seeds of random numbers: whether one is set before a protection draws, and who knows it.

note_set_seed <- function(run, frame) {
  run$seeded <- !is.null(get("seed", frame))
  run$public <- public_seed(run, frame)
}

# A number in the script is known to everyone who has the script, as is what is computed of such
# numbers alone. NULL if the seed is not public, where it was set otherwise.
public_seed <- function(run, frame) {
  origin <- origin_of(eval(quote(substitute(seed)), frame), run$parsed$code)
  seed <- get("seed", frame)
  written <- suppressWarnings(as.double(sub("L$", "", run$words)))
  computed <- all(origin %in% c(pure_calls, attr(origin, "made")))
  if (!is.null(seed) && !any(origin %in% secret_sources) && (computed || all(seed %in% written))) {
    list(at = run$at, where = statement_that_runs(run))
  }
}

secret_sources <- c(
  "Sys.getenv", "Sys.time", "Sys.getpid", "commandArgs", "getOption", "readline", "readLines",
  "readRDS", "scan", "key_get", "askpass", "getPass", "get_secret"
)

pure_calls <- c(
  "+", "-", "*", "/", "^", "%%", "%/%", "(", ":", "c", "abs", "round", "sum", "prod", "nchar",
  "as.integer", "as.numeric", "as.double", "as.character", "as.Date", "strtoi", "utf8ToInt",
  "paste", "paste0"
)

# The names in a piece of code, and in those by which the script makes its variables, `made`.
origin_of <- function(code, script) {
  names <- all.names(code)
  made <- character()
  repeat {
    new <- Filter(function(one) any(names_made(one) %in% setdiff(names, made)), script)
    new <- intersect(unlist(lapply(new, names_made)), setdiff(names, made))
    if (length(new) == 0) break
    made <- c(made, new)
    names <- c(names, unlist(lapply(script, reads_of, variables = new)))
  }
  structure(unique(names), made = made)
}

# The names by which code makes one of the `variables`.
reads_of <- function(code, variables) {
  target <- target_of(code)
  if (any(target$name %in% variables)) {
    return(target$reads)
  }
  unlist(lapply(parts_of(code), reads_of, variables = variables))
}

note_draw <- function(run, name, frame) {
  if (!is.null(get0("seed", frame, inherits = FALSE))) note_set_seed(run, frame)
  fix <- paste0("set.seed(as.integer(Sys.getenv(\"", seed_variable, "\")))")
  if (!run$seeded) {
    add_finding(
      run, "no_seed", paste0(
        name, "() draws random numbers and no seed is set, so that nobody can compute the ",
        "release again. Keep the seed outside the script: it is as confidential as the data."
      ), fix, names = name
    )
  } else if (!is.null(run$public)) {
    old <- list(at = run$at, where = run$where)
    list2env(run$public, run)
    code <- run$parsed$code[[run$at]]
    alone <- is.call(code) && identical(code[[1]], quote(set.seed))
    add_finding(
      run, "seed_in_script", paste0(
        "Everyone who has the script can repeat the draws of ", name,
        "() with this seed. Keep it outside the script."
      ), if (alone) fix else "", "replace", names = "set.seed"
    )
    list2env(old, run)
    run$public <- NULL
  }
}

# A line can put the state of before back, as withr::with_seed() does, or one that was kept.
settle_seed <- function(run, rng) {
  if (identical(rng, run$rng)) run$seeded <- run$seeded_before
  code <- run$parsed$code[[run$at]]
  kept <- ".Random.seed" %in% all.names(code) && ".Random.seed" %in% names_made(code)
  if (kept) run$seeded <- TRUE
  run$seeded_before <- run$seeded
  run$rng <- rng
}
