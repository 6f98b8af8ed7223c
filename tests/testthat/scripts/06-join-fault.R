# A join brings the number of the case back.
library(sdcRisk)
prison <- nals_prison[c("CASEID", "CENREG", "DAGE3", "EDUC3", "GENDER", "SCORE")]
people <- sdc_file(prison, key_vars = c(CENREG, DAGE3, EDUC3, GENDER), id_vars = CASEID)
released <- release_data(suppress_cells(people, k = 3), shuffle = FALSE)
scores <- nals_prison[c("CASEID", "SCORE")]
released <- merge(released, scores, by = "SCORE") #> identifier_returned
