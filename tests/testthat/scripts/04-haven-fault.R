# SPSS files by region; small regions have rare keys.
library(sdcRisk)
#| sdc: key_vars = c(DAGE3, EDUC3, GENDER)
prison <- nals_prison[c("CENREG", "DAGE3", "EDUC3", "GENDER", "SCORE")]
for (region in 1:4) {
  part <- prison[prison$CENREG == region, ]
  haven::write_sav(part, paste0("region-", region, ".sav")) #> above_limit
}
