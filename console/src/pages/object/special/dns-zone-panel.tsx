import type { PropagationReport } from "../../../../../src/kinds/dns-zone/propagation-report.ts";
import type { IconName } from "../../../components/icons.tsx";
import { Chip, Mark, type Tone } from "../../../components/mark.tsx";
import { Panel } from "../../../components/panel.tsx";
import { Command } from "../../../components/states.tsx";
import { Ago } from "../../../components/time.tsx";
import type { AboutObject } from "../page.tsx";

type State = PropagationReport["servers"][number]["state"];

const states: Readonly<Record<State, { word: string; tone: Tone; icon: IconName }>> = {
  current: { word: "current", tone: "good", icon: "equal" },
  old: { word: "behind", tone: "warn", icon: "differs" },
  silent: { word: "no answer", tone: "plain", icon: "question" },
};

/** Which server and resolver has which record set already: asked by real queries. */
export function DnsZonePanel({ resource }: AboutObject) {
  const [report] = resource.status.subjects.flatMap(({ report: said }) =>
    said === undefined || said === null ? [] : [said as unknown as PropagationReport],
  );
  const asked = (resource.spec as { readonly propagation?: object }).propagation !== undefined;
  if (report === undefined)
    return (
      <Panel title="Propagation">
        <p className="text-sm font-medium">{asked ? "Its servers were not asked yet" : "Its servers are not asked"}</p>
        <p className="mt-0.5 text-sm text-soft">
          {asked ? (
            "The next look asks every server of the zone and every resolver that is named."
          ) : (
            <>
              With <Command>{"propagation: {}"}</Command> in its spec, every server of the zone is asked by real
              queries, and this shows who is behind and since when.
            </>
          )}
        </p>
      </Panel>
    );
  return <Matrix report={report} />;
}

function Matrix({ report: { servers, sets } }: { report: PropagationReport }) {
  const behind = servers.filter(({ state }) => state === "old").length;
  const silent = servers.filter(({ state }) => state === "silent").length;
  return (
    <Panel
      flush
      title="Propagation"
      aside={
        <>
          {behind === 0 && silent === 0 ? (
            <Chip tone="good" icon="equal">
              current everywhere
            </Chip>
          ) : undefined}
          {behind > 0 ? (
            <Chip tone="warn" icon="differs">
              {behind} behind
            </Chip>
          ) : undefined}
          {silent > 0 ? (
            <Chip tone="plain" icon="question">
              {silent} without an answer
            </Chip>
          ) : undefined}
        </>
      }
    >
      <div tabIndex={0} role="region" aria-label="Record sets by server" className="overflow-x-auto">
        <table className="w-full text-left text-sm">
          <thead className="text-xs">
            <tr className="border-b border-line align-bottom">
              <th scope="col" className="min-w-32 px-2 py-2 font-medium text-soft sm:min-w-52 sm:px-3.5">
                Record set
              </th>
              {servers.map(({ server, role }) => (
                <th key={server} scope="col" className="px-2 py-2 font-medium sm:px-3.5">
                  <code>{server}</code>
                  <span className="block font-normal text-soft">
                    {role === "resolver" ? "resolver" : "name server"}
                  </span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody className="divide-y divide-line">
            <tr>
              <th scope="row" className="px-2 py-2 font-medium sm:px-3.5">
                the zone's serial
              </th>
              {servers.map((server) => (
                <Cell key={server.server} answer={server} always />
              ))}
            </tr>
            {sets.map(({ key, wanted, answers }) => (
              <tr key={key}>
                <th scope="row" className="px-2 py-2 font-normal sm:px-3.5">
                  <code className="break-words">{key}</code>
                  <span className="block text-xs break-all text-soft">{wanted}</span>
                </th>
                {servers.map(({ server }) => {
                  const answer = answers.find((one) => one.server === server);
                  return answer === undefined ? (
                    <td key={server} className="px-2 py-2 text-xs text-soft sm:px-3.5">
                      not asked
                    </td>
                  ) : (
                    <Cell key={server} answer={answer} />
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {sets.length === 0 ? (
        <p className="border-t border-line px-3.5 py-2 text-sm text-soft">
          No record set was changed within the hour, and none is known to differ between servers.
        </p>
      ) : undefined}
    </Panel>
  );
}

function Cell({
  answer: { state, answer, sinceMs },
  always = false,
}: {
  answer: { state: State; answer: string; sinceMs: number };
  /** Whether the answer is told even where it is the one that is wanted. */
  always?: boolean;
}) {
  const { word, tone, icon } = states[state];
  return (
    <td className="px-2 py-2 align-top sm:px-3.5">
      <Mark tone={tone} icon={icon} title={answer}>
        {word}
      </Mark>
      <span className="block max-w-56 text-xs break-all text-soft">
        {state === "current" && !always ? "" : `${answer} · `}
        since <Ago at={new Date(sinceMs).toISOString()} />
      </span>
    </td>
  );
}
