# Rscript estimate.R card.json released.csv [population]: the frequencies before perturbation, with 95 % intervals.
# Needs the package jsonlite. Reads channels that are written out or of form "pram": one in all, or one for each column,
# or one for each stratum, or both.

arguments <- commandArgs(trailingOnly = TRUE)
card <- jsonlite::fromJSON(arguments[1], simplifyVector = FALSE)
channel <- if (is.null(card[["channel"]])) card else card[["channel"]]
table <- read.csv(arguments[2], colClasses = "character", check.names = FALSE, strip.white = TRUE,
                  na.strings = character(0), encoding = "UTF-8")
population <- identical(arguments[-(1:2)], "population")
alphabets <- lapply(c(channel[["inputs"]], channel[["output"]]), unlist)
strata <- as.character(unlist(channel[["strata"]]))
n <- nrow(table)

number <- function(text) {
  parts <- as.numeric(strsplit(as.character(text), "/", fixed = TRUE)[[1]])
  if (length(parts) == 2) parts[1] / parts[2] else parts[1]
}

outcomes <- function(columns) {  # one row for each combination of letters, the last column fastest
  if (length(columns) == 0) return(matrix("", 1, 0))
  unname(as.matrix(expand.grid(alphabets[rev(columns)], stringsAsFactors = FALSE))[, length(columns):1, drop = FALSE])
}

cells <- function(rows) do.call(paste, c(lapply(seq_len(ncol(rows)), function(j) rows[, j]), sep = "\r"))

matrix_of <- function(part) {  # row x holds p(. | x)
  if (!is.null(part[["rows"]])) return(t(sapply(part[["rows"]], function(row) sapply(row, number))))
  q <- sapply(part[["q"]], number)
  M <- matrix((1 - q) / (length(q) - 1), length(q), length(q))
  diag(M) <- q
  M
}

parts <- function(of, forms) if (is.null(of[["form"]]) || !of[["form"]] %in% forms) list(of) else of[["channels"]]
groups <- parts(channel, c("product", "strata"))
places <- outcomes(strata)
for (k in seq_along(groups)) for (part in parts(groups[[k]], if (length(strata)) "product")) {
  alone <- is.character(part[["output"]])  # a column by itself; else all that the channel reads and draws
  inputs <- if (alone) unlist(part[["inputs"]]) else setdiff(names(channel[["inputs"]]), strata)
  drawn <- if (alone) part[["output"]] else names(channel[["output"]])
  if (!all(c(channel[["form"]], part[["form"]]) %in% c("pram", "product", "strata")) || !is.null(card[["weights"]]) ||
      is.null(part[["rows"]]) && is.null(part[["q"]]) || any(inputs %in% unlist(card[["kept"]])))
    stop("this card needs the full package")
  seen <- as.matrix(table[, c(drawn, strata), drop = FALSE])
  for (column in colnames(seen)) {
    absent <- setdiff(c("", "?"), alphabets[[column]])
    seen[seen[, column] %in% absent, column] <- "(missing)"
  }
  known <- cells(outcomes(c(drawn, strata)))
  if (n < 2 || !all(cells(seen) %in% known)) stop("too few rows, or letters that the card lacks")
  place <- if (length(strata)) places[k, ] else character(0)
  letters_here <- outcomes(drawn)
  here <- cells(cbind(letters_here, matrix(rep(place, each = nrow(letters_here)), nrow(letters_here))))
  f <- as.vector(table(factor(cells(seen), levels = known))[here]) / n
  A <- solve(t(matrix_of(part)))  # p M = f
  p <- as.vector(A %*% f)
  square <- as.vector(A^2 %*% f)
  error <- sqrt(pmax(if (population) (square - p^2) / (n - 1) else (square - p) / n, 0))
  few <- if (min(f * n) < 9.5) " few rows: too narrow, ask the full package" else ""
  origin <- outcomes(inputs)
  for (x in seq_along(p)) {
    named <- paste(c(inputs, strata), c(origin[x, ], place), sep = "=", collapse = ", ")
    ends <- p[x] + c(-1.959964, 1.959964) * error[x]
    cat(sprintf("%s\t%.6f [%.6f, %.6f]%s\n", named, p[x], ends[1], ends[2], few))
  }
}
