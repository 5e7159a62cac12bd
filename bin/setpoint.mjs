#!/usr/bin/env node
// The `setpoint` command: starts under any Node from 20 and hands over to Node 24.
import { join } from "node:path";
import { ensureInstalled, handOver, root } from "../scripts/bootstrap.mjs";

ensureInstalled({ development: false });
await handOver([join(root, "src", "cli", "setpoint.ts"), ...process.argv.slice(2)]);
