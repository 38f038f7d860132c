import assert from "node:assert/strict";
import { plain } from "./quirks.mjs";
import { scenario } from "./scenario.mjs";

export async function completions({ searchClient, quirks }) {
  const client = searchClient("hotels");

  await scenario("suggest", async () => {
    const suggested = async (text, options) =>
      (await client.suggest(text, "sg", options)).results.map(({ text: line, document }) => [document.hotelId, line]);
    assert.deepEqual((await suggested("sta")).sort(), [
      ["1", "Fancy Stay"],
      ["3", "Economy Stay"],
    ]);
    assert.deepEqual(await suggested("sta", { filter: "rating lt 5" }), [["3", "Economy Stay"]]);
    assert.deepEqual(await suggested("roech"), []);
    assert.deepEqual(await suggested("roech", { useFuzzyMatching: true }), [["2", "Roach Motel"]]);
    const tags = { highlightPreTag: "[", highlightPostTag: "]", orderBy: ["hotelName"], top: 1 };
    assert.deepEqual(await suggested("sta", tags), [["3", "Economy [Stay]"]]);
    const { results } = await client.suggest("roa", "sg", {
      select: ["hotelName", "rating"],
      searchFields: ["hotelName"],
    });
    assert.deepEqual(plain(quirks, results[0].document), { hotelName: "Roach Motel", rating: 1 });
  });

  await scenario("autocomplete", async () => {
    const completed = async (text, options) =>
      (await client.autocomplete(text, "sg", options)).results.map(({ text: term, queryPlusText }) => [
        term,
        queryPlusText,
      ]);
    assert.deepEqual(await completed("mo"), [
      ["motel", "motel"],
      ["motor", "motor"],
    ]);
    assert.deepEqual(await completed("point mo", { autocompleteMode: "oneTermWithContext" }), [
      ["point motor", "point motor"],
    ]);
    assert.deepEqual((await completed("secr", { autocompleteMode: "twoTerms" }))[0], ["secret point", "secret point"]);
    assert.deepEqual(await completed("mo", { filter: "rating gt 2", top: 5 }), [["motor", "motor"]]);
    assert.deepEqual(await completed("raoch", { useFuzzyMatching: true }), [["roach", "roach"]]);
  });
}
