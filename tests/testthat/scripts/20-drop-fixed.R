# A join by the number of the case, which is dropped after it.
library(sdcRisk)
prison <- nals_prison[c("CASEID", "CENREG", "DAGE3", "EDUC3", "GENDER")]
people <- sdc_file(prison, key_vars = c(CENREG, DAGE3, EDUC3, GENDER), id_vars = CASEID)
released <- release_data(suppress_cells(people, k = 3), shuffle = FALSE)
released$case <- nals_prison$CASEID
released <- merge(released, nals_prison[c("CASEID", "SCORE")], by.x = "case", by.y = "CASEID")
released$case <- NULL
