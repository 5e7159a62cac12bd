/** More than these nobody reads in a message. */
const fewNames = 8;
const nearestNames = 5;

/** What there is, in the words of a message: all of it where that is little, else what is most like the name that is not there. */
export function offeredWords(name: string, offered: readonly string[]): string {
  const names = [...new Set(offered)];
  if (names.length === 0) return "there is none";
  if (names.length <= fewNames) return `there is: ${names.toSorted().join(", ")}`;
  const nearest = names
    .map((other) => ({ other, distance: distanceOf(name.toLowerCase(), other.toLowerCase()) }))
    .toSorted((left, right) => left.distance - right.distance || (left.other < right.other ? -1 : 1))
    .slice(0, nearestNames);
  return `of ${names.length} that there are, the nearest are: ${nearest.map(({ other }) => other).join(", ")}`;
}

/** How many letters have to be put in, left out or changed to make one of the other. */
function distanceOf(left: string, right: string): number {
  let before = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row++) {
    const line = [row];
    for (let column = 1; column <= right.length; column++) {
      const changed = (before[column - 1] ?? 0) + (left[row - 1] === right[column - 1] ? 0 : 1);
      line.push(Math.min(changed, (before[column] ?? 0) + 1, (line[column - 1] ?? 0) + 1));
    }
    before = line;
  }
  return before[right.length] ?? 0;
}
