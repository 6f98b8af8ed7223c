# The parts are those of a released file.
library(sdcRisk)
#| sdc: key_vars = c(CENREG, DAGE3, EDUC3, GENDER)
people <- nals_prison[c("CENREG", "DAGE3", "EDUC3", "GENDER", "SCORE")]
people <- sdc_file(people, key_vars = c(CENREG, DAGE3, EDUC3, GENDER))
people <- release_data(suppress_cells(people, k = 3))
go <- function(data) data |> subset(SCORE > 0) |> write.csv("a.csv")
go(people)
local({
  cat("first\n")
  part <- transform(people, SCORE = round(SCORE))
  if (nrow(part) > 4) {
    write.csv(part, "c.csv")
  }
})
do.call(write.csv, list(people, "d.csv"))
