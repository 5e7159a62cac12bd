import { type LayoutInput, layoutMap } from "./layout.ts";

/** Places are worked out beside the page, which stays usable meanwhile. */
self.addEventListener("message", ({ data }: MessageEvent<{ readonly number: number; readonly input: LayoutInput }>) => {
  self.postMessage({ number: data.number, result: layoutMap(data.input) }, { transfer: [] });
});
