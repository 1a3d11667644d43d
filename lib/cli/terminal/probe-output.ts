/** How an answer of the probe goes to its files, and what is printed of it. */
import { resolve } from 'node:path';
import { writeOutput } from '../../core/index.ts';
import { say, tell } from '../command.ts';
import type { ProbeFlags } from '../flags/probe-flags.ts';

/** One answer in each form that can be asked for. */
export interface Forms<Answer> {
  readonly text: (answer: Answer) => string;
  readonly html: (answer: Answer) => Promise<string>;
  readonly junit: (answer: Answer) => Promise<string>;
}

type AskedOutput = Pick<ProbeFlags, 'out' | 'output' | 'html' | 'junit'>;

/** To the files that were asked for, and to the terminal. */
export async function writeAnswer<Answer extends object>(
  { out, output, html, junit }: AskedOutput,
  answer: Answer,
  forms: Forms<Answer>,
): Promise<void> {
  const text = JSON.stringify(answer);
  if (out !== undefined) writeOutput(resolve(out), `${text}\n`);
  if (html !== undefined) writeOutput(html, await forms.html(answer));
  if (junit !== undefined) writeOutput(junit, await forms.junit(answer));
  tell(output === 'json' ? text : forms.text(answer));
}

/** Writes all that was measured: nothing of it may be lost. `name`: of the file here, where no other was asked for. */
export async function writeCertificate<Certificate extends object>(
  flags: AskedOutput,
  name: string,
  certificate: Certificate,
  forms: Forms<Certificate>,
): Promise<void> {
  const out = resolve(flags.out ?? name);
  await writeAnswer({ ...flags, out }, certificate, forms);
  say(`certificate: ${out}`);
}
