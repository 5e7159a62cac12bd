import type { Verdict } from "../api/parts.ts";
import { Mark, type Tone } from "./mark.tsx";
import type { IconName } from "./icons.tsx";
import { numberWords } from "./number-words.ts";
import { plainWords } from "./plain-words.ts";

const answers: Readonly<Record<Verdict["answer"], { word: string; tone: Tone; icon: IconName }>> = {
  pass: { word: "passes", tone: "good", icon: "check" },
  trim: { word: "trims", tone: "accent", icon: "differs" },
  wait: { word: "waits", tone: "warn", icon: "clock" },
  hold: { word: "holds", tone: "hold", icon: "hand" },
  refuse: { word: "refuses", tone: "bad", icon: "cross" },
};

/** What each guard said, with its numbers. */
export function Verdicts({ verdicts }: { verdicts: readonly Verdict[] }) {
  if (verdicts.length === 0) return <p className="text-sm text-soft">No guard had anything to say.</p>;
  return (
    <ul className="divide-y divide-line">
      {verdicts.map((verdict) => (
        <VerdictRow key={`${verdict.guard} ${verdict.reason}`} verdict={verdict} />
      ))}
    </ul>
  );
}

export function VerdictRow({ verdict }: { verdict: Verdict }) {
  const { word, tone, icon } = answers[verdict.answer];
  const numbers = Object.entries(verdict.numbers);
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-0.5 py-2">
      <span className="shrink-0 font-medium sm:min-w-28">{verdict.guard}</span>
      <Mark tone={tone} icon={icon}>
        {word}
      </Mark>
      <span className="min-w-0 flex-1 basis-60 text-sm break-words">{plainWords(verdict.reason)}</span>
      {numbers.length === 0 ? undefined : (
        <span className="text-xs text-soft tabular-nums">
          {numbers.map(([name, value]) => numberWords(name, value)).join(" · ")}
        </span>
      )}
    </li>
  );
}
