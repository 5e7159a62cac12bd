import type { Witness } from "./witness.ts";

/** Two witnesses of the same run. Where a write is judged as it starts, the first one's account of it counts. */
export function together(first: Witness, second: Witness): Witness {
  return {
    beforeCommit(process, method, request) {
      first.beforeCommit(process, method, request);
      second.beforeCommit(process, method, request);
    },
    afterCommit(process, method, request, result) {
      first.afterCommit(process, method, request, result);
      second.afterCommit(process, method, request, result);
    },
    looked(process, accountId, look) {
      first.looked(process, accountId, look);
      second.looked(process, accountId, look);
    },
    readOne(process, accountId, id, startedAtMs, content) {
      first.readOne(process, accountId, id, startedAtMs, content);
      second.readOne(process, accountId, id, startedAtMs, content);
    },
    claims(process, accountId, sentinel) {
      first.claims(process, accountId, sentinel);
      second.claims(process, accountId, sentinel);
    },
    writeStarts(process, call) {
      second.writeStarts(process, call);
      return first.writeStarts(process, call);
    },
    effect(started, outside, what) {
      first.effect(started, outside, what);
      second.effect(started, outside, what);
    },
  };
}
