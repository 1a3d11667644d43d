/** The fields of a scenario that say what an operator does, and when. */
import { choice, moment } from '../fields/field.ts';
import { eventOr, secondsWithin, type Dice } from '../fields/swept.ts';
import { actingRemedies, remedyKinds, taintingRemedies } from './kinds/index.ts';
import { remedyEvents, undoEvents } from '../when.ts';

/** Soon, or at any time of the usual waits. */
const whenever = (dice: Dice): number => secondsWithin(0, dice.pick([60, 420]))(dice);

export const remedyFields = {
  remedy: choice('remedy.kind', remedyKinds, 'none', {
    flags: '--remedy <kind>',
    about: 'what removes the old pod',
    swept: { isAsked: true },
  }),
  remedyAt: moment('remedy.at', remedyEvents, 'terminating', {
    flags: '--remedy-at <when>',
    about:
      'when: the pod is terminating, the node not-ready, the pod object gone (pod-gone), a new one without a mount (successor-pending), or so long after the fault (400s)',
    of: actingRemedies,
    isHarmless: true,
    swept: { isAsked: true, draw: eventOr(0.5, remedyEvents, whenever) },
  }),
  untaintAt: moment('remedy.untaintAt', undoEvents, 'end', {
    flags: '--untaint-at <when>',
    about:
      'when the out-of-service taint goes: at the end, once a database serves again; at the heal; kept until the convergence bound is over; or so long after the remedy',
    of: taintingRemedies,
    swept: { asksNoRow: true, draw: eventOr(0.5, undoEvents, secondsWithin(0, 60)) },
  }),
};
