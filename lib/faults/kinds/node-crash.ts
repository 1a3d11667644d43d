/** Every process and all that was not on the disk is gone; down until the heal. */
import { toggle } from '../../fields/field.ts';
import { faultKind } from './kind.ts';

export const nodeCrash = faultKind({
  name: 'node-crash',
  question: 'A node crashes: does every acknowledged commit survive the move to another node?',
  happens:
    'its kubelet is stopped, its device cut off, then it is killed; it stays down until the heal',
  certificate: 'it is down; an unsynced file is gone, a synced one is there',
  silencesKubelet: true,
  losesPower: true,
  leastMs: 0,
  cutsClientsOff: true,
  sharesEvents: true,
  needs: ['node-power', 'agent-stall', 'power-loss'],
  fields: {
    reboot: toggle('fault.reboot', true, {
      flags: '--no-reboot',
      about: 'start the crashed node again at the heal; false: it stays down until the clean-up',
      of: ['node-crash'],
      swept: { share: 0.2 },
      isHarmless: true,
    }),
  },
});
