# Special uniques and attribute disclosure, beside suda2() and ldiversity() of sdcMicro.

tasks$uniques <- rbind(
  c("special_full@sdcRisk", "gss:12", 2, 5),
  c("special_full@sdcMicro", "gss:12", 1, 3),
  c("special@sdcRisk", "synthetic:1e6:20", 2, 3),
  c("attribute@sdcRisk", "sensitive:1e6", 2, 3)
)

# The survey of 18 questions, by its first ones.
fixtures$gss <- function(n) {
  path <- file.path(Sys.getenv("SDCRISK_DATA"), "gss18.csv")
  utils::read.csv(path)[seq_len(as.integer(n))]
}

# Eight key variables and five sensitive ones.
fixtures$sensitive <- function(n) {
  data <- eight_keys(as.numeric(n))
  for (i in 1:5) data[[paste0("s", i)]] <- sample(letters[1:(3 * i)], nrow(data), TRUE)
  data
}

# What tools must agree on: the sum of the scores.
runs[["special_full@sdcRisk"]] <- function() {
  sum(special_uniques(
    data, names(data), max_size = ncol(data), missing = "category"
  )$records$score_sdcmicro)
}

runs[["special_full@sdcMicro"]] <- function() {
  sum(sdcMicro::suda2(data)$score)
}

runs[["special@sdcRisk"]] <- function() {
  sum(special_uniques(data, names(data))$estimates$n_msu)
}

runs[["attribute@sdcRisk"]] <- function() {
  keys <- grep("^s[1-5]$", names(data), invert = TRUE, value = TRUE)
  round(sum(attribute_risk(data, keys, paste0("s", 1:5))$estimates$value[c(4, 11)]), 6)
}
