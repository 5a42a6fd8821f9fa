"""Programs as a service: typed HTTP, events, WebSocket, and who may call them."""
