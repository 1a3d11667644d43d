/**
 * A detach is refused for as long as the node has the volume mounted, as a cloud's volume stays
 * `detaching`; and so is an attach elsewhere, whatever access mode was declared: Kubernetes tries
 * one as soon as a detach has failed. What is not busy is cut, so that detached means it.
 *
 * Where an attach elsewhere is granted all the same, the failed detach is what lets the second writer
 * in: Kubernetes then counts the first attachment as uncertain, and guards against confirmed ones only.
 */
import { diskMode } from './mode.ts';

export const pendingWhileBusy = diskMode({
  name: 'pending-while-busy',
  does: 'refuses detach and attach elsewhere while the old node has the volume mounted',
  attach: { refusedWhile: 'other-has-it-mounted' },
  detach: { refusedWhile: 'node-has-it-mounted', cuts: 'before-answer' },
});
