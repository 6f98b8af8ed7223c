# Continuous values come back after they were aggregated, cut off or exchanged.
library(sdcRisk)
raw <- nals_prison[c("CASEID", "CENREG", "GENDER", "SCORE")]
people <- sdc_file(raw, key_vars = c(CENREG, GENDER), num_vars = SCORE, id_vars = CASEID)
means <- microaggregate(people, SCORE, k = 5)
means$SCORE <- raw$SCORE #> remedy_undone
more <- microaggregate(people, SCORE, k = 5)
more$points <- raw$SCORE #> value_returned
joined <- microaggregate(people, SCORE, k = 5)
joined <- merge(joined, raw[c("CASEID", "SCORE")], by = "CASEID") #> value_returned
joined$SCORE.y <- round(joined$SCORE.y, 1)
top <- people
top$SCORE <- pmin(top$SCORE, 300)
top[["SCORE"]] <- raw$SCORE #> remedy_undone
