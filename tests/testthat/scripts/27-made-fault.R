# A column of the file before comes with the release.
library(sdcRisk)
prison <- nals_prison[c("CASEID", "CENREG", "DAGE3", "EDUC3", "GENDER", "SCORE")]
people <- sdc_file(prison, key_vars = c(CENREG, DAGE3, EDUC3, GENDER), id_vars = CASEID)
released <- release_data(suppress_cells(people, k = 3), shuffle = FALSE)
released$part <- ifelse(prison$GENDER == 1, "a", "b")
write.csv(released, "prison.csv", row.names = FALSE) #> told_by_column limit_unclear
