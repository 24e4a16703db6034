# Rscript estimate.R card.json released.csv [population]: the shares before the changes, with 95 % intervals.
# With `compare COLUMN=VALUE GROUP=ONE GROUP=OTHER` at the end: the share of a value in two groups, and how they differ.
# Needs the package jsonlite. Reads channels that are written out or of form "pram": one in all, or one for each column,
# or one for each stratum, or both.

arguments <- commandArgs(trailingOnly = TRUE)
usage <- "usage: Rscript estimate.R card.json released.csv [population] [compare COLUMN=VALUE GROUP=ONE GROUP=OTHER]"
further <- arguments[-(1:2)]
population <- identical(further[1], "population")
if (length(further) && further[1] %in% c("table", "population")) further <- further[-1]
if (length(arguments) < 2 || length(further) && (further[1] != "compare" || length(further) != 4)) stop(usage, call. = FALSE)
say <- function(text) tryCatch(cat(text), error = function(e) quit("no", 0))  # whoever reads may have seen enough
for (file in arguments[1:2]) if (!file.exists(file)) stop("there is no file ", file, "\n", usage, call. = FALSE)
card <- tryCatch(jsonlite::fromJSON(arguments[1], simplifyVector = FALSE),
                 error = function(e) stop(arguments[1], " is no card\n", usage, call. = FALSE))
if (identical(readBin(arguments[2], "raw", 4), charToRaw("PAR1")))
  stop(arguments[2], " is a Parquet file: write it as CSV", call. = FALSE)
beside <- sub("[.]json$", ".about.json", arguments[1])
about <- if (file.exists(beside)) jsonlite::fromJSON(beside, simplifyVector = FALSE) else list()

written <- function(channel, observe, outputs, strata) {  # a channel of a card as rows, or as shares that stay
  form <- channel[["form"]]
  if (form == "dense") {
    scale <- channel[["scale"]]
    return(list(rows = lapply(channel[["rows"]], function(row) lapply(row, function(v) paste(v, scale, sep = "/")))))
  }
  if (form == "pram") return(list(form = form, q = channel[["stay"]]))
  if (form == "windows") return(list(form = "product", channels = lapply(seq_along(channel[["windows"]]), function(k) {
    window <- channel[["windows"]][[k]]
    sides <- list(inputs = observe[unlist(window[["reads"]]) + 1], output = outputs[k])
    c(written(window[["channel"]], observe, outputs, strata), sides)
  })))
  if (form == "strata") return(list(form = form, strata = strata, channels = lapply(
    channel[["channels"]], written, observe = observe, outputs = outputs, strata = strata)))
  list(form = form)
}

told <- function(card, about) {  # with the names and values of what the channel reads and draws
  if (is.null(card[["mechanism"]])) return(card)
  mechanism <- card[["mechanism"]]
  letters_of <- setNames(lapply(card[["variables"]], function(v) v[["letters"]]),
                         sapply(card[["variables"]], function(v) v[["name"]]))
  observe <- as.character(unlist(mechanism[["observe"]]))
  strata <- as.character(unlist(mechanism[["strata"]]))
  own <- if (is.null(about[["output"]])) "Y" else about[["output"]]
  drawn <- letters_of[as.character(unlist(mechanism[["release"]]))]
  if (!length(drawn) && is.null(mechanism[["each"]]) && !is.null(card[["channel"]][["letters"]])) {
    values <- as.list(as.character(seq_len(card[["channel"]][["letters"]]) - 1))
    if (!is.null(about[["letters"]])) values <- about[["letters"]]
    if (!is.null(mechanism[["fresh"]])) values <- mechanism[["fresh"]]
    drawn <- setNames(list(values), own)
  }
  channel <- if (length(drawn)) written(card[["channel"]], observe, names(drawn), strata) else list(form = "?")
  channel <- c(list(inputs = letters_of[c(observe, strata)], output = drawn), channel)
  list(channel = channel, kept = c(unlist(mechanism[["keep"]]), strata), weights = about[["weights"]],
       marginals_preserved = about[["marginals_preserved"]])
}

card <- told(card, about)
channel <- if (is.null(card[["channel"]])) card else card[["channel"]]
table <- read.csv(arguments[2], colClasses = "character", check.names = FALSE, strip.white = TRUE,
                  na.strings = character(0), encoding = "UTF-8")
alphabets <- lapply(c(channel[["inputs"]], channel[["output"]]), unlist)
strata <- as.character(unlist(channel[["strata"]]))
n <- nrow(table)

number <- function(text) {
  parts <- as.numeric(strsplit(as.character(text), "/", fixed = TRUE)[[1]])
  if (length(parts) == 2) parts[1] / parts[2] else parts[1]
}

