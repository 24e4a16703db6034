"""Long runs against damage: mutated inputs, kills, full disks. `make torture`."""
