"""Files of weights: GGUF, safetensors, packed."""
