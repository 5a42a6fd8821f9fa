"""Sets of values and their unions, intersections and complements."""
