import type { Config, Environment } from "../config.ts";
import { Accounts } from "../kernel/accounts.ts";
import type { Engine } from "../kernel/claim.ts";
import type { KindRegistry } from "../kernel/kind.ts";
import type { Log } from "../ports/log.ts";
import type { Provider } from "../ports/provider.ts";
import type { Tracer } from "../ports/tracer.ts";
import { createDnsQueries } from "../providers/dns-query/queries.ts";
import { createHetznerCloudProvider } from "../providers/hetzner-cloud/provider.ts";
import { createIonosProvider } from "../providers/ionos/provider.ts";
import { createPowerDnsProvider } from "../providers/powerdns/provider.ts";
import { createRfc2136Provider } from "../providers/rfc2136/provider.ts";
import { createSshProvider } from "../providers/ssh/provider.ts";
import { createCredentials } from "../runtime/credentials.ts";
import { createDnsResolver, hostAddresses } from "../runtime/dns-resolver.ts";
import { createDnsTransport } from "../runtime/dns-transport.ts";
import { createHttpClient } from "../runtime/http-client.ts";
import type { Database } from "../store/database.ts";
import { PostgresEngineStore } from "../store/engine-store.ts";
import type { CycleSpans } from "./cycle-spans.ts";
import { engineOpener, startSealing } from "./engine-key.ts";
import { withSpans } from "./tracing.ts";
import type { World } from "./world.ts";

/** What cycles and operations need from the world: only processes that have one open providers and read credentials. */
export function composeEngine(
  setup: {
    readonly config: Config;
    readonly environment: Environment;
    readonly world: World;
    readonly log: Log;
    readonly kinds: KindRegistry;
    readonly databases: { readonly setpoint_engine: Database; readonly setpoint_admin: Database };
    readonly tracer: Tracer | undefined;
    /** Whose children the calls of providers are. */
    readonly cycles?: CycleSpans | undefined;
    readonly callPatienceMs?: number;
  },
  undo: AsyncDisposableStack,
): Engine {
  const { config, environment, log, kinds, databases, tracer, cycles, callPatienceMs = 0 } = setup;
  const { clock, random, ids } = setup.world;
  const http = withSpans(undo.use(createHttpClient()), tracer, cycles);
  const opener = engineOpener(config);
  const credentials = createCredentials(environment, opener);
  undo.use(startSealing({ administration: databases.setpoint_admin, opener, clock, log }));
  const transport = createDnsTransport();
  const queries = createDnsQueries({ transport, addresses: hostAddresses, random });
  const resolver = createDnsResolver();
  const providers = new Map<string, Provider>([
    ["hetzner-cloud", createHetznerCloudProvider({ http, credentials, clock, log, resolver, queries })],
    ["ionos", createIonosProvider({ http, credentials, clock, log })],
    ["powerdns", createPowerDnsProvider({ http, credentials, resolver, queries })],
    ["rfc2136", createRfc2136Provider({ transport, credentials, clock, random, queries })],
    ["ssh", createSshProvider({ credentials })],
  ]);
  const store = new PostgresEngineStore({ database: databases.setpoint_engine, clock, ids });
  return { store, clock, random, ids, log, kinds, accounts: new Accounts({ providers, store, clock, callPatienceMs }) };
}
