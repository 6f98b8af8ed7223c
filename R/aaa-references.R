# Whom the methods go back to, as the help pages cite them.

references <- c(
  benedetti1998 = paste(
    "Benedetti, R. and Franconi, L. (1998). Statistical and technological solutions for",
    "controlled data dissemination. New Techniques and Technologies for Statistics, Sorrento, 1,",
    "225-232."
  ),
  bera2023 = paste(
    "Bera, M. et al. (2023). Quantifying the contribution of individual records to the",
    "reidentification risk of (pseudo)anonymized datasets. 64th ISI World Statistics Congress.",
    "HAL archive, hal-04165346."
  ),
  domingo2001 = paste(
    "Domingo-Ferrer, J. and Torra, V. (2001). A quantitative comparison of disclosure control",
    "methods for microdata. In: Confidentiality, Disclosure and Data Access. Elsevier, 111-134."
  ),
  elemam2011 = paste(
    "El Emam, K. (2011). Methods for the de-identification of electronic health records for",
    "genomic research. Genome Medicine 3, 25. doi:10.1186/gm239."
  ),
  elliot2002 = paste(
    "Elliot, M. J., Manning, A. M. and Ford, R. W. (2002). A computational algorithm for handling",
    "the special uniques problem. International Journal of Uncertainty, Fuzziness and",
    "Knowledge-Based Systems 10(5), 493-509. doi:10.1142/S0218488502001600."
  ),
  fellegi1969 = paste(
    "Fellegi, I. P. and Sunter, A. B. (1969). A theory for record linkage. Journal of the",
    "American Statistical Association 64, 1183-1210. doi:10.1080/01621459.1969.10501049."
  ),
  ganta2008 = paste(
    "Ganta, S. R., Kasiviswanathan, S. P. and Smith, A. (2008). Composition attacks and auxiliary",
    "information in data privacy. Proceedings of the 14th ACM SIGKDD, 265-273.",
    "doi:10.1145/1401890.1401926."
  ),
  giomi2023 = paste(
    "Giomi, M., Boenisch, F., Wehmeyer, C. and Tasnadi, B. (2023). A unified framework for",
    "quantifying privacy risk in synthetic data. Proceedings on Privacy Enhancing Technologies",
    "2023(2), 312-328. doi:10.56553/popets-2023-0055."
  ),
  gionis2009 = paste(
    "Gionis, A. and Tassa, T. (2009). k-Anonymization with minimal loss of information. IEEE",
    "Transactions on Knowledge and Data Engineering 21, 206-219. doi:10.1109/TKDE.2008.129."
  ),
  hoshino2001 = paste(
    "Hoshino, N. (2001). Applying Pitman's sampling formula to microdata disclosure risk",
    "assessment. Journal of Official Statistics 17(4), 499-520."
  ),
  hundepool2012 = paste(
    "Hundepool, A. et al. (2012). Statistical Disclosure Control. Wiley.",
    "doi:10.1002/9781118348239."
  ),
  karr2006 = paste(
    "Karr, A. F. et al. (2006). A framework for evaluating the utility of data altered to protect",
    "confidentiality. The American Statistician 60(3), 224-232. doi:10.1198/000313006X124640."
  ),
  li2021 = paste(
    "Li, J., Li, L., Krenzke, T. and Chang, W.-Y. (2021). An approach to estimate the",
    "re-identification risk in longitudinal survey microdata. Joint Statistical Meetings 2021."
  ),
  machanavajjhala2007 = paste(
    "Machanavajjhala, A., Kifer, D., Gehrke, J. and Venkitasubramaniam, M. (2007). l-diversity:",
    "privacy beyond k-anonymity. ACM Transactions on Knowledge Discovery from Data 1(1), 3.",
    "doi:10.1145/1217299.1217302."
  ),
  mulder = "Mulder, K. Ensuring anonymity in survey panel research. Manuscript.",
  nayak = paste(
    "Nayak, T. K. Identity disclosure risk control in microdata release via post-randomization.",
    "Manuscript, George Washington University."
  ),
  rocher2019 = paste(
    "Rocher, L., Hendrickx, J. M. and de Montjoye, Y.-A. (2019). Estimating the success of",
    "re-identifications in incomplete datasets using generative models. Nature Communications 10,",
    "3069. doi:10.1038/s41467-019-10933-3."
  ),
  raab2025 = paste(
    "Raab, G. M., Nowok, B. and Dibben, C. (2025). Practical privacy metrics for synthetic data.",
    "Vignette of the R package synthpop."
  ),
  shlomo2010 = paste(
    "Shlomo, N. and Skinner, C. J. (2010). Assessing the protection provided by",
    "misclassification-based disclosure limitation methods for survey microdata. Annals of Applied",
    "Statistics 4(3), 1291-1310. doi:10.1214/09-AOAS317."
  ),
  skinner2002 = paste(
    "Skinner, C. J. and Elliot, M. J. (2002). A measure of disclosure risk for microdata. Journal",
    "of the Royal Statistical Society B 64(4), 855-867. doi:10.1111/1467-9868.00365."
  ),
  skinner2008 = paste(
    "Skinner, C. J. and Shlomo, N. (2008). Assessing identification risk in survey microdata using",
    "log-linear models. Journal of the American Statistical Association 103(483), 989-1001.",
    "doi:10.1198/016214507000001328."
  ),
  sweeney2002 = paste(
    "Sweeney, L. (2002). Achieving k-anonymity privacy protection using generalization and",
    "suppression. International Journal of Uncertainty, Fuzziness and Knowledge-Based Systems",
    "10(5), 571-588. doi:10.1142/S021848850200165X."
  ),
  torra2006 = paste(
    "Torra, V. et al. (2006). Using Mahalanobis distance-based record linkage for disclosure risk",
    "assessment. Privacy in Statistical Databases 2006, 233-242. doi:10.1007/11930242_20."
  ),
  templ2008 = paste(
    "Templ, M. and Meindl, B. (2008). Robust statistics meets SDC: new disclosure risk measures",
    "for continuous microdata masking. Privacy in Statistical Databases 2008, 177-189.",
    "doi:10.1007/978-3-540-87471-3_15."
  )
)
