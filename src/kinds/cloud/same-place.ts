/** Where something is. */
export interface Placed {
  readonly location: string;
  /** That place by its id, where it was seen: nobody's to compare. */
  readonly locationId?: string | undefined;
}

export function placeOf({ location, locationId }: Placed): Placed {
  return locationId === undefined ? { location } : { location, locationId };
}

/** What was seen, with where it is in the word that the declaration has for that: a place may be named by its id as well. */
export function placedAsDeclared<Item extends Placed>(seen: Item, declared: Placed): Item {
  const { locationId, ...rest } = seen;
  const location = declared.location === locationId ? declared.location : seen.location;
  return { ...rest, location } as Item;
}
