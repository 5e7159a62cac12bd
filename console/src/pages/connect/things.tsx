import { useState } from "react";
import type { ObservationDocument } from "../../api/types.ts";
import { useAction } from "../../components/action.ts";
import { Button } from "../../components/button.tsx";
import { Chip } from "../../components/mark.tsx";
import { Panel } from "../../components/panel.tsx";
import { ProblemNote } from "../../components/states.tsx";
import { watchServers } from "./connect.ts";

type SeenItem = ObservationDocument["subjects"][number]["items"][number];

/** Rows that a page can show at once; what is beyond is counted. */
const most = 500;

/** Everything that was seen in the project. What a Host can declare can be chosen. */
export function Things({
  organization,
  items,
  watched,
  isWhole,
}: {
  organization: string;
  items: readonly SeenItem[];
  /** Names of the hosts that are declared at this project. */
  watched: ReadonlySet<string>;
  isWhole: boolean;
}) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const free = items.filter(({ manifest, owned, declaredBy }) => isFree({ manifest, owned, declaredBy }));
  const picked = free.filter(({ key }) => chosen.has(key));
  const watch = useAction(
    organization,
    () =>
      watchServers(
        organization,
        picked.flatMap(({ manifest }) => (manifest === undefined ? [] : [manifest])),
      ),
    () => setChosen(new Set()),
  );
  const toggle = (key: string) => {
    const next = new Set(chosen);
    if (!next.delete(key)) next.add(key);
    setChosen(next);
  };
  return (
    <Panel
      flush
      title="What is there"
      aside={
        <>
          {isWhole ? undefined : (
            <Chip tone="warn" icon="question">
              not all of it was seen
            </Chip>
          )}
          {summary(items)}
        </>
      }
    >
      <div tabIndex={0} role="region" aria-label="Things in the project" className="max-h-[32rem] overflow-auto">
        <table className="w-full min-w-[34rem] text-left text-sm">
          <thead className="text-xs text-soft">
            <tr className="border-b border-line">
              <th className="w-8 py-2 pl-3.5 font-medium">
                <span className="sr-only">Choose</span>
              </th>
              <th className="px-3.5 py-2 font-medium">Thing</th>
              <th className="px-3.5 py-2 font-medium">As seen</th>
              <th className="px-3.5 py-2 font-medium">Here</th>
            </tr>
          </thead>
          <tbody className="divide-y divide-line">
            {items.slice(0, most).map((item) => (
              <ThingRow
                key={item.key}
                item={item}
                watched={watched}
                chosen={chosen.has(item.key)}
                toggle={() => toggle(item.key)}
              />
            ))}
          </tbody>
        </table>
      </div>
      {items.length > most ? (
        <p className="border-t border-line px-3.5 py-2 text-sm text-soft">
          {items.length - most} more are not shown. The command line lists and adopts all of them.
        </p>
      ) : undefined}
      <div className="flex flex-wrap items-center gap-3 border-t border-line px-3.5 py-2.5 text-sm">
        <span className="min-w-0 flex-1 basis-60 text-soft">
          Choose servers to declare them just as they are, in mode observe. Nothing is written to them.
        </span>
        <Button
          tone="quiet"
          disabled={free.length === 0}
          onClick={() => setChosen(new Set(picked.length === free.length ? [] : free.map(({ key }) => key)))}
        >
          {picked.length === free.length && free.length > 0 ? "Choose none" : `Choose all ${free.length}`}
        </Button>
        <Button
          tone="primary"
          icon="eye"
          busy={watch.isPending}
          disabled={picked.length === 0}
          onClick={() => watch.mutate()}
        >
          Declare and watch {picked.length}
        </Button>
      </div>
      {watch.error === null ? undefined : (
        <div className="px-3.5 pb-3">
          <ProblemNote error={watch.error} />
        </div>
      )}
    </Panel>
  );
}

function isFree({ manifest, owned, declaredBy }: Pick<SeenItem, "manifest" | "owned" | "declaredBy">): boolean {
  return manifest !== undefined && !owned && declaredBy.length === 0;
}

function ThingRow({
  item,
  watched,
  chosen,
  toggle,
}: {
  item: SeenItem;
  watched: ReadonlySet<string>;
  chosen: boolean;
  toggle: () => void;
}) {
  const { type, name } = thingOf(item);
  return (
    <tr className="align-top">
      <td className="py-2 pl-3.5">
        {isFree(item) ? (
          <input
            type="checkbox"
            aria-label={`Choose ${type} ${name}`}
            checked={chosen}
            onChange={toggle}
            className="size-4"
          />
        ) : undefined}
      </td>
      <th scope="row" className="min-w-48 px-3.5 py-2 font-normal break-words">
        <span className="text-soft">{type} </span>
        <span className="font-medium">{name}</span>
      </th>
      <td className="px-3.5 py-2 text-soft">{factsOf(item)}</td>
      <td className="px-3.5 py-2">{standingOf(item, watched)}</td>
    </tr>
  );
}

interface Thing {
  readonly type?: string;
  readonly name?: string;
  readonly server?: Readonly<Record<string, unknown>>;
}

function thingOf({ key, item }: SeenItem): {
  readonly type: string;
  readonly name: string;
  readonly server: Thing["server"];
} {
  const { type = "thing", name = key, server } = (item ?? {}) as Thing;
  return { type, name, server };
}

/** What a server is, in the provider's own words. */
function factsOf(item: SeenItem): string {
  const { server = {} } = thingOf(item);
  const said = ["type", "image", "location"].map((field) => server[field]).filter((value) => typeof value === "string");
  const power = server["power"] === "off" ? ["off"] : [];
  return [...said, ...power].join(" · ") || "–";
}

function standingOf(item: SeenItem, watched: ReadonlySet<string>): string {
  const { owned, declaredBy, manifest, problem } = item;
  const [by] = declaredBy;
  const { type, name } = thingOf(item);
  if (by !== undefined) return `${by.kind}/${by.name}${owned ? ", kept" : ""}`;
  // Whoever declares a server is not on record before the first write to it: in mode observe that is never.
  if (type === "server" && watched.has(name)) return `Host/${name}, ${owned ? "kept" : "watched"}`;
  if (owned) return "ours";
  if (manifest !== undefined) return `can be Host/${manifest.metadata.name}`;
  return `left alone: ${problem ?? "nothing here declares such things"}`;
}

function summary(items: readonly SeenItem[]): string {
  const byType = Map.groupBy(items, (item) => thingOf(item).type);
  return [...byType].map(([type, { length }]) => `${length} ${type}${length === 1 ? "" : "s"}`).join(", ");
}
