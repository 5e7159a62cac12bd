import {
  type Edge,
  Handle,
  MarkerType,
  MiniMap,
  type Node,
  type NodeChange,
  type NodeProps,
  Position,
  ReactFlow,
  ReactFlowProvider,
  useReactFlow,
} from "@xyflow/react";
import "@xyflow/react/dist/base.css";
import { memo, useEffect, useMemo, useRef } from "react";
import type { MapDocument } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { EntryAxes, PlanMark } from "./card.tsx";
import { areaTitle, type Entry } from "./entries.ts";
import { cardPixels, type LayoutResult } from "./layout.ts";

interface CanvasProps {
  readonly entries: readonly Entry[];
  readonly edges: MapDocument["edges"];
  readonly layout: LayoutResult;
  readonly plan: boolean;
  readonly focus: string | undefined;
  readonly chosen: string | undefined;
  readonly choose: (id: string | undefined) => void;
}

type CardNode = Node<{ readonly entry: Entry; readonly plan: boolean; readonly isFocus: boolean }, "card">;
type AreaNode = Node<{ readonly title: string }, "area">;
type MapNode = CardNode | AreaNode;

/** Letters below this size are no longer read. */
const readableZoom = 0.6;
const margin = 16;
const whole = { padding: `${margin}px`, maxZoom: 1 } as const;
const smallMapPixels = { width: 128, height: 56 } as const;

const nodeTypes = { card: memo(CardView), area: memo(AreaView) };

export function Canvas(props: CanvasProps) {
  return (
    <ReactFlowProvider>
      <Drawing {...props} />
    </ReactFlowProvider>
  );
}

function Drawing({ entries, edges, layout, plan, focus, chosen, choose }: CanvasProps) {
  const still = useMemo(() => nodesOf({ entries, layout, plan, focus }), [entries, layout, plan, focus]);
  // Choosing one draws that one anew, and its lines; the others stay the objects they are.
  const nodes = useMemo(() => still.map((node) => (node.id === chosen ? asChosen(node) : node)), [still, chosen]);
  const far = useMemo(() => linesOf(edges), [edges]);
  const lines = useMemo(
    () => far.map((line) => (line.source === chosen || line.target === chosen ? asNear(line) : line)),
    [far, chosen],
  );
  const flow = useReactFlow();
  const frame = useRef<HTMLDivElement>(null);
  // Another set of cards is another map. It is shown whole where it can be read so, and from its beginning otherwise.
  useEffect(() => {
    const { clientWidth = 0, clientHeight = 0 } = frame.current ?? {};
    const width = Math.max(...layout.areas.map((area) => area.x + area.width));
    const height = Math.max(...layout.areas.map((area) => area.y + area.height));
    const fits = Math.min((clientWidth - 2 * margin) / width, (clientHeight - 2 * margin) / height);
    if (fits >= readableZoom) void flow.fitView(whole);
    else void flow.setViewport({ x: margin, y: margin, zoom: readableZoom });
  }, [flow, layout]);
  const changed = (changes: readonly NodeChange<MapNode>[]) => {
    const picked = changes.find((change) => change.type === "select" && change.selected);
    if (picked?.type === "select") choose(picked.id);
  };
  return (
    <>
      <ReactFlow<MapNode>
        ref={frame}
        className="min-h-0 flex-1"
        nodes={nodes}
        edges={lines}
        nodeTypes={nodeTypes}
        onNodesChange={changed}
        onPaneClick={() => choose(undefined)}
        nodesDraggable={false}
        nodesConnectable={false}
        edgesFocusable={false}
        deleteKeyCode={null}
        selectionKeyCode={null}
        multiSelectionKeyCode={null}
        zIndexMode="manual"
        panOnScroll
        minZoom={0.08}
        maxZoom={1.5}
        proOptions={{ hideAttribution: true }}
        aria-label="Map of resources"
      />
      <Whereabouts />
    </>
  );
}

