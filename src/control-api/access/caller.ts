import type { Binding, CredentialType } from "../../ports/access.ts";
import type { Principal } from "../../ports/records.ts";

/** Who is asking, and what they may do. Made by the authenticator; there is no default. */
export interface Caller {
  readonly principal: Principal;
  /** The person behind it: whose session or personal token this is. */
  readonly personId: string | undefined;
  readonly credential: { readonly type: CredentialType; readonly id: string };
  readonly bindings: readonly Binding[];
  /** A token never has more than whoever made it has now: both must allow. */
  readonly within: readonly Binding[] | undefined;
  /** When the person last proved who they are; decides whether a dangerous act asks again. */
  readonly provenAtMs: number;
}
