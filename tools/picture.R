# Draws the picture of the README from its example, with the installed package.

library(sdcRisk)
risk <- qar_risk(adult, pi_u = 0.1)
path <- "man/figures/README-variables.png"
dir.create(dirname(path), showWarnings = FALSE)
ggplot2::ggsave(path, ggplot2::autoplot(risk, "variables"), width = 6.4, height = 3.6, dpi = 80)
cat(path, file.size(path), "bytes\n")
