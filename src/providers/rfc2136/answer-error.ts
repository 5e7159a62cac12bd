import { type EngineError, RetryableError, TerminalError } from "../../kernel/errors.ts";
import type { DnsSilence } from "../../ports/dns-transport.ts";
import { answerCodes as codes } from "./wire/numbers.ts";

/** What a name server answered, or did not, in our two families of error, with the words of its code. */
export function codeError(what: string, code: number): EngineError {
  const said = (words: string) => `The name server answered ${codeName(code)} to ${what}: ${words}`;
  switch (code) {
    case codes.serverFailure:
      return new RetryableError("PROVIDER_UNAVAILABLE", said("it failed at this by its own fault"));
    case codes.refused:
      return new TerminalError(
        "CREDENTIAL_REFUSED",
        said(
          "its rules do not allow it. Check the zone's update and transfer rules for this key, and the server's log",
        ),
      );
    case codes.notAuthoritative:
      return new TerminalError("CREDENTIAL_REFUSED", said("it does not know the key, or has no such zone"));
    case codes.noSuchName:
    case codes.nameExists:
    case codes.setExists:
    case codes.setMissing:
      return new RetryableError(
        "PRECONDITION_FAILED",
        said("what it has is not what was last seen. Nothing was changed; the next look shows what it is"),
        { ambiguous: false },
      );
    case codes.badSignature:
      return refusedKey(said("the signature is wrong: the secret is not the one it has for this key"));
    case codes.badKey:
      return refusedKey(said("it knows no key of this name and algorithm"));
    case codes.badTime:
      return refusedKey(said("its clock and ours differ by more than the 300 s that are allowed: set both by NTP"));
    case codes.badTruncation:
      return refusedKey(said("it wants a longer signature"));
    case codes.formatError:
      return new TerminalError("PROVIDER_REFUSED", said("it could not read it"));
    case codes.notImplemented:
      return new TerminalError("PROVIDER_REFUSED", said("it does not do this. Is dynamic update switched on?"));
    case codes.notInZone:
      return new TerminalError("PROVIDER_REFUSED", said("a name in it lies outside the zone"));
    default:
      return new TerminalError("PROVIDER_REFUSED", said("we do not know this answer"));
  }
}

function refusedKey(message: string): EngineError {
  return new TerminalError("CREDENTIAL_REFUSED", message);
}

export function silenceError(what: string, silence: DnsSilence): EngineError {
  const message = `The name server did not answer ${what}: ${silence.message}`;
  const code = silence.reason === "timeout" ? "TIMED_OUT" : "PROVIDER_UNAVAILABLE";
  return new RetryableError(code, message, { ambiguous: silence.sent });
}

/** An answer that cannot be believed says nothing: neither that something is there nor that it is gone. */
export function untrusted(what: string, problem: string): EngineError {
  return new RetryableError("PROVIDER_UNAVAILABLE", `The answer to ${what} cannot be used: ${problem}`);
}

const names: Readonly<Record<number, string>> = {
  [codes.formatError]: "FORMERR",
  [codes.serverFailure]: "SERVFAIL",
  [codes.noSuchName]: "NXDOMAIN",
  [codes.notImplemented]: "NOTIMP",
  [codes.refused]: "REFUSED",
  [codes.nameExists]: "YXDOMAIN",
  [codes.setExists]: "YXRRSET",
  [codes.setMissing]: "NXRRSET",
  [codes.notAuthoritative]: "NOTAUTH",
  [codes.notInZone]: "NOTZONE",
  [codes.badSignature]: "BADSIG",
  [codes.badKey]: "BADKEY",
  [codes.badTime]: "BADTIME",
  [codes.badTruncation]: "BADTRUNC",
};

function codeName(code: number): string {
  return names[code] ?? `code ${code}`;
}
