import { startHetznerDns } from "../support/hetzner-dns-outside.ts";
import { zoneIncidents } from "../support/zone-incidents.ts";

zoneIncidents("a zone at Hetzner", () => Promise.resolve(startHetznerDns()));
