# Key variables and identifiers stay what they are under another name.
library(sdcRisk)
raw <- nals_prison[c("CASEID", "CENREG", "DAGE3", "EDUC3", "GENDER")]
people <- sdc_file(raw, key_vars = c(CENREG, DAGE3, EDUC3, GENDER), id_vars = CASEID)
coded <- people[c("CENREG", "DAGE3", "EDUC3", "GENDER")]
coded$area <- match(coded$CENREG, sort(unique(coded$CENREG), decreasing = TRUE))
coded$CENREG <- NULL
write.csv(coded, "coded.csv", row.names = FALSE) #> above_limit
few <- people[c("DAGE3", "GENDER")]
few$level <- people$EDUC3 #> value_returned
two <- suppress_cells(people[c("DAGE3", "GENDER")], k = 3) |> release_data(shuffle = FALSE)
two$number <- paste0("P", people$CASEID)
write.csv(two, "two.csv", row.names = FALSE) #> identifier_written
