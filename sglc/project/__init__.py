"""`sgl.toml`: the name of a project, its models, and defaults of commands. Data only: nothing in it is run.

The file is found by walking up from a program. What a command line says wins over it. It holds no secrets,
and none are read from it: keys that it does not have are refused.
"""
