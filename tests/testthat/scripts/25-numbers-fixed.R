# Nothing but the protected values is used.
library(sdcRisk)
raw <- nals_prison[c("CASEID", "CENREG", "GENDER", "SCORE")]
people <- sdc_file(raw, key_vars = c(CENREG, GENDER), num_vars = SCORE, id_vars = CASEID)
means <- microaggregate(people, SCORE, k = 5)
means$SCORE <- round(means$SCORE)
more <- microaggregate(people, SCORE, k = 5)
more$points <- more$SCORE / 100
joined <- microaggregate(people, SCORE, k = 5)
joined <- merge(joined, data.frame(CENREG = 1:4, area = c(10.5, 20.5, 30.5, 40.5)))
joined$rank <- rank(joined$SCORE) + 0.25
top <- people
top$SCORE <- pmin(top$SCORE, 300)
top[["SCORE"]] <- top$SCORE * 2
