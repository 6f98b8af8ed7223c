# Verbs of base R and dplyr keep the roles.
library(sdcRisk)
prison <- nals_prison[c("CENREG", "DAGE3", "EDUC3", "GENDER", "SCORE")]
people <- sdc_file(prison, key_vars = c(CENREG, DAGE3, EDUC3, GENDER))
people <- transform(people, SCORE = round(SCORE))
people <- dplyr::mutate(people, SCORE = SCORE / 10)
