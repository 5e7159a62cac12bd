import { Graph, layout as rank } from "@dagrejs/dagre";

export interface LayoutInput {
  readonly cards: readonly { readonly id: string; readonly area: string; readonly kind: string }[];
  readonly edges: readonly { readonly from: string; readonly to: string }[];
}

export interface LayoutResult {
  /** Places inside the area. */
  readonly cards: readonly { readonly id: string; readonly area: string; readonly x: number; readonly y: number }[];
  readonly areas: readonly Box[];
}

interface Box {
  readonly id: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export const cardPixels = { width: 236, height: 92 } as const;
const gap = { column: 96, folded: 20, row: 16 } as const;
const padding = { side: 20, top: 44, bottom: 20 } as const;
const areaGap = 40;
/** Longer columns are folded: a hundred records of one zone make a block, not a tower. */
const rowsAtMost = 8;

/**
 * One area per scope, side by side in rows. Within an area dagre says which column a card belongs to and in which order, so that
 * few lines cross; what relates to nothing there comes last. The same input gives the same map.
 */
export function layoutMap({ cards, edges }: LayoutInput): LayoutResult {
  const placed: LayoutResult["cards"][number][] = [];
  const boxes: Box[] = [];
  // What is in a workspace refers to what is above it: those come first, so that arrows lead on and not back.
  const areas = [...Map.groupBy(cards, (card) => card.area)].toSorted(([left], [right]) => depth(right) - depth(left));
  for (const [area, members] of areas) {
    const columns = columnsOf(members, edges);
    const rows = Math.max(...columns.map(({ ids }) => ids.length));
    let x = padding.side;
    for (const { ids, folded } of columns) {
      if (x > padding.side) x += folded ? gap.folded : gap.column;
      // Shorter columns stand in the middle of the longer ones.
      const above = ((rows - ids.length) * (cardPixels.height + gap.row)) / 2;
      for (const [row, id] of ids.entries())
        placed.push({ id, area, x, y: padding.top + above + row * (cardPixels.height + gap.row) });
      x += cardPixels.width;
    }
    const height = padding.top + rows * (cardPixels.height + gap.row) - gap.row + padding.bottom;
    boxes.push({ id: area, x: 0, y: 0, width: x + padding.side, height });
  }
  return { cards: placed, areas: shelved(boxes) };
}

function depth(area: string): number {
  return area === "" ? 0 : area.split("/").length;
}

interface Column {
  readonly ids: readonly string[];
  /** Goes on with the column before it. */
  readonly folded: boolean;
}

function columnsOf(members: LayoutInput["cards"], edges: LayoutInput["edges"]): readonly Column[] {
  const here = new Set(members.map(({ id }) => id));
  const inside = edges.filter(({ from, to }) => here.has(from) && here.has(to));
  const related = new Set(inside.flatMap(({ from, to }) => [from, to]));
  const graph = new Graph();
  graph.setGraph({ rankdir: "LR", nodesep: gap.row, ranksep: gap.column });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { id } of members) if (related.has(id)) graph.setNode(id, { ...cardPixels });
  for (const { from, to } of inside) graph.setEdge(from, to);
  rank(graph);
  const at = (graph.nodes() as readonly string[]).map((id) => {
    const { x, y } = graph.node(id) as { readonly x: number; readonly y: number };
    return { id, x, y };
  });
  const ranks = [...Map.groupBy(at, ({ x }) => x)]
    .toSorted(([left], [right]) => left - right)
    .map(([, column]) => column.toSorted((left, right) => left.y - right.y).map(({ id }) => id));
  const alone = members
    .filter(({ id }) => !related.has(id))
    .toSorted((left, right) => (left.kind < right.kind ? -1 : left.kind > right.kind ? 1 : 0))
    .map(({ id }) => id);
  return [...ranks, ...(alone.length === 0 ? [] : [alone])].flatMap(folded);
}

function folded(ids: readonly string[]): readonly Column[] {
  // As even as possible: eleven cards are six and five, not eight and three.
  const columns = Math.ceil(ids.length / rowsAtMost);
  const rows = Math.ceil(ids.length / columns);
  return Array.from({ length: columns }, (_, index) => ({
    ids: ids.slice(index * rows, (index + 1) * rows),
    folded: index > 0,
  }));
}

/** Areas in rows, about as wide as a screen is to its height. */
function shelved(boxes: readonly Box[]): readonly Box[] {
  const surface = boxes.reduce((sum, { width, height }) => sum + (width + areaGap) * (height + areaGap), 0);
  const widest = Math.max(0, ...boxes.map(({ width }) => width));
  const rowWidth = Math.max(widest, Math.sqrt(surface * 1.8));
  let [x, y, tallest] = [0, 0, 0];
  return boxes.map((box) => {
    if (x > 0 && x + box.width > rowWidth) [x, y, tallest] = [0, y + tallest + areaGap, 0];
    const placed = { ...box, x, y };
    x += box.width + areaGap;
    tallest = Math.max(tallest, box.height);
    return placed;
  });
}
