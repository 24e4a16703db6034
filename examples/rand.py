"""The RAND Health Insurance Experiment in columns that people can read, for the examples beside this file.

The table ships inside statsmodels: 20,190 person-years of an experiment that gave families different insurance plans.
"""

from importlib.resources import files

import numpy as np
import pyarrow as pa
import pyarrow.csv

__all__ = ["rand_health", "rand_wide"]


def rand_health() -> pa.Table:
    """Self-rated health, the plan, visits to a doctor in the year, an index of chronic illnesses, physical limits."""
    with files("statsmodels.datasets.randhie").joinpath("randhie.csv").open("rb") as file:
        raw = pa.csv.read_csv(file)
    column = {name: raw[name].to_numpy() for name in raw.column_names}
    fair_or_poor = (column["hlthf"] == 1) | (column["hlthp"] == 1)
    return pa.table(
        {
            "health": np.select([fair_or_poor, column["hlthg"] == 1], ["fair or poor", "good"], "excellent"),
            "plan": np.where(column["lncoins"] == 0, "free care", "cost sharing"),  # log of the coinsurance rate plus 1
            "visits": column["mdvis"],
            "illnesses": column["disea"],
            "limited": np.where(column["physlm"] > 0.5, "yes", "no"),
        }
    )


def rand_wide() -> pa.Table:
    """All ten columns of the table under names that people can read; what was measured in logarithms stays so."""
    names = {
        "mdvis": "visits",
        "lncoins": "log_coinsurance",
        "idp": "individual_deductible",
        "lpi": "log_incentive",
        "fmde": "log_deductible",
        "physlm": "limited",
        "disea": "illnesses",
        "hlthg": "health_good",
        "hlthf": "health_fair",
        "hlthp": "health_poor",
    }
    with files("statsmodels.datasets.randhie").joinpath("randhie.csv").open("rb") as file:
        return pa.csv.read_csv(file).select(list(names)).rename_columns(list(names.values()))
