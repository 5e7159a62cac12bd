import { incidents } from "./incidents.ts";
import { makeKeyValueBench } from "./key-value-bench.ts";
import { runIncident } from "./run-incident.ts";

for (const incident of incidents) runIncident(incident, makeKeyValueBench);
