#' Prison survey of the 1992 National Adult Literacy Survey
#'
#' A small public-use file with a survey weight, for which the results of
#' another program are published: a file to learn on, and to check an
#' implementation of the log-linear model or of exhaustive tabulation against.
#' It has 182 records of people in prison in the United States, with 19
#' variables: a subset of the prison public-use file of the National Adult
#' Literacy Survey (NALS) of 1992.
#'
#' @details
#' **Key variables.** The documented key variables of the log-linear model are
#' `BORNUSA`, `CENREG`, `DAGE3`, `DRACE3`, `EDUC3` and `GENDER`. They span
#' \eqn{K = 432} cells, of which 90 are occupied; 52 records are unique in the
#' sample.
#'
#' The documented variables of exhaustive tabulation are these six and
#' `BIB1201`, `BIC0501`, `BID0101` and `BIE0601`. On all ten, 156 of the 182
#' records are unique in the sample. The weight of both analyses is `WEIGHT`.
#'
#' **Codes.** The columns hold the codes of the public-use file. The code book
#' is not part of the material from which this data set was made, so no code is
#' given a label here. "Code" below means: the code of the public-use file,
#' with its meaning not established here. What a column is about is read from
#' its name, as far as that goes; what the records themselves show is stated.
#'
#' **Missing values.** `DIC0401` is missing in three records. No other column
#' has missing values.
#'
#' @format A data frame with 182 rows and 19 columns. All columns are integer
#'   except `WEIGHT`, `DIC0401`, `SCORE` and `RATE`, which are double.
#' \describe{
#'   \item{CENREG}{Census region, code 1 to 4. Key variable.}
#'   \item{DAGE3}{Age in three groups, code 1 to 3. In this file they hold the
#'     ages (`DAGE`) 18 to 29, 30 to 49, and 50 to 68. Key variable.}
#'   \item{EDUC3}{Education in three groups, code 1 to 3. In this file they
#'     hold the codes 2 to 3, 4 to 5, and 6 to 10 of `EDUC_DET`. Key variable.}
#'   \item{DAGE}{Age in years, 18 to 68.}
#'   \item{WEIGHT}{Survey weight. The sum is 123,105.3.}
#'   \item{DIC0401}{Item of the public-use file with values from 0.17 to 22.3;
#'     meaning and unit not established here. Three values are missing.}
#'   \item{EDUC_DET}{Education in detail, code 2 to 10.}
#'   \item{BIB1201}{Item of the public-use file, code 1 or 2.}
#'   \item{BIC0501}{Item of the public-use file, code 1 or 2.}
#'   \item{BID0101}{Item of the public-use file, code 1 or 2.}
#'   \item{BIE0601}{Item of the public-use file, code 1 to 5.}
#'   \item{GENDER}{Gender, code 1 (168 records) or 2 (14 records). Key
#'     variable.}
#'   \item{CASEID}{Identifier of the record, unique. Not a key variable.}
#'   \item{BORNUSA}{Whether born in the United States, code 1 (162 records) or
#'     2 (20 records). Key variable.}
#'   \item{DRACE3}{Race in three groups, code 1 to 3. Key variable.}
#'   \item{SCORE}{Score, 0 to 342.7; scale not established here.}
#'   \item{RATE}{A rate, 0.05 in census region 1 and 0.02 elsewhere; meaning
#'     not established here.}
#'   \item{VARUNIT}{Unit for variance estimation, 1 or 2 within `VARSTRAT`.}
#'   \item{VARSTRAT}{Stratum for variance estimation, 1 to 91, two records
#'     each.}
#' }
#'
#' @source National Center for Education Statistics, U.S. Department of
#'   Education, 1992 National Adult Literacy Survey, prison public-use file,
#'   data files of the National Assessment of Adult Literacy. A federal
#'   public-use file, as distributed with the R package SDCNway.
#'
#' @references
#' Kirsch I, Yamamoto K, Norris N, and others (2001). *Technical Report and
#' Data File User's Manual for the 1992 National Adult Literacy Survey*.
#' NCES 2001-457. National Center for Education Statistics, Washington, DC.
#'
#' Skinner CJ, Shlomo N (2008). Assessing identification risk in survey
#' microdata using log-linear models. *Journal of the American Statistical
#' Association* 103(483), 989-1001. \doi{10.1198/016214507000001328}
#'
#' @examples
#' keys <- c("BORNUSA", "CENREG", "DAGE3", "DRACE3", "EDUC3", "GENDER")
#' cells <- table(nals_prison[keys])
#' length(cells)   # 432 cells
#' sum(cells == 1) # 52 sample uniques
#'
#' # the sampling fraction that the weights imply
#' nrow(nals_prison) / sum(nals_prison$WEIGHT) # 0.001478409
#' @keywords datasets
"nals_prison"

