import type { OperationDocument } from "../../api/types.ts";
import type { IconName } from "../../components/icons.tsx";
import { Chip, type Tone } from "../../components/mark.tsx";

const states: Readonly<Record<OperationDocument["state"], { word: string; tone: Tone; icon: IconName }>> = {
  running: { word: "running", tone: "accent", icon: "play" },
  held: { word: "held", tone: "hold", icon: "hand" },
  attention: { word: "needs somebody", tone: "bad", icon: "person" },
  succeeded: { word: "succeeded", tone: "good", icon: "check" },
  "not-run": { word: "not run", tone: "plain", icon: "eye" },
  cancelled: { word: "cancelled", tone: "plain", icon: "cross" },
};

export function OperationState({ operation }: { operation: OperationDocument }) {
  const { word, tone, icon } = states[operation.state];
  return (
    <Chip tone={tone} icon={icon}>
      {operation.direction === "back" && operation.state === "running" ? "taking back" : word}
    </Chip>
  );
}
