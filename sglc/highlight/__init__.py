"""How programs are coloured: a table of classes, and writers of the grammars that editors and pages read."""
