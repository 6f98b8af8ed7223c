# Row names are not written, or are those that R makes.
library(sdcRisk)
prison <- nals_prison[c("CASEID", "CENREG", "GENDER", "SCORE")]
people <- sdc_file(prison, key_vars = CENREG, id_vars = CASEID)
rownames(people) <- people$CASEID
people$CASEID <- NULL
write.csv(people, "a.csv", row.names = FALSE)
rownames(people) <- NULL
write.csv(people, "b.csv")
write.csv(people[order(people$SCORE), ], "c.csv")
saveRDS(do.call(rbind, split(people, people$GENDER)), "d.rds")
