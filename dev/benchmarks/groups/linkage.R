# Two waves of a survey linked without ids. Targets of the whole call on 2
# threads: 63,654 x 80,882 records and 13 keys 0.8 s, ten times the change rate
# 1.5 s, 10^6 x 10^6 60 s, 100 bytes a record beyond the input. Brute force in
# NumPy and Python's recordlinkage are in peers-linkage.py, on files that
# write_waves() makes of a fixture such as waves:8e3:1e4; the expected number of
# correct matches must agree.

write_waves <- function(name, file1, file2) {
  data <- fixture(name)
  utils::write.csv(attr(data, "wave1"), file1, row.names = FALSE, na = "0")
  utils::write.csv(data, file2, row.names = FALSE, na = "0")
}

# Two waves like those of the Survey of Doctorate Recipients: Table 3 of the
# paper and age. `n1` and `n2` records, of whom `n_both` (by default as large a
# share as in the paper) are in both; `rate` times the paper's change rates.
# Fields of study, regions and years of one person agree mostly, as they do
# where first, highest and most recent degree are often one.
fixtures$waves <- function(n1, n2, rate = "1", seed = "1") {
  n1 <- as.integer(as.numeric(n1))
  n2 <- as.integer(as.numeric(n2))
  rate <- as.numeric(rate)
  set.seed(as.integer(seed))
  n_both <- min(n1, round(0.787 * n2))
  n <- n1 + n2 - n_both
  level <- function(k, n, skew = 0.6) {
    sample.int(k, n, replace = TRUE, prob = (1 / seq_len(k))^skew)
  }
  mostly <- function(x, k, share) {
    other <- stats::runif(length(x)) > share
    x[other] <- level(k, sum(other))
    x
  }
  year <- level(8, n, 0.4)
  field <- level(34, n, 1)
  region <- level(9, n, 0.8)
  people <- data.frame(
    year_first = year, field_first = field, region_first = region,
    citizenship = level(4, n, 2), postgrad = level(2, n, 3.5), gender = level(2, n, 0.4),
    region_highest = mostly(region, 9, 0.985),
    field_highest = mostly((field - 1L) %/% 2L + 1L, 19, 0.97),
    year_highest = mostly(year, 8, 0.985),
    birthplace = level(2, n, 1), race = level(5, n, 1.6),
    region_recent = mostly(region, 9, 0.975),
    age = pmin(pmax(year + sample(0:1, n, TRUE, c(4, 1)), 1L), 9L)
  )
  wave1 <- people[seq_len(n1), ]
  wave2 <- people[seq(n - n2 + 1L, n), ]
  # Fewer than 200 of 63,654 change; age does for 40 of 100.
  rates <- rep(c(0.0012, 0.0026), length.out = 13) * rate
  for (v in seq_len(12)) {
    changed <- stats::runif(n2) < rates[[v]]
    wave2[changed, v] <- level(max(people[[v]]), sum(changed))
  }
  older <- stats::runif(n2) < min(0.4 * sqrt(rate), 0.9)
  wave2$age[older] <- wave2$age[older] + 1L
  for (v in seq_len(12)) {
    wave1[stats::runif(n1) < 0.001, v] <- NA
    wave2[stats::runif(n2) < 0.001, v] <- NA
  }
  wave1$id <- seq_len(n1)
  wave2$id <- seq(n - n2 + 1L, n)
  wave2 <- wave2[sample.int(n2), ]
  rownames(wave1) <- rownames(wave2) <- NULL
  # A fixture is one data frame: wave 1 travels with wave 2.
  structure(wave2, wave1 = wave1)
}

tasks$linkage <- rbind(
  c("link@sdcRisk", "waves:8e3:1e4", 2, 9),
  c("link@sdcRisk", "waves:63654:80882", 1, 9),
  c("link@sdcRisk", "waves:63654:80882", 2, 9),
  c("link@sdcRisk", "waves:63654:80882:10", 2, 9),
  c("stability@sdcRisk", "waves:63654:80882", 2, 3),
  c("link@sdcRisk", "waves:2e5:2e5", 2, 3),
  c("link@sdcRisk", "waves:5e5:5e5", 2, 1),
  c("link@sdcRisk", "waves:1e6:1e6", 2, 1)
)

link_keys <- function() setdiff(names(data), "id")

runs[["link@sdcRisk"]] <- function() {
  longitudinal_link(attr(data, "wave1"), data, link_keys(), "id")$estimates$expected_correct
}

runs[["stability@sdcRisk"]] <- function() {
  max(key_stability(attr(data, "wave1"), data, link_keys(), "id")$expected_correct)
}
