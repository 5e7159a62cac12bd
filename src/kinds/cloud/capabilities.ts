import type { ComputeCapabilities } from "../../ports/compute.ts";

/** What a provider said of itself, if it is a cloud. */
export function asComputeCapabilities(value: unknown): ComputeCapabilities | undefined {
  return typeof value === "object" && value !== null && "createsServers" in value
    ? (value as unknown as ComputeCapabilities)
    : undefined;
}
