/** Names that a group's observers give to their records. All have source `group`. */

export const groupObserved = {
  /** A member's view, when it changed. data: side, and a GroupView's fields, or error. */
  view: 'member-view',
  /** A router would send outside clients here from now on; `node`. */
  routed: 'routed',
  /** A read of the ledger. data: side, beganAtMs, and error or heads: `connection/session` → last seq, of the outside client. */
  read: 'read',
  /** What a whole reading of a member gave. data: image?, takenAtMs, and a LedgerReading or error. */
  ledger: 'ledger-read',
  /** The group's settings. */
  settings: 'settings',
} as const;
