# A function of the script writes the file, by data.table.
library(sdcRisk)
prison <- nals_prison[c("CENREG", "DAGE3", "EDUC3", "GENDER", "SCORE")]
people <- sdc_file(prison, key_vars = c(CENREG, DAGE3, EDUC3, GENDER))
export <- function(x, file) {
  x <- as.data.frame(x)
  data.table::fwrite(x, file)
}
released <- release_data(suppress_cells(people, k = 3))
export(released, "released.csv")
