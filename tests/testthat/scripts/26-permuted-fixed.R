# Whole records move, and columns are put back.
library(sdcRisk)
prison <- nals_prison[c("CENREG", "DAGE3", "GENDER", "SCORE", "WEIGHT")]
people <- sdc_file(prison, key_vars = c(CENREG, DAGE3, GENDER), weight_var = WEIGHT)
other <- people
other$WEIGHT <- rev(other$WEIGHT)
other$WEIGHT <- prison$WEIGHT
moved <- people
moved <- transform(moved[order(moved$SCORE), ], DAGE3 = pmin(DAGE3, 2))
moved <- moved[moved$CENREG < 4, ]
chosen <- people[setdiff(names(people), "WEIGHT")]
chosen$WEIGHT <- people$WEIGHT
