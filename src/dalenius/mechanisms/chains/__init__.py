"""Many independent samples: windows, sums modulo M, cells of equal probability."""
