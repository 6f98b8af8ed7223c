# A table writes its groups within brackets, from memory that the next group takes.
library(data.table)
#| sdc: key_vars = c(DAGE3, EDUC3, GENDER)
prison <- as.data.table(sdcRisk::nals_prison[c("CENREG", "DAGE3", "EDUC3", "GENDER", "SCORE")])
prison[, fwrite(.SD, paste0(CENREG, ".csv")), by = CENREG] #> above_limit