outcomes <- function(columns) {  # one row for each combination of values, the last column fastest
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

unbiased <- function(M) {  # rows a of A with M a = 1 at one original value and 0 elsewhere, and for which there are any
  n <- nrow(M)
  left <- cbind(M, diag(n))
  pivots <- integer(0)
  for (k in seq_len(min(dim(M)))) {  # Gauss and Jordan, by the largest entry that is left
    free <- setdiff(seq_len(ncol(M)), pivots)
    block <- abs(left[k:n, free, drop = FALSE])
    if (max(block) < 1e-6) break  # smaller pivots would turn the noise of any table into estimates
    best <- which(block == max(block), arr.ind = TRUE)[1, ]
    row <- k + best[[1]] - 1
    column <- free[best[[2]]]
    left[c(k, row), ] <- left[c(row, k), ]
    left[k, ] <- left[k, ] / left[k, column]
    for (i in setdiff(seq_len(n), k)) left[i, ] <- left[i, ] - left[i, column] * left[k, ]
    pivots <- c(pivots, column)
  }
  right <- left[, ncol(M) + seq_len(n), drop = FALSE]
  rank <- length(pivots)
  known <- rep(TRUE, n)
  if (rank < n) known <- apply(abs(right[(rank + 1):n, , drop = FALSE]), 2, max) <= 1e-9
  A <- matrix(0, n, ncol(M))
  A[, pivots] <- t(right[seq_len(rank), , drop = FALSE])
  list(A = A, known = known)
}

z <- 1.959964  # of a 95 % interval

asked <- function(words, inputs) {  # which original outcomes are in group 1 with the value, 1, 2 with the value, 2
  origin <- outcomes(inputs)
  sets <- sapply(words, function(word) {
    column <- sub("=.*", "", word)
    value <- substring(word, nchar(column) + 2)
    if (!column %in% inputs || !value %in% alphabets[[column]])
      stop(word, " is no column of the card with one of its values, or not of its only matrix", call. = FALSE)
    origin[, match(column, inputs)] == value
  })
  cbind(sets[, 2] & sets[, 1], sets[, 2], sets[, 3] & sets[, 1], sets[, 3]) * 1
}

compared <- function(M, sets, f, kept) {  # shares, difference and ratios with intervals by the delta method
  said <- function(sets) {  # what each released value says about them: on average, whether the original one is inside
    if (kept) return(sets)
    solved <- unbiased(M)
    if (!all(solved$known[rowSums(sets) > 0])) stop("not determined by what was released", call. = FALSE)
    t(solved$A) %*% sets
  }
  told <- said(sets)
  theta <- as.vector(f %*% told)
  C <- matrix(0, 4, 4)
  for (i in 1:4) for (j in 1:4) {
    common <- cbind(sets[, i] * sets[, j])
    together <- sum(f * told[, i] * told[, j])
    C[i, j] <- if (kept) {
      within <- sum(f * (M %*% common - (M %*% sets[, i]) * (M %*% sets[, j])))
      (within + if (population) together - theta[i] * theta[j] else 0) / n
    } else if (population) (together - theta[i] * theta[j]) / (n - 1) else (together - sum(f * said(common))) / n
  }
  error <- function(slope) sqrt(max(sum(outer(slope, slope) * C), 0))
  certain <- function(...) sum(c(...) * theta) > 0 && error(c(...)) <= 0.4 * sum(c(...) * theta)
  if (!certain(0, 1, 0, 0) || !certain(0, 0, 0, 1))
    stop("a group is too small in the release to know its shares", call. = FALSE)
  q <- theta[1] / theta[2]
  r <- theta[3] / theta[4]
  first <- c(1, -q, 0, 0) / theta[2]
  second <- c(0, 0, 1, -r) / theta[4]
  line <- function(name, value, low, high) say(sprintf("%s\t%.6f [%.6f, %.6f]\n", name, value, low, high))
  for (k in 1:2) {
    p <- c(q, r)[k]
    half <- z * error(if (k == 1) first else second)
    ends <- c(min(max(p - half, 0), p), max(min(p + half, 1), p))
    if (p > 0 && p < 1 && half <= 0.4 * z * min(p, 1 - p))  # on the scale of log odds
      ends <- plogis(qlogis(p) + c(-1, 1) * half / (p * (1 - p)))
    line(paste("share", k), p, ends[1], ends[2])
  }
  half <- z * error(first - second)
  line("difference", q - r, max(q - r - half, -1), min(q - r + half, 1))
  if (!certain(1, 0, 0, 0) || !certain(0, 0, 1, 0)) return(invisible())
  half <- z * error(first / q - second / r)
  line("risk ratio", q / r, q / r * exp(-half), q / r * exp(half))
  if (!certain(-1, 1, 0, 0) || !certain(0, 0, -1, 1)) return(invisible())
  odds <- q / (1 - q) * (1 - r) / r
  half <- z * error(first / q / (1 - q) - second / r / (1 - r))
  line("odds ratio", odds, odds * exp(-half), odds * exp(half))
}

parts <- function(of, forms) if (is.null(of[["form"]]) || !of[["form"]] %in% forms) list(of) else of[["channels"]]
groups <- parts(channel, c("product", "strata"))
places <- outcomes(strata)
for (k in seq_along(groups)) for (part in parts(groups[[k]], if (length(strata)) "product")) {
  alone <- is.character(part[["output"]])  # a column by itself; else all that the channel reads and draws
  inputs <- if (alone) unlist(part[["inputs"]]) else setdiff(names(channel[["inputs"]]), strata)
  drawn <- if (alone) part[["output"]] else names(channel[["output"]])
  if (!all(c(channel[["form"]], part[["form"]]) %in% c("pram", "product", "strata")) ||
      is.null(part[["rows"]]) && is.null(part[["q"]]) || any(inputs %in% unlist(card[["kept"]])))
    stop("this card needs the full package")
  weigh <- intersect(unlist(card[["weights"]]), unlist(card[["kept"]]))
  absent <- setdiff(c(drawn, strata, weigh), names(table))
  if (length(absent)) stop(arguments[2], " has no column ", absent[1], ": it is not the release of this card", call. = FALSE)
  seen <- as.matrix(table[, c(drawn, strata), drop = FALSE])
  for (column in colnames(seen)) {
    absent <- setdiff(c("", "?"), alphabets[[column]])
    seen[seen[, column] %in% absent, column] <- "(missing)"
  }
  known <- cells(outcomes(c(drawn, strata)))
  if (n < 2 || !all(cells(seen) %in% known)) stop("too few rows, or values that the card lacks")
  place <- if (length(strata)) places[k, ] else character(0)
  letters_here <- outcomes(drawn)
  here <- cells(cbind(letters_here, matrix(rep(place, each = nrow(letters_here)), nrow(letters_here))))
  w <- if (length(weigh)) suppressWarnings(as.numeric(table[[weigh]])) else rep(1, n)
  if (anyNA(w) || any(w < 0)) stop(weigh, " has a value that is no weight", call. = FALSE)
  total <- sum(w)
  by_cell <- function(values) {  # summed by the released values, in the order of the matrix
    sums <- tapply(values, factor(cells(seen), levels = known), sum)[here]
    as.vector(ifelse(is.na(sums), 0, sums))
  }
  rows_here <- by_cell(rep(1, n))
  f <- by_cell(w) / total
  v <- by_cell(w^2) / total^2
  M <- matrix_of(part)
  if (any(f > 0 & colSums(M) == 0))
    stop("a released value has probability 0 for every original one: this card did not draw the table", call. = FALSE)
  origin <- outcomes(inputs)
  kept_law <- isTRUE(card[["marginals_preserved"]]) && length(strata) == 0 && identical(inputs, drawn) && !length(weigh)
  if (length(further)) {
    if (length(strata) || length(weigh) || !is.null(channel[["channels"]]))
      stop("a comparison by weights or across several matrices needs the full package: dalenius estimate --compare",
           call. = FALSE)
    compared(M, asked(further[-1], inputs), f, kept_law)
    break
  }
  if (kept_law) {  # released shares are right on average
    within <- as.vector(f %*% (M * (1 - M)))
    error <- sqrt((within + if (population) f * (1 - f) else 0) / n)
    half <- 2.018763 * error + ifelse(f * n < 29.5 & error > 0, 1.92 / n, 0)
    for (x in seq_along(f)) {
      named <- paste(inputs, origin[x, ], sep = "=", collapse = ", ")
      say(sprintf("%s\t%.6f [%.6f, %.6f]\n", named, f[x], max(f[x] - half[x], 0), min(f[x] + half[x], 1)))
    }
    next
  }
  solved <- unbiased(M)
  A <- solved$A
  p <- as.vector(A %*% f)
  own <- as.vector(A %*% v)
  square <- as.vector(A^2 %*% v)
  wider <- n / (n - 1) * (square - 2 * p * own + p^2 * sum(w^2) / total^2)
  error <- sqrt(pmax(if (population) wider else square - own, 0))
  spread <- pmax(rows_here, 3)
  thin <- as.vector(A^2 %*% ifelse(rows_here < 9.5, spread, 0)) > 0.1 * as.vector(A^2 %*% spread) & error > 1e-9
  origin <- outcomes(inputs)
  for (x in seq_along(p)) {
    named <- paste(c(inputs, strata), c(origin[x, ], place), sep = "=", collapse = ", ")
    ends <- p[x] + c(-z, z) * error[x]
    said <- if (!solved$known[x]) "not determined by what was released"
      else if (thin[x]) "not recovered: too few released rows carry it (the full package gives exact intervals)"
      else if (z * error[x] > 0.5) "not determined by what was released: the noise is larger than any share"
      else sprintf("%.6f [%.6f, %.6f]", p[x], ends[1], ends[2])
    say(sprintf("%s\t%s\n", named, said))
  }
}
