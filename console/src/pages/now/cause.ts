import type { ReactNode } from "react";
import type { IconName } from "../../components/icons.tsx";
import type { Tone } from "../../components/mark.tsx";

/** One reason why something needs attention, and all that has it. */
export interface Cause {
  readonly key: string;
  readonly tone: Tone;
  readonly icon: IconName;
  readonly title: ReactNode;
  readonly note: ReactNode;
  readonly since: string;
  readonly resources: readonly { readonly name: string; readonly path: string }[];
  /** Of all that have it, named or not. */
  readonly resourceCount: number;
}
