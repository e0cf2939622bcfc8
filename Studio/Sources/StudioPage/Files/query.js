import {h, fill, icon, button, popover, announce} from './dom.js';
import {post} from './api.js';
import {store, typeWord} from './model.js';

const operators = ['==', '!=', '<', '<=', '>', '>=', 'BEGINSWITH', 'CONTAINS', 'ENDSWITH', 'LIKE', 'MATCHES', 'IN', 'BETWEEN'];
const connectives = ['AND', 'OR', 'sort by', 'limit'];
const starts = ['NOT', 'ANY', 'ALL', 'NONE', 'SUBQUERY', 'sort by'];

/** The line in which the user asks for objects: a predicate and clauses, with completion and errors at their place. */
export class QueryLine {
  constructor(entity, text, {run}) {
    this.entity = entity;
    this.run = run;
    this.input = h('input', {type: 'text', class: 'query-input', spellcheck: 'false', autocomplete: 'off', autocapitalize: 'off',
      role: 'combobox', 'aria-expanded': 'false', 'aria-autocomplete': 'list', 'aria-controls': 'completions', 'aria-describedby': 'query-error',
      'aria-label': `Condition on objects of ${entity.name}`, placeholder: example(entity), value: text,
      input: () => { this.clearError(); this.complete(); }, keydown: event => this.keys(event), blur: () => this.hide(), scroll: () => this.scrollError()});
    this.underline = h('div', {class: 'query-underline', 'aria-hidden': 'true'});
    this.list = h('ul', {class: 'completions', id: 'completions', role: 'listbox', 'aria-label': 'Completions', hidden: true});
    this.error = h('div', {class: 'query-error', id: 'query-error', role: 'alert'});
    this.element = h('div', {class: 'query'},
      h('div', {class: 'query-line'},
        h('span', {class: 'query-entity'}, entity.name, h('span', {class: 'query-where'}, ' where')),
        h('div', {class: 'query-field'}, this.input, this.underline, this.list),
        this.clear = button('Clear', 'close', () => { this.set(''); this.input.focus(); }, {iconOnly: true, class: 'icon-button query-clear'}),
        this.savedButton()),
      this.error);
    this.showClear();
  }

  get text() { return this.input.value.trim(); }

  set(text) {
    this.input.value = text;
    this.clearError();
    this.hide();
    this.run(this.text);
    this.showClear();
  }

  showClear() { this.clear.hidden = !this.input.value; }

  // MARK: Errors

  showError(error) {
    const column = error.column ?? this.place(error.property);
    fill(this.error, h('span', {}, error.message.replace(/ The format is: [^]*$/, '')), error.fix && h('span', {class: 'query-fix'}, error.fix));
    this.input.setAttribute('aria-invalid', 'true');
    if (column === null || column === undefined) return;
    const text = this.input.value;
    const end = Math.max(column + 1, column + (/^[\w.@$]+/.exec(text.slice(column))?.[0].length ?? 1));
    const padding = ' '.repeat(Math.max(0, end - text.length));
    fill(this.underline, h('span', {}, text.slice(0, column)), h('span', {class: 'wrong'}, text.slice(column, end) + padding));
    this.scrollError();
  }

  /** The position of a property's name in the line, if the error names one. */
  place(property) {
    if (!property) return null;
    const place = this.input.value.search(new RegExp(`\\b${property.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}\\b`));
    return place < 0 ? null : place;
  }

  scrollError() { this.underline.style.transform = `translateX(${-this.input.scrollLeft}px)`; }

  clearError() {
    fill(this.error);
    fill(this.underline);
    this.input.removeAttribute('aria-invalid');
    this.showClear();
  }

  // MARK: Completion

