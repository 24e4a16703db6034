"""One folder for each mechanism: how it is asked for, designed, proved, drawn, examined and put into words."""
