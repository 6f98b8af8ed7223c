# Weights are trimmed after the calibration.
library(sdcRisk)
prison <- nals_prison[c("GENDER", "DAGE3", "WEIGHT")]
people <- sdc_file(prison, key_vars = c(GENDER, DAGE3), weight_var = WEIGHT)
rake <- function(x) x * 1.02
people$WEIGHT <- rake(people$WEIGHT)
people$WEIGHT <- pmin(people$WEIGHT, 1000) #> weights_changed
