// `npm run test:full`: all seeds, mutants, crash points, kill rounds, fuzz and every page.
import { exitLike } from "./bootstrap.mjs";
import { runTests } from "./run-tests.mjs";

exitLike(await runTests("full", { timeoutMinutes: 120, args: process.argv.slice(2) }));
