# SPSS files by region, protected by region.
library(sdcRisk)
#| sdc: key_vars = c(DAGE3, EDUC3, GENDER)
prison <- nals_prison[c("CENREG", "DAGE3", "EDUC3", "GENDER", "SCORE")]
for (region in 1:4) {
  part <- prison[prison$CENREG == region, ]
  part <- release_data(suppress_cells(part, c("DAGE3", "EDUC3", "GENDER"), k = 3))
  haven::write_sav(part, paste0("region-", region, ".sav"))
}
