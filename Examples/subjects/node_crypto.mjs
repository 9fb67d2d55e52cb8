// The subject protocol over Node's `crypto`: CBC and CTR, served.
//
//     chunkwise verify --subject 'node Examples/subjects/node_crypto.mjs'
import { createDecipheriv, createHash } from "node:crypto";
import { readSync, writeSync } from "node:fs";

const STRATEGIES = ["cbc-continuous", "cbc-chunked", "ctr"];
const MODULUS = 1n << 128n;
const MASK = (1n << 64n) - 1n;

class Failure extends Error {}
const check = (isGood, name = "invalidRequest") => { if (!isGood) throw new Failure(name); };

let buffer = Buffer.alloc(0);
function fill() {
  const part = Buffer.alloc(1 << 16);
  for (;;) {
    try {
      const count = readSync(0, part);
      buffer = Buffer.concat([buffer, part.subarray(0, count)]);
      return count > 0;
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
    }
  }
}
function readLine() {
  let end;
  while ((end = buffer.indexOf(10)) < 0) if (!fill()) return null;
  const line = buffer.subarray(0, end).toString();
  buffer = buffer.subarray(end + 1);
  return line;
}
function readBytes(count) {
  const bytes = Buffer.alloc(count);
  let done = 0;
  while (done < count) {
    if (buffer.length === 0 && !fill()) process.exit(1);
    const part = buffer.subarray(0, count - done);
    part.copy(bytes, done);
    buffer = buffer.subarray(part.length);
    done += part.length;
  }
  return bytes;
}
function write(bytes) {
  for (let done = 0; done < bytes.length;) {
    try { done += writeSync(1, bytes, done); } catch (error) { if (error.code !== "EAGAIN") throw error; }
  }
}
const send = (message, payload = Buffer.alloc(0)) =>
  write(Buffer.concat([Buffer.from(JSON.stringify(message) + "\n"), payload]));

function integer(value) {
  check(Number.isSafeInteger(value) && value >= 0);
  return value;
}
function bytes(value) {
  check(typeof value === "string" && value.length % 2 === 0 && /^[0-9a-f]*$/.test(value));
  return Buffer.from(value, "hex");
}
function choice(value, values) {
  check(values.includes(value));
  return value;
}
const block = (number) => Buffer.from((number % MODULUS).toString(16).padStart(32, "0"), "hex");

function fetch(offset, count) {
  const parts = [];
  while (count > 0) {
    send({ need: { offset, count } });
    const answer = JSON.parse(readLine());
    check(answer.ok, "io");
    check(answer.payload > 0, "truncatedCiphertext");
    parts.push(readBytes(answer.payload));
    offset += answer.payload;
    count -= answer.payload;
  }
  return Buffer.concat(parts);
}

class EncryptedObject {
  constructor({ source, strategy, key, iv, padding, chunkByteCount, ivRule }) {
    check(source !== null && typeof source === "object" && typeof strategy === "string");
    if (!("byteCount" in source)) check(typeof source.path === "string");
    else integer(source.byteCount);
    check(STRATEGIES.includes(strategy), "unsupported");
    this.isCTR = strategy === "ctr";
    [this.key, this.iv] = [bytes(key), bytes(iv)];
    this.isPadded = !this.isCTR && choice(padding, ["pkcs7", "none"]) === "pkcs7";
    this.chunk = Number.MAX_SAFE_INTEGER - 31;
    if (strategy === "cbc-chunked") {
      this.chunk = integer(chunkByteCount);
      check(this.chunk > 0 && this.chunk % 16 === 0);
      this.isSequence = choice(ivRule, ["fixed", "sequence"]) === "sequence";
    }
    check([16, 24, 32].includes(this.key.length), "invalidKey");
    check(this.iv.length === 16, "invalidIV");
    check(!("path" in source), "unsupported");
    this.iv = BigInt("0x" + this.iv.toString("hex"));
    this.stored = this.chunk + (this.isPadded ? 16 : 0);
    this.length = source.byteCount;
    check(this.isCTR || (this.length % 16 === 0 && !(this.isPadded && this.length === 0)), "truncatedCiphertext");
    if (this.isPadded) this.length = this.unpadded();
  }
  unpadded() {
    const last = Math.floor((this.length - 1) / this.stored);
    let size = this.length - last * this.stored;
    const end = this.blocks(last, size - 16, size);
    const count = end[15];
    check(count >= 1 && count <= 16 && end.subarray(16 - count).every((byte) => byte === count), "invalidPadding");
    size -= count;
    check(size <= this.chunk && (size > 0 || last === 0), "invalidPadding");
    return last * this.chunk + size;
  }
  /** Decrypts whole blocks of one chunk. */
  blocks(chunk, start, end) {
    let iv = block(this.iv + (this.isSequence ? BigInt(chunk) : 0n));
    if (this.isCTR) iv = block(this.iv + BigInt(start / 16));
    const before = this.isCTR || start === 0 ? 0 : 16;
    const data = fetch(chunk * this.stored + start - before, end - start + before);
    if (before > 0) iv = data.subarray(0, 16);
    const decipher = createDecipheriv(`aes-${this.key.length * 8}-${this.isCTR ? "ctr" : "cbc"}`, this.key, iv);
    decipher.setAutoPadding(false);
    return Buffer.concat([decipher.update(data.subarray(before)), decipher.final()]);
  }
  read(offset, count) {
    check(offset <= this.length, "rangeOutOfBounds");
    const end = Math.min(offset + count, this.length);
    const parts = [];
    while (offset < end) {
      const chunk = Math.floor(offset / this.chunk);
      const start = offset % this.chunk;
      const stop = Math.min(start + end - offset, this.chunk);
      const first = start - start % 16;
      const last = this.isCTR ? stop : Math.ceil(stop / 16) * 16;
      parts.push(this.blocks(chunk, first, last).subarray(start - first, stop - first));
      offset += stop - start;
    }
    return Buffer.concat(parts);
  }
}

