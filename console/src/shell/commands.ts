import { useEffect, useRef } from "react";
import type { IconName } from "../components/icons.tsx";

/** Something that can be done from anywhere; whoever has the button for it offers it. */
export interface Command {
  readonly title: string;
  readonly icon: IconName;
  readonly run: () => void;
}

const offered = new Map<string, Command>();

/** What the page offers at this moment. */
export function offeredCommands(): readonly Command[] {
  return [...offered.values()];
}

/** Offers it for as long as it is shown. */
export function useCommand(command: Command | undefined): void {
  const latest = useRef(command);
  latest.current = command;
  const { title, icon } = command ?? {};
  useEffect(() => {
    if (title === undefined || icon === undefined) return undefined;
    offered.set(title, { title, icon, run: () => latest.current?.run() });
    return () => {
      offered.delete(title);
    };
  }, [title, icon]);
}
