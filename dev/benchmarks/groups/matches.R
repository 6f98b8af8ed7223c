# Numbers of matches. Targets at 12 key variables and 2 threads: 10^5 records
# with 15% missing 0.15 s; 10^6 1.0 s, with 30% missing 2.5 s, and at 15% at
# most three times data.table's plain grouping; 10^6 x 20 at 30% 15 s; at most
# 100 bytes a record.

match_levels <- c(2, 2, 3, 4, 5, 5, 6, 8, 10, 12, 20, 60)

# Independent factors with skewed shares, values missing at random.
match_file <- function(n, missing, levels = match_levels, seed = 20261121) {
  set.seed(seed)
  data <- lapply(levels, function(k) {
    x <- sample.int(k, n, TRUE, prob = seq_len(k)^-0.8)
    x[stats::runif(n) < missing] <- NA
    factor(x, seq_len(k))
  })
  names(data) <- sprintf("v%02d", seq_along(data))
  as.data.frame(data)
}

fixtures$matches <- function(n, missing, columns = "12") {
  levels <- switch(columns,
    "12" = match_levels, "20" = rep_len(match_levels, 20), "16x2" = rep(2, 16),
    "6" = match_levels[1:6]
  )
  match_file(as.numeric(n), as.numeric(missing), levels)
}

tasks$matches <- rbind(
  c("matches@sdcRisk", "matches:1e4:0.15", 2, 15),
  c("matches@sdcRisk", "matches:1e5:0.15", 2, 9),
  c("grouping@data.table", "matches:1e5:0.15", 2, 9),
  c("matches@sdcRisk", "matches:1e6:0.15", 2, 5),
  c("matches@sdcRisk", "matches:1e6:0.15", 1, 3),
  c("grouping@data.table", "matches:1e6:0.15", 2, 5),
  c("matches@sdcRisk", "matches:1e6:0.3", 2, 3),
  c("matches@sdcRisk", "matches:1e6:0.3:20", 2, 3),
  c("matches@sdcRisk", "matches:1e6:0.15:6", 2, 5),
  c("matches@sdcRisk", "matches:1e6:0.15:16x2", 2, 3),
  c("matches@sdcRisk", "matches:1e7:0.15", 2, 1),
  c("matches_weighted@sdcRisk", "matches:1e5:0.15", 2, 5),
  c("matches@sdcRisk", "matches:2e3:0.15", 2, 15),
  c("freqCalc@sdcMicro", "matches:2e3:0.15", 2, 1)
)

runs[["matches@sdcRisk"]] <- function() {
  sum(n_matches(data)$records$n_matches)
}

runs[["matches_weighted@sdcRisk"]] <- function() {
  sum(n_matches(cbind(data, w = 2), weight_var = "w")$records$n_matches)
}

# Plain grouping: what counting costs without missing values.
runs[["grouping@data.table"]] <- function() {
  nrow(data[, .N, by = c(names(data))])
}

# Equal numbers by sdcMicro, where it is installed: values must be numbers.
runs[["freqCalc@sdcMicro"]] <- function() {
  if (!requireNamespace("sdcMicro", quietly = TRUE)) {
    return(NA)
  }
  sum(sdcMicro::freqCalc(as.data.frame(data), keyVars = seq_along(data))$fk)
}
