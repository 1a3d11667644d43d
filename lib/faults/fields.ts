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
} from './kinds/index.ts';
import { choice, field, moment, time, whole } from '../fields/field.ts';
import { eventOr, oneOf, secondsWithin } from '../fields/swept.ts';
import { faultEvents } from '../when.ts';

/** Those of the control plane come beside one of these. */
const victimFaults = faultKinds.filter((fault) => fault !== 'none' && !sparesVictim(fault));

const { link, recreations, ...fieldsOfVictims } = fieldsOfFaults;

export const faultFields = {
  fault: field('fault.kind', z.enum(faultKinds), {
    flags: '--fault <kind>',
    about: 'what is taken from the victim',
    swept: { isAsked: true, draw: oneOf(victimFaults) },
    choices: faultKinds,
  }),
  ...fieldsOfVictims,
  serverKills: whole('fault.serverKills', [0, 5], 0, {
    flags: '--server-kills <n>',
    about:
      'the database is killed so often just before the fault (0, or 2 to 5), which comes while its kubelet waits before the next start',
    of: silencingFaults,
    needs: 'server-kill',
    swept: { share: 0.25, asksNoRow: true, draw: (dice) => dice.int(2, 5) },
  }),
  also: choice('also.kind', ['none', ...controlPlaneFaults], 'none', {
    flags: '--also <fault>',
    about: 'a fault of the control plane beside the first one',
    swept: { share: 0.25, isAsked: true, draw: oneOf(controlPlaneFaults) },
  }),
  alsoAt: moment('also.at', faultEvents, 'half-wait', {
    flags: '--also-at <when>',
    about:
      'when it comes: terminating, pod-gone, half-wait (of the wait for a forced detach), force-detach, or so long after the fault',
    of: controlPlaneFaults,
    swept: { isAsked: true, draw: eventOr(0.6, faultEvents, secondsWithin(0, 420)) },
  }),
  alsoForMs: time('also.for', 30_000, {
    flags: '--also-for <time>',
    about: 'it is healed so long after that, or with the first one',
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
    flags: '--power-loss <fate>',
    about: 'what a crash does to writes that the disk had acknowledged but not flushed',
    swept: { isAsked: true },
    of: powerFaults,
  }),
};
