// Elements are made from texts only: nothing of a store is ever parsed as markup.

/** Creates an element. Functions among the properties are listeners; `null` and `false` leave a property out. */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  set(element, properties);
  append(element, children);
  return element;
}

const svgSpace = 'http://www.w3.org/2000/svg';

/** Creates an element of a picture. */
export function s(tag, properties = {}, ...children) {
  const element = document.createElementNS(svgSpace, tag);
  set(element, properties);
  append(element, children);
  return element;
}

function set(element, properties) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === 'function') element.addEventListener(name.replace(/^on/, ''), value);
    else if (name === 'class') element.setAttribute('class', value);
    else if (name === 'value' || name === 'checked' || name === 'disabled' || name === 'selected') element[name] = value;
    else element.setAttribute(name, value === true ? '' : String(value));
  }
}

function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

/** Replaces what an element contains. */
export function fill(element, ...children) {
  element.replaceChildren();
  append(element, children);
  return element;
}

const icons = {
  table: 'M2.5 3.5h11v9h-11zM2.5 6.5h11M6.5 6.5v6',
  model: 'M2.5 3h4v3.5h-4zM9.5 9.5h4V13h-4zM4.5 6.5v4.8h5',
  migration: 'M3 5.5h9M9.5 3 12 5.5 9.5 8M13 10.5H4M6.5 8 4 10.5 6.5 13',
  changes: 'M8 4.2V8l2.6 1.6M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11Z',
  edit: 'M3 13l.6-2.7L10.8 3 13 5.2 5.7 12.4 3 13Z',
  search: 'M7 2.8a4.2 4.2 0 1 0 0 8.4 4.2 4.2 0 0 0 0-8.4ZM10.2 10.2 13.4 13.4',
  columns: 'M2.5 3.5h11v9h-11zM6.2 3.5v9M9.8 3.5v9',
  download: 'M8 2.5v7M5 6.8 8 9.8l3-3M3 13h10',
  star: 'M8 2.6l1.6 3.4 3.7.5-2.7 2.5.7 3.7L8 10.9l-3.3 1.8.7-3.7L2.7 6.5l3.7-.5z',
  code: 'M5.5 4.5 2.5 8l3 3.5M10.5 4.5l3 3.5-3 3.5',
  close: 'M4 4l8 8M12 4l-8 8',
  up: 'M8 12.5v-9M4.5 7 8 3.5 11.5 7',
  down: 'M8 3.5v9M4.5 9 8 12.5 11.5 9',
  chevron: 'M6 4l4 4-4 4',
  back: 'M10 3.5 5.5 8l4.5 4.5',
  forward: 'M6 3.5 10.5 8 6 12.5',
  plus: 'M8 3.5v9M3.5 8h9',
  minus: 'M3.5 8h9',
  refresh: 'M12.8 7A5 5 0 1 0 13 9.2M13 3.5V7H9.5',
  link: 'M4 12 12 4M6.5 4H12v5.5',
  copy: 'M5.5 5.5h7.5V13H5.5zM3 10.5V3h7.5',
  trash: 'M3.5 4.5h9M6.5 4.5V3h3v1.5M4.8 4.5l.5 8.5h5.4l.5-8.5',
  tag: 'M2.5 2.5h5l6 6-5 5-6-6zM5.3 5.3v.01',
  menu: 'M2.5 4.5h11M2.5 8h11M2.5 11.5h11',
  undo: 'M3.5 6.5h6a3.5 3.5 0 0 1 0 7H6M6.5 3.5l-3 3 3 3',
  redo: 'M12.5 6.5h-6a3.5 3.5 0 0 0 0 7H10M9.5 3.5l3 3-3 3',
  discard: 'M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11ZM4.2 4.2l7.6 7.6',
  fit: 'M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10',
  unique: 'M7.5 8a2.7 2.7 0 1 0-5.4 0 2.7 2.7 0 0 0 5.4 0ZM7.5 8h6.4M11 8v2.6M13.9 8v2.2',
  indexed: 'M3.5 3v10M1.5 11l2 2 2-2M8 4h5.5M8 8h4M8 12h2.5',
  fullText: 'M2.5 3.5h11M2.5 7.5h3.5M2.5 11.5h3.5M10.3 7a2.4 2.4 0 1 0 0 4.8 2.4 2.4 0 0 0 0-4.8ZM12 11.3l2 2',
};

/** A small picture beside a word; screen readers skip it. */
export function icon(name) {
  return s('svg', {class: 'icon', viewBox: '0 0 16 16', 'aria-hidden': 'true'}, s('path', {d: icons[name]}));
}

