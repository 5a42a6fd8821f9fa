"""Calls from queues of messages: Redis Streams and NATS JetStream, each once in effect."""
