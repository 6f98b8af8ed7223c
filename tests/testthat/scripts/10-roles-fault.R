# A function of another package gives a plain data frame.
library(sdcRisk)
prison <- nals_prison[c("CENREG", "DAGE3", "EDUC3", "GENDER", "SCORE")]
people <- sdc_file(prison, key_vars = c(CENREG, DAGE3, EDUC3, GENDER))
people <- as.data.frame(people) #> roles_lost
people$SCORE <- round(people$SCORE)
