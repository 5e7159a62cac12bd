import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { stringify } from "yaml";
import type { ComparedItem } from "../../api/parts.ts";
import type { ComparisonDocument } from "../../api/types.ts";
import { Value } from "../../components/differences.tsx";
import { SelectField } from "../../components/field.tsx";
import type { IconName } from "../../components/icons.tsx";
import { Chip, Mark, type Tone } from "../../components/mark.tsx";
import { Panel } from "../../components/panel.tsx";
import { Answer, Empty } from "../../components/states.tsx";
import { TextDifference } from "../../components/text.tsx";
import { Ago } from "../../components/time.tsx";
import { DriftActions } from "../../drift/drift-actions.tsx";
import { scopeWords } from "../../drift/scope-words.ts";
import type { AboutObject } from "./page.tsx";
import { comparisonQuery } from "./queries.ts";

type Subject = ComparisonDocument["subjects"][number];

/** Three sides of every item: as it is declared now, as a cycle last wanted it, and as it was last seen outside. */
export function DifferencesTab(about: AboutObject) {
  const comparison = useQuery(comparisonQuery(about.organization, about.path));
  return (
    <Answer of={comparison} what="what differs">
      {({ subjects }) => (
        <div className="space-y-4">
          {subjects.map((subject, index) => (
            <SubjectDifferences key={subject.account ?? index} about={about} subject={subject} />
          ))}
        </div>
      )}
    </Answer>
  );
}

function SubjectDifferences({ about, subject }: { about: AboutObject; subject: Subject }) {
  const { account, completeness, at, items, same, truncated, problem } = subject;
  const shown = items.filter(({ state }) => state !== "same" && state !== "stranger");
  const strangers = items.filter(({ state }) => state === "stranger").length;
  return (
    <Panel
      flush
      title={account === undefined ? "Declared, last wanted, seen" : `Declared, last wanted, seen at ${account}`}
      aside={
        at === undefined ? undefined : (
          <span>
            {completeness} look, <Ago at={at} />
          </span>
        )
      }
    >
      {completeness === undefined ? (
        <Empty icon="eye" title="It was not looked at yet">
          The next cycle looks. “Look again” makes it now.
        </Empty>
      ) : undefined}
      {problem === undefined ? undefined : (
        <p className="px-3.5 py-2 text-sm text-bad">
          What is wanted is not known: {problem.message} <code className="text-xs">{problem.code}</code>
        </p>
      )}
      {completeness !== undefined && problem === undefined && shown.length === 0 ? (
        <Empty icon="equal" title="Nothing differs">
          Everything outside is as it is declared.
        </Empty>
      ) : undefined}
      <ul className="divide-y divide-line">
        {shown.map((item) => (
          <ItemDifferences key={item.key} about={about} item={item} />
        ))}
      </ul>
      {same > 0 ? <SameItems items={items.filter(({ state }) => state === "same")} count={same} /> : undefined}
      {strangers > 0 ? (
        <p className="border-t border-line px-3.5 py-2 text-sm text-soft">
          {strangers} more {strangers === 1 ? "is" : "are"} there that nobody declares and that{" "}
          {strangers === 1 ? "is" : "are"} not ours.{" "}
          <Link
            to="/o/$organization/objects/$"
            params={{ organization: about.organization, _splat: about.path }}
            search={{ tab: "outside" }}
            className="text-accent underline"
          >
            See what is outside
          </Link>
        </p>
      ) : undefined}
      {truncated ? (
        <p className="border-t border-line px-3.5 py-2 text-sm text-warn">Not all of it is shown here.</p>
      ) : undefined}
    </Panel>
  );
}

const states: Readonly<Record<ComparedItem["state"], { word: string; tone: Tone; icon: IconName }>> = {
  differs: { word: "differs", tone: "warn", icon: "differs" },
  missing: { word: "missing outside", tone: "bad", icon: "question" },
  extra: { word: "no longer declared", tone: "bad", icon: "trash" },
  ignored: { word: "differs, and is ignored", tone: "plain", icon: "eye" },
  same: { word: "as declared", tone: "good", icon: "equal" },
  stranger: { word: "not ours", tone: "plain", icon: "person" },
};

