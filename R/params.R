#' Arguments that many functions share
#'
#' @param data A data frame, tibble or data.table with one row per record, or an
#'   [sdc_file()], whose roles are used.
#' @param key_vars The key variables: names as text, positions, or a selection as in dplyr, such
#'   as `c(age, sex)`, `starts_with("pb")` or `-income`. `NULL`: those of an [sdc_file()], or all
#'   columns that no other argument names. All arguments that name columns are given in these
#'   ways. A variable that holds names of columns comes before a column of its name.
#' @param weight_var Name of the column of sampling weights: how many people a
#'   record represents. Weights are finite and positive.
#' @param hh_id Name of the column that identifies households.
#' @param pop_size Number of people in the population.
#' @param sampling_fraction The share of the population in the file, records that are left
#'   out included, instead of `pop_size`.
#' @param key_groups A named list of columns that count as one key variable each, such as
#'   `list(language = c("first_language", "second_language"))`. Missing is judged column by
#'   column.
#' @param missing `"category"`: missing is a value of its own. `"exclude"`: records that
#'   miss a key variable are left out. `"wildcard"` is not defined here: a record that may be
#'   in several cells has none.
#' @param limit `NULL`, or a risk: the print then ends with the number of records above
#'   it, and [records_at_risk()] names them.
#' @param level Confidence level of the interval.
#' @param id Name of the column that identifies persons in all files, which the producer
#'   knows and the intruder does not.
#' @param p,alpha Which analysis, if `x` holds several.
#' @param max_sets More key sets than this are an error of class
#'   `sdcRisk_error_too_large`: all key sets count, also if `x` sampled them.
#' @param max_patterns For a table of a database: more patterns than this are an error of
#'   class `sdcRisk_error_too_large`, before they are collected.
#' @param ... Must be empty: later arguments must be named in full.
#' @name sdcRisk-params
#' @keywords internal
NULL
