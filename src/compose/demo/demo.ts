import type { Config } from "../../config.ts";
import type { Demo } from "../../control-api/demo-tray.ts";
import { Problem } from "../../control-api/problem.ts";
import { createHttpClient } from "../../runtime/http-client.ts";
import { demoPortOf } from "./demo-port.ts";
import { scenarios } from "./scenarios.ts";
import { demo } from "./names.ts";
import { listenAddress } from "../port-error.ts";

const timeoutMs = 30_000;

/** The demo as the API reaches it: one call to the process beside it. */
export function demoOf(config: Config): Demo {
  const http = createHttpClient();
  const url = `http://${listenAddress}:${demoPortOf(config)}/_demo/scenarios`;
  return {
    organization: demo.organization,
    scenarios: scenarios.map(({ run: _run, ...said }) => said),
    run: async (id) => {
      const answer = await http.request({ method: "POST", url: `${url}/${id}`, timeoutMs });
      if (!answer.answered) throw new Problem("ENTITY_STATUS", `The demo did not answer: ${answer.message}`);
      if (answer.status >= 300) throw new Problem("ENTITY_STATUS", answer.text);
    },
  };
}
