import { stringify } from "yaml";
import { base } from "../../api/queries.ts";
import { CodeBlock } from "../../components/code-block.tsx";
import { manifestOf } from "./manifest.ts";
import type { AboutObject } from "./page.tsx";
import { scopeFlags } from "./scope-flags.ts";

/** The same for a file, a terminal and a program. */
export function AsTab({ organization, path, resource }: AboutObject) {
  const { name } = resource.metadata;
  const target = `${resource.kind.toLowerCase()}/${name}`;
  const scope = scopeFlags(resource.metadata);
  const link = `${location.origin}${base(organization)}/${path}`;
  const commands = [
    `setpoint get ${target}${scope} -o yaml`,
    `setpoint why ${target}${scope}`,
    `setpoint plan show ${target}${scope}`,
    `setpoint reconcile ${target}${scope}`,
    `setpoint apply -f ${name}.yaml${scope}`,
  ];
  const calls = [
    `curl -H "Authorization: Bearer $SETPOINT_TOKEN" ${link}`,
    `curl -H "Authorization: Bearer $SETPOINT_TOKEN" ${link}/why`,
    `curl -X POST -H "Authorization: Bearer $SETPOINT_TOKEN" ${link}:reconcile`,
  ];
  return (
    <div className="grid items-start gap-4 xl:grid-cols-2">
      <CodeBlock title="As YAML" text={stringify(manifestOf(resource))} />
      <div className="min-w-0 space-y-4">
        <CodeBlock wrap title="On the command line" text={commands.join("\n")} />
        <CodeBlock wrap title="Through the API" text={calls.join("\n")} />
      </div>
    </div>
  );
}
