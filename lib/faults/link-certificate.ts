/** The part of a severed link's certificate that only the disk's log of writes can give. */
import type { CertificateRecord } from '../history/events.ts';
import type { Story } from '../timeline/story.ts';
import type { WriteMarks } from '../timeline/write-marks.ts';

/** Empty where the link survived, or the disk kept no log. */
export function linkCertificates(story: Story, marks: WriteMarks | undefined): CertificateRecord[] {
  const { scenario, faultName, faultAtMs } = story;
  if (scenario.link === 'survives' || marks === undefined || faultAtMs === undefined) return [];
  const first = marks.severed[0];
  const { whileSevered } = marks.leaked;
  const until = first?.toMs === undefined ? 'the end' : `${sinceS(first.toMs, faultAtMs)} s`;
  return [
    {
      type: 'certificate',
      t: first?.fromMs ?? faultAtMs,
      fault: faultName,
      moment: 'during',
      claim: 'the disk took no write of the victim while its path was severed',
      holds: first !== undefined && whileSevered === 0,
      evidence:
        first === undefined
          ? 'the log of writes knows of no severed path'
          : `severed from ${sinceS(first.fromMs, faultAtMs)} s to ${until} after the fault; ` +
            `${whileSevered} writes applied meanwhile`,
    },
  ];
}

const sinceS = (atMs: number, faultAtMs: number): string => ((atMs - faultAtMs) / 1000).toFixed(1);
