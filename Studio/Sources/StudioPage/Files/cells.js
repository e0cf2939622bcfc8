import {h, sign, grouped, bytes} from './dom.js';
import {link} from './model.js';

const markIcons = {unique: 'unique', indexed: 'indexed', 'full text': 'fullText'};

/** Signs for what the model says about finding objects by a property. */
export function marks(property) {
  return (property.marks ?? []).map(mark => sign(markIcons[mark] ?? 'unique', mark));
}

/** What a cell shows of a value. */
export function cellContent(value, column) {
  if (value === null || value === undefined) return '–';
  if (value.length !== undefined && typeof value === 'object') return h('span', {class: 'note'}, `text, ${grouped(value.length)} characters`);
  if ('bytes' in Object(value)) return h('span', {class: 'note'}, value.bytes === null ? 'bytes in a file' : bytes(value.bytes));
  if (value.entity) return h('a', {href: link(value), tabindex: '-1'}, value.name ?? `${value.entity} ${value.key}`);
  const type = column.property.type;
  if (type === 'boolean') return h('span', {class: `boolean ${value}`}, value);
  if (type === 'date') return value.replace('T', ' ').replace(/Z$/, '');
  if (column.property.isToMany) return value === '0' ? h('span', {class: 'zero'}, '0') : grouped(Number(value));
  return value;
}
