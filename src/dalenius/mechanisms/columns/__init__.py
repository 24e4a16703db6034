"""One channel for the whole input, written out: independence, leakage, information privacy, distortion, rate."""
