"""Writers of the grammars of editors: each makes the files of one editor from the table of classes."""
