import type { Json } from "../../../src/ports/json.ts";
import type { SteerCommand } from "../../../src/ports/operation-store.ts";
import { isLive } from "../../../src/kernel/steering.ts";
import type { SeededRandom } from "../random.ts";
import { boxSteps } from "../sim-box.ts";
import type { OperationRow, ResourceRow } from "../store/rows.ts";
import { accountIds, type Cast, ignoring, people, specOf, tenantIds } from "./cast.ts";
import { declareSet, drawContent, drawItems, redeclare } from "./declare.ts";

const [ada] = people;
const person = ada ?? { name: "ada", type: "person" as const };

/** People who declare boxes, start operations on them and steer them, at random moments of their own. */
export function startOperations(cast: Cast): void {
  const { swarm, world, api } = cast;
  if (swarm.operations.workers === 0) return;
  const actor = new OperationActor(cast);
  for (let box = 0; box <= swarm.tenants; box++) actor.declareBox();
  const random = cast.random.fork("operations");
  const next = () => {
    if (!cast.faulty) return;
    actor.act(random);
    world.schedule(-Math.log(1 - random.next()) * swarm.operations.every, "operations", next, { owner: api });
  };
  world.schedule(swarm.operations.every, "operations", next, { owner: api });
}

class OperationActor {
  readonly #cast: Cast;
  readonly #random: SeededRandom;
  #boxes = 0;

  constructor(cast: Cast) {
    this.#cast = cast;
    this.#random = cast.random.fork("boxes");
  }

  act(random: SeededRandom): void {
    const draw = random.next();
    if (draw < 0.35) this.#start();
    else if (draw < 0.45) this.#deleteBox();
    else if (draw < 0.55) this.declareBox();
    else if (draw < 0.65) this.#changeBox();
    else this.#steer(random);
  }

  declareBox(): void {
    const { swarm, intents } = this.#cast;
    if (this.#rows().length > swarm.tenants * 2) return;
    const tenant = this.#random.pick(tenantIds(swarm)) ?? "";
    const account = this.#random.pick(accountIds(swarm, tenant)) ?? "";
    const name = `box-${++this.#boxes}`;
    const spec = { accounts: [account], group: name, items: drawItems(this.#random, 3) };
    const options = { uid: this.#cast.freshUid(), author: person };
    this.#say(intents.declare(declareSet(tenant, "SimBox", name, spec, options)));
  }

  #rows(): readonly ResourceRow[] {
    return [...this.#cast.store.state.tables.resources.values()].filter(({ kind }) => kind === "SimBox");
  }

  #say(word: Promise<unknown>): void {
    ignoring(word, () => this.#cast.poke());
  }

  #start(): void {
    const box = this.#random.pick(this.#rows());
    if (box !== undefined) startOn(this.#cast, box);
  }

  #deleteBox(): void {
    const box = this.#random.pick(this.#rows());
    if (box === undefined) return;
    const { organizationId, uid } = box;
    const confirmedCount = this.#random.choose(undefined, 3);
    const asked = { organizationId, uid, ifRevision: undefined, author: person, orphan: false, confirmedCount };
    ignoring(this.#cast.intents.requestDeletion(asked), () => startOn(this.#cast, box));
  }

  #changeBox(): void {
    const box = this.#random.pick(this.#rows());
    const spec = box && specOf(box);
    if (box === undefined || spec === undefined) return;
    const items = { ...spec.items, [`s-${this.#random.int(1, 4)}`]: drawContent(this.#random) };
    const options = { uid: this.#cast.freshUid(), author: person };
    this.#say(this.#cast.intents.declare(redeclare(box, { ...spec, items } as unknown as Json, options)));
  }

  #steer(random: SeededRandom): void {
    const operation = random.pick([...this.#cast.store.state.tables.operations.values()].filter(isLive));
    if (operation === undefined) return;
    const step = random.pick(boxSteps[operation.pipeline] ?? []) ?? "admit";
    const command = random.choose<SteerCommand>(
      { verb: "resume" },
      { verb: "resume" },
      { verb: "cancel" },
      { verb: "retry", step },
      { verb: "skip", step: "seen" },
      random.chance(0.2) ? { verb: "release" } : { verb: "resume" },
    );
    steer(this.#cast, operation, command);
  }
}

/** Whichever of its pipelines fits: what is deleted is taken away, anything else is made. */
export function startOn(cast: Cast, { uid, organizationId }: ResourceRow): void {
  const deletion = cast.store.state.tables.resources.get(uid)?.deletion;
  const ends = deletion !== undefined;
  const base = { organizationId, resourceUid: uid, operationId: `operation-${cast.freshUid()}`, author: person };
  const pipeline = ends ? "box.delete" : "box.create";
  const request = { ...base, pipeline, version: 1, input: {}, priority: "person" as const, ends };
  ignoring(cast.intents.startOperation(request), () => cast.poke());
}

export function steer(cast: Cast, { id, organizationId }: OperationRow, command: SteerCommand): void {
  const request = { organizationId, operationId: id, command, author: person, reason: "because" };
  ignoring(cast.intents.steerOperation(request), () => cast.poke());
}
