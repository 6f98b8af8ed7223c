# Parts of a file are written within functions, one after another in place, or in a later branch.
library(sdcRisk)
#| sdc: key_vars = c(CENREG, DAGE3, EDUC3, GENDER)
people <- nals_prison[c("CENREG", "DAGE3", "EDUC3", "GENDER", "SCORE")]
go <- function(data) data |> subset(SCORE > 4) |> write.csv("a.csv")
go(people) #> above_limit
local({
  cat("first\n")
  part <- transform(people, SCORE = round(SCORE))
  if (nrow(part) > 4) {
    write.csv(part[1:3, ], "b.csv") #> above_limit
    write.csv(part, "c.csv") #> above_limit
  }
})
do.call(write.csv, list(people, "d.csv")) #> above_limit
for (part in split(people, people$CENREG)) {
  go(part) #> above_limit
}
