# Rscript estimate.R card.json released.csv [population]: the shares before the changes, with 95 % intervals.
# An analysis at the end: `compare COLUMN=VALUE GROUP=ONE GROUP=OTHER` (a share in two groups, their difference and
# ratios), `within COLUMN GROUP ...` (shares within groups), `shares COLUMN ...` (of all combinations), `linear COLUMN
# ON ...` and `logistic COLUMN=VALUE ON ...` (regressions; ON is a column, or COLUMN:number; without ON the mean).
# Needs the package jsonlite. Reads channels that are written out or of form "pram": one in all, or one for each column,
# or one for each stratum, or both; and noise that stays on the grid of each column. Other cards need the full package.

arguments <- commandArgs(trailingOnly = TRUE)
usage <- paste0("usage: Rscript estimate.R card.json released.csv [population] [ANALYSIS]\n",
  "ANALYSIS: compare COLUMN=VALUE GROUP=ONE GROUP=OTHER | within COLUMN GROUP ... | shares COLUMN ...\n",
  "        | linear COLUMN ON ... | logistic COLUMN=VALUE ON ... (ON is a column, or COLUMN:number)")
understood <- function(words) {  # whether the words after the files are an analysis
  if (!length(words)) return(TRUE)
  values <- grepl("=", words[-1], fixed = TRUE)
  many <- length(values)
  switch(words[1], compare = many == 3 && all(values), shares = many >= 1 && !any(values),
         within = many >= 2 && !any(values), linear = many >= 1 && !any(values), logistic = many >= 2 && values[1] && !any(values[-1]), FALSE)
}
further <- arguments[-(1:2)]
population <- identical(further[1], "population")
if (length(further) && further[1] %in% c("table", "population")) further <- further[-1]
if (length(arguments) < 2 || !understood(further)) stop(usage, call. = FALSE)
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
  if (form == "noise") return(on_grids(channel, outputs))
  list(form = form)
}

