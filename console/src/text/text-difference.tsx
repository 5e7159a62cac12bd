import { MergeView, unifiedMergeView } from "@codemirror/merge";
import { EditorState } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { useEffect, useRef } from "react";
import { base, reading, shadowOf } from "./base.ts";

/** Below this many pixels two texts side by side are too narrow to be read: they become one. */
const sideBySidePx = 640;
const folded = { margin: 3, minSize: 6 };

/** Two texts with what differs marked; long stretches that are the same are folded. */
export function TextDifference({
  before,
  after,
  beforeName,
  afterName,
}: {
  before: string;
  after: string;
  beforeName: string;
  afterName: string;
}) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const root = shadowOf(element);
    const stand = document.createElement("div");
    root.append(stand);
    const view =
      element.clientWidth < sideBySidePx
        ? unified(root, stand, { before, after, name: `${afterName}, with what ${beforeName} has crossed out` })
        : new MergeView({
            root,
            parent: stand,
            a: { doc: before, extensions: [...base, ...reading(beforeName)] },
            b: { doc: after, extensions: [...base, ...reading(afterName)] },
            collapseUnchanged: folded,
          });
    return () => {
      view.destroy();
      stand.remove();
    };
  }, [before, after, beforeName, afterName]);
  return <div ref={place} className="overflow-hidden rounded-md border border-line bg-panel" />;
}

function unified(root: ShadowRoot, parent: HTMLElement, texts: { before: string; after: string; name: string }) {
  const { before, after, name } = texts;
  return new EditorView({
    root,
    parent,
    state: EditorState.create({
      doc: after,
      extensions: [
        ...base,
        ...reading(name),
        unifiedMergeView({ original: before, mergeControls: false, collapseUnchanged: folded }),
      ],
    }),
  });
}
