import assert from "node:assert/strict";
import { resolve } from "node:path";
import { test } from "node:test";
import { ConfigError, parseConfig } from "../../src/config.ts";

test("without settings the defaults are those of a first start", () => {
  const config = parseConfig({ PATH: "/bin", SETPOINT_PORT: "" });
  assert.equal(config.port, 7780);
  assert.equal(config.dataDirectory, resolve(".setpoint"));
  assert.equal(config.databaseUrl, undefined);
  assert.equal(config.logLevel, "info");
  assert.ok(Object.isFrozen(config));
});

test("settings that were given are used", () => {
  const config = parseConfig({
    SETPOINT_DATA: "/srv/setpoint",
    SETPOINT_PORT: "8080",
    DATABASE_URL: "postgres://u:p@h/d",
    SETPOINT_LOG_LEVEL: "debug",
  });
  assert.deepEqual(
    [config.dataDirectory, config.port, config.databaseUrl, config.logLevel],
    ["/srv/setpoint", 8080, "postgres://u:p@h/d", "debug"],
  );
});

test("every setting that cannot be used is named in one message, and no secret is shown", () => {
  const environment = {
    SETPOINT_PORT: "0",
    SETPOINT_SCHEDULER_PORT: "x",
    DATABASE_URL: "hunter2",
    SETPOINT_LOG_LEVEL: "loud",
    SETPOINT_TOKEN: "hunter2",
  };
  assert.throws(
    () => parseConfig(environment),
    (error: unknown) => {
      assert.ok(error instanceof ConfigError);
      for (const name of Object.keys(environment))
        assert.ok(error.message.includes(`  ${name} `), `${name} in ${error.message}`);
      assert.ok(!error.message.includes("hunter2"));
      return true;
    },
  );
  assert.throws(() => parseConfig({ SETPOINT_SCHEDULER_PORT: "7780" }), /must differ from SETPOINT_PORT/);
});
