# The release goes with them.
library(sdcRisk)
prison <- nals_prison[c("CENREG", "DAGE3", "EDUC3", "GENDER", "SCORE")]
people <- sdc_file(prison, key_vars = c(CENREG, DAGE3, EDUC3, GENDER))
released <- release_data(suppress_cells(people, k = 3))
box <- new.env()
box$data <- released
saveRDS(box, "box.rds")
count <- local({
  data <- released
  function() nrow(data)
})
save(count, file = "count.RData")
attr(released, "source") <- "survey"
saveRDS(released, "released.rds")
picture <- structure(list(layers = list(), data = released), class = "picture")
saveRDS(picture, "picture.rds")
double <- function(x) 2 * x
saveRDS(double, "double.rds")
saveRDS(file_check(released), "check.rds")
