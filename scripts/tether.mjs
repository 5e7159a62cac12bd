// Preloaded into every Node we hand over to.

// When the process that started it vanishes without passing on a signal (kill -9), the channel between them closes and
// this asks for the same orderly stop that Ctrl-C does.
if (process.channel) {
  process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
  // Waiting for that must not keep a finished program alive.
  process.channel.unref();
}

// Ctrl-C reaches a program twice: from the terminal, which signals the whole process group, and from the process that
// passes it on. To the program it is one wish, and a second one a while later still means "at once".
const stopSignals = new Set(["SIGINT", "SIGTERM", "SIGHUP"]);
/** @type {Map<string | symbol, number>} */
const seenAtMs = new Map();
const emit = process.emit.bind(process);

/**
 * @param {string} name
 * @param {unknown[]} values
 */
function emitOnce(name, ...values) {
  if (stopSignals.has(name)) {
    const nowMs = performance.now();
    if (nowMs - (seenAtMs.get(name) ?? -Infinity) < 1000) return true;
    seenAtMs.set(name, nowMs);
  }
  return /** @type {boolean} */ (Reflect.apply(emit, process, [name, ...values]));
}

Object.assign(process, { emit: emitOnce });
