"""Metrics and spans: what runs, functions and holes took, as Prometheus text and OpenTelemetry spans."""
