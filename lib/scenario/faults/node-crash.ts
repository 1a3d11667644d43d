/**
 * Every process of the victim and all that it had not synced are gone at once; down until the heal.
 *
 * Killing a kind node alone loses nothing: its mount namespace dies and ext4 unmounts cleanly. So
 * its paths to the disk are cut from outside first. What is lost is the client's cache, and of what
 * the disk had not flushed as much as `powerLoss` says. It is not frozen on the way: before the cut
 * a freeze waits until each flush in flight has ended, and saves what a crash would lose; after it
 * the freezer may give up on processes that die of the cut.
 */
import { toggle } from '../field.ts';
import { faultKind } from './kind.ts';

export const nodeCrash = faultKind({
  name: 'node-crash',
  question: 'A node crashes: does every acknowledged commit survive the move to another node?',
  words: 'the old node crashes',
  happens:
    'its kubelet is stopped, its device cut off, then it is killed; it stays down until the heal',
  certificate: 'it is down; an unsynced file is gone, a synced one is there',
  breaks: 'crash',
  mends: 'boot',
  mendsIf: 'reboot',
  whole: ['victim runs'],
  broken: ['victim down'],
  mended: ['victim runs again'],
  silencesKubelet: true,
  endsMachine: true,
  losesPower: true,
  leastMs: 0,
  cutsClientsOff: true,
  sharesEvents: true,
  strikesSecond: true,
  needs: ['node-power', 'agent-stall', 'power-loss'],
  fields: {
    reboot: toggle(true, {
      about: 'start the crashed node again at the heal; false: it stays down until the clean-up',
      swept: { share: 0.2 },
      isHarmless: true,
    }),
  },
});
