"""Where the versions of the SDK differ from each other, or from their manual.

They are the SDK's own: no reply of a service could make up for them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Quirks:
    """How the version that is installed is."""

    # Results are models with attributes; before, some were mappings of the names
    # that the attributes have now.
    models: bool

    # Aliases came with version 12.
    aliases: bool

    # The lists of field names of suggest and autocomplete are sent as arrays, where
    # the service has strings with commas; a string is sent as it is.
    suggest_sends_lists: bool

    # A batch that is too large (413) is to be halved, but that ends with a KeyError
    # of the SDK.
    cannot_halve: bool

    def part(self, result: Any, name: str) -> Any:
        """One value of a result."""
        return getattr(result, name) if self.models else result[name]

    def document(self, action: Any) -> Mapping[str, Any]:
        """The document of an action that a callback of the buffered sender gets."""
        return action if self.models else action.additional_properties

    def listed(self, *fields: str) -> Sequence[str]:
        """The fields as suggest and autocomplete want them."""
        return ",".join(fields) if self.suggest_sends_lists else list(fields)


_KNOWN = {
    "11": Quirks(models=False, aliases=False, suggest_sends_lists=False, cannot_halve=True),
    "12": Quirks(models=True, aliases=True, suggest_sends_lists=True, cannot_halve=False),
}


def quirks_of(version: str) -> Quirks:
    """The quirks of a version such as 12.0.0."""
    return _KNOWN[version.split(".")[0]]
