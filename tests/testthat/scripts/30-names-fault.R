# Row names are identifiers.
library(sdcRisk)
prison <- nals_prison[c("CASEID", "CENREG", "GENDER", "SCORE")]
people <- sdc_file(prison, key_vars = CENREG, id_vars = CASEID)
rownames(people) <- people$CASEID
people$CASEID <- NULL
write.csv(people, "a.csv") #> identifier_written
other <- people
rownames(other) <- paste0("P", prison$CASEID)
saveRDS(other, "b.rds") #> identifier_written
