# Extreme risk over all key sets: beside peers, and growing with the file.

# `n` records of `columns` key variables with 2 to 100 levels, spread
# geometrically; shares of levels fall as 1 / rank^0.8, and all columns lean
# mildly (0.3) on one common factor.
synthetic <- function(n, columns, seed = 20261121) {
  set.seed(seed)
  levels <- round(exp(seq(log(2), log(100), length.out = columns)))
  common <- stats::rnorm(n)
  data <- lapply(sample(levels), function(k) {
    share <- seq_len(k)^-0.8
    cuts <- stats::qnorm(cumsum(share / sum(share))[-k])
    latent <- 0.3 * common + sqrt(1 - 0.3^2) * stats::rnorm(n)
    findInterval(latent, cuts) + 1L
  })
  names(data) <- sprintf("v%02d", seq_along(data))
  as.data.frame(data)
}

fixtures$synthetic <- function(n, columns) synthetic(as.numeric(n), as.integer(columns))

tasks$qar <- rbind(
  c("qar@sdcRisk", "gss18", 2, 15),
  c("qar@data.table", "gss18", 2, 5),
  c("qar@sdcRisk", "gss18b", 2, 15),
  c("qar_no_sets@sdcRisk", "gss18b", 2, 15),
  c("qar@data.table", "gss18b", 2, 5),
  c("qar@sdcRisk", "adult", 2, 15),
  c("qar@data.table", "adult", 2, 5),
  c("qar@sdcRisk", "synthetic:1e6:20", 1, 3),
  c("qar@sdcRisk", "synthetic:1e6:20", 2, 5),
  c("qar_no_sets@sdcRisk", "synthetic:1e6:20", 2, 5),
  c("qar@data.table", "synthetic:1e6:20", 2, 1),
  c("qar@sdcRisk", "synthetic:1e6:40", 1, 3),
  c("qar@sdcRisk", "synthetic:1e6:40", 2, 3),
  c("qar_no_sets@sdcRisk", "synthetic:1e6:40", 2, 3),
  c("qar@data.table 500", "synthetic:1e6:40", 2, 1),
  c("qar@sdcRisk", "synthetic:1e5:60", 1, 3),
  c("qar@sdcRisk", "synthetic:1e5:60", 2, 3),
  c("qar_no_sets@sdcRisk", "synthetic:1e5:60", 2, 3),
  c("qar@data.table 2000", "synthetic:1e5:60", 2, 1)
)

# Peers outside R, where python3 has them: the number of key sets counted is
# a sample of all for the larger fixtures.
tasks$peers <- rbind(
  c("qar@polars 816", "gss18", 2, 1),
  c("qar@duckdb 816", "gss18", 2, 1),
  c("qar@polars 100", "synthetic:1e6:20", 2, 1),
  c("qar@duckdb 100", "synthetic:1e6:20", 2, 1),
  c("qar@polars 1000", "synthetic:1e5:60", 2, 1),
  c("qar@duckdb 1000", "synthetic:1e5:60", 2, 1)
)

# With records, columns and p.
tasks$sizes <- rbind(
  c("qar@sdcRisk", "synthetic:1e4:20", 2, 5),
  c("qar@sdcRisk", "synthetic:1e5:20", 2, 5),
  c("qar@sdcRisk", "synthetic:1e6:20", 2, 3),
  c("qar@sdcRisk", "synthetic:1e7:20", 2, 1),
  c("qar@sdcRisk", "synthetic:1e5:10", 2, 5),
  c("qar@sdcRisk", "synthetic:1e5:40", 2, 3),
  c("qar_4@sdcRisk", "synthetic:1e5:20", 2, 3),
  c("qar_4@sdcRisk", "gss18", 2, 5)
)

# The key sets a peer counts: all, or an even sample of `more[1]` of them.
key_sets <- function(p = 3) {
  sets <- utils::combn(names(data), p, simplify = FALSE)
  if (length(more) > 0 && as.integer(more[[1]]) < length(sets)) {
    sets <- sets[round(seq(1, length(sets), length.out = as.integer(more[[1]])))]
  }
  sets
}

runs[["qar@sdcRisk"]] <- function() {
  sum(qar_risk(data, p = 3)$sets$n_distinct)
}

runs[["qar_4@sdcRisk"]] <- function() {
  sum(qar_risk(data, p = 4)$sets$n_distinct)
}

runs[["qar_no_sets@sdcRisk"]] <- function() {
  qar_risk(data, p = 3, sets = FALSE)$estimates$risk
}

runs[["qar@data.table"]] <- function() {
  sum(vapply(key_sets(), function(set) uniqueN(data, by = set), 0L))
}
