import {h, s, fill, grouped, bytes, button, announce} from './dom.js';
import {address} from './api.js';
import {readJSON} from './json.js';

/** What the page shows of a value: everything, or its beginning with a way to the rest. */
export function valueContent(value, object) {
  switch (value.kind) {
    case undefined: return h('span', {class: 'null'}, 'transient');
    case 'null': return h('span', {class: 'null'}, 'null');
    case 'boolean': return h('span', {class: `boolean ${value.text}`}, value.text);
    case 'integer': case 'double': case 'decimal': return h('span', {class: 'number'}, value.text);
    case 'uuid': case 'objectID': return h('code', {}, value.text);
    case 'date': return dateContent(value);
    case 'uri': return textContent(value, object);
    case 'text': return textContent(value, object);
    case 'composite': return composite(value.elements, object);
    case 'missingFile': return h('span', {class: 'problem'}, `The file ${value.text} is missing.`);
    case 'bytes': return bytesContent(value, object);
    default: return value.text ?? '';
  }
}

function dateContent(value) {
  const date = new Date(value.text);
  const local = isNaN(date) ? null
    : new Intl.DateTimeFormat(undefined, {dateStyle: 'full', timeStyle: 'medium'}).format(date);
  return h('span', {class: 'date'}, h('time', {datetime: value.text}, value.text),
    h('span', {class: 'muted value-note'}, [local, `${value.seconds} s since 2001`].filter(Boolean).join(' · ')));
}

function download(value, object, words) {
  // Values of new objects aren't in the store.
  if (!object?.key) return null;
  return h('a', {class: 'value-link', href: address('value', {entity: object.entity, key: object.key, property: value.name}), download: ''}, words);
}

const shownText = 2000;

function textContent(value, object) {
  const json = structured(value.text);
  if (json !== undefined) {
    return h('div', {class: 'structured'}, tree(json),
      h('details', {class: 'json'}, h('summary', {}, 'As text'), h('span', {class: 'text'}, value.text)));
  }
  if (value.text === '') return h('span', {class: 'null'}, 'empty text');
  const isLong = value.text.length > shownText;
  const text = h('span', {class: 'text'}, isLong ? value.text.slice(0, shownText) + '…' : value.text);
  if (!isLong) return text;
  const more = h('button', {type: 'button', class: 'value-link', click: () => { fill(text, value.text, value.isCut && '…'); more.remove(); }},
    value.isCut ? `Show ${grouped(value.text.length)} characters` : 'Show all');
  return h('div', {}, text, h('p', {class: 'value-note muted'}, `${grouped(value.length)} characters `, more, ' ', download(value, object, 'Download')));
}

/** The content of a JSON object or list; undefined for other texts. */
function structured(text) {
  return /^\s*[[{]/.test(text) && text.length <= 60000 ? readJSON(text) : undefined;
}

function tree(value, depth = 0) {
  if (value.string !== undefined) return h('span', {class: 'text'}, `"${value.string}"`);
  if (value.literal !== undefined) return h('span', {class: 'number'}, value.literal);
  const entries = value.members ?? value.elements.map((part, index) => [index, part]);
  if (!entries.length) return value.elements ? '[ ]' : '{ }';
  const shown = entries.slice(0, 200);
  const words = `${entries.length} ${value.elements ? 'elements' : 'members'}`;
  return h('details', {class: 'json', open: depth < 2}, h('summary', {}, words),
    h('ul', {}, shown.map(([key, part]) => h('li', {}, h('span', {class: 'json-key'}, `${key}`), tree(part, depth + 1))),
      entries.length > shown.length && h('li', {class: 'muted'}, `… ${entries.length - shown.length} more`)));
}

function composite(elements) {
  return h('dl', {class: 'composite'}, elements.map(element => [h('dt', {}, element.name), h('dd', {}, valueContent(element, null))]));
}

function bytesContent(value, object) {
  const {count, pictureType, archive, hexadecimal} = value.bytes;
  const facts = h('p', {class: 'value-note muted'}, bytes(count), pictureType && ` · ${pictureType} `, ' ', download(value, object, 'Download'));
  const isShowable = object && pictureType && count < 20_000_000;
  const picture = isShowable && h('img', {
    class: 'picture', alt: `The picture in ${value.name}`, loading: 'lazy',
    src: address('value', {entity: object.entity, key: object.key, property: value.name, shows: ''}),
  });
  return h('div', {class: 'bytes'}, picture, archive && h('pre', {class: 'archive', role: 'group', tabindex: '0', 'aria-label': 'Content of the archive'}, archive), facts,
    count > 0 && h('details', {open: !picture && !archive && count <= 256}, h('summary', {}, 'Bytes'), h('pre', {class: 'hex', role: 'group', tabindex: '0', 'aria-label': 'Bytes in hexadecimal'}, hexDump(hexadecimal, count))));
}

function hexDump(digits, count) {
  const lines = [];
  for (let start = 0; start < digits.length; start += 32) {
    const line = digits.slice(start, start + 32);
    const pairs = line.match(/../g);
    const text = pairs.map(pair => { const code = parseInt(pair, 16); return code > 31 && code < 127 ? String.fromCharCode(code) : '·'; }).join('');
    lines.push(`${(start / 2).toString(16).padStart(8, '0')}  ${pairs.join(' ').padEnd(47)}  ${text}`);
  }
  if (digits.length / 2 < count) lines.push('…');
  return lines.join('\n');
}
