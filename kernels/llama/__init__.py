"""A whole step of a Llama-like model as kernels: linear layers, norms, attention, the step itself."""
