/** The fields of a scenario that say what runs: the pod, whether it ends itself, and the load of its clients. */
import { z } from 'zod';
import {
  choice,
  field,
  oneOf,
  seconds,
  secondsWithin,
  textOf,
  time,
  toggle,
  whole,
} from './field.ts';

/** What makes the database's pod: each with one replica. */
export const workloads = [
  'stateful-set',
  'stateful-set-parallel',
  'deployment-recreate',
  'deployment-rolling-update',
] as const;

export const workloadFields = {
  kind: choice(workloads, 'stateful-set', {
    about:
      'what recreates the pod of the database: a StatefulSet, or a Deployment, which does not wait for the old pod',
    more: '([below](#workloads))',
    swept: { isAsked: true },
  }),
  terminationGrace: seconds(3600, 30, {
    about: 'terminationGracePeriodSeconds of the pod; 0s makes every deletion a forced one',
    swept: { share: 0.2, asksNoRow: true, draw: oneOf([0, 0, 1000, 5000, 120_000]) },
  }),
  finalizer: toggle(false, {
    flag: 'pod-finalizer',
    about: 'the pod has a finalizer that only the remedy removes',
    swept: { share: 0.1, asksNoRow: true },
  }),
  preStop: seconds(3600, 0, {
    about: 'how long a preStop hook sleeps before the database stops',
    swept: { share: 0.05, asksNoRow: true, draw: (dice) => dice.int(1, 25) * 1000 },
  }),
};

const ratePerS = z.number().min(0.001).max(100_000);

export const loadFields = {
  rate: field(z.union([z.literal('max'), z.literal(0), ratePerS]).default(25), {
    about: 'acknowledged operations per second and client; max: no limit; 0: idle',
    text: textOf((text) => {
      if (text === 'max') return text;
      return /^\d+(\.\d+)?$/.test(text) ? Number(text) : undefined;
    }, 'Give operations per second and client, or max.'),
    swept: { draw: oneOf([0, 2, 25, 25, 25, 1000, 'max']) },
  }),
  connections: whole([1, 64], 2, {
    about: 'connections per client',
  }),
};

export const selfFences = ['off', 'lease', 'lease-read-only'] as const;

export const selfFenceFields = {
  kind: choice(selfFences, 'off', {
    about:
      'lease: a sidecar ends the database when the Lease of its node is not renewed; lease-read-only: it also makes the file system read-only',
    swept: { share: 0.2, asksNoRow: true },
  }),
  // Two of a kubelet's renewals, and far less than the stock grace period.
  after: time(20_000, {
    about: 'how long after the last renewal the sidecar acts',
    of: ['lease', 'lease-read-only'],
    swept: { asksNoRow: true, draw: secondsWithin(20, 60) },
    least: 1,
  }),
};
