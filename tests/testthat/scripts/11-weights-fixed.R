# Weights are trimmed, then calibrated, then the file gets its roles.
library(sdcRisk)
prison <- nals_prison[c("GENDER", "DAGE3", "WEIGHT")]
prison$WEIGHT <- pmin(prison$WEIGHT, 1000)
rake <- function(x) x * 1.02
prison$WEIGHT <- rake(prison$WEIGHT)
people <- sdc_file(prison, key_vars = c(GENDER, DAGE3), weight_var = WEIGHT)
people <- people[order(people$WEIGHT), ]
