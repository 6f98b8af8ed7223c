# That of testthat 3.1.6 sees no message.
expect_no_message <- function(object, class = "message") {
  testthat::expect_no_condition(object, class = class)
}
