/** The first screen of a run on one server: headline, chips and tiles from the verdict alone. */
import { countInWords, secondsShown } from '../core/index.ts';
import type { Database } from '../run/index.ts';
import { corruptionIn, headlineOf, rolloutWaits, type Verdict } from '../judge/index.ts';
import { type Scenario, type Settings, driversLike } from '../scenario/index.ts';
import { proveItIsOff, reasonsFor, type Reasons } from './conditions.ts';
import {
  basisLabel,
  diskInWords,
  expectation,
  exposureInWords,
  meanings,
  noticedInWords,
  onceInWords,
  scenarioOf,
  secondMountInWords,
} from './wording.ts';
import { drawNoConclusion, type Advice, type Fact, type FirstScreen } from './first-screen.ts';
import { commitsFact } from './loss-words.ts';

export function runScreen(verdict: Verdict, database: Database): FirstScreen {
  const { scenario, runId, asExpected, open, sentence } = verdict;
  const noticed = noticedInWords(verdict);
  return {
    top: `forcedetach · ${scenario.name} · run ${runId}`,
    tone: verdict.verdict,
    headline: headlineOf(verdict),
    sentence,
    notes: [diskInWords(verdict), onceInWords(verdict)],
    chips: [
      { text: basisLabel(verdict) },
      ...versionsOf(verdict, database),
      ...gatesOf(verdict),
      { text: expectation(verdict), alarm: !asExpected && open !== true },
      ...(noticed === undefined
        ? []
        : [{ text: noticed.short, alarm: verdict.noticed === 'silent' }]),
    ],
  };
}

function versionsOf({ versions }: Verdict, { name, title }: Database): { readonly text: string }[] {
  const numberIn = (text = ''): string | undefined => /\d+\.\d+(\.\d+)?/.exec(text)?.[0];
  const named = [
    ['Kubernetes', numberIn(versions['kubernetes'])],
    [title, numberIn(versions[name])],
  ].filter(([, version]) => version !== undefined);
  return named.length === 0 ? [] : [{ text: named.map((each) => each.join(' ')).join(' · ') }];
}

/** Gates that are not as the version has them: the numbers are of no stock cluster. */
function gatesOf(verdict: Verdict): { readonly text: string; readonly alarm: true }[] {
  const { featureGates } = scenarioOf(verdict).kubernetes;
  return Object.entries(featureGates).map(([name, on]) => ({
    text: `${name} ${on ? 'on' : 'off'}`,
    alarm: true,
  }));
}

export function runFacts(verdict: Verdict, database: Database): Fact[] {
  const { downtimeMs } = verdict.availability;
  return [
    safetyFact(verdict, database),
    commitsFact(verdict),
    {
      name: 'Downtime',
      value: downtimeMs === null ? 'unknown' : secondsShown(downtimeMs / 1000),
      more: afterDowntime(verdict),
    },
    { name: 'Two could write for', ...exposureInWords(verdict) },
    { name: 'Second mount', ...secondMountInWords(verdict) },
  ];
}

/** An inconclusive run never shows a comforting word. */
function safetyFact({ verdict, safety, findings }: Verdict, database: Database): Fact {
  const name = 'Safety';
  if (verdict === 'inconclusive')
    return { name, value: 'not proven', more: `worst that was found: ${safety}`, tone: verdict };
  const more = safety === 'corrupt' ? corruptionIn(findings, database) : meanings[safety];
  return { name, value: safety, more, tone: safety };
}

/** Commits that came back are worth what the copies hold of them. */
function afterDowntime({ serving, loss }: Verdict): string {
  if (!serving.served) return 'no commits came back in time';
  const { acked = 0, lost = 0 } = loss?.successor ?? {};
  if (lost === 0) return 'then commits came back';
  const of =
    lost === acked
      ? `all ${countInWords(lost)}`
      : `${countInWords(lost)} of ${countInWords(acked)}`;
  return `then commits came back, but ${of} of the successor are lost or unreadable`;
}

