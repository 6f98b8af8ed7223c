# The exact age stands in the file with its band.
library(sdcRisk)
prison <- nals_prison[c("DAGE", "GENDER", "SCORE")]
#| sdc: key_vars = c(band, GENDER)
prison <- transform(prison, band = cut(DAGE, c(0, 35, 120)))
write.csv(prison, "prison.csv") #> told_by_column
