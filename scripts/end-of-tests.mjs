// Preloaded into every test file. What a failed test leaves open (a browser that no longer answers, a server) would keep its
// process alive, and with it everybody who waits for the last file.
import { after } from "node:test";

const patienceMs = 60_000;

if (process.env.NODE_TEST_CONTEXT !== undefined) {
  after(() => {
    const late = setTimeout(() => {
      process.stderr.write(`the tests of ${process.argv[1]} are over, and something they opened is not: ended\n`);
      process.exit(1);
    }, patienceMs);
    // A process with nothing left to do ends by itself.
    late.unref();
  });
}
