import { actionBody, startAction } from "./actions.ts";
import { type Call, created, type HetznerRoute } from "./call.ts";
import { actionRoute } from "./collection.ts";
import { refused } from "./errors.ts";
import type { Server, ServerStatus } from "./rows.ts";
import { requireUnlocked, servers } from "./server.ts";

/** The server is `during` while the action runs, and `then` when it ends. Already there: it ends so as well. */
function power(verb: string, command: string, during: ServerStatus, then: ServerStatus): HetznerRoute {
  return actionRoute(servers, verb, (call, server) => {
    requireUnlocked(call, server);
    if (then === "running" && verb !== "poweron" && server.status !== "running") {
      throw refused("server_error", "server is not running", 409);
    }
    return startAction(call, {
      command,
      resources: [{ id: server.id, type: "server" }],
      now: () => {
        if (server.status !== then || verb !== "poweron") call.project.servers.put({ ...server, status: during });
      },
      effects: [
        { table: "servers", id: server.id, set: { status: then, ...(then === "running" ? { rescue: false } : {}) } },
      ],
    });
  });
}

function resetPassword(call: Call, server: Server) {
  requireUnlocked(call, server);
  if (server.status !== "running") throw refused("server_error", "server is not running", 409);
  const action = startAction(call, { command: "reset_password", resources: [{ id: server.id, type: "server" }] });
  return created({ action: actionBody(action, call.nowMs), root_password: call.random.text(20) });
}

function requestConsole(call: Call, server: Server) {
  const action = startAction(call, { command: "request_console", resources: [{ id: server.id, type: "server" }] });
  return created({
    action: actionBody(action, call.nowMs),
    wss_url: `wss://console.example.test/?server_id=${server.id}&token=${call.random.text(32)}`,
    password: call.random.text(20),
  });
}

export const serverPowerRoutes: readonly HetznerRoute[] = [
  power("poweron", "start_server", "starting", "running"),
  power("poweroff", "stop_server", "stopping", "off"),
  power("shutdown", "shutdown_server", "stopping", "off"),
  power("reboot", "reboot_server", "running", "running"),
  power("reset", "reset_server", "running", "running"),
  actionRoute(servers, "reset_password", resetPassword),
  actionRoute(servers, "request_console", requestConsole),
];
