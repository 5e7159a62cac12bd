import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { EditorState, StateEffect, StateField } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, keymap } from "@codemirror/view";
import { useEffect, useRef } from "react";
import { base, shadowOf } from "./base.ts";

const setBroken = StateEffect.define<number | undefined>();

/** The line that could not be read. */
const brokenLine = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update: (marks, { effects, changes, state }) => {
    let next = marks.map(changes);
    for (const effect of effects)
      if (effect.is(setBroken)) {
        const line = effect.value;
        const known = line !== undefined && line >= 1 && line <= state.doc.lines;
        next = known
          ? Decoration.set([Decoration.line({ class: "cm-broken" }).range(state.doc.line(line).from)])
          : Decoration.none;
      }
    return next;
  },
  provide: (field) => EditorView.decorations.from(field),
});

/**
 * Text typed over a selection is put there by the editor itself: the browser would leave elements with styles of their own behind,
 * which the page's policy refuses.
 */
const overSelection = EditorView.domEventHandlers({
  beforeinput: (event, view) => {
    if (event.inputType !== "insertText" || event.data === null || view.state.selection.main.empty) return false;
    event.preventDefault();
    view.dispatch(view.state.replaceSelection(event.data), { userEvent: "input.type", scrollIntoView: true });
    return true;
  },
});

/** Tab leaves the text, as everywhere on the page: nobody is caught in it. */
export function YamlEditor({
  label,
  describedBy,
  text,
  edit,
  broken,
}: {
  label: string;
  describedBy: string;
  text: string;
  edit: (text: string) => void;
  /** The line that could not be read, from 1. */
  broken: number | undefined;
}) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const tell = useRef(edit);
  tell.current = edit;
  const first = useRef(text);
  useEffect(() => {
    if (place.current === null) return;
    const root = shadowOf(place.current);
    const made = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: first.current,
        extensions: [
          ...base,
          history(),
          keymap.of([...defaultKeymap, ...historyKeymap]),
          brokenLine,
          overSelection,
          EditorView.contentAttributes.of({ "aria-label": label, "aria-description": describedBy }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) tell.current(update.state.doc.toString());
          }),
        ],
      }),
    });
    view.current = made;
    return () => made.destroy();
  }, [label, describedBy]);
  useEffect(() => {
    const shown = view.current;
    // Undone from outside: what is typed comes back here as the same text.
    if (shown !== undefined && shown.state.doc.toString() !== text)
      shown.dispatch({ changes: { from: 0, to: shown.state.doc.length, insert: text } });
  }, [text]);
  useEffect(() => view.current?.dispatch({ effects: setBroken.of(broken) }), [broken]);
  return <div ref={place} className="min-h-60 overflow-hidden rounded-md border border-strong-line bg-panel" />;
}
