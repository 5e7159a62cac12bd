import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chdir } from "node:process";
import { Bench } from "setpoint/testing";
import { jsonFileBackend } from "./backends.ts";
import { keyValueSet } from "./key-value-set.ts";

chdir(mkdtempSync(join(tmpdir(), "colours-")));
writeFileSync("colours.json", "{}");
const bench = await Bench.start({ kinds: [keyValueSet(jsonFileBackend("colours.json"))] });

const colours = { coal: "black", grass: "green", sky: "blue", snow: "white" };
await bench.declare("KeyValueSet/colours", { items: colours });
await bench.pass({ seconds: 10 });
console.log(readFileSync("colours.json", "utf8").trimEnd());
console.log(bench.ready("KeyValueSet/colours"));

writeFileSync("colours.json", JSON.stringify({ ...colours, sky: "grey", grass: undefined }));
await bench.pass({ minutes: 2 });
console.log(readFileSync("colours.json", "utf8").trimEnd());

writeFileSync("colours.json", '{ "coal": "bla');
await bench.pass({ minutes: 2 });
console.log(bench.ready("KeyValueSet/colours"));
writeFileSync("colours.json", JSON.stringify(colours));
await bench.pass({ minutes: 2 });

await bench.declare("KeyValueSet/colours", { items: { sky: "blue", sun: "yellow" } });
await bench.pass({ minutes: 2 });
console.log(readFileSync("colours.json", "utf8").trimEnd());
for (const { reason, items } of bench.heldChanges()) {
  console.log(`waits for a person: ${reason}`);
  for (const { action, key } of items) console.log(`  ${action} ${key}`);
}

for (const held of bench.heldChanges()) await bench.approve(held);
await bench.pass({ minutes: 2 });
console.log(readFileSync("colours.json", "utf8").trimEnd());

for (const line of bench.why("KeyValueSet/colours")) console.log(line);
await bench.stop();
