# The seed comes from outside, by a variable or argument, or is the state that was kept.
library(sdcRisk)
prison <- nals_prison[c("CENREG", "DAGE3", "EDUC3", "GENDER", "SCORE")]
people <- sdc_file(prison, key_vars = c(CENREG, DAGE3, EDUC3, GENDER))
seed <- as.integer(Sys.getenv("RELEASE_SEED"))
set.seed(seed)
first <- invariant_pram(people, max_match_prob = 0.5)
draw <- function(data, number) {
  set.seed(number)
  invariant_pram(data, max_match_prob = 0.5)
}
third <- draw(people, seed + 1L)
state <- .Random.seed
.Random.seed <- state
fourth <- invariant_pram(people, max_match_prob = 0.5)
