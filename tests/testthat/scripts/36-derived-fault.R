# Columns made of the original tell suppressed values, and records leave in other forms.
library(sdcRisk)
raw <- adult[1:6000, c("race", "sex", "marital_status", "native_country")]
people <- sdc_file(raw[1:3], key_vars = c(race, sex, marital_status))
safe <- release_data(suppress_cells(people, k = 3, importance = c(race = 0.5)), shuffle = FALSE)
flagged <- safe
flagged$indigenous <- raw$race == "Amer-Indian-Eskimo"
write.csv(flagged, "flagged.csv", row.names = FALSE) #> told_by_column
listed <- safe
listed$before <- as.list(as.character(raw$race)) #> value_returned
nested <- safe
nested$before <- raw["race"] #> value_returned
saveRDS(as.data.frame(t(people)), "turned.rds") #> not_followed
saveRDS(lapply(seq_len(500), function(i) unlist(people[i, ])), "rows.rds") #> not_followed
named <- safe
rownames(named) <- 1e7 + sample(9e6, nrow(named))
saveRDS(named, "named.rds") #> identifier_written
