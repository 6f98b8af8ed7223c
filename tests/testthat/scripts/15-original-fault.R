# The whole result of a remedy leaves, with the counts of the original.
library(sdcRisk)
prison <- nals_prison[c("CENREG", "DAGE3", "EDUC3", "GENDER", "SCORE")]
people <- sdc_file(prison, key_vars = c(CENREG, DAGE3, EDUC3, GENDER))
secret <- suppress_cells(people, k = 3)
save(secret, file = "prison.RData") #> original_written
