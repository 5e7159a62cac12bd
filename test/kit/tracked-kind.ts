import type { Kind } from "../../src/kernel/kind.ts";
import type { Loop } from "../../src/kernel/loop.ts";
import type { VirtualTime } from "./virtual-time.ts";

/** The kind, with virtual time standing still while one of its calls is out. */
export function trackedKind(kind: Kind, time: VirtualTime): Kind {
  const { loop } = kind;
  if (loop === undefined) return kind;
  const tracked: Loop<unknown, object> = {
    ...loop,
    desired: (ctx, subject) => time.flight(Promise.resolve(loop.desired(ctx, subject))),
    observe: (ctx, subject) => time.flight(loop.observe(ctx, subject)),
    read: (ctx, subject, item) => time.flight(loop.read(ctx, subject, item)),
    create: (ctx, subject, wanted) => time.flight(loop.create(ctx, subject, wanted)),
    update: (ctx, subject, wanted, seen) => time.flight(loop.update(ctx, subject, wanted, seen)),
    remove: (ctx, subject, seen) => time.flight(loop.remove(ctx, subject, seen)),
  };
  const apply = loop.apply?.bind(loop);
  if (apply === undefined) return { ...kind, loop: tracked };
  return { ...kind, loop: { ...tracked, apply: (ctx, subject, changes) => time.flight(apply(ctx, subject, changes)) } };
}
