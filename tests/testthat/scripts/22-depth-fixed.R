# What is read is protected, whatever the depth, and a frame that descends from it is judged.
library(sdcRisk)
path <- tempfile(tmpdir = tempdir(check = TRUE), fileext = ".csv")
write.csv(nals_prison, path, row.names = FALSE)
keys <- c("CENREG", "DAGE3", "EDUC3", "GENDER")
protect <- function(path) {
  prison <- sdc_file(read.csv(path)[c(keys, "SCORE")], all_of(keys))
  release_data(suppress_cells(prison, k = 3, rule = "strict"))
}
go <- function(path) {
  prison <- protect(path)
  write.csv(prison, "a.csv", row.names = FALSE)
}
go(path)
local({
  prison <- protect(path)
  saveRDS(prison, "b.rds")
})
protect(path) |> write.csv("c.csv", row.names = FALSE)
invisible(lapply(path, function(file) {
  write.csv(protect(file), "d.csv", row.names = FALSE)
}))
Map(function(from, to) write.csv(protect(from), to), path, "e.csv")
other <- tempfile(fileext = ".R")
writeLines("local(write.csv(protect(path), \"f.csv\"))", other)
source(other)
do.call("write.csv", list(protect(path), "g.csv"))
released <- protect(path)
with(released, write.csv(data.frame(DAGE3, SCORE), "h.csv"))
tryCatch(
  {
    cat("first\n")
    write.csv(released, "i.csv")
  },
  error = identity
)
dir.create("texts")
local(writeLines("No records", "texts/j.txt"))
for (i in 1:4) write.table(released[which(released$CENREG == i), ], "k.csv", append = TRUE)