  /** The word before the caret, the path before it, and what may follow. */
  candidates() {
    const before = this.input.value.slice(0, this.input.selectionStart);
    if ((before.match(/["']/g) ?? []).length % 2 === 1) return null;
    const word = /[\w.@]*$/.exec(before)[0];
    const path = word.split('.');
    const last = path.pop();
    const rest = before.slice(0, before.length - word.length).trimEnd();
    let entity = this.entity;
    for (const name of path) {
      const property = entity && store.property(entity, name);
      if (property?.elements?.length) {
        return {last, list: property.elements.map(element => ({text: element.path, note: element.type}))};
      }
      entity = property?.destination ? store.entity(property.destination) : null;
    }
    if (path.length && !entity) return null;
    const properties = [...entity.attributes, ...entity.relationships].filter(property => !property.isTransient)
      .map(property => ({text: property.name, note: typeWord(property)}));
    if (path.length) return {last, list: [...properties, {text: '@count', note: 'number of members'}]};
    const previous = /(\S+)$/.exec(rest)?.[1] ?? '';
    const named = store.property(this.entity, previous.split('.')[0]);
    if (named && !/\b(sort\s+by)\b[^]*$/i.test(rest)) {
      const search = named.isFullText ? [{text: 'MATCHTEXT', note: 'full-text search'}] : [];
      return {last, list: [...search, ...operators.map(text => ({text, note: ''}))]};
    }
    if (/\bsort\s+by\s+[\w.]+$/i.test(rest)) return {last, list: [{text: 'desc', note: 'greatest first'}, {text: 'asc', note: ''}, {text: 'limit', note: ''}]};
    if (/(["')\d]|\bnil|\bNULL|\bYES|\bNO|\bTRUE|\bFALSE)$/i.test(rest)) return {last, list: connectives.map(text => ({text, note: ''}))};
    const isStart = !rest || /(\bAND|\bOR|\bNOT|\()$/i.test(rest);
    return {last, list: [...properties, ...(isStart ? starts.map(text => ({text, note: ''})) : [])]};
  }

  complete(isAsked = false) {
    const found = this.candidates();
    const list = found?.list.filter(item => item.text.toLowerCase().startsWith(found.last.toLowerCase()) && item.text !== found.last) ?? [];
    if (!list.length || (!isAsked && !found.last && !/[.\s]$/.test(this.input.value))) return this.hide();
    this.found = {last: found.last, list: list.slice(0, 12)};
    this.choice = isAsked || found.last ? 0 : -1;
    fill(this.list, this.found.list.map((item, index) => h('li', {
      role: 'option', id: `completion-${index}`, pointerdown: event => { event.preventDefault(); this.accept(index); },
    }, h('span', {}, item.text), h('span', {class: 'completion-note'}, item.note))));
    this.list.hidden = false;
    this.input.setAttribute('aria-expanded', 'true');
    this.list.style.left = `${Math.min(textWidth(this.input, this.input.value.slice(0, this.input.selectionStart - found.last.length)) - this.input.scrollLeft, this.input.clientWidth - 120)}px`;
    this.mark();
  }

  mark() {
    [...this.list.children].forEach((item, index) => item.setAttribute('aria-selected', String(index === this.choice)));
    if (this.choice >= 0) this.input.setAttribute('aria-activedescendant', `completion-${this.choice}`);
    else this.input.removeAttribute('aria-activedescendant');
  }

  hide() {
    this.list.hidden = true;
    this.found = null;
    this.input.setAttribute('aria-expanded', 'false');
    this.input.removeAttribute('aria-activedescendant');
  }

  accept(index) {
    const {last, list} = this.found;
    const caret = this.input.selectionStart;
    const item = list[index];
    const start = caret - last.length;
    const property = store.property(this.entity, item.text);
    const tail = property?.destination && !property.isToMany ? '' : ' ';
    this.input.setRangeText(item.text + tail, start, caret, 'end');
    this.hide();
    this.clearError();
  }

  keys(event) {
    if (event.key === ' ' && event.ctrlKey) {
      event.preventDefault();
      return this.complete(true);
    }
    if (this.found) {
      const count = this.found.list.length;
      if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
        event.preventDefault();
        this.choice = (this.choice + (event.key === 'ArrowDown' ? 1 : count - 1) + (this.choice < 0 && event.key === 'ArrowUp' ? 1 : 0)) % count;
        return this.mark();
      }
      if (event.key === 'Tab' && this.choice >= 0) {
        event.preventDefault();
        return this.accept(this.choice);
      }
      if (event.key === 'Escape') {
        event.preventDefault();
        event.stopPropagation();
        return this.hide();
      }
    }
    if (event.key === 'Enter') {
      event.preventDefault();
      this.hide();
      this.clearError();
      this.run(this.text);
    } else if (event.key === 'Escape' && this.input.value) {
      event.preventDefault();
      this.set('');
    }
  }

  // MARK: Saved queries

  savedButton() {
    const trigger = h('button', {type: 'button', class: 'icon-button', title: 'Saved queries', 'aria-label': 'Saved queries'}, icon('star'));
    return popover(trigger, close => {
      const key = `queries/${this.entity.name}`;
      const saved = store.setting(key, []);
      const list = h('ul', {class: 'saved'});
      const draw = () => fill(list, saved.length ? saved.map((text, index) => h('li', {},
        h('button', {type: 'button', class: 'saved-query', click: () => { close(); this.set(text); }}, text),
        button(`Remove ${text}`, 'trash', () => { saved.splice(index, 1); store.set(key, saved); draw(); }, {iconOnly: true})))
        : h('li', {class: 'muted'}, 'No saved queries for this entity.'));
      draw();
      return [h('h2', {}, 'Saved queries'), list,
        h('button', {type: 'button', class: 'button', disabled: !this.text || saved.includes(this.text), click: () => {
          saved.unshift(this.text);
          store.set(key, saved.slice(0, 50));
          announce('The query is saved.');
          draw();
        }}, 'Save this query')];
    }, {label: 'Saved queries'});
  }
}

/** A condition that fits the entity, shown while the line is empty. */
function example(entity) {
  const number = entity.attributes.find(attribute => ['int16', 'int32', 'int64', 'double', 'decimal'].includes(attribute.type));
  const name = store.namingAttribute(entity);
  const parts = [number && `${number.name} > 5`, name && `${name} CONTAINS[c] "a"`].filter(Boolean);
  return parts.length ? `${parts.join(' AND ')} sort by ${name ?? number.name}` : 'a condition, or: sort by …';
}

let canvas;
function textWidth(input, text) {
  canvas ??= document.createElement('canvas').getContext('2d');
  canvas.font = getComputedStyle(input).font;
  return canvas.measureText(text).width + 8;
}

/** The SQL of a request, its plan, and the indexes that it lacks. */
export class ExplainPanel {
  constructor() {
    this.element = h('section', {class: 'explain', 'aria-label': 'How the request is executed', hidden: true});
  }

  async show(form) {
    if (this.element.hidden) return;
    this.request?.abort();
    this.request = new AbortController();
    try {
      const explanation = await post('explain', form, this.request.signal);
      fill(this.element, this.contents(explanation));
    } catch (error) {
      if (error.name !== 'AbortError') fill(this.element, h('p', {class: 'muted'}, error.message));
    }
  }

  contents(explanation) {
    return [
      explanation.statements.map(statement => h('div', {class: 'statement'},
        h('pre', {class: 'sql', role: 'group', tabindex: '0', 'aria-label': 'SQL'}, statement.sql),
        statement.values.length > 0 && h('p', {class: 'sql-values'}, h('span', {class: 'label'}, 'values'), statement.values.map(value => h('code', {}, value))),
        h('ul', {class: 'query-plan'}, statement.plan.map(line => h('li', {class: /^SCAN/.test(line.trim()) ? 'warn' : null}, line))))),
      explanation.statements.length === 0 && h('p', {class: 'muted'}, 'No statement runs for this request.'),
      explanation.inMemory && h('p', {class: 'advice'}, h('span', {class: 'label'}, 'in memory'), h('code', {}, explanation.inMemory)),
      explanation.sortedInMemory.length > 0 && h('p', {class: 'advice'}, h('span', {class: 'label'}, 'sorted in memory'), explanation.sortedInMemory.join(', ')),
      explanation.missingIndexes.map(index => h('p', {class: 'advice'}, h('span', {class: 'label'}, 'missing index'),
        h('code', {}, `${index.entity}.${index.attribute}`), ` ${index.purpose}`)),
    ];
  }
}
