/** What somebody meant who mistyped a word. */

/** Undefined where none is near. */
export function nearestOf(word: string, known: readonly string[]): string | undefined {
  const [nearest] = known
    .map((each) => ({ each, edits: editsBetween(word.toLowerCase(), each.toLowerCase()) }))
    .filter(({ each, edits }) => edits <= Math.max(1, each.length / 3))
    .toSorted((a, b) => a.edits - b.edits);
  return nearest?.each;
}

/** Letters to put in, take out or replace (Levenshtein). */
function editsBetween(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [index, letter] of from.split('').entries()) {
    let left = index + 1;
    row = row.map((above, at) => {
      if (at === 0) return left;
      const before = row[at - 1] ?? 0;
      left = Math.min(above + 1, left + 1, before + (letter === to[at - 1] ? 0 : 1));
      return left;
    });
  }
  return row[to.length] ?? from.length;
}
