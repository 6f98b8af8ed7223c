# A join brings nothing that identifies.
library(sdcRisk)
prison <- nals_prison[c("CASEID", "CENREG", "DAGE3", "EDUC3", "GENDER", "SCORE")]
people <- sdc_file(prison, key_vars = c(CENREG, DAGE3, EDUC3, GENDER), id_vars = CASEID)
released <- release_data(suppress_cells(people, k = 3), shuffle = FALSE)
levels <- data.frame(EDUC3 = 1:3, education = c("low", "medium", "high"))
released <- merge(released, levels, by = "EDUC3")
