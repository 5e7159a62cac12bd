import assert from "node:assert/strict";
import { test } from "node:test";
import { parseStat, treeOf } from "../../../bench/harness/process-usage.ts";

const line = (pid: number, parent: number, times: string, name = "postgres") =>
  `${pid} (${name}) S ${parent} 1 1 0 -1 4194560 100 0 0 0 ${times} 20 0 1 0 100 1000 10 18446744073709551615`;

test("a line of /proc/PID/stat gives the parent and all CPU time, that of ended children included", () => {
  assert.deepEqual(parseStat(line(42, 7, "10 20 30 40")), { pid: 42, parentPid: 7, ticks: 100 });
});

test("a program's name may hold anything", () => {
  const name = "a) S 99 (b c) R 1";
  assert.deepEqual(parseStat(line(42, 7, "1 2 3 4", name)), { pid: 42, parentPid: 7, ticks: 10 });
});

test("what is not such a line is an error", () => {
  assert.throws(() => parseStat("nonsense"));
});

test("a tree is the process and everything below it, each once", () => {
  const processes = [
    parseStat(line(1, 0, "0 0 0 0")),
    parseStat(line(10, 1, "0 0 0 0")),
    parseStat(line(11, 10, "0 0 0 0")),
    parseStat(line(12, 11, "0 0 0 0")),
    parseStat(line(20, 1, "0 0 0 0")),
  ];
  assert.deepEqual(
    treeOf(10, processes).map(({ pid }) => pid),
    [10, 11, 12],
  );
  assert.deepEqual(treeOf(99, processes), []);
});
