# The file goes with an environment, a function, a picture and an attribute.
library(sdcRisk)
prison <- nals_prison[c("CENREG", "DAGE3", "EDUC3", "GENDER", "SCORE")]
people <- sdc_file(prison, key_vars = c(CENREG, DAGE3, EDUC3, GENDER))
released <- release_data(suppress_cells(people, k = 3))
box <- new.env()
box$data <- people
saveRDS(box, "box.rds") #> original_written
count <- local({
  data <- people
  function() nrow(data)
})
save(count, file = "count.RData") #> original_written
attr(released, "before") <- people
saveRDS(released, "released.rds") #> original_written
picture <- structure(list(layers = list(), data = people), class = "picture")
saveRDS(picture, "picture.rds") #> original_written
box <- list2env(list(scores = prison$SCORE))
saveRDS(box, "box.rds") #> not_followed
