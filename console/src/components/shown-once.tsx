import { useState } from "react";
import { Button } from "./button.tsx";

/** Something that is told this once and never again. */
export function ShownOnce({
  what,
  text,
  shownAs = text,
}: {
  what: string;
  /** What is copied. */
  text: string;
  shownAs?: string;
}) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
  };
  return (
    <div role="status" className="my-3 rounded-md border border-accent bg-accent-wash px-3 py-2 text-sm">
      <p className="font-medium">{what} It is shown this once.</p>
      <p className="mt-1 flex flex-wrap items-center gap-2">
        <code className="min-w-0 flex-1 basis-48 text-xs break-all whitespace-pre-line">{shownAs}</code>
        <Button icon={copied ? "check" : "copy"} onClick={() => void copy()}>
          {copied ? "Copied" : "Copy"}
        </Button>
      </p>
    </div>
  );
}
