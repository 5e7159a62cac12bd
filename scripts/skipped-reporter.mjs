// A node:test reporter that prints one line for each skipped test: its name and the reason it gave.

/**
 * @param {AsyncIterable<{ type: string, data: { name?: string, skip?: string | boolean } }>} source
 * @returns {AsyncGenerator<string>}
 */
export default async function* skippedReporter(source) {
  for await (const { type, data } of source) {
    if (type !== "test:pass" || data.skip === undefined || data.skip === false) continue;
    yield typeof data.skip === "string" && data.skip !== "" ? `${data.name}: ${data.skip}\n` : `${data.name}\n`;
  }
}
