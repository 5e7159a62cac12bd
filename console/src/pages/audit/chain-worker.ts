import { z } from "zod";
import type { LogPoint } from "../../../../src/ports/read-store.ts";
import { type ChainProgress, type ChainResult, checkChain } from "./chain-check.ts";

export interface ChainQuestion {
  readonly path: string;
  readonly noted: LogPoint | undefined;
}

export type ChainAnswer =
  | { readonly is: "progress"; readonly progress: ChainProgress }
  | { readonly is: "result"; readonly result: ChainResult }
  | { readonly is: "refused"; readonly status: number; readonly body: string };

// Code that is made while the page runs is what the page's policy forbids.
z.config({ jitless: true });

/** The whole record is read and computed beside the page, which stays usable meanwhile. */
self.addEventListener("message", ({ data }: MessageEvent<ChainQuestion>) => {
  void answer(data);
});

function say(message: ChainAnswer): void {
  self.postMessage(message, { transfer: [] });
}

async function answer({ path, noted }: ChainQuestion): Promise<void> {
  const response = await fetch(path, { credentials: "same-origin", cache: "no-store" }).catch(() => undefined);
  if (response?.body === undefined || response.body === null || !response.ok) {
    const body = (await response?.text().catch(() => "")) ?? "";
    return say({ is: "refused", status: response?.status ?? 0, body });
  }
  const progress = (now: ChainProgress) => say({ is: "progress", progress: now });
  say({ is: "result", result: await checkChain(chunksOf(response.body), noted, progress) });
}

/** A stream that breaks off ends here, and then the end of the export is missing. */
async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(() => ({ done: true, value: undefined }));
      if (done || value === undefined) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
