// scenario runs body and prints whether it threw. What went wrong is on stderr;
// the scenarios after it run all the same.
export async function scenario(name, body) {
  try {
    await body();
    console.log(`passed ${name}`);
  } catch (error) {
    process.exitCode = 1;
    console.log(`failed ${name}`);
    console.error(`${name}:`, error);
  }
}

// collect is an array of what an asynchronous iterator yields.
export async function collect(iterator) {
  const all = [];
  for await (const one of iterator) {
    all.push(one);
  }
  return all;
}

// found is the keys of the results of a search, in their order.
export async function found(response) {
  return (await collect(response.results)).map((result) => result.document.hotelId);
}
