"""Samples that are alike: channels that read how often each letter occurs."""
