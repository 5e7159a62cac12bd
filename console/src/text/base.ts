import { yaml } from "@codemirror/lang-yaml";
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import type { Extension } from "@codemirror/state";
import { EditorView, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";

/** By the names of our colours: they change with the theme, and reach into the shadow below. */
const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--accent)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--good)" },
  { tag: [tags.number, tags.bool, tags.null, tags.keyword], color: "var(--hold)" },
  { tag: [tags.comment, tags.lineComment, tags.meta], color: "var(--soft)" },
  { tag: tags.invalid, color: "var(--bad)" },
]);

const look = EditorView.theme({
  "&": { color: "var(--ink)", backgroundColor: "var(--panel)", fontSize: "12px" },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "-2px" },
  ".cm-scroller": { fontFamily: "var(--font-mono)", lineHeight: "1.6", fontVariantLigatures: "none" },
  ".cm-content": { caretColor: "var(--ink)", padding: "8px 0" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { backgroundColor: "var(--sunken)", color: "var(--soft)", border: "none" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "transparent" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, ::selection": {
    backgroundColor: "var(--accent-wash)",
  },
  ".cm-broken": { backgroundColor: "var(--bad-wash)" },
  // Of differences: whole lines are washed, and what is other within them has a line below it, so that colour is not alone.
  ".cm-changedLine, .cm-inlineChangedLine": { backgroundColor: "var(--good-wash) !important" },
  "&.cm-merge-a .cm-changedLine, .cm-deletedChunk": { backgroundColor: "var(--bad-wash) !important" },
  ".cm-changedText, .cm-deletedText, .cm-insertedLine .cm-changedText": {
    background: "none !important",
    textDecoration: "underline",
    textDecorationThickness: "1px",
    textUnderlineOffset: "3px",
  },
  ".cm-deletedChunk .cm-deletedText": { color: "var(--bad)" },
  ".cm-changeGutter": { width: "4px", paddingLeft: "0" },
  ".cm-changedLineGutter": { backgroundColor: "var(--good)" },
  "&.cm-merge-a .cm-changedLineGutter, .cm-deletedLineGutter": { backgroundColor: "var(--bad)" },
  ".cm-collapsedLines": {
    background: "var(--sunken) !important",
    color: "var(--soft)",
    fontFamily: "var(--font-sans)",
  },
  // The sign that comes with it is in no letters of ours.
  ".cm-collapsedLines:before, .cm-collapsedLines:after": { content: "'…' !important" },
});

/** What every text has: YAML in our colours, with numbers, and lines that are broken rather than cut. */
export const base: readonly Extension[] = [
  lineNumbers(),
  yaml(),
  syntaxHighlighting(colours),
  look,
  EditorView.lineWrapping,
];

/** A text to read: it can be reached and scrolled with the keyboard, and says what it is. */
export function reading(label: string): readonly Extension[] {
  return [
    EditorView.editable.of(false),
    EditorView.contentAttributes.of({ tabindex: "0", role: "textbox", "aria-readonly": "true", "aria-label": label }),
  ];
}

/**
 * Where a text stands. In a shadow root its styles are adopted as sheets; in the page itself they would be an element that the page's
 * policy refuses.
 */
export function shadowOf(element: HTMLElement): ShadowRoot {
  return element.shadowRoot ?? element.attachShadow({ mode: "open" });
}
