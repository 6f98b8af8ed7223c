# Aggregated values in other units, and classes of values.
library(sdcRisk)
raw <- nals_prison[c("CENREG", "GENDER", "SCORE")]
people <- sdc_file(raw, key_vars = c(CENREG, GENDER), num_vars = SCORE)
means <- microaggregate(people, SCORE, k = 5)
means$log_score <- log(means$SCORE)
tens <- microaggregate(people, SCORE, k = 5)
tens <- transform(tens, high = raw$SCORE > 280)
all <- microaggregate(people, SCORE, k = 5)
few <- all[c("CENREG", "GENDER")]
few$SCORE <- all$SCORE
few$SCORE <- round(few$SCORE)
