# A correction takes the original values again.
library(sdcRisk)
prison <- nals_prison[c("CENREG", "DAGE3", "EDUC3", "GENDER", "SCORE")]
people <- sdc_file(prison, key_vars = c(CENREG, DAGE3, EDUC3, GENDER))
released <- release_data(suppress_cells(people, k = 3), shuffle = FALSE)
released$GENDER <- factor(released$GENDER, 1:2, c("male", "female"))
released$CENREG <- prison$CENREG #> remedy_undone
