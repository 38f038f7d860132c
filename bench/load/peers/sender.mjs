// Loads a file of JSON Lines with the SearchIndexingBufferedSender of @azure/search-documents. Arguments: the folder of
// node_modules, the endpoint, the file. The exit code is 1 if the sender has reported a failure.
import fs from "node:fs";
import path from "node:path";
import readline from "node:readline";
import { createRequire } from "node:module";

const [folder, endpoint, file] = process.argv.slice(2);
const load = createRequire(path.join(folder, "sender.mjs"));
const { AzureKeyCredential, SearchClient, SearchIndexingBufferedSender } = load("@azure/search-documents");

const client = new SearchClient(endpoint, "bench", new AzureKeyCredential("bench"), { allowInsecureConnection: true });
const sender = new SearchIndexingBufferedSender(client, (doc) => doc.id);
let failed = 0;
sender.on("batchSucceeded", (result) => {
  for (const r of result.results) if (!r.succeeded) failed++;
});
sender.on("batchFailed", () => failed++);

const attempt = (work) => work().catch((e) => { failed++; if (!e.statusCode) console.error(e); });
let chunk = [];
for await (const line of readline.createInterface({ input: fs.createReadStream(file) })) {
  chunk.push(JSON.parse(line));
  if (chunk.length === 512) {
    const documents = chunk;
    chunk = [];
    await attempt(() => sender.uploadDocuments(documents));
  }
}
await attempt(() => sender.uploadDocuments(chunk));
await attempt(() => sender.flush());
await attempt(() => sender.dispose());
process.exit(failed ? 1 : 0);
