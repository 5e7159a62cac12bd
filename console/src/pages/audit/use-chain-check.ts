import { useEffect, useRef, useState } from "react";
import type { LogPoint } from "../../../../src/ports/read-store.ts";
import { problemOf } from "../../api/client.ts";
import { base } from "../../api/queries.ts";
import type { ChainProgress, ChainResult } from "./chain-check.ts";
import type { ChainAnswer, ChainQuestion } from "./chain-worker.ts";

export type ChainState =
  | { readonly is: "idle" }
  | { readonly is: "running"; readonly progress: ChainProgress }
  | { readonly is: "done"; readonly result: ChainResult }
  | { readonly is: "failed"; readonly error: Error };

/** One check at a time, in a worker of its own that ends with it. */
export function useChainCheck(organization: string, whenDone: (result: ChainResult) => void) {
  const worker = useRef<Worker>(undefined);
  const [state, setState] = useState<ChainState>({ is: "idle" });
  const end = (next: ChainState) => {
    worker.current?.terminate();
    worker.current = undefined;
    setState(next);
  };
  useEffect(() => () => worker.current?.terminate(), []);
  const start = (noted: LogPoint | undefined) => {
    if (!isSecureContext) return end({ is: "failed", error: new Error(insecure) });
    const made = new Worker(new URL("./chain-worker.ts", import.meta.url), { type: "module" });
    made.addEventListener("message", ({ data }: MessageEvent<ChainAnswer>) => {
      if (data.is === "progress") return setState({ is: "running", progress: data.progress });
      const path = "the audit trail";
      if (data.is === "refused") return end({ is: "failed", error: problemOf(data.status, data.body, path) });
      end({ is: "done", result: data.result });
      whenDone(data.result);
    });
    made.addEventListener("error", ({ message }) =>
      end({ is: "failed", error: new Error(message || "The check did not come to an end: try again.") }),
    );
    worker.current = made;
    setState({ is: "running", progress: { entries: 0, position: 0 } });
    const question: ChainQuestion = { path: `${base(organization)}/audit/export?format=ndjson`, noted };
    made.postMessage(question, { transfer: [] });
  };
  return { state, start, stop: () => end({ is: "idle" }) };
}

const insecure =
  "Browsers compute hashes only on pages that came over HTTPS or from this machine. Check with: setpoint audit verify";