/** A small picture with a meaning of its own, which screen readers say. */
export function sign(name, label) {
  return s('svg', {class: 'icon sign', viewBox: '0 0 16 16', role: 'img', 'aria-label': label}, s('title', {}, label), s('path', {d: icons[name]}));
}

/** A button with a picture and a name, which may be hidden. In narrow toolbars, the name is for screen readers alone. */
export function button(name, iconName, action, properties = {}) {
  const {iconOnly, ...rest} = properties;
  return h('button', {type: 'button', class: iconOnly ? 'icon-button' : 'button', title: iconName ? name : null,
    'aria-label': iconOnly ? name : null, click: action, ...rest},
    iconName && icon(iconName), !iconOnly && h('span', {class: iconName ? 'button-name' : null}, name));
}

/** A table that scrolls inside itself where it is wider than the page, by keyboard too. */
export function table(label, properties, ...children) {
  return h('div', {class: 'table-scroll', role: 'region', 'aria-label': label, tabindex: '0'},
    h('table', {...properties, class: `table ${properties.class ?? ''}`.trim()}, ...children));
}

const numbers = new Intl.NumberFormat('en');
/** A number with separators, as `1,000,000`. */
export const grouped = number => number === null || number === undefined ? '…' : numbers.format(number);

export function plural(number, one, many = one + 's') {
  return `${grouped(number)} ${number === 1 ? one : many}`;
}

export function bytes(count) {
  if (count < 1000) return `${count} bytes`;
  const units = ['kB', 'MB', 'GB', 'TB'];
  let value = count;
  let unit = -1;
  do { value /= 1000; unit++; } while (value >= 999.5 && unit < units.length - 1);
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

export function duration(seconds) {
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}

/** Tells screen readers, and the corner of the window, what has happened. */
let statusTimer;
export function announce(text) {
  const status = document.getElementById('status');
  status.textContent = text;
  status.classList.add('shown');
  clearTimeout(statusTimer);
  statusTimer = setTimeout(() => status.classList.remove('shown'), 3500);
}

/** A button that opens a list of choices or a small form below it. */
export function popover(trigger, build, {label} = {}) {
  trigger.setAttribute('aria-haspopup', 'dialog');
  trigger.setAttribute('aria-expanded', 'false');
  const wrapper = h('span', {class: 'popover-anchor'}, trigger);
  let panel = null;
  function close(returnsFocus) {
    if (!panel) return;
    panel.remove();
    panel = null;
    trigger.setAttribute('aria-expanded', 'false');
    document.removeEventListener('pointerdown', outside, true);
    if (returnsFocus) trigger.focus();
  }
  function outside(event) { if (!wrapper.contains(event.target)) close(false); }
  // The focus of a list that is drawn anew goes nowhere, which isn't outside.
  wrapper.addEventListener('focusout', event => { if (event.relatedTarget && !wrapper.contains(event.relatedTarget)) close(false); });
  trigger.addEventListener('click', () => {
    if (panel) return close(true);
    panel = h('div', {class: 'popover', role: 'dialog', 'aria-label': label ?? trigger.textContent}, build(() => close(true)));
    panel.addEventListener('keydown', event => {
      if (event.key === 'Escape') { event.stopPropagation(); close(true); }
    });
    wrapper.append(panel);
    trigger.setAttribute('aria-expanded', 'true');
    document.addEventListener('pointerdown', outside, true);
    panel.querySelector('button, input, select, a')?.focus();
  });
  return wrapper;
}

/** A bar of work with words beside it and a button that stops it. It stays one element, so that the button keeps the focus. */
export class Progress {
  constructor(stop) {
    this.bar = h('progress', {max: '1'});
    this.words = h('span', {});
    this.stop = h('button', {type: 'button', class: 'value-link', click: stop}, 'Stop');
    this.element = h('p', {class: 'progress'}, this.bar, ' ', this.words, ' ', this.stop);
  }

  /** `fraction` is null while it isn't known. */
  show(name, fraction, words, {canStop = true} = {}) {
    this.bar.setAttribute('aria-label', name);
    if (fraction === null) this.bar.removeAttribute('value');
    else this.bar.value = fraction;
    this.words.textContent = words;
    this.stop.hidden = !canStop;
  }
}

/** A panel that says what went wrong, and what to do. */
export function failure(error) {
  return h('div', {class: 'failure', role: 'alert'},
    h('p', {class: 'failure-message'}, error.message),
    error.fix && h('p', {class: 'failure-fix'}, error.fix),
    (error.errors ?? []).length > 1 && h('ul', {}, error.errors.map(part => h('li', {}, part.message))));
}
