/** Numbers as people read them. */

/** With thousands separators: 20982 → `20,982`. */
export const countInWords = (n: number): string => n.toLocaleString('en-US');
