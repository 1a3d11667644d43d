/** The fields of a scenario that say what is broken: first, and beside it. */
import { z } from 'zod';
import { powerLosses } from '../disk-kinds.ts';
import {
  controlPlaneFaults,
  faultKinds,
  fieldsOfFaults,
  powerFaults,
  silencingFaults,
  sparesVictim,
} from '../faults/index.ts';
import { choice, field, moment, time, whole } from './field.ts';
import { eventOr, oneOf, secondsWithin } from './swept.ts';
import { faultEvents } from '../../core/index.ts';

/** Those of the control plane come beside one of these. */
const victimFaults = faultKinds.filter((fault) => fault !== 'none' && !sparesVictim(fault));

const { link, recreations, ...fieldsOfVictims } = fieldsOfFaults;

export const faultFields = {
  fault: field('fault.kind', z.enum(faultKinds), {
    about: 'what breaks',
    swept: { isAsked: true, draw: oneOf(victimFaults) },
    choices: faultKinds,
  }),
  ...fieldsOfVictims,
  serverKills: whole('fault.serverKills', [0, 5], 0, {
    about:
      'kill the database so many times just before the fault (0, or 2 to 5), which then hits during the restart back-off',
    of: silencingFaults,
    needs: 'server-kill',
    swept: { share: 0.25, asksNoRow: true, draw: (dice) => dice.int(2, 5) },
  }),
  also: choice('also.kind', ['none', ...controlPlaneFaults], 'none', {
    about: 'a second fault, of the control plane',
    swept: { share: 0.25, isAsked: true, draw: oneOf(controlPlaneFaults) },
  }),
  alsoAt: moment('also.at', faultEvents, 'half-wait', {
    about:
      'when the second fault begins: terminating, pod-gone, half-wait (half of the wait for a forced detach), force-detach, or a time after the fault',
    of: controlPlaneFaults,
    swept: { isAsked: true, draw: eventOr(0.6, faultEvents, secondsWithin(0, 420)) },
  }),
  alsoForMs: time('also.for', 30_000, {
    about: 'how long the second fault lasts; at most until the first is healed',
    swept: { isAsked: true, draw: secondsWithin(1, 120) },
    of: controlPlaneFaults,
    least: 1,
  }),
};

/** Those whose place in a record is among the fields of others. */
export const placedFaultFields = {
  recreations,
  link,
  powerLoss: choice('fault.powerLoss', powerLosses, 'keeps', {
    about: 'what a crash does to writes that the disk acknowledged but did not flush',
    swept: { isAsked: true },
    of: powerFaults,
  }),
};
