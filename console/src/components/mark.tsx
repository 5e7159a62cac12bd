import type { ReactNode } from "react";
import { Icon, type IconName } from "./icons.tsx";

export type Tone = "good" | "warn" | "bad" | "hold" | "plain" | "accent";

export const tones: Readonly<Record<Tone, string>> = {
  good: "text-good",
  warn: "text-warn",
  bad: "text-bad",
  hold: "text-hold",
  plain: "text-soft",
  accent: "text-accent",
};
const washes: Readonly<Record<Tone, string>> = {
  good: "bg-good-wash text-good",
  warn: "bg-warn-wash text-warn",
  bad: "bg-bad-wash text-bad",
  hold: "bg-hold-wash text-hold",
  plain: "bg-sunken text-soft",
  accent: "bg-accent-wash text-accent",
};

/** A state: always a word, a shape and a colour. */
export function Mark({
  tone,
  icon,
  children,
  title,
  small = false,
}: {
  tone: Tone;
  icon: IconName;
  children: ReactNode;
  title?: string | undefined;
  small?: boolean;
}) {
  const size = small ? "text-xs" : "text-sm";
  return (
    <span title={title} className={`inline-flex min-w-0 items-center gap-1 ${size} whitespace-nowrap ${tones[tone]}`}>
      <Icon name={icon} size={small ? 13 : 14} />
      <span className="truncate">{children}</span>
    </span>
  );
}

/** The same where it must be seen from afar. What somebody named is broken where it is longer than its place, and not cut off. */
export function Chip({
  tone,
  icon,
  children,
  title,
  breaks = false,
}: {
  tone: Tone;
  icon?: IconName;
  children: ReactNode;
  title?: string | undefined;
  breaks?: boolean;
}) {
  const shape = breaks
    ? "min-h-6 rounded-xl py-0.5 wrap-anywhere"
    : "h-6 overflow-hidden rounded-full whitespace-nowrap";
  return (
    <span
      title={title}
      className={`inline-flex max-w-full items-center gap-1 px-2 text-xs font-medium ${shape} ${washes[tone]}`}
    >
      {icon === undefined ? undefined : <Icon name={icon} size={13} />}
      {breaks ? <span className="min-w-0">{children}</span> : children}
    </span>
  );
}