export function runAdvice(verdict: Verdict, database: Database): Advice {
  if (verdict.verdict === 'inconclusive') return drawNoConclusion;
  const scenario = scenarioOf(verdict);
  const reasons = reasonsFor(scenario, verdict.verdict, database);
  if (!reasons.isKnown) return unknownReasons;
  return {
    advice:
      verdict.verdict === 'safe' ? safeAdvice(verdict, scenario, reasons) : harmAdvice(reasons),
    appliesIf: reasons.deciding.map(({ words }) => words),
    appliesNote: storageNote(scenario, reasons),
  };
}

const unknownReasons = {
  advice: [
    'This result was not expected, so the settings that decided it are unclear. Run it again, and report it with its history.',
  ],
  appliesIf: [],
};

/** Changes that would have made it safe, each by itself. */
function harmAdvice({ deciding, isChance }: Reasons): string[] {
  const changes = deciding
    .flatMap(({ by }) => by)
    .flatMap(({ advice, verdicts }) => {
      if (advice === undefined) return [];
      return harmIn(verdicts) === ''
        ? [advice]
        : [`${advice} It can then still end ${harmIn(verdicts)}.`];
    });
  return [
    ...(changes.length > 0
      ? [...new Set(changes)]
      : ['No single setting makes this safe. The safe order of steps: docs/how-to/lost-node.md.']),
    ...(isChance ? ['The same settings can also end safe: the outcome depends on timing.'] : []),
  ];
}

/** Why it was safe, what would not have been, and what it cost. */
function safeAdvice(
  verdict: Verdict,
  { fault }: Scenario,
  { because, deciding, isChance, certain }: Reasons,
): string[] {
  const why = isChance
    ? `It was safe by chance: the same settings can also do damage (${because}).`
    : `It was safe because ${because}.`;
  const harmful = deciding.flatMap(({ by }) => by);
  const isFault = ({ to }: { readonly to: Settings }): boolean => to.fault?.kind !== undefined;
  return [
    why,
    ...(verdict.findings.some(({ code }) => code === rolloutWaits) ? [deleteFirst] : []),
    ...harmful.map(
      ({ words, verdicts }) => `If ${words}, the same settings can end ${harmIn(verdicts)}.`,
    ),
    ...new Set(
      [...(harmful.some(isFault) ? [proveItIsOff] : []), ...(isChance ? certain : [])].map(
        (each) => (fault.kind === 'none' && each === proveItIsOff ? drainInstead : each),
      ),
    ),
    ...(isStandstill(verdict)
      ? [
          'The price of this safety is the downtime: no other node served until the old one was back. A safe way to shorten it: docs/how-to/lost-node.md.',
        ]
      : []),
  ];
}

/** What ends a rollout that waits for its own old pod. */
const deleteFirst =
  'Give the Deployment the strategy Recreate, or run the database as a StatefulSet: both end the old pod before they make the new one. docs/reference/workloads.md.';

/** A node that works needs no proof that it is off. */
const drainInstead =
  'Drain a node that works instead: a drain ends the database and unmounts the volume first.';

const harmIn = (verdicts: readonly string[]): string =>
  either(verdicts.filter((word) => word !== 'safe'));

const either = (words: readonly string[]): string =>
  new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(words);

/** No other node had the volume for so long that a person would have been called. */
const isStandstill = ({ phases, availability: { downtimeMs } }: Verdict): boolean =>
  phases.secondMount === null && (downtimeMs === null || downtimeMs > 5 * 60_000);

/** Drivers where the storage decides; else that it does not. */
function storageNote({ disk }: Scenario, { deciding, otherStorage }: Reasons): string {
  if (!deciding.some(({ isStorage }) => isStorage)) {
    return otherStorage.length === 0
      ? 'The kind of storage does not decide here: storage that fences has the same outcome expected as storage that does not.'
      : otherStorage
          .map(
            ({ words, verdicts }) => `If ${words}, the same settings can end ${either(verdicts)}.`,
          )
          .join(' ');
  }
  const named = driversLike(disk.mode).map(({ name, note }) =>
    note === undefined ? name : `${name} (${note})`,
  );
  return `Drivers documented to behave so: ${named.join('; ')}. Sources and certainty: docs/reference/drivers.md.`;
}
