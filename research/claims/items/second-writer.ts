/** Claims 10 and 17: what lets a second writer in, and what two writers do to a database. */
import { endsMachine, sparesVictim } from '../../../lib/scenario/index.ts';
import { observed } from '../../../lib/history/index.ts';
import { allSeen, recordLines, victimAcksAfter } from '../recorded-run.ts';
import type { Claim } from '../claim.ts';

export const licence: Claim = {
  number: 10,
  title: 'What lets the second writer in',
  statement: 'No article answers this; they blame eviction and the forced detach.',
  expected:
    'What removes the pod object: force-delete (+6 min), the out-of-service taint ' +
    '(at once), deleting the Node (+6 min after the pod is collected). Two writers if ' +
    'the first one lives.',
  runs: [
    'network-partition --remedy force-delete',
    'network-partition --remedy out-of-service',
    'network-partition --remedy delete-node --horizon 1200s',
  ],
  read(run) {
    const { remedy, disk, fault } = run.story.scenario;
    if (remedy.kind === 'none') return 'no operator acted';
    if (disk.mode !== 'unfenced' || fault.link !== 'survives') return 'the disk decides here';
    if (endsMachine(fault.kind) || sparesVictim(fault.kind))
      return 'the victim was not left alive and alone';
    const { secondMount } = run.verdict.phases;
    if (secondMount === null) {
      return {
        asExpected: false,
        said: `With ${remedy.kind}: no second mount in ${run.verdict.horizonS.toFixed(0)} s.`,
        evidence: [],
      };
    }
    const acks = victimAcksAfter(run, run.faultAtMs + secondMount * 1000).length;
    const chain = run.verdict.licence.map(({ atS, step }) => `+${atS.toFixed(1)} s ${step}`);
    return {
      asExpected: run.verdict.exposure.ms > 0,
      said:
        `With ${remedy.kind}: second mount at +${secondMount.toFixed(1)} s; two could write ` +
        `for ${(run.verdict.exposure.ms / 1000).toFixed(1)} s, in which the first one ` +
        `acknowledged ${acks} commits.`,
      evidence: chain,
    };
  },
};

export const doubleWrite: Claim = {
  number: 17,
  title: 'Double write corrupts',
  statement: 'Two instances that write one volume corrupt the data.',
  expected: 'Holds on a disk that does not fence: commits are lost or structures broken.',
  runs: ['network-partition --remedy force-delete'],
  read(run) {
    const { disk, fault } = run.story.scenario;
    if (disk.mode !== 'unfenced' || endsMachine(fault.kind)) return 'two did not write';
    const { exposure, findings, verdict, lost, acked } = run.verdict;
    if (exposure.bytesVictim === 0 || exposure.bytesSuccessor === 0) return 'two did not write';
    const damage = findings.filter(({ level }) => level === 'damage');
    const images = run.verdict.images.map(
      ({ image, lost: gone, readable }) => `${image} ${gone}${readable ? '' : ', not readable'}`,
    );
    return {
      asExpected: verdict === 'corrupt' || verdict === 'lost',
      said:
        `${verdict}: both wrote for ${(exposure.ms / 1000).toFixed(1)} s ` +
        `(${exposure.bytesVictim} and ${exposure.bytesSuccessor} bytes); at worst ` +
        `${lost} of ${acked} acknowledged commits lost (by image: ${images.join('; ')}); ` +
        `${damage.length} findings of damage.`,
      evidence: [
        ...damage.map(({ code, summary }) => `${code}: ${summary}`),
        ...recordLines(
          run,
          allSeen(run, observed.mounted, ({ t }) => t >= run.faultAtMs),
        ),
      ],
    };
  },
};
