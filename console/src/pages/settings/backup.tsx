import { CodeBlock } from "../../components/code-block.tsx";
import { Panel } from "../../components/panel.tsx";

const commands = `setpoint backup create evening.backup
setpoint backup verify evening.backup
setpoint backup restore evening.backup`;

/** A backup is made where the installation runs: it holds every organization, so no page of one of them makes it. */
export function Backup() {
  return (
    <div className="grid items-start gap-4 xl:grid-cols-2">
      <CodeBlock title="On the machine of the installation" text={commands} />
      <Panel title="What to know first">
        <ul className="list-disc space-y-2 pl-5 text-sm">
          <li>A backup is of the whole installation, with its sealed secrets, and is made while everything runs.</li>
          <li>
            Keep a copy of <code>root.key</code> from the data directory somewhere else: without it nobody can read the
            backup.
          </li>
          <li>
            After a restore every loop only looks, until somebody has seen how the world differs from what was restored.
            Nothing is deleted because it was forgotten.
          </li>
          <li>Tokens and sessions end with a restore, and members are asked about once more.</li>
        </ul>
      </Panel>
    </div>
  );
}
