# A script of an old version of sdcMicro.
library(sdcRisk)
prison <- nals_prison[c("CENREG", "DAGE3", "EDUC3", "GENDER", "SCORE")]
people <- sdc_file(prison, key_vars = c(CENREG, DAGE3, EDUC3, GENDER))
global <- function(object) {
  sdcMicro::LLmodGlobalRisk(object) #> obsolete_call
}
