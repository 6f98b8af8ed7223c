# The process ends in the last line.
library(sdcRisk)
prison <- nals_prison[c("CENREG", "DAGE3", "EDUC3", "GENDER", "SCORE")]
people <- sdc_file(prison, key_vars = c(CENREG, DAGE3, EDUC3, GENDER))
write.csv(release_data(suppress_cells(people, k = 3)), "prison.csv")
quit(save = "no")
