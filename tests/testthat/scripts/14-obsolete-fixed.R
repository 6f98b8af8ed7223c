# The same question, answered with an interval.
library(sdcRisk)
prison <- nals_prison[c("GENDER", "DAGE3", "WEIGHT")]
people <- sdc_file(prison, key_vars = c(GENDER, DAGE3), weight_var = WEIGHT)
global <- loglinear_risk(people)
