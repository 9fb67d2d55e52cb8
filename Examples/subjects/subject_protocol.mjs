// The subject protocol for adapters in JavaScript, without anything that Node does not bring along.
//
// `serve` talks to the harness, `Reader` is the arithmetic of ranges; an adapter brings what decrypts whole blocks.
import { createHash } from "node:crypto";
import { closeSync, fstatSync, openSync, readSync, writeSync } from "node:fs";

const MASK = (1n << 64n) - 1n;
const hello = {
  protocol: 1, strategies: ["cbc-continuous", "cbc-chunked", "ctr"], keyByteCounts: [16, 24, 32],
  sources: ["path", "served"], granularity: "block", measures: true,
};

/** An error answer; its message is the error's name. */
class Failure extends Error {}
const check = (isGood, name = "invalidRequest") => { if (!isGood) throw new Failure(name); };

/** Tries again while a pipe that does not block has no bytes, or no room for them. */
function insist(work) {
  for (;;) try { return work(); } catch (error) { if (error.code !== "EAGAIN") throw error; }
}
const input = Buffer.alloc(1 << 16);
let buffer = Buffer.alloc(0);
function fill() {
  const count = insist(() => readSync(0, input));
  buffer = Buffer.concat([buffer, input.subarray(0, count)]);
  return count > 0;
}
function readLine() {
  let end;
  while ((end = buffer.indexOf(10)) < 0) if (!fill()) return null;
  const line = buffer.subarray(0, end).toString();
  buffer = buffer.subarray(end + 1);
  return line;
}
function readBytes(target) {
  for (let done = 0; done < target.length;) {
    if (buffer.length === 0 && !fill()) process.exit(1);
    const count = buffer.copy(target, done);
    buffer = buffer.subarray(count);
    done += count;
  }
}
function send(message, payload = Buffer.alloc(0)) {
  for (const bytes of [Buffer.from(JSON.stringify(message) + "\n"), payload]) {
    for (let done = 0; done < bytes.length;) done += insist(() => writeSync(1, bytes, done));
  }
}

function isObject(value) {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}
function integer(value, least = 0) {
  check(Number.isSafeInteger(value) && value >= least);
  return value;
}
function hexadecimal(value) {
  check(typeof value === "string" && /^([0-9a-f]{2})*$/.test(value));
  return Buffer.from(value, "hex");
}
function choice(value, values) {
  check(values.includes(value));
  return value;
}
function block(number) {
  const bytes = Buffer.alloc(16);
  bytes.writeBigUInt64BE(number >> 64n & MASK);
  bytes.writeBigUInt64BE(number & MASK, 8);
  return bytes;
}

class Source {
  constructor({ path, byteCount }) {
    this.file = path === undefined ? null : openSync(path);
    this.byteCount = this.file === null ? byteCount : fstatSync(this.file).size;
  }
  close() {
    if (this.file !== null) closeSync(this.file);
  }
  read(offset, count) {
    const data = Buffer.allocUnsafe(count);
    for (let done = 0; done < count;) {
      const part = this.part(data.subarray(done), offset + done);
      check(part > 0, "truncatedCiphertext");
      done += part;
    }
    return data;
  }
  part(target, offset) {
    if (this.file !== null) return readSync(this.file, target, 0, target.length, offset);
    send({ need: { offset, count: target.length } });
    const { ok, payload = 0 } = JSON.parse(readLine());
    check(ok, "io");
    readBytes(target.subarray(0, payload));
    return payload;
  }
}

