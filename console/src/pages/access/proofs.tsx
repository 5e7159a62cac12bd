import { useQuery } from "@tanstack/react-query";
import { meQuery } from "../../api/queries.ts";
import { Panel } from "../../components/panel.tsx";
import { Answer } from "../../components/states.tsx";
import { Codes } from "./proof-codes.tsx";
import { Passkeys } from "./proof-passkeys.tsx";
import { Password } from "./proof-password.tsx";

/** What somebody signs in with, and changes themselves. Programs have none of it. */
export function Proofs() {
  const me = useQuery(meQuery);
  return (
    <Panel flush title="What you prove yourself with">
      <Answer of={me} what="who you are">
        {({ name, secondFactor, hasPassword = false }) => (
          <div className="divide-y divide-line">
            <p className="px-3.5 py-2 text-sm break-all">{name}</p>
            {secondFactor === undefined ? undefined : (
              <>
                <Password isSet={hasPassword} />
                <Codes areOn={secondFactor.totp} recoveryCodes={secondFactor.recoveryCodes} />
                <Passkeys />
              </>
            )}
          </div>
        )}
      </Answer>
    </Panel>
  );
}
