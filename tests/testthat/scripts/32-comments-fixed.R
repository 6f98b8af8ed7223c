# Comments above the lines that they are of, and words.
library(sdcRisk)
make <- function() nals_prison[c("CENREG", "GENDER", "SCORE")]
#| sdc: key_vars = c(CENREG, GENDER)
people <- make()
#| sdc: allow = "told_by_column"
people$SCORE <- round(people$SCORE)
writeLines("A file of people was made, checked, and counted, on Monday.", "about.txt")
