import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { LiveConnection, type LiveState } from "../api/live.ts";
import { Chip } from "../components/mark.tsx";
import { duration, useNowMs } from "../components/time.tsx";

/** Heartbeats come every 5 s; twice that without one is behind. */
const patienceMs = 11_000;

export function LiveChip({ organization }: { organization: string }) {
  const client = useQueryClient();
  const nowMs = useNowMs();
  const [state, setState] = useState<LiveState>(() => ({ connected: false, heardAtMs: Date.now() }));
  const [wasLive, setWasLive] = useState(false);
  useEffect(() => {
    const connection = new LiveConnection(client, organization, (next) => {
      setState(next);
      if (next.connected) setWasLive(true);
    });
    return () => {
      connection.close();
      setWasLive(false);
    };
  }, [client, organization]);
  const silentMs = nowMs - state.heardAtMs;
  if (state.connected && silentMs < patienceMs)
    return (
      <Chip tone="good" icon="bolt" title="Changes are shown as they happen">
        live
      </Chip>
    );
  // What was read while the stream is being opened is as new as the page itself.
  if (!wasLive && silentMs < patienceMs)
    return (
      <Chip tone="plain" icon="clock" title="The stream of changes is being opened">
        connecting
      </Chip>
    );
  return (
    <Chip tone="warn" icon="clock" title="The stream of changes is away; what you see may be older">
      {duration(silentMs)} behind
    </Chip>
  );
}
