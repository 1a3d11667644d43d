/**
 * The victim's processes share so little of a CPU that heartbeats come late or not at all, while all of
 * them live.
 */
import { z } from 'zod';
import { field, oneOf, textOf } from '../field.ts';
import { faultKind } from './kind.ts';

export const cpuStarvation = faultKind({
  name: 'cpu-starvation',
  question: 'A node gets next to no CPU time: is its volume given away while it still writes?',
  words: 'the old node gets almost no CPU time',
  happens: 'all its processes together get `cpuShare` of one CPU',
  certificate: 'the kernel stops them in most of its periods',
  breaks: 'throttle',
  mends: 'unthrottle',
  whole: ['CPU time'],
  broken: ['no CPU time', 'victim still runs'],
  needs: ['cpu-limit'],
  fields: {
    cpuShare: field(z.number().min(0.001).max(1).default(0.005), {
      about: 'share of one CPU that all processes of the victim together may use',
      swept: { isAsked: true, draw: oneOf([0.001, 0.005, 0.02, 0.1]) },
      text: textOf(
        (text) => (/^(0?\.\d+|1)$/.test(text) ? Number(text) : undefined),
        'Give a share of one CPU, such as 0.05.',
      ),
    }),
  },
});
