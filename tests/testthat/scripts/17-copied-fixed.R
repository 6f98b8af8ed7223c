# The protected file is written to a temporary place, and copied from there.
library(sdcRisk)
prison <- nals_prison[c("CENREG", "DAGE3", "EDUC3", "GENDER", "SCORE")]
people <- sdc_file(prison, key_vars = c(CENREG, DAGE3, EDUC3, GENDER))
people <- release_data(suppress_cells(people, k = 3))
path <- tempfile(fileext = ".csv")
write.csv(people, path)
file.copy(path, "prison.csv")
unlink(path)
