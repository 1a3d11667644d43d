/** Text of files, locks and other processes, so that a terminal prints it and obeys nothing in it. */

/** Controls but tab and newline, and the marks that turn the direction of writing. */
// oxlint-disable-next-line no-control-regex
const obeyed = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Each such character as `\u001b`. */
export const plainText = (text: string): string =>
  text.replace(obeyed, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
