import type { Random } from "../ports/random.ts";

export const systemRandom: Random = Object.freeze({ next: () => Math.random() });
