/** What the how-tos of the probe count is what the raw records say: `npx vitest run -u --project unit test/docs` writes it. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { toldInSeconds } from '../../lib/durations.ts';
import type { CutFinding } from '../../lib/probe/cut/classify.ts';
import { certifiedDisk } from '../../lib/probe/published/disk-of.ts';
import type { Certificate } from '../../lib/probe/trials/certificate.ts';
import { measureForced } from '../../lib/probe/trials/force-deleted.ts';
import { strangerClasses, strangerNames } from '../support/stranger-objects.ts';
import { certificates } from './certificates-page.ts';
import { filled, read, root } from './pages.ts';
import { cuts, isShortened, judgedCut, spanOf, trials } from './probe-records.ts';

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
  const then = wrong(cuts.flatMap(({ findings }) => findings));
  return `${cuts.length} cuts of ${Math.min(...classes)} to ${Math.max(...classes)} classes each, ${raw} of them with raw volumes and ${cuts.length - raw} with files, ${stock} with stock timers. By the rules of today ${wrong(cuts.flatMap(judgedCut)).length || 'no'} answers are wrong; ${then.length} of those on record were when they were asked, ${then.filter(isOfLiar).length} of them of drivers that lie.`;
}

const isOfLiar = ({ storageClass }: CutFinding): boolean => !(storageClass in strangerClasses);

/** That name a mode which is not the true one; a driver that lies is of none. */
const wrong = (findings: readonly CutFinding[]): CutFinding[] =>
  findings.filter(({ storageClass, modes }) => {
    const truth = strangerClasses[storageClass]?.['detachMode'];
    return modes.length > 0 && !modes.some((mode) => mode === truth);
  });

function playedDelay(): string {
  const table = join(certificates, strangerNames.disk, 'dac05a0c7485.json');
  const { cutAfterMs = 0 } = certifiedDisk(table, { storageClass: 'dolomite' });
  const trueMs = Number(strangerClasses['dolomite']?.['cutAfterMs']);
  return `\`dolomite\` with a delay of ${toldInSeconds(cutAfterMs)} for ${trueMs / 1000} s.`;
}

test.each([
  ['docs/how-to/probe.md', howLong],
  ['docs/how-to/probe-force-deleted.md', forced],
  ['docs/how-to/probe-cut.md', cutsAsked],
  ['docs/how-to/play-a-certificate.md', playedDelay],
])('%s', async (path, measured) => {
  const made = filled(read(path), { measured: measured() });
  await expect(made).toMatchFileSnapshot(join(root, path));
});
