/**
 * Freeze: every process of the victim stands still, its open files and its cache stay. Thawed after
 * the hand-over it is the zombie, which goes on as if no time had passed.
 */
import { freeze as kind } from './kinds/freeze.ts';
import { lastingFault } from './lasting.ts';
import { apiReached, isIn } from './probes.ts';

export const freeze = lastingFault(kind, {
  breaks: ({ machine }) => machine.freeze(),
  mends: ({ machine }) => machine.thaw(),
  whole: ({ machine }) => [isIn(machine, 'running', 'the victim runs')],
  // Its kernel still answers a connect, so that nothing asks from outside.
  broken: ({ machine }) => [
    isIn(machine, 'frozen', 'the victim stands still'),
    apiReached(machine, false),
  ],
});
