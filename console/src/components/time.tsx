import { useSyncExternalStore } from "react";

/** One clock for the whole page: it ticks each second, and all ages move together. */
const listeners = new Set<() => void>();
let nowMs = Date.now();
setInterval(() => {
  nowMs = Date.now();
  for (const listener of listeners) listener();
}, 1_000);

/** The time, as often as it is needed: what is drawn three hundred times does not have to move each second. */
export function useNowMs(everyMs = 1_000): number {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => (everyMs <= 1_000 ? nowMs : nowMs - (nowMs % everyMs)),
  );
}

/** For people: 90 s, 12 min, 3 h, 2 d. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3_600)} h`;
  return `${Math.round(seconds / 86_400)} d`;
}

/** Short times say more in milliseconds. */
export function took(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : duration(ms);
}

export function Ago({ at, className = "" }: { at: string; className?: string }) {
  const ms = useNowMs() - Date.parse(at);
  return (
    <time dateTime={at} title={fullTime(at)} className={`whitespace-nowrap tabular-nums ${className}`}>
      {ms < 1_500 && ms > -1_500 ? "now" : ms < 0 ? `in ${duration(-ms)}` : `${duration(ms)} ago`}
    </time>
  );
}

export function Until({ at, word = "in" }: { at: string; word?: "in" | "within" }) {
  const ms = Date.parse(at) - useNowMs();
  return (
    <time dateTime={at} title={fullTime(at)} className="whitespace-nowrap tabular-nums">
      {ms <= 0 ? "now" : `${word} ${duration(ms)}`}
    </time>
  );
}

export function fullTime(at: string): string {
  return new Date(at).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" });
}
