// DBOS Transact's side: a workflow of two steps that touch nothing but its own database.
import { DBOS } from "@dbos-inc/dbos-sdk";
import { answerCalls } from "../harness/child.ts";

const [, , systemDatabaseUrl] = process.argv;
const silent = { info() {}, debug() {}, warn() {}, error: console.error };

const two = DBOS.registerWorkflow(
  async (value) => {
    const first = await DBOS.runStep(async () => ({ value: value + 1 }), { name: "first" });
    return await DBOS.runStep(async () => ({ value: first.value + 1 }), { name: "second" });
  },
  { name: "two" },
);
DBOS.setConfig({ name: "bench", applicationVersion: "1", systemDatabaseUrl, logger: silent });
await DBOS.launch();

answerCalls(
  {
    /** So many workflows, so many of them at a time. */
    run: async (workflows, atOnce) => {
      const left = Array.from({ length: workflows }, () => 1).values();
      const some = async () => {
        for (const value of left) {
          const handle = await DBOS.startWorkflow(two)(value);
          const result = await handle.getResult();
          if (result.value !== 3) throw new Error(`A workflow came to ${result.value}; expected 3`);
        }
      };
      await Promise.all(Array.from({ length: atOnce }, some));
    },
  },
  () => DBOS.shutdown(),
);
