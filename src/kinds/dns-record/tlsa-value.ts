import type { Parsed } from "./domain-name.ts";

const digits = [undefined, 64, 128] as const;

/** Usage, selector, matching type and hexadecimal data (RFC 6698 2.1). */
export function parseTlsa(value: string): Parsed<string> {
  const [usage = "", selector = "", matching = "", ...rest] = value.split(/\s+/);
  const data = rest.join("").toLowerCase();
  if (data === "") return refuse(`"${value}" must look like "3 1 1 <64 hexadecimal digits>" (RFC 6698 2.2)`);
  if (!/^[0-3]$/.test(usage)) return refuse(`the certificate usage "${usage}" must be 0, 1, 2 or 3 (RFC 6698 2.1.1)`);
  if (!/^[01]$/.test(selector))
    return refuse(`the selector "${selector}" must be 0 for the whole certificate or 1 for its key (RFC 6698 2.1.2)`);
  if (!/^[0-2]$/.test(matching))
    return refuse(`the matching type "${matching}" must be 0, 1 (SHA-256) or 2 (SHA-512) (RFC 6698 2.1.3)`);
  if (!/^([0-9a-f]{2})+$/.test(data))
    return refuse("the certificate data must be an even number of hexadecimal digits (RFC 6698 2.2)");
  const wanted = digits[Number(matching)];
  if (wanted !== undefined && data.length !== wanted)
    return refuse(
      `the certificate data of matching type ${matching} has ${wanted} hexadecimal digits, not ${data.length} (RFC 6698 2.1.3)`,
    );
  return { ok: true, value: `${usage} ${selector} ${matching} ${data}` };
}

function refuse(message: string): { readonly ok: false; readonly message: string } {
  return { ok: false, message };
}
