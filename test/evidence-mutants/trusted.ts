/** Attacks that nobody notices: whom this harness trusts, and why (docs/reference/trust.md). */

/** By the beginning of their names, each with the reason. */
export const trusted: Readonly<Record<string, string>> = {};

export const isTrusted = (attack: string): boolean =>
  Object.keys(trusted).some((name) => attack.startsWith(name));
