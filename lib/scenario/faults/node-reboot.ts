/**
 * A crash after which the node boots by itself, at `rebootAt`: within the grace period, after it, or just
 * when its volume is taken away.
 */
import { moment, secondsWithin } from '../field.ts';
import { faultKind } from './kind.ts';

const withinGraceMs = 20_000;

export const nodeReboot = faultKind({
  name: 'node-reboot',
  question: 'A node reboots: does its database come back with every acknowledged commit?',
  words: 'the old node reboots',
  happens: 'the same, and it boots at `rebootAt`',
  certificate: 'the same',
  breaks: 'crash',
  mends: 'boot',
  mendsAt: 'rebootAt',
  whole: ['victim runs'],
  broken: ['victim down'],
  lasts: [],
  mended: ['victim runs again'],
  silencesKubelet: true,
  endsMachine: true,
  losesPower: true,
  leastMs: 0,
  cutsClientsOff: true,
  needs: ['node-power', 'agent-stall', 'power-loss'],
  fields: {
    rebootAt: moment(['force-detach'], withinGraceMs, {
      about: 'when the node boots: force-detach, or a time after the fault',
      swept: {
        isAsked: true,
        draw: (dice) => (dice.chance(0.3) ? 'force-detach' : secondsWithin(1, 400)(dice)),
      },
    }),
  },
  keeps: { 'fault.reboot': 'it boots; leave a node down after a node-crash' },
});
