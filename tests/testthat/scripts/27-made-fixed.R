# Columns are made of released values, and records are numbered anew.
library(sdcRisk)
prison <- nals_prison[c("CASEID", "CENREG", "DAGE3", "EDUC3", "GENDER", "SCORE")]
people <- sdc_file(prison, key_vars = c(CENREG, DAGE3, EDUC3, GENDER), id_vars = CASEID)
released <- release_data(suppress_cells(people, k = 3))
released$north <- ifelse(released$CENREG < 3, "north", "south")
released$part <- ifelse(released$GENDER == 1, "a", "b")
released$both <- interaction(released$CENREG, released$GENDER)
released$number <- seq_len(nrow(released))
released$CASEID <- 5000 + seq_len(nrow(released))
write.csv(released, "prison.csv", row.names = FALSE)
