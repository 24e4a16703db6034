"""What was released about the same people so far, and what it adds up to; durable, and strict before the draw."""

from dalenius.ledger.accounting import RULES, Spent, spent
from dalenius.ledger.book import Ledger
from dalenius.ledger.budget import Line, budget_of
from dalenius.ledger.entry import Entry

__all__ = ["RULES", "Entry", "Ledger", "Line", "Spent", "budget_of", "spent"]
