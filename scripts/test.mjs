// `npm test`: everything that is fast and needs nothing but this clone. File arguments run a part of it.
import { exitLike } from "./bootstrap.mjs";
import { runTests } from "./run-tests.mjs";

exitLike(await runTests("fast", { timeoutMinutes: 5, args: process.argv.slice(2) }));
