# Suppressed regions come back in a column of another name.
library(sdcRisk)
prison <- nals_prison[c("CENREG", "DAGE3", "EDUC3", "GENDER", "SCORE")]
people <- sdc_file(prison, key_vars = c(CENREG, DAGE3, EDUC3, GENDER))
released <- release_data(suppress_cells(people, k = 3), shuffle = FALSE)
released$zone <- nals_prison$CENREG #> value_returned
