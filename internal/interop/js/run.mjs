// node run.mjs ENDPOINT ADMIN-KEY QUERY-KEY PACKAGE lets one version of Azure's SDK drive the
// service at ENDPOINT, which must be empty, and prints a line for each scenario.
import { aliases, analysis, deletion, indexes, statistics, synonyms } from "./definitions.mjs";
import { buffered, changes, lookups, uploads } from "./documents.mjs";
import { refusals } from "./errors.mjs";
import { indexers, knowledge } from "./indexers.mjs";
import { pages } from "./paging.mjs";
import { queries } from "./queries.mjs";
import { quirksOf } from "./quirks.mjs";
import { completions } from "./suggestions.mjs";
import { vectors } from "./vectors.mjs";

const [endpoint, adminKey, queryKey, name] = process.argv.slice(2);
const sdk = await import(name);

// A refusal has to show as it is, not after three more attempts.
const options = { allowInsecureConnection: true, retryOptions: { maxRetries: 0 } };
const credential = new sdk.AzureKeyCredential(adminKey);
const service = {
  sdk,
  quirks: quirksOf(name),
  queryKey,
  indexClient: new sdk.SearchIndexClient(endpoint, credential, options),
  indexerClient: new sdk.SearchIndexerClient(endpoint, credential, options),
  searchClient: (index, otherKey) =>
    new sdk.SearchClient(endpoint, index, otherKey ? new sdk.AzureKeyCredential(otherKey) : credential, options),
};

// In this order: each continues with the state that the earlier ones left.
await synonyms(service);
await indexes(service);
await uploads(service);
await lookups(service);
await queries(service);
await completions(service);
await vectors(service);
await analysis(service);
await changes(service);
await buffered(service);
await pages(service);
await statistics(service);
if (service.indexClient.createAlias) {
  await aliases(service);
}
await indexers(service);
await knowledge(service);
await refusals(service);
await deletion(service);
