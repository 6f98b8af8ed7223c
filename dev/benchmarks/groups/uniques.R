# Special uniques and attribute disclosure, beside suda2() and ldiversity() of sdcMicro and
# pycanon's l-diversity, and attacks on a release. Targets on 2 threads, of a million records with
# eight key variables and five sensitive ones: attribute_risk() 1 s, attack_release() 2 s.

tasks$uniques <- rbind(
  c("special_full@sdcRisk", "gss:12", 2, 5),
  c("special_full@sdcMicro", "gss:12", 1, 3),
  c("special@sdcRisk", "synthetic:1e6:20", 2, 3),
  c("attribute@sdcRisk", "sensitive:1e6", 2, 3),
  c("attribute@sdcRisk", "sensitive:1e4", 2, 5),
  c("attribute@sdcMicro", "sensitive:1e4", 1, 3),
  c("attribute@pycanon 5", "sensitive:1e4", 1, 1),
  c("release@sdcRisk", "sensitive:1e6", 2, 3)
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

sensitive_names <- function() paste0("s", 1:5)

# The least number of values among the matches, over the sensitive variables.
runs[["attribute@sdcRisk"]] <- function() {
  keys <- setdiff(names(data), sensitive_names())
  found <- attribute_risk(data, keys, sensitive_names())$estimates
  sum(found$value[found$measure == "l_distinct"])
}

runs[["attribute@sdcMicro"]] <- function() {
  numbers <- as.data.frame(lapply(as.data.frame(data), function(x) as.integer(factor(x))))
  keys <- setdiff(names(numbers), sensitive_names())
  found <- sdcMicro::ldiversity(numbers, keyVars = keys, ldiv_index = sensitive_names())
  sum(apply(found[, paste0(sensitive_names(), "_Distinct_Ldiversity")], 2, min))
}

# A release of records drawn with replacement. The check is the number of records found.
runs[["release@sdcRisk"]] <- function() {
  set.seed(7)
  # Names of rows that are drawn twice would take longer than the attack.
  rows <- sample(nrow(data), replace = TRUE)
  released <- list2DF(lapply(data, `[`, rows))
  keys <- setdiff(names(data), sensitive_names())
  attack_release(data, released, keys, sensitive_names())$estimates$n_right[[1]]
}
