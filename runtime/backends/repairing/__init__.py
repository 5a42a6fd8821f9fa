"""Repair of what backends answer that enforce too little: legal texts within bounds, or an error."""
