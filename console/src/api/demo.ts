import { queryOptions } from "@tanstack/react-query";
import type { DemoScenario } from "../../../src/control-api/demo-tray.ts";
import { get } from "./client.ts";

interface DemoTray {
  readonly organization?: string;
  readonly items: readonly DemoScenario[];
}

/** What the demo can break; nothing where there is none. */
export const demoQuery = queryOptions({
  queryKey: ["demo"],
  queryFn: () => get<DemoTray>("/demo/scenarios"),
  staleTime: Number.POSITIVE_INFINITY,
  retry: false,
});
