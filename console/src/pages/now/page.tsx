import { PageHeader } from "../../components/panel.tsx";
import { Activity } from "./activity.tsx";
import { Attention } from "./attention.tsx";
import { Cycles } from "./cycles.tsx";
import { Figures } from "./figures.tsx";
import { FirstSteps } from "./first-steps.tsx";
import { ProviderBudgets } from "./provider-budgets.tsx";
import { nowRoute } from "./route.tsx";
import { Services } from "./services.tsx";
import { Waiting } from "./waiting.tsx";

/** What is bad now, how bad, since when, and what can be done about it, without a click. */
export function NowPage() {
  const { organization } = nowRoute.useParams();
  return (
    <>
      <PageHeader title="Now" lead="What needs somebody, what waits for approval, and what the loops are doing." />
      <FirstSteps organization={organization} />
      <Figures organization={organization} />
      <div className="mt-4 grid items-start gap-4 xl:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
        <div className="min-w-0 space-y-4">
          <Attention organization={organization} />
          <Waiting organization={organization} />
          <Activity organization={organization} />
        </div>
        <div className="min-w-0 space-y-4">
          <Cycles organization={organization} />
          <ProviderBudgets organization={organization} />
          <Services />
        </div>
      </div>
    </>
  );
}
