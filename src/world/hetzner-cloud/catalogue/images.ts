export interface SystemImage {
  readonly id: number;
  readonly type: "system" | "app";
  readonly name: string;
  readonly description: string;
  readonly architecture: "x86" | "arm";
  readonly osFlavor: string;
  readonly osVersion: string;
}

const system = (
  [id, armId]: readonly [number, number],
  name: string,
  [description, osFlavor, osVersion]: readonly [string, string, string],
): SystemImage[] => [
  { id, type: "system", name, description, architecture: "x86", osFlavor, osVersion },
  { id: armId, type: "system", name, description, architecture: "arm", osFlavor, osVersion },
];

export const systemImages: readonly SystemImage[] = [
  ...system([45557056, 103907371], "debian-11", ["Debian 11", "debian", "11"]),
  ...system([67794396, 103907373], "ubuntu-22.04", ["Ubuntu 22.04", "ubuntu", "22.04"]),
  ...system([114690387, 114690389], "debian-12", ["Debian 12", "debian", "12"]),
  ...system([161547269, 161547270], "ubuntu-24.04", ["Ubuntu 24.04", "ubuntu", "24.04"]),
  ...system([269928000, 269928001], "rocky-9", ["Rocky Linux 9", "rocky", "9"]),
  ...system([269928010, 269928011], "alma-9", ["AlmaLinux 9", "alma", "9"]),
  ...system([310557660, 310557661], "debian-13", ["Debian 13", "debian", "13"]),
  {
    id: 40093247,
    type: "app",
    name: "docker-ce",
    description: "Docker CE",
    architecture: "x86",
    osFlavor: "ubuntu",
    osVersion: "24.04",
  },
];

const byId = new Map(systemImages.map((image) => [image.id, image]));

export function systemImage(id: number): SystemImage | undefined {
  return byId.get(id);
}
