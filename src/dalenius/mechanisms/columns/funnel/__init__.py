"""The most information about W under limits on what else is told: the privacy funnel and its relatives."""
