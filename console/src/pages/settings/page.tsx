import { PageHeader } from "../../components/panel.tsx";
import { PartNav } from "../../components/part-nav.tsx";
import { Backup } from "./backup.tsx";
import { Notifications } from "./notifications.tsx";
import { settingsRoute } from "./route.tsx";
import { Rules } from "./rules.tsx";
import { Secrets } from "./secrets.tsx";

const parts = [
  { part: "rules", title: "Rules and limits" },
  { part: "notifications", title: "Who is told" },
  { part: "secrets", title: "Secrets" },
  { part: "backup", title: "Backup" },
] as const;

/** What holds for the whole organization. */
export function SettingsPage() {
  const { organization } = settingsRoute.useParams();
  const { part = "rules" } = settingsRoute.useSearch();
  return (
    <>
      <PageHeader
        title="Settings"
        lead={`What holds for everything in ${organization}, who is told, and what must be kept safe.`}
      />
      <PartNav label="Parts of the settings" parts={parts} part={part} />
      {part === "rules" ? <Rules organization={organization} /> : undefined}
      {part === "notifications" ? <Notifications organization={organization} /> : undefined}
      {part === "secrets" ? <Secrets organization={organization} /> : undefined}
      {part === "backup" ? <Backup /> : undefined}
    </>
  );
}
