# The file is protected before it is exported.
library(sdcRisk)
prison <- nals_prison[c("CENREG", "DAGE3", "EDUC3", "GENDER", "SCORE")]
people <- sdc_file(prison, key_vars = c(CENREG, DAGE3, EDUC3, GENDER))
released <- release_data(suppress_cells(people, k = 3))
write.csv(released, "prison.csv", row.names = FALSE)
