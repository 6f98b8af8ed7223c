# Suppressed and exchanged values come back by joins and loops.
library(sdcRisk)
set.seed(as.integer(Sys.getenv("RELEASE_SEED")))
keys <- c("CENREG", "DAGE3", "EDUC3", "GENDER")
raw <- nals_prison[c("CASEID", keys)]
people <- sdc_file(raw, key_vars = all_of(keys), id_vars = CASEID)
safe <- suppress_cells(people, k = 3)$data
both <- merge(safe, people[c("CASEID", "DAGE3")], by = "CASEID") #> value_returned
rest <- safe[setdiff(names(safe), "DAGE3")]
again <- merge(rest, raw[c("CASEID", "DAGE3")]) #> value_returned
once <- merge(safe[setdiff(names(safe), "DAGE3")], raw[c("CASEID", "DAGE3")]) #> remedy_undone
released <- release_data(suppress_cells(people, k = 3), shuffle = FALSE)
twice <- cbind(released, people["DAGE3"]) #> value_returned
moved <- release_data(invariant_pram(people, max_match_prob = 0.4), shuffle = FALSE)
for (v in keys) moved[[v]] <- people[[v]]
write.csv(moved, "moved.csv", row.names = FALSE) #> value_returned limit_unclear
