# The release leaves alone.
library(sdcRisk)
prison <- nals_prison[c("CENREG", "DAGE3", "EDUC3", "GENDER", "SCORE")]
people <- sdc_file(prison, key_vars = c(CENREG, DAGE3, EDUC3, GENDER))
secret <- suppress_cells(people, k = 3)
public <- release_data(secret)
save(public, file = "prison.RData")
