import assert from "node:assert/strict";
import { scenario } from "./scenario.mjs";

export async function refusals({ indexClient, searchClient, queryKey }) {
  const client = searchClient("hotels");
  const refused = (statusCode, message) => (error) => {
    assert.equal(error.name, "RestError");
    assert.equal(error.statusCode, statusCode);
    assert.match(error.message, message);
    return true;
  };

  await scenario("refuse a bad query", async () => {
    // The first page is asked for by search itself.
    await assert.rejects(client.search("*", { filter: "rating ge" }), refused(400, /Invalid expression/));
    await assert.rejects(client.search("*", { filter: "nothing eq 1" }), refused(400, /nothing/));
    await assert.rejects(client.search("*", { orderBy: ["description"] }), refused(400, /description/));
    await assert.rejects(client.search("*", { facets: ["hotelName"] }), refused(400, /hotelName/));
    await assert.rejects(client.search("a AND (", { queryType: "full" }), refused(400, /./));
    await assert.rejects(client.search("*", { skip: 100_001 }), refused(400, /100000/));
    await assert.rejects(client.suggest("ro", "nobody"), refused(400, /nobody/));
  });

  await scenario("refuse a bad document", async () => {
    await assert.rejects(client.uploadDocuments([{ hotelId: "9", rating: "five" }]), refused(400, /./));
    await assert.rejects(client.uploadDocuments([{ hotelId: "9", nothing: 1 }]), refused(400, /nothing/));
    await assert.rejects(client.uploadDocuments([{ hotelId: "a b" }]), refused(400, /a b/));
    await assert.rejects(
      client.uploadDocuments([{ hotelId: "9", descriptionVector: [1] }]),
      refused(400, /descriptionVector/),
    );
  });

  await scenario("refuse a bad index", async () => {
    await assert.rejects(
      indexClient.createIndex({ name: "keyless", fields: [{ name: "a", type: "Edm.String" }] }),
      refused(400, /key/),
    );
    const twice = { name: "hotels", fields: [{ name: "id", type: "Edm.String", key: true }] };
    await assert.rejects(indexClient.createIndex(twice), refused(409, /hotels/));
    await assert.rejects(indexClient.getIndex("nowhere"), refused(404, /nowhere/));
    await assert.rejects(searchClient("nowhere").search("*"), refused(404, /nowhere/));
  });

  await scenario("refuse a wrong key", async () => {
    await assert.rejects(searchClient("hotels", "wrong").getDocumentsCount(), refused(403, /./));
    const reader = searchClient("hotels", queryKey);
    assert.equal(await reader.getDocumentsCount(), 5);
    await assert.rejects(reader.deleteDocuments("hotelId", ["1"]), refused(403, /./));
  });

  await scenario("refuse what is not emulated", async () => {
    const semantic = { queryType: "semantic", semanticSearchOptions: { configurationName: "readable" } };
    await assert.rejects(client.search("hotel", semantic), refused(501, /semantic/i));
    const vectorSearchOptions = { queries: [{ kind: "text", text: "hotel", fields: ["descriptionVector"] }] };
    await assert.rejects(client.search("*", { vectorSearchOptions }), refused(501, /vectorizers/));
  });
}
