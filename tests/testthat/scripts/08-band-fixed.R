# The band replaces the exact age.
library(sdcRisk)
prison <- nals_prison[c("DAGE", "GENDER", "SCORE")]
#| sdc: key_vars = c(band, GENDER)
prison <- transform(prison, band = cut(DAGE, c(0, 35, 120)))
prison$DAGE <- NULL
write.csv(prison, "prison.csv")
