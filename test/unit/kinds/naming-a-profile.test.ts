import assert from "node:assert/strict";
import { test } from "node:test";
import { hostKind } from "../../../src/kinds/host/kind.ts";
import { hostSchema } from "../../../src/kinds/host/schema.ts";
import { scalingGroupKind } from "../../../src/kinds/scaling-group/kind.ts";
import { scalingGroupSchema } from "../../../src/kinds/scaling-group/schema.ts";
import type { Json } from "../../../src/ports/json.ts";
import { around } from "../../support/surroundings.ts";

const base = { account: "demo", image: "debian-12", location: "fsn1" };
const host = (more: object) => hostSchema.parse({ ...base, ...more });
const group = (more: object) =>
  scalingGroupSchema.parse({
    account: "demo",
    min: 1,
    max: 2,
    desired: 1,
    template: { image: "debian-12", location: "fsn1", ...more },
  });
const catalogue = (spec: object | undefined, report?: Json) => async () =>
  spec === undefined ? undefined : { spec: { account: "demo", type: "cx22", locations: [], ...spec }, report };

test("exactly one of type and profile is said", () => {
  const wrong = (more: object) => hostSchema.safeParse({ ...base, ...more }).error?.issues.map(({ path }) => path[0]);
  assert.deepEqual(wrong({}), ["type"]);
  assert.deepEqual(wrong({ type: "cx22", profile: "small" }), ["profile"]);
  assert.equal(wrong({ profile: "small" }), undefined);
  assert.equal(wrong({ type: "cx22" }), undefined);
  assert.throws(() => group({}), /is needed, or a profile/);
  assert.throws(() => group({ type: "cx22", profile: "small" }), /leave one of the two out/);
});

test("the type is filled in from the profile, whatever the declaration says of it", async () => {
  const said = host({ profile: "small", profileType: "cx999" });
  assert.equal((await hostKind.completed?.(said, catalogue({})))?.profileType, "cx22");
  assert.equal((await hostKind.completed?.(said, catalogue(undefined)))?.profileType, undefined);
  assert.equal((await hostKind.completed?.(host({ type: "cx32" }), catalogue({})))?.profileType, undefined);
  const kept = await scalingGroupKind.completed?.(group({ profile: "small" }), catalogue({}));
  assert.equal(kept?.template.profileType, "cx22");
  const references = hostKind.references?.(said).map(({ kind, name, scope }) => [kind, name, scope]);
  assert.deepEqual(references, [["ComputeProfile", "small", "organization"]]);
});

test("what the catalogue knows not to be had is refused where it is declared, with what can be had", async () => {
  const offers = (...locations: string[]) => ({ offers: locations.map((location) => ({ location, available: true })) });
  const problems = async (spec: object | undefined, report?: Json) => {
    const named = { ...around, named: catalogue(spec, report) };
    const ofHost = await hostKind.fits?.(host({ profile: "small" }), named);
    const ofGroup = await scalingGroupKind.fits?.(group({ profile: "small" }), named);
    const words = ofHost?.map(({ pointer, message }) => `${pointer}: ${message}`);
    const inTemplate = words?.map((word) => word.replace("/spec/", "/spec/template/"));
    assert.deepEqual(
      ofGroup?.map(({ pointer, message }) => `${pointer}: ${message}`),
      inTemplate,
    );
    return words;
  };
  assert.deepEqual(await problems({}, offers("fsn1", "nbg1")), []);
  assert.deepEqual(await problems({}, offers("nbg1", "hel1")), [
    "/spec/location: the profile small (cx22) is not offered in fsn1. It is in: nbg1, hel1",
  ]);
  assert.deepEqual(await problems({ locations: ["nbg1"] }), [
    "/spec/location: the profile small (cx22) is not offered in fsn1. It is in: nbg1",
  ]);
  assert.match(String(await problems({ account: "other" })), /of the account 'other', and this is at 'demo'/);
  // Nobody has looked yet, or it is not there: the reference itself is checked elsewhere.
  assert.deepEqual(await problems({}), []);
  assert.deepEqual(await problems(undefined), []);
});
