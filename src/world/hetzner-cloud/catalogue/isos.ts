export interface Iso {
  readonly id: number;
  readonly name: string;
  readonly description: string;
  readonly type: "public";
  readonly architecture: "x86" | "arm";
  readonly deprecation: null;
}

const iso = (id: number, name: string, description: string, architecture: "x86" | "arm"): Iso => ({
  id,
  name,
  description,
  type: "public",
  architecture,
  deprecation: null,
});

export const isos: readonly Iso[] = [
  iso(124319, "debian-13.0.0-amd64-netinst.iso", "Debian 13.0 (amd64/netinst)", "x86"),
  iso(124320, "debian-13.0.0-arm64-netinst.iso", "Debian 13.0 (arm64/netinst)", "arm"),
  iso(124321, "FreeBSD-14.3-RELEASE-amd64-dvd1.iso", "FreeBSD 14.3 (amd64)", "x86"),
];
