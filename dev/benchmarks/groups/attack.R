# The intruder who weighs keys, over all pairs. Targets of the whole call on 2
# threads: FEBRL 4 (5,000 x 5,000, 4 keys) 0.3 s, 63,654 x 80,882 records and 13
# keys 1.2 s, 10^6 x 10^6 15 s and 400 bytes a record beyond the input. The check is
# the expected number of correct matches.

febrl_file <- function(name) {
  file <- file.path(Sys.getenv("SDCRISK_DATA"), paste0(name, ".csv"))
  data <- utils::read.csv(file, strip.white = TRUE, colClasses = "character", na.strings = "")
  data$id <- as.integer(sub("rec-([0-9]+)-.*", "\\1", data$rec_id))
  data
}

fixtures$febrl <- function() structure(febrl_file("febrl4b"), wave1 = febrl_file("febrl4a"))

fixtures$gss <- function() structure(real_file("gss_wave2"), wave1 = real_file("gss_wave1"))

# Independent keys of many values: `n` records a file, the last five in common.
fixtures$names <- function(n) {
  n <- as.integer(as.numeric(n))
  set.seed(5)
  sizes <- c(25000, 3000, 2000, 1500, 400, 50)
  known <- as.data.frame(lapply(sizes, function(k) sample.int(k, n, TRUE)))
  names(known) <- paste0("v", seq_along(sizes))
  released <- known
  for (v in seq_along(sizes)) {
    moved <- stats::runif(n) < 0.1
    released[moved, v] <- sample.int(sizes[[v]], sum(moved), TRUE)
    known[stats::runif(n) < 0.02, v] <- NA
    released[stats::runif(n) < 0.02, v] <- NA
  }
  known$id <- released$id <- seq_len(n)
  structure(released, wave1 = known)
}

tasks$attack <- rbind(
  c("attack@sdcRisk", "febrl", 2, 9),
  c("attack@sdcRisk", "gss", 2, 5),
  c("blind@sdcRisk", "gss", 2, 3),
  c("attack@sdcRisk", "waves:8e3:1e4", 2, 5),
  c("attack@sdcRisk", "waves:63654:80882", 1, 3),
  c("attack@sdcRisk", "waves:63654:80882", 2, 5),
  c("attack@sdcRisk", "waves:63654:80882:10", 2, 3),
  c("attack@sdcRisk", "names:5e4", 2, 3),
  c("attack@sdcRisk", "waves:1e6:1e6", 2, 1)
)

attack_keys <- function() {
  if ("soc_sec_id" %in% names(data)) {
    c("street_number", "postcode", "state", "date_of_birth")
  } else if ("madeg" %in% names(data)) {
    c(
      "age5", "sex", "race", "hispanic", "born", "parborn", "granborn", "region", "reg16",
      "family16", "padeg", "madeg", "relig16"
    )
  } else {
    setdiff(names(data), "id")
  }
}

weigh <- function(weights) {
  found <- link_attack(attr(data, "wave1"), data, attack_keys(), "id", weights = weights)
  found$estimates$expected_correct[[2]]
}

runs[["attack@sdcRisk"]] <- function() weigh("calibrated")

runs[["blind@sdcRisk"]] <- function() weigh("em")
