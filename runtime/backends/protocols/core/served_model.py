"""The model of a server that may have one only: its name, if nobody has given it, and its context."""

from __future__ import annotations

from dataclasses import dataclass

from sglc.runtime.backends.exchange import BackendFault
from sglc.runtime.backends.protocols.core.fields import Object, count_in, objects_in, text_in
from sglc.runtime.backends.protocols.core.service import Service


@dataclass(slots=True)
class ServedModel:
    """What `/v1/models` tells. `given` is a name; empty for the first model that is served."""

    service: Service
    given: str = ""
    _found: Object | None = None

    async def name(self, deadline: float | None = None) -> str:
        """The name to ask with. Raises BackendFault where the server has no model."""
        return self.given or text_in(await self._model(deadline), "id")

    async def context_length(self) -> int | None:
        """Tokens of prompt and answer, if the server tells."""
        return count_in(await self._model(None), "max_model_len") or None

    async def _model(self, deadline: float | None) -> Object:
        if self._found is None:
            models = objects_in(await self.service.answer("/v1/models", deadline=deadline), "data")
            found = [each for each in models if not self.given or text_in(each, "id") == self.given]
            if not found:
                which = f"the model `{self.given}`" if self.given else "any model"
                raise BackendFault("request", f"the server does not have {which}", endpoint=self.service.url)
            self._found = found[0]
        return self._found
