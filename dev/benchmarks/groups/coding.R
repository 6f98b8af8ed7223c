# Columns to codes, and grouping.

# Eight key variables with 2 to 100 levels, independent.
eight_keys <- function(n, seed = 20261121) {
  set.seed(seed)
  levels <- c(2, 2, 3, 5, 8, 12, 20, 100)
  data <- lapply(levels, function(k) {
    factor(sample.int(k, n, TRUE, prob = seq_len(k)^-0.8))
  })
  names(data) <- sprintf("v%d", seq_along(data))
  as.data.frame(data)
}

# One column of `n` rows of the given kind.
column <- function(kind, n, seed = 20261121) {
  set.seed(seed)
  x <- switch(kind,
    factor = factor(sample(letters[1:20], n, TRUE)),
    integer = sample.int(100L, n, TRUE),
    logical = sample(c(TRUE, FALSE, NA), n, TRUE),
    double = sample.int(100L, n, TRUE) / 7,
    ascii = sample(sprintf("region %d", 1:100), n, TRUE),
    utf8 = sample(sprintf("Stra\u00dfe %d", 1:50000), n, TRUE)
  )
  data.frame(x = x)
}

fixtures$keys <- function(n) eight_keys(as.numeric(n))
fixtures$column <- function(kind, n) column(kind, as.numeric(n))

tasks$coding <- rbind(
  c("code@sdcRisk", "column:factor:1e7", 2, 5),
  c("code@sdcRisk", "column:integer:1e7", 2, 5),
  c("code@sdcRisk", "column:logical:1e7", 2, 5),
  c("code@sdcRisk", "column:double:1e7", 2, 5),
  c("code@sdcRisk", "column:ascii:1e7", 2, 5),
  c("code@sdcRisk", "column:utf8:1e7", 2, 5),
  c("group@sdcRisk", "keys:1e6", 2, 9),
  c("group@data.table", "keys:1e6", 2, 9)
)

runs[["code@sdcRisk"]] <- function() {
  table <- sdcRisk:::key_table(data)
  on.exit(sdcRisk:::release(list(table)))
  table$n_values
}

runs[["group@sdcRisk"]] <- function() {
  table <- sdcRisk:::key_table(data)
  on.exit(sdcRisk:::release(list(table)))
  length(sdcRisk:::group_records(table)$counts)
}

runs[["group@data.table"]] <- function() {
  nrow(data[, .N, by = c(names(data))])
}
