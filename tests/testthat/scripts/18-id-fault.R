# A file without key variables has the number of the case, under another name.
library(sdcRisk)
#| sdc: key_vars = c(GENDER, DAGE3), id_vars = CASEID
prison <- nals_prison[c("CASEID", "GENDER", "DAGE3", "SCORE")]
scores <- data.frame(case = prison$CASEID, points = prison$SCORE + 1)
write.csv(scores, "scores.csv") #> identifier_written not_followed