/** Below the map and not upon it: it would cover cards. */
function Whereabouts() {
  const flow = useReactFlow();
  return (
    <div className="flex shrink-0 items-center gap-1 border-t border-line p-2">
      <Button icon="plus" aria-label="Zoom in" className="px-1.5" onClick={() => void flow.zoomIn()} />
      <Button aria-label="Zoom out" className="px-2.5" onClick={() => void flow.zoomOut()}>
        −
      </Button>
      <Button onClick={() => void flow.fitView(whole)}>All</Button>
      <MiniMap
        pannable
        ariaLabel="The whole map, small"
        className="!static !m-0 !ml-auto overflow-hidden rounded-md border border-line"
        style={smallMapPixels}
        bgColor="var(--panel)"
        maskColor="color-mix(in srgb, var(--ground) 70%, transparent)"
        nodeColor={({ type }) => (type === "area" ? "var(--sunken)" : "var(--strong-line)")}
      />
    </div>
  );
}

function nodesOf({ entries, layout, plan, focus }: Omit<CanvasProps, "edges" | "chosen" | "choose">): MapNode[] {
  const areas = layout.areas.map(({ id, x, y, width, height }): AreaNode => {
    const position = { x, y };
    const still = { selectable: false, focusable: false };
    return { id: `area ${id}`, type: "area", position, width, height, data: { title: areaTitle(id) }, ...still };
  });
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const cards = layout.cards.flatMap(({ id, area, x, y }): CardNode[] => {
    const entry = byId.get(id);
    // A card that is new has no place yet; the next layout gives it one.
    if (entry === undefined) return [];
    const isFocus = id === focus;
    return [
      {
        id,
        type: "card",
        parentId: `area ${area}`,
        position: { x, y },
        ...cardPixels,
        data: { entry, plan, isFocus },
        // Lines run behind cards, so that every card can be read.
        zIndex: 2,
        ariaRole: "button",
        domAttributes: { "aria-pressed": false, "aria-roledescription": undefined },
      },
    ];
  });
  return [...areas, ...cards];
}

function asChosen(node: MapNode): MapNode {
  return { ...node, selected: true, domAttributes: { ...node.domAttributes, "aria-pressed": true } };
}

function linesOf(edges: MapDocument["edges"]): Edge[] {
  return edges.map(({ from, to }) => ({
    id: `${from} ${to}`,
    source: from,
    target: to,
    selectable: false,
    className: "map-line",
    zIndex: 1,
    markerEnd: { type: MarkerType.ArrowClosed, color: "var(--strong-line)" },
  }));
}

/** Lines of what is looked at stand out. */
function asNear(line: Edge): Edge {
  const markerEnd = { type: MarkerType.ArrowClosed, color: "var(--accent)" };
  return { ...line, className: "map-line map-line-near", markerEnd };
}

function CardView({ data: { entry, plan, isFocus }, selected }: NodeProps<CardNode>) {
  const edge = selected ? "border-accent ring-2 ring-accent" : isFocus ? "border-accent" : "border-line";
  const quiet = plan && entry.planned === undefined ? "border-dashed" : "";
  return (
    <div
      className={`flex h-full w-full cursor-pointer flex-col overflow-hidden rounded-md border bg-panel px-2.5 py-1.5 ${edge} ${quiet}`}
    >
      <Handle type="target" position={Position.Left} className="invisible" isConnectable={false} />
      <div className="truncate text-2xs text-soft">
        {entry.card === undefined ? "group" : entry.kind}
        {isFocus ? " · in focus" : ""}
      </div>
      <div className="truncate text-sm font-medium" title={entry.title}>
        {entry.title}
      </div>
      <div className="mt-auto">
        {plan ? (
          <PlanMark planned={entry.planned} />
        ) : (
          <div className="grid grid-cols-2 gap-x-2 [&_span]:!text-xs">
            <EntryAxes entry={entry} />
          </div>
        )}
      </div>
      <Handle type="source" position={Position.Right} className="invisible" isConnectable={false} />
    </div>
  );
}

function AreaView({ data: { title } }: NodeProps<AreaNode>) {
  return (
    <div className="h-full w-full rounded-lg border border-line bg-ground px-5 py-2.5">
      <h3 className="truncate text-sm font-semibold">{title}</h3>
    </div>
  );
}