on_grids <- function(channel, names) {  # noise on each column by itself, within its grid: a matrix for each
  axes <- channel[["axes"]]
  many <- unlist(channel[["letters"]])
  own <- function(rows) identical(matrix(as.character(unlist(rows)), length(names)), matrix(as.character(diag(length(names))), length(names)))
  wide <- any(sapply(axes, function(a) a[["low"]]) != "0" | sapply(axes, function(a) a[["high"]]) != as.character(many - 1))
  if (wide || !own(channel[["give"]]) || !own(lapply(axes, function(a) a[["take"]]))) return(list(form = "noise"))
  list(form = "product", channels = lapply(seq_along(names), function(k) {
    weights <- as.numeric(unlist(axes[[k]][["weights"]]))
    reach <- length(weights) - 1
    M <- matrix(0, many[k], many[k])
    for (x in seq_len(many[k])) for (step in -reach:reach) {  # what falls beyond an end is released as that end
      y <- min(max(x + step, 1), many[k])
      M[x, y] <- M[x, y] + weights[abs(step) + 1]
    }
    list(rows = TRUE, M = M / (2 * sum(weights) - weights[1]), inputs = names[k], output = names[k])
  }))
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
in_all <- Filter(function(change) change[["column"]] == about[["changes"]][[1]][["column"]], about[["changes"]])
channel <- if (is.null(card[["channel"]])) card else card[["channel"]]
table <- read.csv(arguments[2], colClasses = "character", check.names = FALSE, strip.white = TRUE,
                  na.strings = character(0), encoding = "UTF-8")
alphabets <- lapply(c(channel[["inputs"]], channel[["output"]]), unlist)
strata <- as.character(unlist(channel[["strata"]]))
n <- nrow(table)
if (length(in_all) && sum(sapply(in_all, function(change) change[["rows_after"]])) != n)
  card[["marginals_preserved"]] <- FALSE  # a part of the release has other shares than those that are preserved

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
  if (!is.null(part[["M"]])) return(part[["M"]])
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

z <- qnorm(0.975)  # of a 95 % interval

inverted <- function(M) {  # the same; of more released values than original ones, what varies least if all are alike
  share <- colMeans(M)
  if (nrow(M) < ncol(M)) {
    least <- sweep(M, 2, ifelse(share > 0, 1 / share, 0), "*")
    solved <- unbiased(least %*% t(M))
    if (all(solved$known)) return(list(A = solved$A %*% least, known = solved$known))
  }
  unbiased(M)
}

along <- function(values, matrices) {  # each matrix along its own axis: the first one is taken away and put last, changed
  for (M in matrices) values <- as.vector(t(t(matrix(values, nrow(M), byrow = TRUE)) %*% M))
  values
}

means_of <- function(parts, w, preserved) {  # means of functions of the original outcomes, with their covariance
  columns <- unlist(lapply(parts, function(part) part$inputs))
  drawn <- unlist(lapply(parts, function(part) part$drawn))
  if (prod(lengths(alphabets[columns])) > 20000 || prod(lengths(alphabets[drawn])) > 20000)
    stop("so many combinations of values need the full package; name fewer columns", call. = FALSE)
  M <- lapply(parts, function(part) part$M)
  known <- cells(outcomes(drawn))
  place <- match(cells(as.matrix(table[, drawn, drop = FALSE])), known)
  by_cell <- function(values) {
    sums <- tapply(values, factor(place, levels = seq_along(known)), sum)
    as.vector(ifelse(is.na(sums), 0, sums))
  }
  told <- list(columns = columns, origin = outcomes(columns), preserved = preserved)
  f <- by_cell(w) / sum(w)
  told$counts <- f * sum(w)^2 / sum(w^2)  # rows that count alike and say as much
  v <- by_cell(w^2) / sum(w)^2
  back <- if (!preserved) lapply(M, function(m) { solved <- inverted(m); solved$A * solved$known })
  told$law <- if (preserved) f else along(f, lapply(back, t))
  told$mean <- function(g) sum(told$law * g)
  told$many_carry <- function(g) {
    square <- along(g, back)^2 * pmax(told$counts, 3)
    sum(square[told$counts < 9.5]) <= 0.1 * sum(square)
  }
  told$counting <- function(g) {  # rows that count alike and say as much; no end of them where no draw changes any mean
    ways <- if (preserved) lapply(M, t) else back
    still <- max(abs(apply(g^2, 2, along, matrices = ways) - apply(g, 2, along, matrices = ways)^2)) < 1e-12
    if (!population && still) Inf else 1 / sum(v)
  }
  told$covariance <- function(g) {  # of the means of functions, one in each column
    value <- as.vector(told$law %*% g)
    pooled <- function() t(g) %*% (g * told$law) - outer(value, value)
    if (preserved) {
      inside <- apply(g, 2, along, matrices = lapply(M, t))
      within <- t(g) %*% (g * along(f, M)) - t(inside) %*% (inside * f)
      return((within + if (population) pooled() else 0) / n)
    }
    h <- apply(g, 2, along, matrices = back)
    again <- apply(h, 2, along, matrices = lapply(M, t))
    if (any(apply(abs(again - g), 2, max) > 1e-7 * pmax(1, apply(abs(g), 2, max))))
      stop("not determined by what was released", call. = FALSE)
    if (population) {
      apart <- sweep(h, 2, value)
      return(t(apart) %*% (apart * v) * n / (n - 1))
    }
    t(h) %*% (h * v) - t(g) %*% (g * along(v, lapply(back, t)))
  }
  told
}

column_of <- function(told, column) told$origin[, match(column, told$columns)]

has <- function(told, word) {  # COLUMN=VALUE: 1 where an original outcome has this value, else 0
  column <- sub("=.*", "", word)
  value <- substring(word, nchar(column) + 2)
  if (!column %in% told$columns || !value %in% alphabets[[column]])
    stop(word, " is no column of the card with one of its values", call. = FALSE)
  (column_of(told, column) == value) * 1
}

padding <- function(p, rows) ifelse(is.finite(rows) & pmin(p, 1 - p) * rows < 29.5, z^2 / 2 / rows, 0)  # of shares that rest on a handful of rows

unsaid <- "too uncertain to say"

in_words <- function(figure, more = 0, least = 0, most = 1) {  # cut to what is possible; what lies beyond is still in it
  p <- figure[1]
  low <- max(figure[2] - more, least)
  high <- min(figure[3] + more, most)
  if (!is.nan(p)) return(sprintf("%.6f [%.6f, %.6f]", p, min(low, p), max(high, p)))
  if (low == least && high == most) unsaid else sub("Inf", "no limit", sprintf("[%.6f, %.6f]", low, high))
}

quotient <- function(t, b, top, bottom, C, least = 0, most = 1) {  # t/b with the r that t - r b does not rule out (Fieller)
  both <- function(one, other) sum(outer(one, other) * C)
  of_top <- max(both(top, top), 0)
  of_bottom <- max(both(bottom, bottom), 0)
  of_both <- both(top, bottom)
  clear <- b^2 - z^2 * of_bottom
  middle <- t * b - z^2 * of_both
  less <- z^2 * max(of_top * of_bottom - of_both^2, 0)
  root <- z * sqrt(max(b^2 * of_top - 2 * t * b * of_both + t^2 * of_bottom - less, 0))
  if (b > 0 && clear > 0) return(c(t / b, min((middle - root) / clear, t / b), max((middle + root) / clear, t / b)))
  if (b > 0 && clear < 0 && root > 0) {  # all r but those between the roots
    below <- (middle + root) / clear
    above <- (middle - root) / clear
    if (below < least && least <= above && above <= most) return(c(NaN, above, most))
    if (least <= below && below <= most && most < above) return(c(NaN, least, below))
  }
  c(NaN, least, most)
}

few_more <- function(found, rows) if (is.nan(found[1])) 0 else padding(found[1], rows)

ratio <- function(t, b, top, bottom, C) {  # the wider of the intervals on its own scale and on that of logarithms
  found <- quotient(t, b, top, bottom, C, 0, Inf)
  slope <- top / t - bottom / b
  half <- z * sqrt(max(sum(outer(slope, slope) * C), 0))
  ends <- exp(pmin(log(t / b) + c(-half, half), 700))
  if (!is.nan(found[1])) found[2:3] <- c(min(found[2], ends[1]), max(found[3], ends[2]))
  in_words(found, 0, 0, Inf)
}

compared <- function(told, words) {  # shares, difference and ratios of two groups
  sets <- sapply(words, has, told = told)
  sets <- cbind(sets[, 2] * sets[, 1], sets[, 2], sets[, 3] * sets[, 1], sets[, 3])
  theta <- as.vector(told$law %*% sets)
  C <- told$covariance(sets)
  rows <- told$counting(sets)
  m <- theta[1]; one <- theta[2]; k <- theta[3]; other <- theta[4]
  rest <- one - m
  left <- other - k
  least <- 5 / rows
  shares <- list(if (one > least) quotient(m, one, c(1, 0, 0, 0), c(0, 1, 0, 0), C) else c(NaN, 0, 1),
                 if (other > least) quotient(k, other, c(0, 0, 1, 0), c(0, 0, 0, 1), C) else c(NaN, 0, 1))
  few <- c(few_more(shares[[1]], one * rows), few_more(shares[[2]], other * rows))
  said <- c(`share 1` = in_words(shares[[1]], few[1]), `share 2` = in_words(shares[[2]], few[2]),
            difference = unsaid, `risk ratio` = unsaid, `odds ratio` = unsaid)
  known <- !is.nan(shares[[1]][1]) && !is.nan(shares[[2]][1])  # else the gradients of products say nothing
  if (known) {
    apart <- quotient(m * other - k * one, one * other, c(other, -k, -one, m), c(0, other, 0, one), C, -1, 1)
    said["difference"] <- in_words(apart, sum(few), -1)
  }
  if (known && min(m, k) > least) said["risk ratio"] <- ratio(m * other, k * one, c(other, 0, 0, m), c(0, k, one, 0), C)
  if (known && min(m, k, rest, left) > least)
    said["odds ratio"] <- ratio(m * left, rest * k, c(left, 0, -m, m), c(-k, k, rest, 0), C)
  if (all(said == unsaid))
    stop("the release does not say well enough how many rows the groups had: every share and every ratio fits it", call. = FALSE)
  say(paste0(names(said), "\t", said, "\n", collapse = ""))
}

within_groups <- function(told, words) {  # the shares of the values of the first column within the groups of the others
  groups <- outcomes(words[-1])
  for (k in seq_len(nrow(groups))) {
    inside <- Reduce(`*`, lapply(seq_len(ncol(groups)), function(j) (column_of(told, words[j + 1]) == groups[k, j]) * 1))
    sets <- sapply(alphabets[[words[1]]], function(value) inside * (column_of(told, words[1]) == value))
    theta <- as.vector(told$law %*% sets)
    C <- told$covariance(sets)
    size <- sum(theta)
    rows <- told$counting(sets)
    for (j in seq_along(theta)) {
      own <- (seq_along(theta) == j) * 1
      found <- if (size > 5 / rows) quotient(theta[j], size, own, rep(1, length(theta)), C) else c(NaN, 0, 1)
      said <- in_words(found, few_more(found, size * rows))
      named <- paste(words[-1], groups[k, ], sep = "=", collapse = ", ")
      say(paste0(words[1], "=", alphabets[[words[1]]][j], " where ", named, "\t", said, "\n"))
    }
  }
}

joint <- function(told, words) {  # the shares of all combinations of some columns
  wanted <- outcomes(words)
  for (k in seq_len(nrow(wanted))) {
    g <- Reduce(`*`, lapply(seq_along(words), function(j) (column_of(told, words[j]) == wanted[k, j]) * 1))
    p <- told$mean(g)
    error <- sqrt(max(told$covariance(cbind(g)), 0))
    half <- z * error
    said <- sprintf("%.6f [%.6f, %.6f]", p, p - half, p + half)
    if (told$preserved) {
      half <- 2.018763 * error + padding(p, told$counting(cbind(g)))
      said <- sprintf("%.6f [%.6f, %.6f]", p, max(p - half, 0), min(p + half, 1))
    } else if (is.finite(told$counting(cbind(g))) && !told$many_carry(g)) said <- few_rows
    else if (half > 0.5) said <- hidden
    say(paste0(paste(words, wanted[k, ], sep = "=", collapse = ", "), "\t", said, "\n"))
  }
}

numbers <- function(told, column) {  # the numbers that the values of a column are
  values <- suppressWarnings(sapply(alphabets[[column]], number))
  if (anyNA(values)) stop("the values of ", column, " are not all numbers", call. = FALSE)
  unname(values[match(column_of(told, column), alphabets[[column]])])
}

regressors <- function(told, on) {  # a constant; for each column its numbers, or whether it has each value but the first
  X <- cbind(`(intercept)` = rep(1, nrow(told$origin)))
  for (word in on) {
    column <- sub(":.*", "", word)
    if (grepl(":number$", word)) {
      X <- cbind(X, numbers(told, column))
      colnames(X)[ncol(X)] <- column
      next
    }
    for (value in alphabets[[column]]) {
      inside <- (column_of(told, column) == value) * 1
      share <- told$mean(inside)
      error <- sqrt(max(told$covariance(cbind(inside)), 0))
      if (!(share > 0) || error > 0.5 * share)
        stop(column, " = ", value, " is too rare in the release for a coefficient; ",
             if (!anyNA(suppressWarnings(sapply(alphabets[[column]], number)))) paste0("say ", column, ":number, or "),
             "leave ", column, " out", call. = FALSE)
      if (value == alphabets[[column]][1]) next
      X <- cbind(X, inside)
      colnames(X)[ncol(X)] <- paste(column, "=", value)
    }
  }
  X
}

root <- function(law, X, response, beta, logistic) {  # where the scores are zero, by Newton's steps, halved if need be
  fit <- function(at) if (logistic) plogis(as.vector(X %*% at)) else as.vector(X %*% at)
  score <- function(at) as.vector(t(X) %*% (law * (response - fit(at))))
  now <- score(beta)
  for (round in 1:60) {
    if (max(abs(now)) < 1e-10 * max(1, abs(response))) return(beta)
    p <- fit(beta)
    solved <- unbiased(t(X) %*% (X * (law * if (logistic) p * (1 - p) else 1)))
    if (!all(solved$known)) stop(if (logistic) separated else follows, call. = FALSE)
    step <- as.vector(solved$A %*% now)
    for (half in 1:40) {
      after <- score(beta + step)
      if (sum(abs(after)) < sum(abs(now))) break
      step <- step / 2
    }
    if (!(sum(abs(after)) < sum(abs(now)))) break
    beta <- beta + step
    now <- after
  }
  stop(separated, call. = FALSE)
}

separated <- "the coefficients are not determined: a group has all of its rows with the value, or none"
follows <- "the coefficients are not determined: a regressor follows from the others, or the noise hides it"

regressed <- function(told, outcome, on, logistic) {  # scores corrected for the draws
  response <- if (logistic) has(told, outcome) else numbers(told, outcome)
  X <- regressors(told, on)
  scale <- sqrt(pmax(as.vector(abs(told$law) %*% X^2), 1e-300))
  Z <- sweep(X, 2, scale, "/")
  beta <- rep(0, ncol(Z))
  for (law in if (logistic) list(pmax(told$law, 0), told$law) else list(told$law)) beta <- root(law, Z, response, beta, logistic)
  fitted <- if (logistic) plogis(as.vector(Z %*% beta)) else as.vector(Z %*% beta)
  weight <- if (logistic) fitted * (1 - fitted) else rep(1, nrow(Z))
  J <- t(Z) %*% (Z * (told$law * weight))
  solved <- unbiased(J)
  least <- eigen(J, symmetric = TRUE)
  if (!all(solved$known) || min(least$values) <= 0) stop(follows, call. = FALSE)
  weakest <- as.vector(Z %*% least$vectors[, ncol(Z)])^2 * weight
  if (!(min(least$values) > max(2 * sqrt(max(told$covariance(cbind(weakest)), 0)), 1e-7)))
    stop("the coefficients are not determined: the noise is as large as what these columns vary; name fewer", call. = FALSE)
  C <- solved$A %*% told$covariance(Z * (response - fitted)) %*% t(solved$A)
  for (j in seq_along(beta)) {
    both <- (beta[j] + c(-1, 1) * ends(told, Z, response, beta, C, j, logistic)) / scale[j]
    said <- sprintf("%s\t%.6g [%.6g, %.6g]\n", colnames(X)[j], beta[j] / scale[j], both[1], both[2])
    say(gsub("-?Inf", "no limit", said))
  }
}

ends <- function(told, Z, response, beta, C, j, logistic) {  # how far a coefficient may lie that its score does not rule out
  half <- z * sqrt(max(C[j, j], 0))
  if (half < 1e-7) return(c(half, half))  # known but for rounding
  beyond <- function(away) {
    at <- as.vector(Z %*% (beta + away * C[, j] / C[j, j]))
    fitted <- if (logistic) plogis(at) else at
    weight <- if (logistic) fitted * (1 - fitted) else 1
    a <- efficient(t(Z) %*% (Z * (told$law * weight)), j)
    if (is.null(a)) return(NaN)
    score <- as.vector(Z %*% a) * (response - fitted)
    abs(told$mean(score)) - z * sqrt(max(told$covariance(cbind(score)), 0))
  }
  c(crossing(beyond, -half), crossing(beyond, half))
}

efficient <- function(J, j) {  # a with J a = 1 in the place j, else 0; nothing where a regressor follows from the others
  if (!all(diag(J) > 0)) return(NULL)
  size <- sqrt(diag(J))
  root <- tryCatch(chol(J / outer(size, size)), error = function(e) NULL)
  if (is.null(root) || min(diag(root))^2 < 1e-6) return(NULL)
  as.vector(backsolve(root, backsolve(root, (seq_along(size) == j) / size, transpose = TRUE))) / size
}

crossing <- function(beyond, start) {  # how far from 0, in the direction of `start`, something first is above 0
  inside <- 0
  out <- start
  low <- beyond(0)
  for (step in 1:8) {
    high <- beyond(out)
    if (is.nan(high) || high >= 0) break
    inside <- out
    low <- high
    out <- out * 1.6
  }
  if (is.nan(high) || high < 0) return(Inf)
  for (round in 1:60) {  # false position, halved where an end stays
    at <- (inside * high - out * low) / (high - low)
    found <- beyond(at)
    if (is.nan(found)) return(Inf)
    if (abs(found) < 1e-10 * abs(start)) return(abs(at))
    if (found > 0) {
      out <- at
      high <- found
      low <- low / 2
    } else {
      inside <- at
      low <- found
      high <- high / 2
    }
  }
  abs(out)
}

analysed <- function(words, parts) {  # one of the analyses, from all matrices that say something about its columns
  about <- words[-1]
  named <- sub(":.*", "", sub("=.*", "", about))
  wanted <- unique(named)
  # The second group of a comparison may be of the first one's column.
  if (anyDuplicated(about) || length(wanted) < length(named) - (words[1] == "compare" && named[2] == named[3]))
    stop("an analysis names each column once, and compares two different groups by other columns", call. = FALSE)
  parts <- Filter(function(part) any(part$inputs %in% wanted), parts)
  there <- unlist(lapply(parts, function(part) part$inputs))
  for (column in setdiff(intersect(wanted, intersect(unlist(card[["kept"]]), names(table))), there)) {
    alphabets[[column]] <<- sort(unique(table[[column]]), method = "radix")
    parts <- c(parts, list(list(inputs = column, drawn = column, M = diag(length(alphabets[[column]])))))
    there <- c(there, column)
  }
  if (length(absent <- setdiff(wanted, there))) stop(absent[1], " is no column of the card", call. = FALSE)
  preserved <- isTRUE(card[["marginals_preserved"]]) && !length(weigh) && length(parts) == 1 &&
    identical(parts[[1]]$inputs, parts[[1]]$drawn) && !length(unlist(card[["kept"]]))
  told <- means_of(parts, w, preserved)
  switch(words[1], compare = compared(told, about), within = within_groups(told, about), shares = joint(told, about),
         linear = regressed(told, about[1], about[-1], FALSE), logistic = regressed(told, about[1], about[-1], TRUE))
}

in_strata <- function(found) {  # one matrix for all strata, which leave as they are: a block for each
  inside <- dim(found[[1]]$M)
  M <- matrix(0, inside[1] * length(found), inside[2] * length(found))
  for (k in seq_along(found))
    M[(seq_len(inside[1]) - 1) * length(found) + k, (seq_len(inside[2]) - 1) * length(found) + k] <- found[[k]]$M
  list(inputs = c(found[[1]]$inputs, strata), drawn = c(found[[1]]$drawn, strata), M = M)
}

few_rows <- "not recovered: too few released rows carry it (the full package gives exact intervals)"
hidden <- "not determined by what was released: the noise is larger than any share"

parts <- function(of, forms) if (is.null(of[["form"]]) || !of[["form"]] %in% forms) list(of) else of[["channels"]]
groups <- parts(channel, c("product", "strata"))
places <- outcomes(strata)
found <- list()
for (k in seq_along(groups)) for (part in parts(groups[[k]], if (length(strata)) "product")) {
  alone <- is.character(part[["output"]])  # a column by itself; else all that the channel reads and draws
  inputs <- if (alone) unlist(part[["inputs"]]) else setdiff(names(channel[["inputs"]]), strata)
  drawn <- if (alone) part[["output"]] else names(channel[["output"]])
  if (!all(c(channel[["form"]], part[["form"]]) %in% c("pram", "product", "strata")) ||
      is.null(part[["rows"]]) && is.null(part[["q"]]) || any(inputs %in% unlist(card[["kept"]])))
    stop("this card needs the full package: dalenius estimate", call. = FALSE)
  place <- if (length(strata)) places[k, ] else character(0)
  found <- c(found, list(list(inputs = inputs, drawn = drawn, M = matrix_of(part), place = place)))
}
weigh <- intersect(unlist(card[["weights"]]), unlist(card[["kept"]]))
columns <- c(unique(unlist(lapply(found, function(part) part$drawn))), strata)
absent <- setdiff(c(columns, weigh), names(table))
if (length(absent)) stop(arguments[2], " has no column ", absent[1], ": it is not the release of this card", call. = FALSE)
for (column in columns) {
  table[table[[column]] %in% setdiff(c("", "?"), alphabets[[column]]), column] <- "(missing)"
  if (n < 2 || !all(table[[column]] %in% alphabets[[column]]))
    stop("too few rows, or values that the card lacks", call. = FALSE)
}
w <- if (length(weigh)) suppressWarnings(as.numeric(table[[weigh]])) else rep(1, n)
if (anyNA(w) || any(w < 0) || any(is.infinite(w))) stop(weigh, " has a value that is no weight: a number from 0 on", call. = FALSE)
if (!any(w > 0)) stop("no row has a weight above 0 in ", weigh, ", so that nothing counts", call. = FALSE)
for (part in found) {
  drawn <- part$drawn
  letters_here <- outcomes(drawn)
  here <- cells(cbind(letters_here, matrix(rep(part$place, each = nrow(letters_here)), nrow(letters_here))))
  seen <- cells(as.matrix(table[, c(drawn, strata), drop = FALSE]))
  if (any(here %in% seen & colSums(part$M) == 0))
    stop("a released value has probability 0 for every original one: this card did not draw the table", call. = FALSE)
  if (length(further)) next
  inputs <- part$inputs
  origin <- outcomes(inputs)
  by_cell <- function(values) {  # summed by the released values, in the order of the matrix
    sums <- tapply(values, factor(seen, levels = here), sum)
    as.vector(ifelse(is.na(sums), 0, sums))
  }
  f <- by_cell(w) / sum(w)
  rows_here <- f * sum(w)^2 / sum(w^2)  # rows that count alike and say as much
  v <- by_cell(w^2) / sum(w)^2
  M <- part$M
  if (isTRUE(card[["marginals_preserved"]]) && length(strata) == 0 && identical(inputs, drawn) && !length(weigh)) {
    within <- as.vector(f %*% (M * (1 - M)))  # released shares are right on average
    error <- sqrt((within + if (population) f * (1 - f) else 0) / n)
    steady <- !population & colSums(M > 0 & M < 1) == 0  # no draw changes them
    half <- 2.018763 * error + ifelse(steady, 0, padding(f, n))
    for (x in seq_along(f)) {
      named <- paste(inputs, origin[x, ], sep = "=", collapse = ", ")
      say(sprintf("%s\t%.6f [%.6f, %.6f]\n", named, f[x], max(f[x] - half[x], 0), min(f[x] + half[x], 1)))
    }
    next
  }
  solved <- inverted(M)
  A <- solved$A
  p <- as.vector(A %*% f)
  own <- as.vector(A %*% v)
  square <- as.vector(A^2 %*% v)
  wider <- n / (n - 1) * (square - 2 * p * own + p^2 * sum(w^2) / sum(w)^2)
  error <- sqrt(pmax(if (population) wider else square - own, 0))
  spread <- pmax(rows_here, 3)
  thin <- as.vector(A^2 %*% ifelse(rows_here < 9.5, spread, 0)) > 0.1 * as.vector(A^2 %*% spread)
  thin <- thin & (population | rowSums(A != 0 & A != 1) > 0)  # else no draw changes it
  for (x in seq_along(p)) {
    named <- paste(c(inputs, strata), c(origin[x, ], part$place), sep = "=", collapse = ", ")
    ends <- p[x] + c(-z, z) * error[x]
    said <- if (!solved$known[x]) "not determined by what was released"
      else if (thin[x]) few_rows
      else if (z * error[x] > 0.5) hidden
      else sprintf("%.6f [%.6f, %.6f]", p[x], ends[1], ends[2])
    say(sprintf("%s\t%s\n", named, said))
  }
}
if (length(further)) {
  if (length(strata) && length(found) > length(groups))
    stop("a matrix for each column in each stratum needs the full package for this: dalenius estimate", call. = FALSE)
  analysed(further, if (length(strata)) list(in_strata(found)) else found)
}
