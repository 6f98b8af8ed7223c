# Measures a real file and draws the pictures: `make demo`.

library(sdcRisk)

cat("> risk <- qar_risk(adult, pi_u = 0.1)\n> risk\n")
risk <- qar_risk(adult, pi_u = 0.1)
print(risk)
cat("\n> summary(risk)\n")
print(summary(risk))
cat("\n> interpret(risk)\n")
print(interpret(risk))

folder <- "demo-output"
dir.create(folder, showWarnings = FALSE)
cat("\nPictures:\n")
for (type in c("distribution", "sets", "variables", "threshold")) {
  file <- file.path(folder, paste0("qar-risk-", type, ".png"))
  picture <- ggplot2::autoplot(risk, type)
  ggplot2::ggsave(file, picture, width = 8, height = 5, dpi = 120, bg = "white")
  cat(" ", normalizePath(file), "\n")
}
