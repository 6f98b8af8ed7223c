# Joins bring nothing back, and tables and lists of codes are no records.
library(sdcRisk)
set.seed(as.integer(Sys.getenv("RELEASE_SEED")))
raw <- nals_prison[c("CASEID", "CENREG", "DAGE3", "EDUC3", "GENDER")]
people <- sdc_file(raw, key_vars = c(CENREG, DAGE3, EDUC3, GENDER), id_vars = CASEID)
safe <- suppress_cells(people, k = 3)$data
both <- merge(safe, nals_prison[c("CASEID", "SCORE")], by = "CASEID")
both$CASEID <- NULL
released <- release_data(suppress_cells(people, k = 3))
most <- names(which.max(table(released$EDUC3)))
released$EDUC3[is.na(released$EDUC3)] <- as.integer(most)
twice <- cbind(released, group = sample(1:3, nrow(released), TRUE))
moved <- release_data(invariant_pram(people, max_match_prob = 0.4))
write.csv(moved, "moved.csv", row.names = FALSE)
areas <- data.frame(CENREG = sort(unique(people$CENREG)), label = paste("Area", 1:4))
write.csv(areas, "areas.csv", row.names = FALSE)
codes <- unique(as.data.frame(people)[c("CENREG", "GENDER")])
write.csv(codes, "codes.csv", row.names = FALSE)
