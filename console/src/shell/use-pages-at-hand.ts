import { useRouter } from "@tanstack/react-router";
import { useEffect } from "react";

/** The first page comes first; the others when it stands. */
const afterMs = 2_000;

/**
 * Reads the code of every page ahead of need: whoever goes to another page while the server is away finds it there, with what could be
 * read so far, and not an error of the browser.
 */
export function usePagesAtHand(): void {
  const router = useRouter();
  useEffect(() => {
    const timer = setTimeout(() => {
      for (const { options } of Object.values(router.routesById)) void options.component?.preload?.();
    }, afterMs);
    return () => clearTimeout(timer);
  }, [router]);
}