function ItemDifferences({ about, item }: { about: AboutObject; item: ComparedItem }) {
  const { organization, path, resource } = about;
  const { word, tone, icon } = states[item.state];
  const target = {
    kind: resource.kind,
    name: resource.metadata.name,
    path,
    item: item.key,
    fields: item.fields.filter(({ ignored }) => ignored === undefined).map(({ field }) => field),
  };
  return (
    <li className="px-3.5 py-3">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
        <code className="text-sm font-medium break-all">{item.key}</code>
        <Mark tone={tone} icon={icon}>
          {word}
        </Mark>
        <span className="flex flex-wrap gap-x-3 text-xs break-words text-soft">
          {item.declaredBy.length === 0 ? undefined : (
            <span>declared by {item.declaredBy.map(({ kind, name }) => `${kind}/${name}`).join(", ")}</span>
          )}
          {item.last?.at === undefined ? undefined : (
            <span>
              last written <Ago at={item.last.at} />
            </span>
          )}
        </span>
        <span className="flex-1" />
        {item.state === "ignored" ? undefined : (
          <DriftActions
            organization={organization}
            targets={[target]}
            fields={item.state === "differs"}
            revert={item.state === "extra" ? "delete" : item.state === "missing" ? "create" : undefined}
          />
        )}
      </div>
      <FieldTable item={item} />
      <Whole item={item} />
    </li>
  );
}

/** Four columns, or on a narrow screen one below the other with their names. */
function FieldTable({ item }: { item: ComparedItem }) {
  if (item.fields.length === 0) return undefined;
  const last = item.last?.written === true ? "Last written" : "Last wanted";
  const side = (name: string, value: unknown, sign: string, tone: string) => (
    <div className="min-w-0">
      <dt className="text-soft sm:sr-only">{name}</dt>
      <dd className="break-all">
        <Value value={value} sign={sign} tone={tone} absent="nothing" />
      </dd>
    </div>
  );
  return (
    <section aria-label={`Fields of ${item.key}`} className="mt-2 text-xs">
      <p
        aria-hidden="true"
        className="hidden grid-cols-4 gap-x-3 border-b border-line py-1 font-medium text-soft sm:grid"
      >
        <span>Field</span>
        <span>Declared</span>
        <span>{last}</span>
        <span>Seen outside</span>
      </p>
      {item.fields.map((field) => (
        <div key={field.field} className="grid gap-x-3 gap-y-1 py-1.5 sm:grid-cols-4">
          <h3 className="min-w-0 break-all">
            <code className="font-medium">{field.field}</code>
            {field.ignored === undefined ? undefined : (
              <span className="mt-0.5 block text-soft">
                <Chip tone="plain" icon="eye">
                  ignored
                </Chip>{" "}
                {field.ignored.reason} (a rule of {scopeWords(field.ignored.from)}
                {field.ignored.until === undefined ? "" : `, until ${field.ignored.until.slice(0, 10)}`})
              </span>
            )}
          </h3>
          <dl className="contents">
            {side("Declared", field.declared, "+", "bg-good-wash text-good")}
            {side(last, field.last, "·", "bg-sunken text-ink")}
            {side("Seen outside", field.seen, "−", "bg-bad-wash text-bad")}
          </dl>
        </div>
      ))}
    </section>
  );
}

const pairs = {
  "seen-declared": "seen outside, and declared",
  "last-seen": "last wanted, and seen outside",
  "last-declared": "last wanted, and declared now",
} as const;
type Pair = keyof typeof pairs;
const names = { seen: "seen outside", declared: "declared", last: "last wanted" } as const;

/** The whole item as text, any two of its sides beside each other. */
function Whole({ item }: { item: ComparedItem }) {
  const [open, setOpen] = useState(false);
  const [pair, setPair] = useState<Pair>("seen-declared");
  const [left, right] = pair.split("-") as [keyof typeof names, keyof typeof names];
  const sides = { seen: item.seen, declared: item.declared, last: item.last?.item };
  const textOf = (side: keyof typeof names) => (sides[side] === undefined ? "" : stringify(sides[side]));
  return (
    <details className="mt-2" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary className="cursor-pointer text-xs text-soft">the whole item, side by side</summary>
      {open ? (
        <div className="mt-2">
          <SelectField
            label="Sides"
            value={pair}
            onChange={({ target }) => setPair(target.value as Pair)}
            hint="What only the outside knows, such as addresses, is shown and not compared."
          >
            {Object.entries(pairs).map(([name, words]) => (
              <option key={name} value={name}>
                {words}
              </option>
            ))}
          </SelectField>
          <TextDifference
            before={textOf(left)}
            after={textOf(right)}
            beforeName={`${item.key} ${names[left]}`}
            afterName={`${item.key} ${names[right]}`}
          />
        </div>
      ) : undefined}
    </details>
  );
}

function SameItems({ items, count }: { items: readonly ComparedItem[]; count: number }) {
  return (
    <details className="border-t border-line px-3.5 py-2 text-sm">
      <summary className="cursor-pointer text-soft">
        {count} item{count === 1 ? " is" : "s are"} as declared
      </summary>
      <ul className="mt-1 space-y-0.5 text-xs">
        {items.map(({ key }) => (
          <li key={key}>
            <code className="break-all">{key}</code>
          </li>
        ))}
      </ul>
    </details>
  );
}
