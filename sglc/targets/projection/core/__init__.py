"""What projections are told and what they say: capabilities, enforcements, losses."""
