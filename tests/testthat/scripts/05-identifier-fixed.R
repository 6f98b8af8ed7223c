# The number of the case is left out.
library(sdcRisk)
#| sdc: key_vars = c(GENDER, DAGE3)
prison <- nals_prison[c("CASEID", "GENDER", "DAGE3", "SCORE")]
prison$CASEID <- NULL
write.table(prison, "prison.txt", sep = "\t")
