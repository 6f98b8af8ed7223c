# A part that a loop makes is protected and written by readr.
library(sdcRisk)
library(readr)
#| sdc: key_vars = c(DAGE3, EDUC3, GENDER)
prison <- nals_prison[c("CENREG", "DAGE3", "EDUC3", "GENDER", "SCORE")]
for (region in 1:4) {
  part <- prison[prison$CENREG == region, ]
  part <- release_data(suppress_cells(part, c("DAGE3", "EDUC3", "GENDER"), k = 3))
  write_csv(part, paste0("region-", region, ".csv"))
}
