"""The price of a program before it is paid: its texts, holes and bounds, beside what a run took."""
