# A part that a loop makes is written by readr, which calls a writer of its own.
library(sdcRisk)
library(readr)
#| sdc: key_vars = c(DAGE3, EDUC3, GENDER)
prison <- nals_prison[c("CENREG", "DAGE3", "EDUC3", "GENDER", "SCORE")]
for (region in 1:4) {
  part <- prison[prison$CENREG == region, ]
  write_csv(part, paste0("region-", region, ".csv")) #> above_limit
}
