// Preloaded into every Node we hand over to. When the process that started it vanishes without passing on a signal
// (kill -9), the channel between them closes and this asks for the same orderly stop that Ctrl-C does.
if (process.channel) {
  process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
  // Waiting for that must not keep a finished program alive.
  process.channel.unref();
}
