# Comments where no line reads them, codes that do not exist, and text on one line.
library(sdcRisk)
make <- function() {
  #| sdc: key_vars = c(CENREG, GENDER) #> bad_comment
  nals_prison[c("CENREG", "GENDER", "SCORE")]
}
#| sdc: key_vars = c(CENREG, GENDER)
people <- make()
#| sdc: allow = "told_by_colum" #> bad_comment
people$SCORE <- round(people$SCORE)
writeLines(jsonlite::toJSON(people), "people.json") #> not_followed
#| sdc: key_vars = c(CENREG) #> bad_comment
