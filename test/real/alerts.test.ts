import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { requireReal } from "./requirement.ts";

test("Prometheus itself accepts the alert rules, and they fire when they should", (t) => {
  const promtool = requireReal(t, "Prometheus");
  if (promtool === undefined) return;
  const folder = fileURLToPath(new URL("../../deploy/alerts/", import.meta.url));
  const checked = spawnSync(promtool, ["check", "rules", "setpoint.rules.yml"], { cwd: folder, encoding: "utf8" });
  assert.equal(checked.status, 0, checked.stdout + checked.stderr);
  const tested = spawnSync(promtool, ["test", "rules", "setpoint.test.yml"], { cwd: folder, encoding: "utf8" });
  assert.equal(tested.status, 0, tested.stdout + tested.stderr);
});
