"""What the scenarios are given: the clients of one service."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from azure.core.credentials import AzureKeyCredential
from azure.search.documents import SearchClient
from azure.search.documents.indexes import SearchIndexClient

from quirks import Quirks

# A refusal has to show as it is, not after ten more attempts.
ONCE: dict[str, Any] = {"retry_total": 0}

# Retries: ten times, almost without a delay.
AGAIN: dict[str, Any] = {"retry_total": 10, "retry_backoff_factor": 0.001}


@dataclass(frozen=True)
class Service:
    endpoint: str
    credential: AzureKeyCredential
    query_credential: AzureKeyCredential
    quirks: Quirks
    indexes: SearchIndexClient
    hotels: SearchClient
    numbers: SearchClient


@contextmanager
def connected(endpoint: str, admin_key: str, query_key: str, quirks: Quirks) -> Iterator[Service]:
    """The service at an endpoint, for as long as the body runs."""
    credential = AzureKeyCredential(admin_key)
    with (
        SearchIndexClient(endpoint, credential, **ONCE) as indexes,
        indexes.get_search_client("hotels", **ONCE) as hotels,
        indexes.get_search_client("numbers", **ONCE) as numbers,
    ):
        yield Service(endpoint, credential, AzureKeyCredential(query_key), quirks, indexes, hotels, numbers)
