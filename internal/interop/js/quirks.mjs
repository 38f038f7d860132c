// quirks are the faults of each version of the SDK that the scenarios have to get
// around. They are the SDK's own: no reply that the service gives makes up for them.
const quirks = {
  "search-documents-12": {
    // The description of a data source is read from its name.
    descriptionIsName: true,
  },
  "search-documents-13": {
    // The entity tag of an index is read into eTag and looked for in etag, so
    // that onlyIfUnchanged sends no condition.
    indexLosesTag: true,
    // A custom analyzer is read with a tokenizer and written from tokenizerName.
    analyzerLosesTokenizer: true,
    // The name of the parameter of a lookup is encoded twice, %2524select, and
    // everything is returned.
    lookupSelectsNothing: true,
    // Results of a search have members such as @search.score among their own fields.
    documentHasAnnotations: true,
    // A reply without a body, as the service gives to the lookup of a document
    // that is missing, is read for an error all the same.
    missingDocumentIsTypeError: true,
    // Lists of names ask for nothing but names, and are read as whole definitions.
    namesAreWhole: true,
    // The limits of an indexer that has been reset and has not run are null, as they were
    // recorded of the service, and are read all the same.
    resetHasNoStatus: true,
  },
};

export function quirksOf(name) {
  return quirks[name];
}

// mended is an index as the SDK read it, ready to be written back.
export function mended({ indexLosesTag, analyzerLosesTokenizer }, index) {
  if (indexLosesTag) {
    index.etag = index.eTag;
  }
  if (analyzerLosesTokenizer) {
    index.analyzers.forEach((analyzer) => (analyzer.tokenizerName = analyzer.tokenizer));
  }
  return index;
}

// notFound is the error of the lookup of a document that is missing.
export function notFound({ missingDocumentIsTypeError }) {
  return missingDocumentIsTypeError ? { name: "TypeError" } : { name: "RestError", statusCode: 404 };
}

// plain is a document as JSON has it, without the classes of the SDK.
export function plain({ documentHasAnnotations }, document) {
  const entries = Object.entries(JSON.parse(JSON.stringify(document)));
  return Object.fromEntries(entries.filter(([name]) => !documentHasAnnotations || !name.startsWith("@search.")));
}
