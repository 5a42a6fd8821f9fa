"""From parts of rules to nodes: the public functions of a module are actions of the grammar."""
