import { useEffect, useRef, useState } from "react";
import type { LayoutInput, LayoutResult } from "./layout.ts";

interface Answer {
  readonly number: number;
  readonly result: LayoutResult;
}

/** The newest layout there is; what changes only how cards look asks for no new one. */
export function useLayout(input: LayoutInput | undefined): { readonly layout?: LayoutResult; readonly error?: Error } {
  const worker = useRef<Worker>(undefined);
  const asked = useRef(0);
  const [state, setState] = useState<{ readonly layout?: LayoutResult; readonly error?: Error }>({});
  useEffect(() => {
    const made = new Worker(new URL("./layout-worker.ts", import.meta.url), { type: "module" });
    made.addEventListener("message", ({ data }: MessageEvent<Answer>) => {
      if (data.number === asked.current) setState({ layout: data.result });
    });
    made.addEventListener("error", ({ message }) =>
      setState({ error: new Error(message || "The map was not drawn.") }),
    );
    worker.current = made;
    return () => made.terminate();
  }, []);
  const key = JSON.stringify(input);
  useEffect(() => {
    if (key === undefined) return;
    asked.current++;
    worker.current?.postMessage({ number: asked.current, input: JSON.parse(key) as LayoutInput });
  }, [key]);
  return state;
}
