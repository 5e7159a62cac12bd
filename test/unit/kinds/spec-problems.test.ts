import assert from "node:assert/strict";
import { test } from "node:test";
import { parseSpec } from "../../../src/kernel/kind.ts";
import { hostKind } from "../../../src/kinds/host/kind.ts";

const spec = { account: "prod", type: "cx23", image: "debian-13", location: "fsn1" };

function problems(change: object): readonly string[] {
  const parsed = parseSpec(hostKind, { ...spec, ...change });
  return parsed.ok ? [] : parsed.errors.map(({ pointer, message }) => `${pointer}: ${message}`);
}

test("what is wrong with a spec is said by its place, with what was expected there", () => {
  assert.deepEqual(problems({}), []);
  assert.deepEqual(problems({ colour: "red", size: 1 }), [
    "/spec/colour: unknown field. What there is: setpoint explain host.spec",
    "/spec/size: unknown field. What there is: setpoint explain host.spec",
  ]);
  assert.deepEqual(problems({ networks: [{ name: "backend", adress: "10.0.0.7" }] }), [
    "/spec/networks/0/adress: unknown field. What there is: setpoint explain host.spec",
  ]);
  assert.deepEqual(problems({ location: undefined }), ["/spec/location: is required: expected string"]);
  assert.deepEqual(problems({ labels: { "a b": "c", "setpoint-x": "d" } }), [
    "/spec/labels/a b: its name: must be 1 to 63 letters, digits, dots, underscores and hyphens",
    "/spec/labels/setpoint-x: its name: labels that begin with setpoint- are Setpoint's own",
  ]);
});