/** Ranges of one object. `read` gives bytes, or a promise of them if that is what `decrypt` gives. */
class Reader {
  constructor({ source, strategy, key, iv, padding, chunkByteCount, ivRule }) {
    check(isObject(source) && typeof strategy === "string");
    if (typeof source.path !== "string") integer(source.byteCount);
    check(hello.strategies.includes(strategy), "unsupported");
    this.mode = strategy.slice(0, 3);
    [this.key, iv] = [hexadecimal(key), hexadecimal(iv)];
    this.isPadded = this.mode === "cbc" && choice(padding, ["pkcs7", "none"]) === "pkcs7";
    this.chunk = Number.MAX_SAFE_INTEGER - 31;
    if (strategy === "cbc-chunked") {
      this.chunk = integer(chunkByteCount, 16);
      check(this.chunk % 16 === 0);
      this.isSequence = choice(ivRule, ["fixed", "sequence"]) === "sequence";
    }
    check([16, 24, 32].includes(this.key.length), "invalidKey");
    check(hello.keyByteCounts.includes(this.key.length), "unsupported");
    check(iv.length === 16, "invalidIV");
    this.iv = BigInt("0x" + iv.toString("hex"));
    this.stored = this.chunk + (this.isPadded ? 16 : 0);
    check(hello.sources.includes("path" in source ? "path" : "served"), "unsupported");
    this.source = new Source(source);
  }
  async open(prepare) {
    this.length = this.source.byteCount;
    const isWhole = this.mode === "ctr" || (this.length % 16 === 0 && !(this.isPadded && this.length === 0));
    check(isWhole, "truncatedCiphertext");
    this.decrypt = await prepare(this.mode, this.key);
    if (this.isPadded) this.length = await this.unpadded();
  }
  async unpadded() {
    const last = Math.floor((this.length - 1) / this.stored);
    let size = this.length - last * this.stored;
    const end = await this.blocks(last, size - 16, size);
    const count = end[15];
    check(count >= 1 && count <= 16 && end.subarray(16 - count).every((byte) => byte === count), "invalidPadding");
    size -= count;
    check(size <= this.chunk && (size > 0 || last === 0), "invalidPadding");
    return last * this.chunk + size;
  }
  /** Decrypts whole blocks of one chunk. */
  blocks(chunk, start, end) {
    const before = this.mode === "ctr" || start === 0 ? 0 : 16;
    const data = this.source.read(chunk * this.stored + start - before, end - start + before);
    if (before > 0) return this.decrypt(data.subarray(0, 16), data.subarray(16));
    // The chunk's IV, or the counter of the first block.
    const number = this.mode === "ctr" ? start / 16 : this.isSequence ? chunk : 0;
    return this.decrypt(block(this.iv + BigInt(number)), data);
  }
  read(offset, count) {
    check(offset <= this.length, "rangeOutOfBounds");
    const head = offset % 16;
    const end = Math.min(offset + count, this.length);
    const size = end - offset;
    const parts = [];
    while (offset < end) {
      const start = offset % this.chunk;
      const stop = Math.min(start + end - offset, this.chunk);
      const last = this.mode === "ctr" ? stop : Math.ceil(stop / 16) * 16;
      parts.push(this.blocks(Math.floor(offset / this.chunk), start - start % 16, last));
      offset += stop - start;
    }
    // Chunks hold whole blocks, so there is nothing to cut off between them.
    const joined = (parts) => (parts.length === 1 ? parts[0] : Buffer.concat(parts)).subarray(head, head + size);
    return parts[0] instanceof Promise ? Promise.all(parts).then(joined) : joined(parts);
  }
}

/** The reads of an iteration, which goes on where the last one ended, as pairs of offset and count. */
function reads(length, workload, iteration = 0) {
  check(isObject(workload));
  if (workload.kind === "trace") {
    check(Array.isArray(workload.ranges));
    return workload.ranges.map((range) => {
      check(Array.isArray(range) && range.length === 2);
      return range.map((value) => integer(value));
    });
  }
  if (workload.kind === "sequential") {
    const window = integer(workload.windowByteCount, 1);
    return Array.from({ length: Math.ceil(length / window) }, (_, index) => [index * window, window]);
  }
  check(workload.kind === "random");
  const count = integer(workload.rangeByteCount, 1);
  check(count <= length, "rangeOutOfBounds");
  const readCount = integer(workload.reads);
  // An iteration goes on where the last one ended.
  const first = BigInt(integer(workload.firstDraw ?? 0)) + BigInt(iteration) * BigInt(readCount);
  let state = BigInt(integer(workload.seed)) + first * 0x9e3779b97f4a7c15n & MASK;
  return Array.from({ length: readCount }, () => {
    state = state + 0x9e3779b97f4a7c15n & MASK;
    let z = (state ^ state >> 30n) * 0xbf58476d1ce4e5b9n & MASK;
    z = (z ^ z >> 27n) * 0x94d049bb133111ebn & MASK;
    return [Number((z ^ z >> 31n) % BigInt(length - count + 1)), count];
  });
}

