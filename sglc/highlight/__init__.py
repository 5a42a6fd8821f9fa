"""How programs are coloured: one table of classes, and writers of the grammars that editors and pages read."""
