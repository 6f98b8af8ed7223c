# The page of one file. Target on 10^6 records with ten key variables and weights,
# 2 threads: 5 s.

fixtures$checked <- function(n, columns = "10") {
  data <- synthetic(as.numeric(n), as.integer(columns))
  set.seed(20261122)
  data$weight <- 5 + stats::rexp(nrow(data), 1 / 5)
  data
}

tasks$check <- rbind(
  c("file_check@sdcRisk", "checked:1e3", 2, 9),
  c("file_check@sdcRisk", "checked:1e5", 2, 5),
  c("file_check@sdcRisk", "checked:1e6", 2, 3)
)

runs[["file_check@sdcRisk"]] <- function() {
  checked <- file_check(data, setdiff(names(data), "weight"), weight_var = "weight")
  checked$estimates$value[checked$estimates$measure == "n_unique"]
}