async function nanoseconds(object, list) {
  const start = process.hrtime.bigint();
  for (const [offset, count] of list) {
    const data = object.read(offset, count);
    // Waiting for what is there already would be timed as well.
    if (data instanceof Promise) await data;
  }
  return Number(process.hrtime.bigint() - start);
}

async function measure(object, { workload, collect, minimumNanoseconds, maximumIterations }) {
  choice(collect, ["digest", "latencies", "time"]);
  const list = reads(object.length, workload);
  const samples = [];
  if (collect === "digest") {
    const hash = createHash("sha256");
    let deliveredByteCount = 0;
    for (const [offset, count] of list) {
      const data = await object.read(offset, count);
      hash.update(data);
      deliveredByteCount += data.length;
    }
    return { digest: hash.digest("hex"), deliveredByteCount };
  }
  if (collect === "latencies") {
    for (const read of list) samples.push(await nanoseconds(object, [read]));
    return { latencies: samples };
  }
  const [least, most] = [integer(minimumNanoseconds), integer(maximumIterations, 1)];
  let sum = 0;
  do {
    const list = reads(object.length, workload, samples.length);
    samples.push(await nanoseconds(object, list));
    sum += samples.at(-1);
  } while (sum < least && samples.length < most);
  return { nanoseconds: samples };
}

const objects = new Map();
async function answer({ op, ...request }, prepare) {
  if (op === "hello") {
    check(integer(request.protocol) === 1, "unsupported");
    return [hello];
  }
  if (op === "bye") return [{}];
  check(["open", "read", "measure", "close"].includes(op));
  const id = integer(request.id);
  check(objects.has(id) === (op !== "open"));
  if (op === "open") {
    const object = new Reader(request);
    try {
      await object.open(prepare);
    } catch (error) {
      object.source.close();
      throw error;
    }
    objects.set(id, object);
    return [{ plaintextByteCount: object.length }];
  }
  const object = objects.get(id);
  if (op === "measure") {
    check(hello.measures, "unsupported");
    return [await measure(object, request)];
  }
  if (op === "read") {
    const data = await object.read(integer(request.offset), integer(request.count));
    return [{ payload: data.length }, data];
  }
  objects.delete(id);
  object.source.close();
  return [{}];
}

/**
 * Answers requests until `bye` or the end of input.
 *
 * `prepare(mode, key)` is called once for each object. It returns a function `decrypt(iv, data)` of whole blocks, or
 * with the mode "ctr" of any bytes. Both may return promises. `description` is the answer to `hello`, of which the
 * parts that most adapters share may be left out.
 */
export async function serve(prepare, description) {
  Object.assign(hello, description);
  for (let line; (line = readLine()) !== null;) {
    let request;
    try {
      try { request = JSON.parse(line); } catch { check(false); }
      check(isObject(request));
      readBytes(Buffer.alloc(request.payload ?? 0));
      const [members, payload] = await answer(request, prepare);
      send({ ok: true, ...members }, payload);
      if (request.op === "bye") process.exit(0);
    } catch (error) {
      // Errors of the system are those of the source's file.
      const name = error instanceof Failure ? error.message : error.syscall ? "io" : "internal";
      send({ ok: false, error: name, message: `${request?.op}: ${error.message}` });
    }
  }
}
