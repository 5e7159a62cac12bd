import { useCallback, useSyncExternalStore } from "react";

/** Whether the screen is at least this wide, as it is turned and drawn larger. */
export function useIsAtLeast(rem: number): boolean {
  const asked = `(min-width: ${rem}rem)`;
  const listen = useCallback(
    (tell: () => void) => {
      const list = matchMedia(asked);
      list.addEventListener("change", tell);
      return () => list.removeEventListener("change", tell);
    },
    [asked],
  );
  return useSyncExternalStore(listen, () => matchMedia(asked).matches);
}
