"""Steps that touch the world, each run as Temporal runs it: perhaps twice, perhaps cut off."""
