# Original frequencies from a released CSV file and its card, for one perturbed column: unbiased, with 95 % intervals.
#   Rscript estimate.R card.json released.csv
# Needs the package jsonlite. Reads dense channels and channels of form "pram".

number <- function(text) {
  parts <- as.numeric(strsplit(as.character(text), "/", fixed = TRUE)[[1]])
  if (length(parts) == 2) parts[1] / parts[2] else parts[1]
}

arguments <- commandArgs(trailingOnly = TRUE)
channel <- jsonlite::fromJSON(arguments[1], simplifyVector = FALSE)$channel
stopifnot(length(channel$inputs) == 1, length(channel$output) == 1)
inputs <- unlist(channel$inputs[[1]])
letters_out <- unlist(channel$output[[1]])

if (identical(channel$form, "pram")) {
  q <- sapply(channel$q, number)
  M <- matrix((1 - q) / (length(q) - 1), length(q), length(q))  # row x holds (1 - q[x]) / (S - 1)
  diag(M) <- q
} else {
  stopifnot(is.null(channel$form))
  M <- t(sapply(channel$rows, function(row) sapply(row, number)))
}

released <- read.csv(arguments[2], colClasses = "character", check.names = FALSE, strip.white = TRUE, na.strings = character(0))
seen <- released[[names(channel$output)]]
if (!("?" %in% letters_out)) seen[seen == "?"] <- "(missing)"
stopifnot(seen %in% letters_out)
n <- length(seen)
f <- as.vector(table(factor(seen, levels = letters_out))) / n

A <- solve(t(M))                                   # A %*% t(M) is the identity
p <- as.vector(A %*% f)
error <- sqrt(pmax(as.vector((A * A) %*% f) - p, 0) / n)  # for the table; for its population: (... - p^2) / (n - 1)
print(data.frame(letter = inputs, estimate = p, low = p - 1.959964 * error, high = p + 1.959964 * error))