/** The reads of one iteration, as pairs of offset and count. */
function reads(object, workload) {
  check(workload !== null && typeof workload === "object");
  if (workload.kind === "trace") {
    check(Array.isArray(workload.ranges));
    return workload.ranges.map((range) => {
      check(Array.isArray(range) && range.length === 2);
      return range.map(integer);
    });
  }
  if (workload.kind === "sequential") {
    const window = integer(workload.windowByteCount);
    check(window > 0);
    return Array.from({ length: Math.ceil(object.length / window) }, (_, index) => [index * window, window]);
  }
  check(workload.kind === "random");
  const count = integer(workload.rangeByteCount);
  check(count > 0);
  check(count <= object.length, "rangeOutOfBounds");
  let state = BigInt(integer(workload.seed));
  return Array.from({ length: integer(workload.reads) }, () => {
    state = (state + 0x9e3779b97f4a7c15n) & MASK;
    let z = state;
    z = ((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n) & MASK;
    z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & MASK;
    return [Number((z ^ (z >> 31n)) % BigInt(object.length - count + 1)), count];
  });
}
function measure(object, { workload, collect, minimumNanoseconds, maximumIterations }) {
  const list = reads(object, workload);
  const nanoseconds = (work) => {
    const start = process.hrtime.bigint();
    work();
    return Number(process.hrtime.bigint() - start);
  };
  if (collect === "digest") {
    const hash = createHash("sha256");
    let deliveredByteCount = 0;
    for (const [offset, count] of list) {
      const data = object.read(offset, count);
      hash.update(data);
      deliveredByteCount += data.length;
    }
    return { digest: hash.digest("hex"), deliveredByteCount };
  }
  if (collect === "latencies") {
    return { latencies: list.map(([offset, count]) => nanoseconds(() => object.read(offset, count))) };
  }
  check(collect === "time");
  const [least, most] = [integer(minimumNanoseconds), integer(maximumIterations)];
  check(most > 0);
  const samples = [];
  let sum = 0;
  do {
    const sample = nanoseconds(() => { for (const [offset, count] of list) object.read(offset, count); });
    samples.push(sample);
    sum += sample;
  } while (sum < least && samples.length < most);
  return { nanoseconds: samples };
}

const objects = new Map();
function answer({ op, ...request }) {
  if (op === "hello") {
    check(integer(request.protocol) === 1, "unsupported");
    return [{
      protocol: 1, name: "node-crypto", version: `${process.version} (OpenSSL ${process.versions.openssl})`,
      strategies: STRATEGIES, keyByteCounts: [16, 24, 32], sources: ["served"], granularity: "block", measures: true,
    }];
  }
  if (op === "bye") return [{}];
  check(["open", "read", "measure", "close"].includes(op));
  const id = integer(request.id);
  check(objects.has(id) === (op !== "open"));
  if (op === "open") {
    const object = new EncryptedObject(request);
    objects.set(id, object);
    return [{ plaintextByteCount: object.length }];
  }
  if (op === "close") return [{ closed: objects.delete(id) }];
  if (op === "measure") return [measure(objects.get(id), request)];
  const data = objects.get(id).read(integer(request.offset), integer(request.count));
  return [{ payload: data.length }, data];
}

for (let line; (line = readLine()) !== null;) {
  let request;
  try {
    try { request = JSON.parse(line); } catch { check(false); }
    check(request !== null && typeof request === "object" && !Array.isArray(request));
    readBytes(request.payload ?? 0);
    const [members, payload] = answer(request);
    send({ ok: true, ...members }, payload);
    if (request.op === "bye") process.exit(0);
  } catch (error) {
    const name = error instanceof Failure ? error.message : "internal";
    send({ ok: false, error: name, message: `${request?.op}: ${error.message}` });
  }
}
