import { useEffect, useRef } from "react";

/** How long the second key of "g n" may take. */
const sequenceMs = 1_200;

/** Keys that work everywhere but while somebody types. */
export function useShortcuts(acts: { readonly palette: () => void; readonly go: (key: string) => void }): void {
  const latest = useRef(acts);
  latest.current = acts;
  useEffect(() => {
    let gAtMs = 0;
    const listen = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        latest.current.palette();
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (event.key === "/") {
        event.preventDefault();
        const filter = document.querySelector<HTMLInputElement>("[data-filter]");
        if (filter === null) latest.current.palette();
        else filter.focus();
      } else if (event.key === "g") gAtMs = event.timeStamp;
      else if (event.timeStamp - gAtMs < sequenceMs) {
        gAtMs = 0;
        latest.current.go(event.key);
      }
    };
    window.addEventListener("keydown", listen);
    return () => window.removeEventListener("keydown", listen);
  }, []);
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}
