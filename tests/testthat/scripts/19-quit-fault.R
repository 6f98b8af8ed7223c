# The process ends, so that nobody knows what the lines below would write.
library(sdcRisk)
prison <- nals_prison[c("CENREG", "DAGE3", "EDUC3", "GENDER", "SCORE")]
people <- sdc_file(prison, key_vars = c(CENREG, DAGE3, EDUC3, GENDER))
if (nrow(people) > 100) quit(save = "no") #> script_ended
write.csv(people, "prison.csv")
