/**
 * A server's shell, reached with one private key. Only fixed programs are run there, beside the script that somebody declared;
 * everything ends with its signal.
 */
export interface ShellAddress {
  readonly host: string;
  readonly port: number;
}

/** Nothing is sent, and nobody signs in, where the server shows another host key. */
export interface ShellTarget extends ShellAddress {
  readonly user: string;
  /** As `ssh-keygen -l` prints it: `SHA256:` and 43 characters of base64. */
  readonly hostKey: string;
}

/** Runs of one owner's script on a server are numbered, and no number is run twice. */
export interface ScriptRun {
  readonly number: number;
  /** `lost`: it began, and nothing runs any more that could say how it ended. */
  readonly state: "running" | "ended" | "lost";
  readonly exitCode?: number | undefined;
  /** The end of what it printed. */
  readonly output: string;
}

export interface ShellReader {
  /** The host key that the server shows. Nobody signs in for it. */
  hostKey(address: ShellAddress, signal: AbortSignal): Promise<string>;
  /** Signs in, runs nothing, and leaves. */
  signIn(target: ShellTarget, signal: AbortSignal): Promise<void>;
  /** The newest run of this owner there. */
  lastRun(target: ShellTarget, owner: string, signal: AbortSignal): Promise<ScriptRun | "none">;
}

export interface ShellWriter {
  /**
   * Starts the script as the run of this number and does not wait for its end: it goes on when the connection is gone. Where a run of
   * this number began already, nothing happens, so that an order whose answer was lost can be repeated.
   */
  startRun(
    target: ShellTarget,
    run: { readonly owner: string; readonly number: number; readonly script: string },
    signal: AbortSignal,
  ): Promise<void>;
}
