"""Repair: legal texts from models that only write text, which no mask can reach."""
