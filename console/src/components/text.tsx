import { type ComponentProps, lazy, Suspense } from "react";
import { Reading } from "./states.tsx";

/** The editor of text is large: it is read when it is first shown, and not with the first page. */
const Editor = lazy(async () => ({ default: (await import("../text/yaml-editor.tsx")).YamlEditor }));
const Difference = lazy(async () => ({ default: (await import("../text/text-difference.tsx")).TextDifference }));

export function YamlEditor(props: ComponentProps<typeof Editor>) {
  return (
    <Suspense fallback={<Reading what="the editor" rows={8} />}>
      <Editor {...props} />
    </Suspense>
  );
}

export function TextDifference(props: ComponentProps<typeof Difference>) {
  return (
    <Suspense fallback={<Reading what="the comparison" rows={5} />}>
      <Difference {...props} />
    </Suspense>
  );
}
