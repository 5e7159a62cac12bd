import { useState } from "react";
import { Button } from "./button.tsx";
import { CommandWords } from "./states.tsx";

export function CodeBlock({
  title,
  text,
  wrap = false,
}: {
  title: string;
  text: string;
  /** Commands are read to their end: a long line goes on below, indented, instead of behind the edge. */
  wrap?: boolean;
}) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 1_500);
  };
  return (
    <section className="rounded-lg border border-line bg-panel">
      <header className="flex h-10 items-center justify-between border-b border-line px-3.5">
        <h2 className="text-sm font-semibold">{title}</h2>
        <Button tone="quiet" icon={copied ? "check" : "copy"} onClick={() => void copy()}>
          {copied ? "Copied" : "Copy"}
        </Button>
      </header>
      <pre tabIndex={0} className="overflow-x-auto p-3.5 text-xs leading-5">
        {wrap
          ? text.split("\n").map((line) => (
              <span key={line} className="block pl-4 -indent-4 whitespace-pre-wrap">
                <CommandWords line={line} />
              </span>
            ))
          : text}
      </pre>
    </section>
  );
}
