"""The debug adapter protocol: messages, requests, and the stops of a run as editors see them."""
