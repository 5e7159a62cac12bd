import { Mark } from "../../../components/mark.tsx";
import { Panel } from "../../../components/panel.tsx";
import type { AboutObject } from "../page.tsx";
import { Facts } from "./host-list.tsx";

/** What the provider said of the type when it was last looked up. */
interface ProfileReport {
  readonly type: string;
  readonly cores: number;
  readonly memoryGigabytes: number;
  readonly diskGigabytes: number;
  readonly architecture: string;
  readonly offers: readonly { readonly location: string; readonly available: boolean; readonly monthly?: string }[];
}

/** What one gets for it, what that costs, and where it can be ordered now. */
export function ComputeProfilePanel({ resource }: AboutObject) {
  const [report] = resource.status.subjects.flatMap(({ report: said }) =>
    said === undefined || said === null ? [] : [said as unknown as ProfileReport],
  );
  if (report === undefined)
    return (
      <Panel title="What it is">
        <p className="text-sm text-soft">The provider was not asked about this type yet. The next look does.</p>
      </Panel>
    );
  return (
    <Panel title="What it is">
      <Facts
        facts={[
          ["Type", report.type],
          ["Cores", `${report.cores}, ${report.architecture}`],
          ["Memory", `${report.memoryGigabytes} GB`],
          ["Disk", `${report.diskGigabytes} GB`],
        ]}
      />
      <h3 className="mt-4 mb-1 text-xs font-semibold text-soft">Where it can be had</h3>
      <ul className="divide-y divide-line rounded-md border border-line text-sm">
        {report.offers.map(({ location, available, monthly }) => (
          <li key={location} className="flex flex-wrap items-center gap-x-4 px-2.5 py-1.5">
            <b className="min-w-20 font-medium">{location}</b>
            <Mark tone={available ? "good" : "warn"} icon={available ? "check" : "cross"}>
              {available ? "can be ordered" : "sold out"}
            </Mark>
            <span className="flex-1" />
            {monthly === undefined ? undefined : (
              <span className="text-soft tabular-nums">{Number(monthly).toFixed(2)} a month, net</span>
            )}
          </li>
        ))}
      </ul>
    </Panel>
  );
}
