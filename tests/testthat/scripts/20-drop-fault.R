# A column with the number of the case is made for a join, and stays.
library(sdcRisk)
prison <- nals_prison[c("CASEID", "CENREG", "DAGE3", "EDUC3", "GENDER")]
people <- sdc_file(prison, key_vars = c(CENREG, DAGE3, EDUC3, GENDER), id_vars = CASEID)
released <- release_data(suppress_cells(people, k = 3), shuffle = FALSE)
released$case <- nals_prison$CASEID #> identifier_returned
released$SCORE <- nals_prison$SCORE
