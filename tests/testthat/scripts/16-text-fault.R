library(sdcRisk)
file <- sdc_file(nals_prison[c("CENREG", "DAGE3", "GENDER")])
head <- paste(names(file), collapse = ";")
cat(head, "\n", file = "names.txt")
writeLines(c(head, do.call(paste, c(file, sep = ";"))), "prison.txt") #> not_followed
