// What `npm start` may be told, in plain JavaScript for Node 20.
import { existsSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { isAlive } from "./bootstrap.mjs";

export const startHelp = `npm start                starts everything, with a demo organization on simulated clouds
npm start -- --empty     starts without the demo
npm start -- --reset     begins anew; the data folder of before is kept beside the new one
npm start -- --debug     says more where a start fails

SETPOINT_PORT is where it listens (7780), SETPOINT_DATA where it keeps its data (.setpoint).
`;

/**
 * @param {readonly string[]} args
 * @returns {{ demo: boolean, reset: boolean, help: boolean, passedOn: string[] } | { problem: string }}
 */
export function readStartOptions(args) {
  const known = new Set(["--empty", "--reset", "--debug", "--help", "-h"]);
  const unknown = args.find((argument) => !known.has(argument));
  // A word that is misspelt must not start something else than what was meant.
  if (unknown !== undefined) return { problem: `npm start does not take "${unknown}".\n${startHelp}` };
  return {
    demo: !args.includes("--empty"),
    reset: args.includes("--reset"),
    help: args.includes("--help") || args.includes("-h"),
    passedOn: args.filter((argument) => argument === "--debug"),
  };
}

/**
 * Where the embedded database of a data folder is: in it, or where root's start has written down that it is.
 * @param {string} data
 */
function databaseFolder(data) {
  const here = join(data, "postgres");
  const location = join(here, "setpoint-data-location");
  return existsSync(location) ? readFileSync(location, "utf8").trim() : here;
}

/**
 * Nothing is deleted: what was there keeps its folder, under another name.
 * @param {string} data
 * @param {Date} now
 * @returns {{ aside?: string, problem?: string }} where it is now; nothing where there was none
 */
export function setAside(data, now) {
  if (!existsSync(data)) return {};
  const lock = join(databaseFolder(data), "postgres", "postmaster.pid");
  // A server that was killed leaves its lock behind; the process that it names is then gone.
  if (existsSync(lock) && isAlive(Number(readFileSync(lock, "utf8").split("\n")[0])))
    return { problem: `${data} is in use. Stop the Setpoint that runs there, then run the command again.` };
  const aside = `${data}-${now.toISOString().slice(0, 19).replaceAll(":", "")}`;
  renameSync(data, aside);
  return { aside };
}
