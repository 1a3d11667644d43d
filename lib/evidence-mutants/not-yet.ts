/** Kinds of altered evidence that still escape, each with its reason. It may only shrink. */
export const notYet: readonly { readonly because: string; readonly kinds: readonly string[] }[] = [
  {
    because:
      'a client that falls silent, or sees nothing, and ends in good order is not missed: none says how much it was to do',
    kinds: [
      'writers-end-at-the-fault',
      'outside-writer-ends-at-the-fault',
      'inside-writer-ends-at-the-fault',
      'writers-begin-at-the-fault',
      'writers-silent-after-the-heal',
      'outcomes-gone',
      'outcomes-of-the-outside-client-gone',
      'sessions-gone',
      'sessions-gone-from-the-fault-on',
      'reads-gone',
      'reads-gone-from-the-fault-on',
      'outside-reads-gone',
      'reads-of-an-empty-ledger',
      'outcomes-five-minutes-late',
      'outcomes-contradict-themselves',
    ],
  },
  {
    because: 'an observer that beats and is blind is missed only where another one saw the same',
    kinds: [
      'observer-controller-manager-gone',
      'observer-controller-manager-silent-from-the-fault-on',
      'observer-devices-silent-from-the-fault-on',
      'observer-devices-blind-on-the-successor',
      'no-write-of-the-victim-before-the-fault',
      'devices-count-backwards',
      'pod-gone-never-seen',
      'attachments-never-seen',
    ],
  },
  {
    because: 'an image is not bound to its run and copy',
    kinds: ['stale-copy-audited-again', 'another-runs-volume-audited'],
  },
];
