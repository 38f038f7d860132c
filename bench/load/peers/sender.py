"""Loads a file of JSON Lines with the SearchIndexingBufferedSender of azure-search-documents.

Arguments: the endpoint, the file. The exit code is 1 if the sender has reported a failure.
"""

import json
import sys

from azure.core.credentials import AzureKeyCredential
from azure.core.exceptions import AzureError
from azure.search.documents import SearchIndexingBufferedSender

endpoint, file = sys.argv[1:]
failed = []
sender = SearchIndexingBufferedSender(
    endpoint, "bench", AzureKeyCredential("bench"), on_error=failed.append
)
chunk = []


def attempt(work):
    try:
        if work():  # flush returns True if there were errors
            failed.append(None)
    except AzureError as e:
        failed.append(e)


with open(file, encoding="utf-8") as lines:
    for line in lines:
        chunk.append(json.loads(line))
        if len(chunk) == 512:
            documents, chunk = chunk, []
            attempt(lambda: sender.upload_documents(documents=documents))
attempt(lambda: sender.upload_documents(documents=chunk))
attempt(sender.flush)
attempt(sender.close)
sys.exit(1 if failed else 0)
