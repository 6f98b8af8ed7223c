# Files are read and written at a depth where no variable of the workspace has their records.
library(sdcRisk)
path <- tempfile(tmpdir = tempdir(check = TRUE), fileext = ".csv")
write.csv(nals_prison, path, row.names = FALSE)
go <- function(path) {
  prison <- read.csv(path)
  write.csv(prison, "a.csv", row.names = FALSE)
}
go(path) #> not_followed
local({
  prison <- read.csv(path)
  saveRDS(prison, "b.rds") #> not_followed
})
read.csv(path) |> write.csv("c.csv", row.names = FALSE) #> not_followed
invisible(lapply(path, function(file) {
  write.csv(read.csv(file), "d.csv", row.names = FALSE) #> not_followed
}))
Map(function(from, to) write.csv(read.csv(from), to), path, "e.csv") #> not_followed
other <- tempfile(fileext = ".R")
writeLines("local(write.csv(read.csv(path), \"f.csv\"))", other)
source(other) #> not_followed
do.call("write.csv", list(read.csv(path), "g.csv")) #> not_followed
with(read.csv(path), write.csv(data.frame(DAGE3, SCORE), "h.csv")) #> not_followed
tryCatch(
  {
    cat("first\n")
    write.csv(read.csv(path), "i.csv") #> not_followed
  },
  error = identity
)
dir.create("texts")
local(writeLines(readLines(path), "texts/j.csv")) #> not_followed
for (i in 1:40) write.table(read.csv(path)[i, ], "k.csv", append = TRUE) #> not_followed
