#' Prison survey of the 1992 National Adult Literacy Survey
#'
#' A small public-use file with a survey weight: 182 records of people in prison in the United
#' States, with 19 variables. The results of another program are published for it. Use it to
#' learn, and to check log-linear models and exhaustive tabulation. It is a subset of the prison
#' file of the National Adult Literacy Survey (NALS) of 1992.
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
#' **Codes.** The columns hold the codes of the public-use file. The code book is not part
#' of the material from which this data set was made, so no code is given a label here.
#' "Code" below means: the code of the public-use file, with its meaning not established
#' here. The descriptions of columns follow their names and the records themselves.
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
#' even if they look wrong (`"Holand-Netherlands"`, `"Trinadad&Tobago"`);
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

#' A simulated survey panel with a known population
#'
#' Simulated monthly background questionnaires with gaps, modules that part of the members
#' answered, and two survey waves released without a common identifier. The truth can be looked
#' up: who is who in the two waves, the month of birth, and the frequency of every key in the
#' population. No record is that of a person.
#'
#' @details
#' A region of 60,000 households was simulated month by month from January 2011
#' to December 2012. In December 2012 it has 110,072 people aged 16 or over, the
#' population of the survey; nobody dies, and nobody moves in or out. The panel
#' is drawn from it by household, with other rates by urbanity; households join
#' at the start, in a refreshment in December 2011 and in a few other months, and
#' leave by and by. The script that made the data set is part of the source of
#' the package (`data-raw/panel_waves.R`).
#'
#' **The panel.** Of 17,924 people there are background records; 10,997 of them
#' answered at least one module and are members, and 6,927 are known by proxy
#' only, every child under 16 among them. These three numbers, and the numbers of
#' members without urbanity (8), income (1,783), class of income (406) and origin
#' (2,264) after the waves are merged, are those that Mulder reports of the
#' Dutch LISS panel. All other figures are made up.
#'
#' **The background.** The whole questionnaire is asked when a household enters
#' and every January; in other months a variable is filled in only where it
#' changed. Age is that on the day of the answer, which differs from month to
#' month: a birthday shows in its own month or in the next. For 30 people a
#' wrong month of birth stood in the files until it was corrected, so that their
#' ages contradict each other.
#'
#' **The waves.** `wave1` is of January 2011, `wave2` of December 2012: ages rise
#' by one or two years. 5,310 of the 7,908 respondents of wave 2 took part in
#' wave 1. Of the variables, ten have fewer than 200 changes among them: `gender`,
#' `born_abroad`, `education`, `civil_status`, and the six from `degree_year` to
#' `home_language`, some of whose changes are misreports. The weights are numbers
#' of people in the population per respondent, by gender, age and urbanity.
#'
#' **The population.** `population` counts the people aged 16 or over in December
#' 2012 by the first eight keys of `wave2`, and by whether four of them differ
#' from those of January 2011. These twelve columns have no missing values and no
#' misreports, so a respondent of both waves is counted with their
#' key. A respondent of wave 2 alone, whose indicators are zero because nothing is
#' known, may have a key that the population does not have.
#'
#' @format A list of six:
#' \describe{
#'   \item{`background`}{data frame, 312,679 rows, one per person and month with
#'     an answer: `id`, `household`, `year`, `month`, `age` (completed years),
#'     `birth_year`, `gender`, `position` (in the household), `n_children` (living
#'     at home), `civil_status`, `domestic` (situation), `occupation`,
#'     `education`, `urbanity`, `income` (net, euro a month), `income_class`,
#'     `origin`}
#'   \item{`modules`}{list of four data frames with `id` and one row per member
#'     who answered: `religion` (`religious`, `religion`), `work` (`profession`,
#'     and the field of education as 17 columns `field_*`), `media` (a profile on
#'     `facebook`, `linkedin`, `hyves`) and `language` (spoken as a child, nine
#'     columns `language_*`). The columns of one question are one piece of
#'     knowledge: give them as a key group}
#'   \item{`wave1`, `wave2`}{data frames, 7,539 and 7,908 rows: `id`, `weight`,
#'     `age`, the eight keys `gender`, `age_group`, `born_abroad`, `education`,
#'     `civil_status`, `n_children`, `urbanity`, `occupation`, further
#'     `household_size`, `income_class`, and the stable `degree_year`,
#'     `degree_field`, `school_region`, `birth_region`, `father_education`,
#'     `home_language`}
#'   \item{`population`}{data frame, 38,271 rows: the eight keys, the indicators
#'     `civil_status_changed`, `n_children_changed`, `urbanity_changed`,
#'     `occupation_changed` (0 or 1), and `n`, the number of people}
#'   \item{`truth`}{data frame, 17,924 rows: `id`, `birth_year`, `birth_month`}
#' }
#'
#' @source Simulated for this package. The numbers taken over from the LISS panel
#'   are in Mulder K, *Ensuring anonymity in survey panel research*, section 3.
#'
#' @references
#' Li, J., Li, L., Krenzke, T. and Chang, W.-Y. (2021). An approach to estimate
#' the re-identification risk in longitudinal survey microdata. Joint Statistical
#' Meetings 2021: the model of the two waves.
#'
#' @examples
#' sapply(panel_waves[c("background", "wave1", "wave2", "population", "truth")], nrow)
#'
#' # who is in both waves
#' sum(panel_waves$wave2$id %in% panel_waves$wave1$id) # 5310
#'
#' # the population behind the respondents who are unique on six keys
#' keys <- c("gender", "age_group", "born_abroad", "education", "n_children", "occupation")
#' key <- function(data) do.call(paste, c(data[keys], sep = "\r"))
#' in_population <- tapply(panel_waves$population$n, key(panel_waves$population), sum)
#' in_sample <- table(key(panel_waves$wave2))
#' unique_keys <- names(in_sample)[in_sample == 1]
#' length(unique_keys)                   # 1016 sample uniques,
#' sum(in_population[unique_keys] == 1)  # 87 of them unique in the population
#' sum(1 / in_population[unique_keys])   # 257.8151 expected correct matches
#' @keywords datasets
"panel_waves"
