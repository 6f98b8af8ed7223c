# The groups are those of a released file.
library(data.table)
library(sdcRisk)
prison <- nals_prison[c("CENREG", "DAGE3", "EDUC3", "GENDER", "SCORE")]
people <- sdc_file(prison, key_vars = c(CENREG, DAGE3, EDUC3, GENDER))
released <- release_data(suppress_cells(people, k = 3, rule = "strict"))
#| sdc: key_vars = c(CENREG, DAGE3, EDUC3, GENDER)
table <- as.data.table(released[!is.na(released$CENREG), ])
table[, fwrite(.SD, paste0(CENREG, ".csv")), by = CENREG]
