# The headline rows beside what the machine can do at most:
#   Rscript dev/benchmarks/limits.R
# measures the rates (src/rust/core/benches/limits.rs, one thread) and writes them to
# inst/extdata/rates.csv; limits.csv beside it has for each row the work counted, the seconds it
# takes at these rates if threads share it evenly, the seconds tracked, and their ratio.
# Rows are of other runs: measure both on one machine.

source("dev/benchmarks/machine.R")
source("dev/benchmarks/compare.R")

printed <- system2(
  "cargo", c("bench", "-p", "sdcrisk-core", "--bench", "limits"),
  stdout = TRUE, stderr = FALSE
)
from <- which(printed == "what,value,unit")
rates <- utils::read.csv(text = printed[seq(from, length(printed))])
write_results(rates, shipped_file("rates"))
rate <- function(what) rates$value[rates$what == what]

# Work of the algorithms as they are, in units of a rate. Of 20 variables the first two of
# a key set are choose(19, 2) pairs; each sorts all records by its second variable and notes
# them as seen once or twice for all values of the third. The walk of n_matches() counted
# the blocks of 256 records that it joins bitmaps of: once, on a file of the same kind.
per_pair <- (rate("scatter a record") + rate("once or twice")) * 1e-9
per_block <- rate("join eight bitmaps") * 1e-9
work <- rbind(
  data.frame(
    group = "qar", task = "qar@sdcRisk", fixture = "synthetic:1e6:20", threads = 1:2,
    what = "pairs of variables x records", amount = choose(19, 2) * 1e6, each = per_pair
  ),
  data.frame(
    group = "matches", task = "matches@sdcRisk",
    fixture = paste0("matches:", c("1e6:0.15", "1e6:0.15", "1e6:0.3", "1e7:0.15")),
    threads = c(1, 2, 2, 2), what = "blocks of 256 records",
    amount = c(45.1e6, 45.1e6, 136.3e6, 1.44e9), each = per_block
  )
)
tracked <- do.call(rbind, lapply(unique(work$group), function(group) {
  tracked_results(group)[c("task", "fixture", "threads", "median_s")]
}))
limits <- merge(work, tracked, by = c("task", "fixture", "threads"))
limits$limit_s <- signif(limits$amount * limits$each / limits$threads, 3)
limits$times <- round(limits$median_s / limits$limit_s, 1)
columns <- c("task", "fixture", "threads", "what", "amount", "limit_s", "median_s", "times")
write_results(limits[columns], shipped_file("limits"))
print(limits[columns], row.names = FALSE)
