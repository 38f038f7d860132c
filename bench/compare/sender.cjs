// Sends documents with the SearchIndexingBufferedSender of @azure/search-documents
// and measures it. Arguments: the folder of node_modules, and a task; without a
// task it prints the version of the package.
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const { createRequire } = require("node:module");

const [folder, text] = process.argv.slice(2);
const load = createRequire(path.join(folder, "sender.cjs"));
const { AzureKeyCredential, SearchClient, SearchIndexingBufferedSender } = load("@azure/search-documents");

function version() {
  for (let at = path.dirname(load.resolve("@azure/search-documents")); at !== path.dirname(at); at = path.dirname(at)) {
    const name = path.join(at, "package.json");
    if (!fs.existsSync(name)) continue;
    const found = JSON.parse(fs.readFileSync(name, "utf8"));
    if (found.name === "@azure/search-documents") return found.version;
  }
  return "of unknown version";
}

// peakRSS is that of this program: maxRSS begins with that of its parent.
function peakRSS() {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(fs.readFileSync("/proc/self/status", "utf8"))[1]) * 1024;
  } catch {
    return process.resourceUsage().maxRSS * 1024;
  }
}

async function run(task) {
  const lines = fs.readFileSync(task.contents, "utf8").trim().split("\n");
  const contents = lines.map((line) => JSON.parse(line));
  const keys = Array.from({ length: task.documents }, (_, i) => task.keyPrefix + String(i).padStart(task.keyDigits, "0"));
  const client = new SearchClient(task.endpoint, "bench", new AzureKeyCredential("bench"), { allowInsecureConnection: true });

  const cpu = process.cpuUsage();
  const begun = process.hrtime.bigint();
  const sender = new SearchIndexingBufferedSender(client, (doc) => doc.id, { initialBatchActionCount: task.batchActions });
  // A document that is refused inside a reply is in the results of a batch that
  // has "succeeded"; of one that failed as a whole only its documents are known.
  let failed = 0;
  const sent = new Set();
  sender.on("batchSucceeded", (result) => {
    for (const r of result.results) if (!r.succeeded) failed++;
    sent.clear();
  });
  if (task.watch) {
    sender.on("beforeDocumentSent", (action) => sent.add(action.id ?? action.document?.id));
    sender.on("batchFailed", () => {
      failed += sent.size;
      sent.clear();
    });
  }
  let problem;
  const attempt = async (work) => {
    try {
      await work();
    } catch (e) {
      if (!e.statusCode) problem ??= e;
    }
  };
  for (let i = 0; i < keys.length; i++) {
    await attempt(() => sender.uploadDocuments([{ ...contents[i % contents.length], id: keys[i] }]));
  }
  await attempt(() => sender.flush());
  await attempt(() => sender.dispose());
  const seconds = Number(process.hrtime.bigint() - begun) / 1e9;
  const used = process.cpuUsage(cpu);
  if (problem) throw problem;
  console.log(JSON.stringify({
    seconds,
    cpuSeconds: (used.user + used.system) / 1e6,
    allocations: -1,
    allocatedBytes: -1,
    peakRSS: peakRSS(),
    reported: failed,
    bytesPerDocument: lines.reduce((sum, line) => sum + Buffer.byteLength(line), 0) / lines.length,
    version: version(),
  }));
}

if (text === undefined) console.log(version());
else run(JSON.parse(text)).then(() => process.exit(0), (e) => { console.error(e); process.exit(1); });
