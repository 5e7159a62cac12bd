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

/** The same where it must be seen from afar. */
export function Chip({
  tone,
  icon,
  children,
  title,
}: {
  tone: Tone;
  icon?: IconName;
  children: ReactNode;
  title?: string | undefined;
}) {
  return (
    <span
      title={title}
      className={`inline-flex h-6 max-w-full items-center gap-1 overflow-hidden rounded-full px-2 text-xs font-medium whitespace-nowrap ${washes[tone]}`}
    >
      {icon === undefined ? undefined : <Icon name={icon} size={13} />}
      {children}
    </span>
  );
}
