"""OpenAI's protocol: chat completions, with tools, and completions of the loaded models, and functions as
models."""
