import type { ComponentProps, ReactNode } from "react";
import { Icon, type IconName } from "./icons.tsx";

type Tone = "plain" | "primary" | "danger" | "quiet";

const tones: Readonly<Record<Tone, string>> = {
  plain: "border-line bg-panel text-ink hover:border-strong-line",
  primary: "border-transparent bg-accent text-on-accent hover:opacity-90",
  danger: "border-bad bg-panel text-bad hover:bg-bad-wash",
  quiet: "border-transparent bg-transparent text-soft hover:bg-sunken hover:text-ink",
};

const shape =
  "inline-flex h-8 items-center justify-center gap-1.5 rounded-md border px-2.5 text-sm font-medium whitespace-nowrap transition-colors disabled:opacity-50 aria-disabled:opacity-50";

export function buttonClass(tone: Tone = "plain"): string {
  return `${shape} ${tones[tone]}`;
}

/** A busy button keeps the focus, so that whoever has no mouse stays where they are; pressing it does nothing meanwhile. */
export function Button({
  tone = "plain",
  icon,
  busy = false,
  children,
  className = "",
  onClick,
  ...rest
}: ComponentProps<"button"> & { tone?: Tone; icon?: IconName | undefined; busy?: boolean; children?: ReactNode }) {
  return (
    <button
      type="button"
      {...rest}
      aria-disabled={busy ? true : undefined}
      onClick={busy ? (event) => event.preventDefault() : onClick}
      className={`${buttonClass(tone)} ${className}`}
    >
      {icon === undefined ? undefined : <Icon name={icon} size={14} />}
      {children}
    </button>
  );
}
