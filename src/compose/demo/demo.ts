import type { Config } from "../../config.ts";
import type { Demo } from "../../control-api/demo-tray.ts";
import { createHttpClient } from "../../runtime/http-client.ts";
import { demoPortOf } from "./demo-port.ts";
import { scenarios } from "./scenarios.ts";
import { demo } from "./seed.ts";
import { listenAddress } from "../port-error.ts";

const timeoutMs = 30_000;

/** The demo as the API reaches it: one call to the process beside it. */
export function demoOf(config: Config): Demo {
  const http = createHttpClient();
  const url = `http://${listenAddress}:${demoPortOf(config)}/_demo/scenarios`;
  return {
    organization: demo.organization,
    scenarios: scenarios.map(({ id, title, does, expect, youCan, look }) => ({
      id,
      title,
      does,
      expect,
      youCan,
      look,
    })),
    run: async (id) => {
      const answer = await http.request({ method: "POST", url: `${url}/${id}`, timeoutMs });
      if (!answer.answered || answer.status >= 300) throw new Error("The demo did not answer. Its log says why.");
    },
  };
}
