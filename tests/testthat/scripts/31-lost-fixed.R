# Roles are kept or given again, and a release needs none.
library(sdcRisk)
prison <- nals_prison[c("CENREG", "DAGE3", "EDUC3", "GENDER", "SCORE", "WEIGHT")]
people <- sdc_file(prison, key_vars = c(CENREG, DAGE3, EDUC3, GENDER), weight_var = WEIGHT)
first <- transform(people, SCORE = round(SCORE))
second <- people[1:100, ]
fourth <- cbind(people["CENREG"], people["WEIGHT"])
mean(people[people$GENDER == 1, "SCORE"])
released <- as.data.frame(release_data(suppress_cells(people, k = 3)))
other <- release_data(suppress_cells(people, k = 3))
other <- as.data.frame(other)
