# The second result takes missing values in another way.
library(sdcRisk)
prison <- nals_prison[c("CENREG", "DAGE3", "EDUC3", "GENDER", "SCORE")]
people <- sdc_file(prison, key_vars = c(CENREG, DAGE3, EDUC3, GENDER))
before <- n_matches(people)
released <- release_data(suppress_cells(people, k = 3))
after <- n_matches(released, missing = "category")
compare_risk(before, after) #> other_settings