#' Adult census records of the UCI repository
#'
#' A file of real people in which most records are unique, and the answer is
#' published: the share of records that are unique on all eleven columns is
#' 0.794 (0.793894536408587 in full). It is the ADULT corpus on which Rocher,
#' Hendrickx and de Montjoye (2019) test their estimate of population
#' uniqueness. The records are the 32,561 of the training file of the Adult
#' data of the UCI Machine Learning Repository, which were extracted from the
#' United States census database of 1994.
#'
#' @details
#' **Key variables.** A first analysis takes all eleven columns as key
#' variables, as the published figure does. There is no weight and no
#' identifier. To see what estimation from a sample does, draw records from the
#' file and treat all 32,561 as the population.
#'
#' **What was changed.** UCI's training file has fifteen columns. Not in this
#' file are its survey weight `fnlwgt`, capital gain, capital loss, and the
#' names of the education levels: `education_num` is their number at UCI.
#' Unknown values, `"?"` at UCI, are missing (`NA`). Labels are spelt as at UCI,
#' also where they look wrong (`"Holand-Netherlands"`, `"Trinadad&Tobago"`);
#' only the two classes of income are renamed.
#'
#' **Missing values.** `workclass` is missing in 1,836 records, `occupation` in
#' 1,843 and `native_country` in 583; 2,399 records have at least one missing
#' value. The published share of unique records counts a missing value as a
#' category of its own.
#'
#' @format A data frame with 32,561 rows and 11 columns. Levels of unordered
#'   factors are sorted by name.
#' \describe{
#'   \item{age}{Age in years, integer, 17 to 90.}
#'   \item{workclass}{Class of worker, factor with 8 levels.}
#'   \item{education_num}{Education level, integer: 1 `Preschool`, 2 `1st-4th`,
#'     3 `5th-6th`, 4 `7th-8th`, 5 `9th`, 6 `10th`, 7 `11th`, 8 `12th`,
#'     9 `HS-grad`, 10 `Some-college`, 11 `Assoc-voc`, 12 `Assoc-acdm`,
#'     13 `Bachelors`, 14 `Masters`, 15 `Prof-school`, 16 `Doctorate`.}
#'   \item{marital_status}{Marital status, factor with 7 levels.}
#'   \item{occupation}{Occupation, factor with 14 levels.}
#'   \item{relationship}{Family relationship (`Husband`, `Own-child` and so on),
#'     factor with 6 levels.}
#'   \item{race}{Race, factor with 5 levels.}
#'   \item{sex}{Sex, factor with levels `Female` and `Male`.}
#'   \item{hours_per_week}{Hours worked in a week, integer, 1 to 99.}
#'   \item{native_country}{Native country, factor with 41 levels.}
#'   \item{income}{Income in a year, ordered factor: `small` is at most 50,000
#'     US dollars, `large` is more.}
#' }
#'
#' @source Becker B, Kohavi R (1996). *Adult*. UCI Machine Learning Repository.
#'   \doi{10.24432/C5XW20}. Licence: Creative Commons Attribution 4.0
#'   International (CC BY 4.0). Changed as described under Details.
#'
#' @references
#' Rocher L, Hendrickx JM, de Montjoye Y-A (2019). Estimating the success of
#' re-identifications in incomplete datasets using generative models. *Nature
#' Communications* 10, 3069. \doi{10.1038/s41467-019-10933-3}
#'
#' @examples
#' # the share of records that are unique on all columns
#' key <- do.call(paste, c(adult, sep = "\r"))
#' unique_record <- !(duplicated(key) | duplicated(key, fromLast = TRUE))
#' mean(unique_record) # 0.7938945
#'
#' # on age, education and occupation alone
#' key <- do.call(paste, adult[c("age", "education_num", "occupation")])
#' mean(!(duplicated(key) | duplicated(key, fromLast = TRUE))) # 0.06676699
#' @keywords datasets
"adult"
