/**
 * What runs in a probe's pods: writes into slots of its own, and the next pod reads the first one's.
 * It is handed over as text, so that any image with Node 20 or later does. One line on stdout for all
 * that happens, numbered, so that a gap is seen: `judge/record.ts` reads them.
 */
import {
  appendFileSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  openSync,
  readSync,
  writeSync,
} from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Settings: `PodProgram` in objects.ts. */
const program = JSON.parse(process.env['PROBE'] ?? '{}');
const { role, path, isBlock, token, slots, everyMs, quietAfterMs, quietForMs, untilMs } = program;
const { writesOn, journal } = program;

const slotBytes = 4096;
const chunkBytes = 256 * slotBytes;
/** The writer's slots come first, then those of the next pod. */
const first = role === 'writer' ? 0 : slots.writer;
const own = role === 'writer' ? slots.writer : slots.next;
/** After an error it asks less often: what counts is whether it ever gets through again. */
const afterErrorMs = 200;

const nowMs = () => performance.timeOrigin + performance.now();
let lines = 0;
/** @param {readonly (string | number)[]} words */
const tell = (...words) => {
  const told = words.map((word) => (typeof word === 'number' ? Number(word.toFixed(2)) : word));
  const line = `${(lines += 1)} ${told.join(' ')}\n`;
  if (journal) appendFileSync(journal, line);
  writeSync(1, line);
};
/** @param {unknown} error */
const codeOf = (error) => String(/** @type {NodeJS.ErrnoException} */ (error).code ?? error);

process.on('SIGTERM', () => {
  tell('term', nowMs());
  if (!writesOn) process.exit(0);
});

/** Room for all slots, written: what is not would be allocated later, and a second mount not see it. */
function makeRoom() {
  if (isBlock || existsSync(path)) return;
  const file = openSync(path, 'w');
  const zeros = Buffer.alloc(chunkBytes);
  const bytes = (slots.writer + slots.next) * slotBytes;
  for (let at = 0; at < bytes; at += chunkBytes) {
    writeSync(file, zeros, 0, Math.min(chunkBytes, bytes - at), at);
  }
  fsyncSync(file);
  closeSync(file);
}

const memory = Buffer.alloc(chunkBytes + slotBytes);
/** Node doesn't say where its memory lies: reads past the cache work from the right place only. */
function open() {
  const flags = constants.O_RDWR | constants.O_DSYNC;
  const direct = openSync(path, flags | constants.O_DIRECT);
  for (let at = 0; at < slotBytes; at += 16) {
    try {
      readSync(direct, memory, at, slotBytes, 0);
      return { file: direct, from: at, isDirect: true };
    } catch (error) {
      if (codeOf(error) !== 'EINVAL') throw error;
    }
  }
  closeSync(direct);
  return { file: openSync(path, flags), from: 0, isDirect: false };
}

/** Both ends of a slot say whose it is: half a slot is none. */
const markOf = (/** @type {string} */ who, /** @type {number} */ seq) => `${token} ${who} ${seq} `;

/**
 * @param {{ file: number, from: number }} volume
 * @param {number} seq
 */
function write({ file, from }, seq) {
  const slot = memory.subarray(from, from + slotBytes).fill(0);
  const begunMs = nowMs();
  const text = `${markOf(role, seq)}${begunMs.toFixed(2)} `;
  slot.write(text, 0);
  slot.write(text, slotBytes - 128);
  try {
    writeSync(file, slot, 0, slotBytes, (first + seq) * slotBytes);
    tell('ack', seq, begunMs, nowMs() - begunMs);
    return true;
  } catch (error) {
    tell('err', seq, begunMs, nowMs() - begunMs, codeOf(error));
    return false;
  }
}

/** Slots of the first pod that hold what it wrote. */
const found = new Set();
/** Youngest of those, and when it was begun. */
let youngest = { seq: -1, begunMs: '' };

/**
 * @param {{ file: number, from: number }} volume
 * @param {number} seq
 */
function scanFrom({ file, from }, seq) {
  const count = Math.min(chunkBytes / slotBytes, slots.writer - seq);
  const bytes = readSync(file, memory, from, count * slotBytes, seq * slotBytes);
  for (let at = 0; at + slotBytes <= bytes; at += slotBytes) {
    const slot = memory.subarray(from + at, from + at + slotBytes);
    const number = seq + at / slotBytes;
    const mark = markOf('writer', number);
    const ends = [slot.subarray(0, 128), slot.subarray(slotBytes - 128)];
    const [head = ''] = ends.map((end) => end.toString('latin1'));
    if (!ends.every((end) => end.toString('latin1').startsWith(mark))) continue;
    found.add(number);
    const [begunMs = ''] = head.slice(mark.length).split(' ');
    if (number > youngest.seq) youngest = { seq: number, begunMs };
  }
}

/** Ranges as `0-17,19-19`. */
function ranges() {
  /** @type {[number, number][]} */
  const runs = [];
  for (const seq of [...found].toSorted((a, b) => a - b)) {
    const last = runs.at(-1);
    if (last?.[1] === seq - 1) last[1] = seq;
    else runs.push([seq, seq]);
  }
  return runs.map((run) => run.join('-')).join(',') || 'none';
}

/**
 * @param {{ file: number, from: number }} volume
 * @param {boolean} isWhole
 */
function scan(volume, isWhole) {
  const begunMs = nowMs();
  try {
    const start = isWhole ? 0 : Math.max(0, ...found) + 1;
    const end = isWhole ? slots.writer : Math.min(slots.writer, start + 1);
    for (let seq = start; seq < end; seq += chunkBytes / slotBytes) scanFrom(volume, seq);
    tell(
      'scan',
      begunMs,
      nowMs() - begunMs,
      ranges(),
      ...(found.size > 0 ? [youngest.begunMs] : []),
    );
  } catch (error) {
    tell('blind', begunMs, codeOf(error));
  }
}

const scanEveryMs = 1000;
const wholeScanEveryMs = 10_000;

async function main() {
  const endMs = nowMs() + untilMs;
  if (role === 'writer') makeRoom();
  const volume = open();
  tell('start', nowMs(), volume.isDirect ? 'direct' : 'cached', own);
  let [scannedMs, wholeMs] = [0, 0];
  let wasQuiet = false;
  for (let seq = 0; seq < own && nowMs() < endMs; seq += 1) {
    if (role === 'next' && nowMs() - scannedMs >= scanEveryMs) {
      const isWhole = nowMs() - wholeMs >= wholeScanEveryMs;
      scannedMs = nowMs();
      if (isWhole) wholeMs = scannedMs;
      scan(volume, isWhole);
    }
    if (!wasQuiet && quietForMs > 0 && quietAfterMs <= seq * everyMs) {
      wasQuiet = true;
      tell('quiet', nowMs());
      await sleep(quietForMs);
      tell('loud', nowMs());
    }
    const isDone = write(volume, seq);
    await sleep(isDone ? everyMs : Math.max(everyMs, afterErrorMs));
  }
  tell('end', nowMs());
}

try {
  await main();
} catch (error) {
  tell('fail', nowMs(), codeOf(error));
  process.exitCode = 1;
}
