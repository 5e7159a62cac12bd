/** A fenced block of a document. The fence says its language and what it is about: a file, or a command. */
export interface Block {
  readonly language: string;
  readonly about: string;
  readonly text: string;
}

export function blocksOf(document: string): readonly Block[] {
  const fenced = document.matchAll(/^```(\w+) ?([^\n]*)\n([\s\S]*?)\n```$/gm);
  return Array.from(fenced, ([, language = "", about = "", text = ""]) => ({ language, about, text }));
}
