"""Form "records": records of a table become records of the table, so that wide tables can be released."""
