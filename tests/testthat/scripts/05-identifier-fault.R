# The number of the case is left in the export.
library(sdcRisk)
#| sdc: key_vars = c(GENDER, DAGE3)
prison <- nals_prison[c("CASEID", "GENDER", "DAGE3", "SCORE")]
write.table(prison, "prison.txt", sep = "\t") #> identifier_written
