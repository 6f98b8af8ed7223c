# Other codes of protected variables, new numbers, and the first records.
library(sdcRisk)
raw <- nals_prison[c("CASEID", "CENREG", "DAGE3", "EDUC3", "GENDER")]
people <- sdc_file(raw, key_vars = c(CENREG, DAGE3, EDUC3, GENDER), id_vars = CASEID)
coded <- release_data(suppress_cells(people, k = 3))
coded$area <- match(coded$CENREG, sort(unique(coded$CENREG), decreasing = TRUE))
coded$CENREG <- NULL
write.csv(coded, "coded.csv", row.names = FALSE)
few <- suppress_cells(people[c("DAGE3", "GENDER")], k = 3) |> release_data()
few$number <- sample(nrow(few))
few$level <- rev(people$EDUC3 > 1)
