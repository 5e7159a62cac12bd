import type { PlannedSubject } from "../api/parts.ts";
import type { DryRunDocument } from "../api/types.ts";
import { Counts } from "./counts.tsx";
import { Differences, Value } from "./differences.tsx";
import { Icon } from "./icons.tsx";
import { Chip } from "./mark.tsx";
import { duration } from "./time.tsx";
import { Verdicts } from "./verdicts.tsx";

/** What a write would lead to: nothing of it has happened. */
export function DryRunView({ plan }: { plan: DryRunDocument }) {
  const changes = plan.changes.filter(({ action }) => action !== "none");
  return (
    <div className="space-y-3">
      {plan.notes.map((note) => (
        <p key={note} className="flex gap-2 text-sm text-soft">
          <Icon name="info" className="mt-0.5" /> {note}
        </p>
      ))}
      {changes.length === 0 ? <p className="text-sm">The declaration stays as it is.</p> : undefined}
      {changes.map((change) => (
        <div key={`${change.kind}/${change.name}`}>
          <p className="text-sm font-medium">
            Declaration: {change.action} {change.kind}/{change.name}
          </p>
          <ul className="mt-1 space-y-0.5 text-xs">
            {change.fields.map((field) => (
              <li key={field.pointer} className="flex flex-wrap gap-x-2 break-all">
                <code className="text-soft">{field.pointer}</code>
                <Value value={field.before} sign="−" tone="bg-bad-wash text-bad" absent="absent" />
                <Value value={field.after} sign="+" tone="bg-good-wash text-good" absent="removed" />
              </li>
            ))}
          </ul>
        </div>
      ))}
      {plan.subjects.map((subject) => (
        <SubjectPlan key={`${subject.kind}/${subject.name}/${subject.account ?? ""}`} subject={subject} />
      ))}
    </div>
  );
}

function SubjectPlan({ subject }: { subject: PlannedSubject }) {
  const { observation, problem, ignored = [] } = subject;
  const order = ["delete", "replace", "takeover", "update", "create", "adopt", "forget"];
  const items = subject.items.toSorted((left, right) => order.indexOf(left.action) - order.indexOf(right.action));
  return (
    <div className="rounded-md border border-line">
      <p className="flex flex-wrap items-center gap-x-3 border-b border-line px-3 py-2 text-sm">
        <b className="font-medium">
          Outside: {subject.kind}/{subject.name}
          {subject.account === undefined ? "" : ` at ${subject.account}`}
        </b>
        <Counts counts={subject.sizes} />
        <span className="text-xs text-soft">
          {observation === undefined
            ? "never looked at: nothing can be said about it"
            : `from a ${observation.completeness} look, ${duration(observation.ageSeconds * 1_000)} old`}
        </span>
      </p>
      {problem === undefined ? undefined : <p className="px-3 py-2 text-sm text-bad">{problem.message}</p>}
      <ul className="divide-y divide-line">
        {items.map((item) => (
          <li key={`${item.action} ${item.key}`} className="px-3 py-2">
            <p className="flex flex-wrap items-center gap-x-3 text-sm">
              <b className={item.action === "delete" || item.action === "replace" ? "text-bad" : ""}>{item.action}</b>
              <code className="break-all">{item.key}</code>
              {item.passes ? undefined : (
                <Chip tone="hold" icon="hand">
                  would wait
                </Chip>
              )}
            </p>
            <Differences differences={item.differences} />
          </li>
        ))}
        {ignored.map((field) => (
          <li key={`${field.key} ${field.field}`} className="px-3 py-2 text-xs text-soft">
            <code>{field.field}</code> of <code>{field.key}</code> differs and is left as it is, by a rule of{" "}
            {field.from}: {field.reason}
          </li>
        ))}
      </ul>
      {subject.verdicts.length === 0 ? undefined : (
        <div className="border-t border-line px-3">
          <Verdicts verdicts={subject.verdicts} />
        </div>
      )}
    </div>
  );
}
