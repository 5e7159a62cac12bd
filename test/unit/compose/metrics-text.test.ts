import assert from "node:assert/strict";
import { test } from "node:test";
import { mergeMetrics } from "../../../src/compose/metrics-text.ts";

test("several expositions become one, in which each metric stands together under one description", () => {
  const api =
    '# HELP up Up.\n# TYPE up gauge\nup{role="api"} 1\n\n# HELP only_api A.\n# TYPE only_api counter\nonly_api 3\n';
  const scheduler = '# HELP up Up.\n# TYPE up gauge\nup{role="scheduler"} 1\n';
  assert.equal(
    mergeMetrics([api, scheduler]),
    '# HELP up Up.\n# TYPE up gauge\nup{role="api"} 1\nup{role="scheduler"} 1\n# HELP only_api A.\n# TYPE only_api counter\nonly_api 3\n',
  );
  assert.equal(mergeMetrics([]), "\n");
});
