# A file without key variables has no number.
library(sdcRisk)
#| sdc: key_vars = c(GENDER, DAGE3), id_vars = CASEID
prison <- nals_prison[c("CASEID", "GENDER", "DAGE3", "SCORE")]
scores <- data.frame(points = prison$SCORE + 1)
write.csv(scores, "scores.csv") #> not_followed
