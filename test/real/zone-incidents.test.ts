import { findProgram } from "../../scripts/find-program.mjs";
import { outsides, startOutside } from "../support/dns-outside.ts";
import { zoneIncidents } from "../support/zone-incidents.ts";
import { requireReal } from "./requirement.ts";

for (const name of Object.keys(outsides) as (keyof typeof outsides)[])
  zoneIncidents(name, async (t) => {
    const program = requireReal(t, name) === undefined ? undefined : findProgram(outsides[name]);
    return program === undefined ? undefined : await startOutside(name, program);
  });
