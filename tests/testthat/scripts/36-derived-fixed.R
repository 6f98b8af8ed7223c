# Columns are made of released values and of chance, and no list is as long as the file.
library(sdcRisk)
raw <- adult[1:6000, c("race", "sex", "marital_status", "native_country")]
people <- sdc_file(raw[1:3], key_vars = c(race, sex, marital_status))
safe <- release_data(suppress_cells(people, k = 3, importance = c(race = 0.5)), shuffle = FALSE)
safe$indigenous <- safe$race == "Amer-Indian-Eskimo"
n <- nrow(safe)
safe$number <- sprintf("R%05d", sample(n))
safe$letters <- vapply(seq_len(n), function(i) paste(sample(letters, 12), collapse = ""), "")
copy <- as.list(raw[order(raw$sex), ])
write.csv(safe, "safe.csv", row.names = FALSE)
saveRDS(list(made = Sys.Date(), counts = table(safe$sex)), "about.rds")
