# Aggregated values come back in other units, and where they had been left out.
library(sdcRisk)
raw <- nals_prison[c("CENREG", "GENDER", "SCORE")]
people <- sdc_file(raw, key_vars = c(CENREG, GENDER), num_vars = SCORE)
means <- microaggregate(people, SCORE, k = 5)
means$log_score <- log(raw$SCORE) #> value_returned
tens <- microaggregate(people, SCORE, k = 5)
tens <- transform(tens, tens = round(raw$SCORE, 1)) #> value_returned
all <- microaggregate(people, SCORE, k = 5)
few <- all[c("CENREG", "GENDER")]
few$SCORE <- raw$SCORE #> value_returned
