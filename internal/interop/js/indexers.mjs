import assert from "node:assert/strict";
import { collect, scenario } from "./scenario.mjs";

const connectionString = "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=c2VjcmV0;EndpointSuffix=core.windows.net";

export async function indexers({ indexerClient: client, quirks }) {
  await scenario("create, get, list and update a data source", async () => {
    await client.createDataSourceConnection({ name: "files", type: "azureblob", connectionString, container: { name: "hotels", query: "2026/" } });
    const got = await client.getDataSourceConnection("files");
    assert.deepEqual([got.name, got.type, got.container.query], ["files", "azureblob", "2026/"]);
    quirks.namesAreWhole || assert.deepEqual(await client.listDataSourceConnectionsNames(), ["files"]);
    const updated = await client.createOrUpdateDataSourceConnection({ ...got, connectionString, description: "descriptions" });
    assert.equal(updated.description, quirks.descriptionIsName ? "files" : "descriptions");
  });

  await scenario("create, get and list a skillset", async () => {
    const inputs = [{ name: "text", source: "/document/content" }];
    await client.createSkillset({
      name: "pages",
      skills: [
        { odatatype: "#Microsoft.Skills.Text.SplitSkill", inputs, outputs: [{ name: "textItems", targetName: "pages" }], textSplitMode: "pages", maxPageLength: 500 },
        { odatatype: "#Microsoft.Skills.Custom.WebApiSkill", inputs, outputs: [{ name: "x" }], uri: "https://h.example/api", httpHeaders: { a: "b" } },
      ],
    });
    const got = await client.getSkillset("pages");
    assert.deepEqual(
      got.skills.map((skill) => skill.odatatype),
      ["#Microsoft.Skills.Text.SplitSkill", "#Microsoft.Skills.Custom.WebApiSkill"],
    );
    quirks.namesAreWhole || assert.deepEqual(await client.listSkillsetsNames(), ["pages"]);
  });

  await scenario("create, get, list and reset an indexer", async () => {
    await assert.rejects(client.createIndexer({ name: "x", dataSourceName: "none", targetIndexName: "hotels" }), /doesn't exist/);
    const fieldMappings = [{ sourceFieldName: "content", targetFieldName: "description" }];
    await client.createIndexer({ name: "hotels", dataSourceName: "files", skillsetName: "pages", targetIndexName: "hotels", fieldMappings, isDisabled: true });
    const got = await client.getIndexer("hotels");
    assert.deepEqual([got.skillsetName, got.fieldMappings[0].targetFieldName], ["pages", "description"]);
    quirks.namesAreWhole || assert.deepEqual(await client.listIndexersNames(), ["hotels"]);
    await client.resetIndexer("hotels");
    if (!quirks.resetHasNoStatus) {
      const status = await client.getIndexerStatus("hotels");
      assert.deepEqual([status.status, status.lastResult.status], ["running", "reset"]);
    }
    await client.runIndexer("hotels");
  });

  await scenario("delete an indexer and what it needs", async () => {
    await client.deleteIndexer("hotels");
    await client.deleteSkillset("pages");
    await client.deleteDataSourceConnection("files");
    await assert.rejects(client.getIndexer("hotels"), { statusCode: 404 });
  });
}

export async function knowledge({ indexClient: client }) {
  if (!client.createKnowledgeBase) {
    return; // version 12 has none
  }
  await scenario("create, get, list, update and delete a knowledge source and base", async () => {
    await client.createKnowledgeSource({ name: "hotels", kind: "searchIndex", searchIndexParameters: { searchIndexName: "hotels" } });
    const got = await client.getKnowledgeSource("hotels");
    assert.deepEqual([got.kind, got.searchIndexParameters.searchIndexName], ["searchIndex", "hotels"]);
    await client.createKnowledgeBase({ name: "travel", knowledgeSources: [{ name: "hotels" }] });
    const base = await client.getKnowledgeBase("travel");
    const updated = await client.createOrUpdateKnowledgeBase("travel", { ...base, description: "all hotels" });
    assert.equal(updated.description, "all hotels");
    assert.deepEqual((await collect(client.listKnowledgeBases())).map((one) => one.name), ["travel"]);
    await client.deleteKnowledgeBase("travel");
    await client.deleteKnowledgeSource("hotels");
    await assert.rejects(client.getKnowledgeBase("travel"), { statusCode: 404 });
  });
}
