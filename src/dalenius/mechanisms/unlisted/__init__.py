"""Channels with too many entries to be written out: what is proved, seen and charged by their form alone."""
