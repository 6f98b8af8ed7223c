# Values are exchanged without a seed.
library(sdcRisk)
prison <- nals_prison[c("CENREG", "DAGE3", "EDUC3", "GENDER", "SCORE")]
people <- sdc_file(prison, key_vars = c(CENREG, DAGE3, EDUC3, GENDER))
secret <- invariant_pram(people, max_match_prob = 0.5) #> no_seed
released <- release_data(secret)
