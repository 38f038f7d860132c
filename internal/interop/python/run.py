"""python run.py ENDPOINT ADMIN-KEY QUERY-KEY

Lets the version of Azure's SDK that is installed drive the service at ENDPOINT,
which must be empty, and prints a line for each scenario.
"""

from __future__ import annotations

import sys
from importlib.metadata import version

import asynchronous
import definitions
import documents
import errors
import indexers
import paging
import queries
import sender
import suggestions
import values
import vectors
from quirks import quirks_of
from scenario import exit_code
from service import connected

# In this order: each continues with the state that the earlier ones left.
SUBJECTS = [
    definitions.synonyms,
    definitions.indexes,
    documents.uploads,
    documents.lookups,
    values.special,
    queries.texts,
    queries.results,
    suggestions.completions,
    vectors.nearest,
    definitions.analysis,
    documents.changes,
    sender.healthy,
    sender.sick,
    paging.pages,
    definitions.statistics,
    definitions.aliases,
    indexers.filling,
    indexers.knowing,
    errors.refusals,
    errors.raw,
    asynchronous.everything,
    definitions.deletion,
]


def main() -> int:
    sys.stdout.reconfigure(newline="\n")  # on Windows, too
    endpoint, admin_key, query_key = sys.argv[1:]
    quirks = quirks_of(version("azure-search-documents"))
    with connected(endpoint, admin_key, query_key, quirks) as service:
        for subject in SUBJECTS:
            subject(service)
    return exit_code()


if __name__ == "__main__":
    sys.exit(main())
