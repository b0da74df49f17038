// Decodes every message of a recording with Foxglove's own packages, by the schemas in the file,
// and prints what each channel holds as JSON; read_with_foxglove.py compares that with ROS.
//
//   npm install @mcap/core @mcap/support @mcap/nodejs @foxglove/rosmsg @foxglove/rosmsg2-serialization

import { createRequire } from 'node:module';
import { open } from 'node:fs/promises';
import { join } from 'node:path';

const [file, folder] = process.argv.slice(2);
const require = createRequire(join(folder, 'index.js'));
const { McapIndexedReader } = require('@mcap/core');
const { loadDecompressHandlers } = require('@mcap/support');
const { FileHandleReadable } = require('@mcap/nodejs');
const { parse } = require('@foxglove/rosmsg');
const { MessageReader } = require('@foxglove/rosmsg2-serialization');

// Adds up all numbers in the order of the fields, and counts them, letters and strings.
function add(value, total) {
  if (typeof value === 'string') {
    total.letters += value.length;
    total.strings += 1;
  } else if (['number', 'bigint', 'boolean'].includes(typeof value)) {
    total.numbers += 1;
    const number = Number(value);
    if (Number.isFinite(number)) total.sum += number;
    else total.not_finite += 1;
  } else {
    for (const item of ArrayBuffer.isView(value) || Array.isArray(value) ? value
      : Object.values(value)) add(item, total);
  }
}

const reader = await McapIndexedReader.Initialize({
  readable: new FileHandleReadable(await open(file)),
  decompressHandlers: await loadDecompressHandlers(),
});
if (reader.header.profile !== 'ros2') throw new Error(`profile ${reader.header.profile}`);
const readers = new Map();
const totals = {};
for await (const message of reader.readMessages()) {
  const channel = reader.channelsById.get(message.channelId);
  if (!readers.has(channel.id)) {
    const schema = reader.schemasById.get(channel.schemaId);
    if (schema.encoding !== 'ros2msg' || channel.messageEncoding !== 'cdr') {
      throw new Error(`${channel.topic}: ${schema.encoding}, ${channel.messageEncoding}`);
    }
    const text = new TextDecoder().decode(schema.data);
    readers.set(channel.id, new MessageReader(parse(text, { ros2: true })));
    totals[channel.topic] = {
      type: schema.name, messages: 0, numbers: 0, not_finite: 0, sum: 0, strings: 0, letters: 0,
    };
  }
  totals[channel.topic].messages += 1;
  add(readers.get(channel.id).readMessage(message.data), totals[channel.topic]);
}
console.log(JSON.stringify(totals));
process.exit(0);
