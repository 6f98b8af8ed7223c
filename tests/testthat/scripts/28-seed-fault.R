# Seeds that the script contains, in a variable, an argument, or another package's call.
library(sdcRisk)
prison <- nals_prison[c("CENREG", "DAGE3", "EDUC3", "GENDER", "SCORE")]
people <- sdc_file(prison, key_vars = c(CENREG, DAGE3, EDUC3, GENDER))
seed <- 20260
set.seed(seed) #> seed_in_script
first <- invariant_pram(people, max_match_prob = 0.5)
year <- 2026
set.seed(year * 100 + 11) #> seed_in_script
second <- invariant_pram(people, max_match_prob = 0.5)
draw <- function(data, number = 471) {
  set.seed(number)
  invariant_pram(data, max_match_prob = 0.5)
}
third <- draw(people) #> seed_in_script
fourth <- local({
  cat("first\n")
  set.seed(77) #> seed_in_script
  invariant_pram(people, max_match_prob = 0.5)
})
