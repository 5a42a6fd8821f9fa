"""Language models and tokenizers: GGUF, safetensors, scripted."""
