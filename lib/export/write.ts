/** `<FOLDER>/export/`: the run's ledger and bank as Jepsen histories, in EDN and in JSON. */
import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { History } from '../history/reader.ts';
import { bank, listAppend, type JepsenOp } from './jepsen.ts';
import { ednOf, jsonOf } from './texts.ts';

const workloads = { ledger: listAppend, bank } as const;

/** Collected before it is written, bytes. */
const chunkBytes = 256 * 1024;

/** Resolves to the files' paths. The same history gives the same bytes. */
export function exportHistory(folder: string, history: History): string[] {
  const into = join(folder, 'export');
  mkdirSync(into, { recursive: true });
  return Object.entries(workloads).flatMap(([name, ops]) => {
    const edn = new Text(join(into, `${name}.edn`));
    const json = new Text(join(into, `${name}.json`));
    json.add('[');
    for (const op of ops(history)) {
      edn.add(`${ednOf(op)}\n`);
      json.add(lineOf(op));
    }
    json.add('\n]\n');
    return [edn.close(), json.close()];
  });
}

const lineOf = (op: JepsenOp): string => `${op.index === 0 ? '' : ','}\n${jsonOf(op)}`;

class Text {
  readonly #path: string;
  readonly #file: number;
  #waiting = '';

  constructor(path: string) {
    this.#path = path;
    this.#file = openSync(path, 'w');
  }

  add(text: string): void {
    this.#waiting += text;
    if (this.#waiting.length > chunkBytes) this.#write();
  }

  close(): string {
    this.#write();
    closeSync(this.#file);
    return this.#path;
  }

  #write(): void {
    writeSync(this.#file, this.#waiting);
    this.#waiting = '';
  }
}
