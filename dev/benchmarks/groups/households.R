# Households by their compositions. Targets on 10^6 persons, 2 threads: 1 s with all
# members known, 5 s with two.

# Eight key variables of persons in households of one to six, in any order.
fixtures$households <- function(n) {
  data <- eight_keys(as.numeric(n))
  data$home <- sample(rep(seq_len(nrow(data)), sample(1:6, nrow(data), TRUE))[seq_len(nrow(data))])
  data
}

tasks$households <- rbind(
  c("households_all@sdcRisk", "households:1e5", 2, 9),
  c("households_all@sdcRisk", "households:1e6", 2, 5),
  c("households_all@data.table", "households:1e6", 2, 1),
  c("households_two@sdcRisk", "households:1e6", 2, 5),
  c("households_one@sdcRisk", "households:1e6", 2, 5)
)

persons_of <- function(data) setdiff(names(data), "home")

unique_households <- function(known) {
  household_risk(data, persons_of(data), "home", known = known)$estimates$n_unique
}
runs[["households_all@sdcRisk"]] <- function() unique_households("all")
runs[["households_two@sdcRisk"]] <- function() unique_households(2)
runs[["households_one@sdcRisk"]] <- function() unique_households(1)

# The keys of each household, sorted and pasted.
runs[["households_all@data.table"]] <- function() {
  keyed <- data.table::copy(data)
  keyed[, cell := .GRP, by = c(persons_of(data))]
  data.table::setorder(keyed, home, cell)
  homes <- keyed[, list(key = paste(cell, collapse = " ")), by = home]
  sum(homes[, .N, by = key]$N == 1)
}
