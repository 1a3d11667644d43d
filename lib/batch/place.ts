/** Where a cell lies on the axes of its batch, in words. */

/** A label that has a comma of its own stands in quotes: in a list it would look like two. */
export const quoted = (label: string): string => (label.includes(',') ? `“${label}”` : label);

/** `case “cut off, force-delete”, storage fenced`. */
export const placeInWords = (place: Readonly<Record<string, string>>): string =>
  Object.entries(place)
    .map(([axis, label]) => `${axis} ${quoted(label)}`)
    .join(', ');
