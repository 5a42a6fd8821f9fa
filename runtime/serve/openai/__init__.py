"""OpenAI's protocol: chat completions and completions of the loaded models, and functions as models."""
