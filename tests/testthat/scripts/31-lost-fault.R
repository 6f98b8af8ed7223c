# Records lose their roles, whole or in part.
library(sdcRisk)
prison <- nals_prison[c("CENREG", "DAGE3", "EDUC3", "GENDER", "SCORE", "WEIGHT")]
people <- sdc_file(prison, key_vars = c(CENREG, DAGE3, EDUC3, GENDER), weight_var = WEIGHT)
first <- data.frame(as.list(people)) #> roles_lost
second <- head(as.data.frame(people), 100) #> roles_lost
third <- people[setdiff(names(people), "WEIGHT")] #> roles_lost
