"""The buffered sender, with a service that is well and with one that is not."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

from azure.search.documents import SearchIndexingBufferedSender
from azure.search.documents.indexes.models import SearchFieldDataType, SearchIndex, SimpleField

from documents import outcomes
from quirks import Quirks
from scenario import check, scenario
from service import AGAIN, ONCE, Service


@dataclass
class Reported:
    """The keys that the callbacks of a sender were given, in their order."""

    quirks: Quirks
    new: list[str] = field(default_factory=list)
    sent: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    some_sent: threading.Event = field(default_factory=threading.Event)

    def callbacks(self) -> dict[str, Any]:
        return {
            "on_new": lambda action: self.new.append(self._key(action)),
            "on_progress": self._progress,
            "on_error": lambda action: self.failed.append(self._key(action)),
            "on_remove": lambda action: self.removed.append(self._key(action)),
        }

    def _progress(self, action: Any) -> None:
        self.sent.append(self._key(action))
        self.some_sent.set()

    def _key(self, action: Any) -> str:
        return self.quirks.document(action)["id"]


def index(name: str) -> SearchIndex:
    return SearchIndex(
        name=name,
        fields=[
            SimpleField(name="id", type=SearchFieldDataType.String, key=True, filterable=True, sortable=True),
            SimpleField(name="number", type=SearchFieldDataType.Int32, filterable=True, sortable=True),
            SimpleField(name="text", type=SearchFieldDataType.String),
        ],
    )


def large_documents() -> list[dict[str, str]]:
    """Thirty-two documents, of which some eight fit into 1500 bytes."""
    return [{"id": f"s{i}", "text": "x" * 100} for i in range(32)]


def healthy(service: Service) -> None:
    client = service.numbers

    def opened(reported: Reported, **options: Any) -> SearchIndexingBufferedSender:
        return SearchIndexingBufferedSender(
            service.endpoint, "numbers", service.credential, **reported.callbacks(), **ONCE, **options
        )

    with scenario("send documents through the buffered sender"):
        service.indexes.create_index(index("numbers"))
        reported = Reported(service.quirks)
        names = [f"n{number}" for number in range(121)]
        with opened(reported, auto_flush=False) as sender:
            sender.upload_documents([{"id": name, "number": number} for number, name in enumerate(names)])
            check.assertEqual((len(sender.actions), reported.new, reported.sent), (121, names, []))
            check.assertFalse(sender.flush(), "flush says whether something failed")
            check.assertEqual((len(sender.actions), reported.sent, reported.removed), (0, names, names))

            sender.merge_documents([{"id": "n1", "number": -1}, {"id": "missing", "number": 0}])
            sender.merge_or_upload_documents([{"id": "n2", "number": -2}])
            sender.delete_documents([{"id": "n120"}])
            check.assertTrue(sender.flush())
        check.assertEqual(reported.sent[121:], ["n1", "n2", "n120"])
        check.assertEqual(reported.failed, ["missing"])
        check.assertEqual(reported.removed[121:], ["n1", "missing", "n2", "n120"])
        check.assertEqual(client.get_document_count(), 120)
        check.assertEqual(client.get_document("n1")["number"], -1)
        check.assertEqual(client.get_document("n2")["number"], -2)

    with scenario("send documents as they come through the buffered sender"):
        reported = Reported(service.quirks)
        with opened(reported, initial_batch_action_count=2) as sender:
            sender.upload_documents([{"id": "n1", "number": 1}])
            check.assertEqual(reported.sent, [])
            sender.upload_documents([{"id": "n2", "number": 2}])  # fills the batch
            check.assertEqual(reported.sent, ["n1", "n2"])
            sender.upload_documents([{"id": "n3", "number": 3}])
        check.assertEqual(reported.sent, ["n1", "n2", "n3"], "the end of the body sends the rest")
        check.assertEqual(client.get_document("n2")["number"], 2)

    with scenario("send documents after some time through the buffered sender"):
        reported = Reported(service.quirks)
        with opened(reported, auto_flush_interval=0.05) as sender:
            sender.upload_documents([{"id": "n4", "number": 4}])
            check.assertTrue(reported.some_sent.wait(60), "nothing was sent")
            check.assertEqual(reported.sent, ["n4"])


def sick(service: Service) -> None:
    """faults.json says what ails the indexes here."""
    documents = large_documents()
    keys = [document["id"] for document in documents]

    if not service.quirks.cannot_halve:
        _narrow(service, documents, keys)

    with scenario("send documents through the buffered sender to a failing service"):
        # 503 twice for all, then 503 once for each, and forever for one.
        service.indexes.create_index(index("sick"))
        reported = Reported(service.quirks)
        with SearchIndexingBufferedSender(
            service.endpoint, "sick", service.credential, auto_flush=False, **reported.callbacks(), **AGAIN
        ) as sender:
            sender.upload_documents([*documents, {"id": "doomed"}])
            check.assertTrue(sender.flush())
        check.assertEqual((reported.sent, reported.failed), (keys, ["doomed"]))
        check.assertEqual(reported.removed, [*keys, "doomed"])
        with service.indexes.get_search_client("sick", **ONCE) as client:
            check.assertEqual(client.get_document_count(), 32)
        service.indexes.delete_index("sick")


def _narrow(service: Service, documents: list[dict[str, str]], keys: list[str]) -> None:
    with scenario("upload documents to a service that takes less at once"):
        service.indexes.create_index(index("narrow"))
        with service.indexes.get_search_client("narrow", **ONCE) as client:
            check.assertEqual(outcomes(client.upload_documents(documents)), [(key, True, 201) for key in keys])
            check.assertEqual(client.get_document_count(), 32)

    with scenario("send documents through the buffered sender to a service that takes less at once"):
        reported = Reported(service.quirks)
        with SearchIndexingBufferedSender(
            service.endpoint, "narrow", service.credential, auto_flush=False, **reported.callbacks(), **ONCE
        ) as sender:
            sender.merge_documents(documents)
            check.assertFalse(sender.flush())
        check.assertEqual((reported.sent, reported.failed), (keys, []))
        service.indexes.delete_index("narrow")
