import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { cardPixels, type LayoutInput, type LayoutResult, layoutMap } from "../../../console/src/pages/map/layout.ts";
import { holds } from "../../support/properties.ts";

const inputs: fc.Arbitrary<LayoutInput> = fc
  .tuple(
    fc.array(fc.record({ area: fc.constantFrom("", "web", "web/live"), kind: fc.constantFrom("Host", "Zone") }), {
      maxLength: 60,
    }),
    fc.array(fc.tuple(fc.nat(59), fc.nat(59)), { maxLength: 80 }),
  )
  .map(([cards, pairs]) => ({
    cards: cards.map((card, index) => ({ id: `card-${index}`, ...card })),
    // Also those that lead nowhere, in a circle, or to themselves.
    edges: pairs.map(([from, to]) => ({ from: `card-${from}`, to: `card-${to}` })),
  }));

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}
const overlap = (left: Box, right: Box) =>
  left.x < right.x + right.width &&
  right.x < left.x + left.width &&
  left.y < right.y + right.height &&
  right.y < left.y + left.height;

function requireApart(boxes: readonly (Box & { readonly id: string })[]): void {
  for (const [index, left] of boxes.entries())
    for (const right of boxes.slice(index + 1)) assert.ok(!overlap(left, right), `${left.id} lies on ${right.id}`);
}

function boxesIn({ cards }: LayoutResult, area: string) {
  return cards.filter((card) => card.area === area).map((card) => ({ ...card, ...cardPixels }));
}

test("every card has one place, inside its area and on no other, and areas lie apart", () => {
  holds(
    fc.property(inputs, (input) => {
      const layout = layoutMap(input);
      assert.deepEqual(layout.cards.map(({ id }) => id).sort(), input.cards.map(({ id }) => id).sort());
      requireApart(layout.areas);
      for (const area of layout.areas) {
        const inside = boxesIn(layout, area.id);
        requireApart(inside);
        for (const { x, y, width, height, id } of inside)
          assert.ok(x >= 0 && y >= 0 && x + width <= area.width && y + height <= area.height, `${id} sticks out`);
      }
      assert.deepEqual(layoutMap(input), layout, "the same input gives the same map");
    }),
  );
});

test("an arrow points to the right, and many of a kind make a block instead of a tower", () => {
  const cards = ["zone", ...Array.from({ length: 40 }, (_, index) => `record-${index}`)].map((id) => ({
    id,
    area: "",
    kind: "any",
  }));
  const layout = layoutMap({ cards, edges: cards.slice(1).map(({ id }) => ({ from: id, to: "zone" })) });
  const at = new Map(layout.cards.map((card) => [card.id, card]));
  const zone = at.get("zone");
  for (const card of layout.cards) if (card.id !== "zone") assert.ok(card.x < (zone?.x ?? 0), card.id);
  const [area] = layout.areas;
  assert.ok((area?.width ?? 0) > (area?.height ?? 0) * 0.8, `${area?.width} by ${area?.height}`);
});

test("nothing has a map as well", () => {
  assert.deepEqual(layoutMap({ cards: [], edges: [] }), { cards: [], areas: [] });
});
