/** What the how-tos of the probe count is what the raw records say: `npx vitest run -u --project unit test/docs` writes it. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Certificate } from '../../lib/probe/trials/certificate.ts';
import { measureForced } from '../../lib/probe/trials/force-deleted.ts';
import { filled, read, root } from './pages.ts';
import { cuts, isShortened, spanOf, trials } from './probe-records.ts';

const all = trials();
const lastedMs = ({ beganAt, endedAt }: Certificate): number =>
  Date.parse(endedAt) - Date.parse(beganAt);
const isForced = ({ plan }: Certificate): boolean =>
  plan.list.some(({ variant }) => variant === 'force-deleted');

/** Of each file with five trials of a kind, as is the default. */
function howLong(): string {
  const five = all.filter(({ plan }) => plan.trials === 5);
  const [without, withForced] = [five.filter((each) => !isForced(each)), five.filter(isForced)];
  const spans = [without, withForced].map((some) => spanOf(some.map(lastedMs)));
  return `Five of each kind took ${spans[0]} (${without.length} certificates, without pods deleted by force) and ${spans[1]} (${withForced.length}, with them), beside other clusters.`;
}

function forced(): string {
  const each = all.filter(isForced).map((certificate) => ({
    certificate,
    measured: measureForced(
      certificate.trials.filter(({ variant }) => variant === 'force-deleted'),
    ),
  }));
  const findings = each.flatMap(({ measured }) => measured.findings);
  const first = findings.filter(({ outcome }) => outcome === 'ended-first').length;
  const span = (what: string): string => {
    const figures = each.flatMap(({ measured }) =>
      measured.figures.filter((figure) => figure.what === `delete by force to ${what}`),
    );
    return spanOf(
      figures.flatMap(({ leastMs, mostMs }) => [leastMs, mostMs]),
      1,
    );
  };
  const more = findings.filter(({ ackedAfter = 0, reachedAfter = 0 }) => reachedAfter > ackedAfter);
  const counts = each.map(
    ({ certificate: { storageClass, plan }, measured }) =>
      `${measured.findings.length} of ${storageClass.name}, ${plan.volumeMode}`,
  );
  return `${first} of ${findings.length} ended first (${counts.join('; ')}). From the delete to SIGTERM it was ${span('SIGTERM')}, to the last write ${span('the last write of its writer')}, to the end of the attachment ${span('the end of the attachment')}, to the next pod ${span('the next pod running')}. In ${more.length} of the ${findings.length} the disk had a write more than the log told of.`;
}

function cutsAsked(): string {
  const classes = cuts.map(({ plan }) => plan.classes.length);
  const count = (is: (cut: (typeof cuts)[number]) => boolean): number => cuts.filter(is).length;
  const raw = count(({ plan }) => plan.volumeMode === 'Block');
  const stock = count((cut) => !isShortened(cut));
  return `${cuts.length} cuts of ${Math.min(...classes)} to ${Math.max(...classes)} classes each, ${raw} of them with raw volumes and ${cuts.length - raw} with files, ${stock} with stock timers.`;
}

test.each([
  ['docs/how-to/probe.md', howLong],
  ['docs/how-to/probe-force-deleted.md', forced],
  ['docs/how-to/probe-cut.md', cutsAsked],
])('%s', async (path, measured) => {
  const made = filled(read(path), { measured: measured() });
  await expect(made).toMatchFileSnapshot(join(root, path));
});
