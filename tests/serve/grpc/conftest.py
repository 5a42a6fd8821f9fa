"""Tests of gRPC need its packages."""

from __future__ import annotations

import pytest

pytest.importorskip("grpc_health")
pytest.importorskip("grpc_reflection")
