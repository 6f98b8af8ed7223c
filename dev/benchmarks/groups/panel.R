# Panels: months of birth, latest values, candidate columns, the overview of
# key variables.

# `n` answers of n / 20 people in 24 months, in any order, 15% of the values
# missing.
answers <- function(n, seed = 20261121) {
  set.seed(seed)
  people <- n %/% 20
  all <- sample.int(people * 24, n)
  id <- (all - 1L) %/% 24L + 1L
  m <- (all - 1L) %% 24L
  data <- data.frame(id = id, year = 2011L + m %/% 12L, month = m %% 12L + 1L)
  born <- sample.int(12L, people, TRUE)[id]
  passed <- data$month > born | (data$month == born & stats::runif(n) < 0.5)
  data$age <- data$year - sample(1930:1995, people, TRUE)[id] - !passed
  for (k in c(2, 4, 12, 60)) {
    values <- sample.int(k, n, TRUE)
    values[stats::runif(n) < 0.15] <- NA
    data[[paste0("v", k)]] <- values
  }
  data
}

# Twenty key variables, of 2 to 1,000 levels, 15% missing.
twenty_keys <- function(n, seed = 20261121) {
  set.seed(seed)
  levels <- c(2, 2, 3, 4, 5, 5, 6, 8, 10, 12, 20, 60, 2, 3, 4, 5, 6, 7, 8, 1000)
  data <- lapply(levels, function(k) {
    values <- sample.int(k, n, TRUE, prob = seq_len(k)^-0.8)
    values[stats::runif(n) < 0.15] <- NA
    values
  })
  names(data) <- sprintf("k%02d", seq_along(data))
  as.data.frame(data)
}

fixtures$answers <- function(n) answers(as.numeric(n))
fixtures$twenty <- function(n) twenty_keys(as.numeric(n))

tasks$panel <- rbind(
  c("birth_month@sdcRisk", "answers:1e5", 1, 9),
  c("birth_month@sdcRisk", "answers:1e6", 1, 9),
  c("latest@sdcRisk", "answers:1e6", 1, 9),
  c("latest@data.table", "answers:1e6", 2, 5),
  c("candidates@sdcRisk", "answers:1e6", 1, 9),
  c("overview@sdcRisk", "twenty:1e5", 2, 9),
  c("overview@data.table", "twenty:1e5", 2, 3),
  c("overview@sdcRisk", "twenty:1e6", 1, 3),
  c("overview@sdcRisk", "twenty:1e6", 2, 5),
  c("overview@data.table", "twenty:1e6", 2, 1)
)

runs[["birth_month@sdcRisk"]] <- function() {
  sum(birth_month(data, "id", "year", "month", "age")$n_candidates, na.rm = TRUE)
}

runs[["latest@sdcRisk"]] <- function() {
  found <- latest_values(data, "id", c("year", "month"), origin = FALSE)
  sum(found$v60, found$v12, na.rm = TRUE)
}

runs[["latest@data.table"]] <- function() {
  ordered <- data[order(id, year, month)]
  found <- ordered[, lapply(.SD, function(x) {
    known <- which(!is.na(x))
    if (length(known)) x[[known[[length(known)]]]] else NA_integer_
  }), by = id, .SDcols = c("age", "v2", "v4", "v12", "v60")]
  sum(found$v60, found$v12, na.rm = TRUE)
}

runs[["candidates@sdcRisk"]] <- function() {
  found <- candidates(data$month, data$month %% 12L + 1L)
  length(attr(found, "sets"))
}

runs[["overview@sdcRisk"]] <- function() {
  sum(key_overview(data)$n_unique_without)
}

# The uniques alone: data.table has no measure of association.
runs[["overview@data.table"]] <- function() {
  uniques <- function(columns) data[, .N, by = columns][N == 1L, .N]
  uniques(names(data))
  sum(vapply(names(data), function(v) uniques(setdiff(names(data), v)), 1L))
}
