# A pipe over several lines ends in a file.
library(sdcRisk)
#| sdc: key_vars = c(CENREG, DAGE3, EDUC3, GENDER)
prison <- nals_prison[c("CENREG", "DAGE3", "EDUC3", "GENDER", "SCORE")]
prison |>
  sdc_file(key_vars = c(CENREG, DAGE3, EDUC3, GENDER)) |>
  suppress_cells(k = 3) |>
  release_data() |>
  saveRDS("prison.rds")
