# The weights of other records, with the same sum.
library(sdcRisk)
prison <- nals_prison[c("CENREG", "DAGE3", "GENDER", "SCORE", "WEIGHT")]
people <- sdc_file(prison, key_vars = c(CENREG, DAGE3, GENDER), weight_var = WEIGHT)
other <- people
other$WEIGHT <- rev(other$WEIGHT) #> weights_changed
other <- other[order(other$SCORE), ]
moved <- people
moved <- transform(moved[order(moved$SCORE), ], WEIGHT = sort(WEIGHT)) #> weights_changed
moved <- moved[moved$CENREG < 4, ]
