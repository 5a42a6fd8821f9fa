"""Policies: what is done when backends fail, are slow, limit their rate or cost more than is allowed."""
