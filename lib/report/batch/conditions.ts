/** What else is not the same beside a pinned batch, in words: a new Kubernetes or a new harness? */
import type { Trend } from './trend.ts';

import { database } from '../../database/chosen.ts';

/** Those that people would not know by the name that runs record. */
const names: Readonly<Record<string, string>> = {
  kubernetes: 'Kubernetes',
  [database.name]: database.title,
  images: 'source of the images',
  node: 'Node.js',
};

const harness = 'forcedetach';
const image = 'image ';

/** Kubernetes first, then the harness and the images: what may explain a change of a verdict. */
export function conditionsInWords(conditions: Trend['conditions']): string {
  const find = (wanted: string): Trend['conditions'] =>
    conditions.filter(([name]) => name === wanted);
  const images = conditions.flatMap(([name]) =>
    name.startsWith(image) ? [name.slice(image.length)] : [],
  );
  const others = conditions.filter(
    ([name]) => !['kubernetes', harness, 'seed'].includes(name) && !name.startsWith(image),
  );
  const words = [
    ...find('kubernetes').map(changed),
    ...find(harness).map(([, was, is]) => harnessWords(was, is)),
    ...(images.length === 0 ? [] : [`images: ${images.join(', ')}`]),
    ...others.map(changed),
  ];
  if (words.length > 0) return `${words.join('; ')}.`;
  // The seed is another each time: it explains chance only.
  return conditions.length === 0 ? 'Nothing that the runs record.' : 'Nothing but the seed.';
}

const changed = ([name, was, is]: Trend['conditions'][number]): string =>
  `${names[name] ?? name}: ${was} → ${is}`;

/** Batches of before recorded the project's version without a hash of the source. */
const harnessWords = (was: string, is: string): string =>
  was.includes('+') && is.includes('+')
    ? 'the harness'
    : 'perhaps the harness (one of the two did not record its source)';
