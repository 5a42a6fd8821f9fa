"""Programs in notebooks: `%load_ext sglc.notebook`, then cells that begin with `%%sgl`."""

from __future__ import annotations

from sglc.notebook.extension import load_ipython_extension, unload_ipython_extension

__all__ = ["load_ipython_extension", "unload_ipython_extension"]
