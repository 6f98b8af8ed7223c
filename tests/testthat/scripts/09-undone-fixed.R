# A correction is made before the remedy.
library(sdcRisk)
prison <- nals_prison[c("CENREG", "DAGE3", "EDUC3", "GENDER", "SCORE")]
people <- sdc_file(prison, key_vars = c(CENREG, DAGE3, EDUC3, GENDER))
people$GENDER <- factor(people$GENDER, 1:2, c("male", "female"))
released <- release_data(suppress_cells(people, k = 3), shuffle = FALSE)
