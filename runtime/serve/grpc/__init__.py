"""gRPC: descriptors made of types at run time, calls and streams of functions, health, reflection."""
