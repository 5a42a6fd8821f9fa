"""Programs that are written as Python functions: their source becomes the same syntax tree as SGL text."""
