# The seed is outside the script.
library(sdcRisk)
prison <- nals_prison[c("CENREG", "DAGE3", "EDUC3", "GENDER", "SCORE")]
people <- sdc_file(prison, key_vars = c(CENREG, DAGE3, EDUC3, GENDER))
set.seed(as.integer(Sys.getenv("RELEASE_SEED", "20261126")))
secret <- invariant_pram(people, max_match_prob = 0.5)
released <- release_data(secret)
