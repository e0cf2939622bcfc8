import {h, fill, icon, button, failure, announce, plural, grouped} from './dom.js';
import {get, post} from './api.js';
import {store, fullType, link, title} from './model.js';
import {valueContent} from './values.js';
import {restoringLineEnds} from './lines.js';

const statusWords = {inserted: 'New', updated: 'Changed', deleted: 'Deleted'};
let problems = 0;
const reference = object => ({entity: object.entity, key: object.key ?? null, temporary: object.temporary ?? null});
const nameOf = object => object.name ?? `${object.entity} ${object.key ?? 'new'}`;
const isSame = (a, b) => a.entity === b.entity && String(a.key ?? '') === String(b.key ?? '') && String(a.temporary ?? '') === String(b.temporary ?? '');

/** The unsaved changes, which all pages of the studio share. */
export const editing = {
  objects: [], canUndo: false, canRedo: false, revision: null,

  async load() { this.take(await get('edits')); },

  /** Reads the changes if another page has made some. */
  async follow(revision) {
    if (this.revision !== null && revision !== null && revision !== this.revision) await this.load();
  },

  take(state) {
    // The answer to an earlier request may come later.
    const isOld = state.revision < this.revision;
    if (!isOld) Object.assign(this, {objects: state.objects, canUndo: state.canUndo, canRedo: state.canRedo, revision: state.revision});
    for (const badge of document.querySelectorAll('.edits-badge')) {
      badge.hidden = this.objects.length === 0;
      badge.textContent = this.objects.length;
      badge.setAttribute('aria-label', plural(this.objects.length, 'object') + ' with unsaved changes');
    }
    document.dispatchEvent(new CustomEvent('editchange'));
    return state;
  },

  async apply(form) { return this.take(await post('edits/apply', form)); },

  changesOf(object) { return this.objects.find(change => isSame(change.object, object)) ?? null; },

  async insert(entity) {
    try {
      await this.apply({action: 'insert', entity});
      location.hash = '#/edits';
    } catch (error) { announce(error.message); }
  },

  async duplicate(object) {
    try {
      await this.apply({action: 'duplicate', object: reference(object)});
      location.hash = '#/edits';
    } catch (error) { announce(error.message); }
  },

  /** Shows what the delete rules take along before anything is deleted. */
  async delete(object) {
    let found;
    try { found = await post('edits/deletion', {action: 'delete', object: reference(object)}); } catch (error) { return announce(error.message); }
    const list = part => h('ul', {class: 'members'}, part.objects.map(object => h('li', {}, nameOf(object), h('span', {class: 'muted'}, ` ${object.entity} ${object.key ?? 'new'}`))),
      part.total > part.objects.length && h('li', {class: 'muted'}, `… ${grouped(part.total - part.objects.length)} more`));
    const dialog = h('dialog', {'aria-labelledby': 'delete-title'},
      h('h2', {id: 'delete-title'}, `Delete ${title(object)}?`),
      h('h3', {}, `Deleted: ${plural(found.deleted.total, 'object')}`), list(found.deleted),
      found.updated.total > 0 && [h('h3', {}, `Loses a relationship: ${plural(found.updated.total, 'object')}`), list(found.updated)],
      h('p', {class: 'muted'}, 'Nothing is written before you save.'),
      h('div', {class: 'dialog-buttons'}, h('button', {type: 'button', class: 'button', click: () => dialog.close()}, 'Cancel'),
        h('button', {type: 'button', class: 'button danger', click: async () => {
          dialog.close();
          try { await this.apply({action: 'delete', object: reference(object)}); announce('Marked for deletion. Save to delete.'); } catch (error) { announce(error.message); }
        }}, 'Delete')));
    dialog.addEventListener('close', () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
  },

  /** Lets the user choose the objects of a relationship, beginning with those of an unsaved change. */
  relate(object, relationship, change) {
    const id = member => `${member.entity}/${member.key ?? `new ${member.temporary}`}`;
    const members = change?.members ?? relationship.members ?? [];
    const before = new Map(members.map(member => [id(member), member]));
    const chosen = new Map(before);
    const removed = new Set();
    const [list, results, problem] = [h('ul', {class: 'members chosen', 'aria-label': 'Chosen'}), h('ul', {class: 'members results', 'aria-label': 'Found'}), h('div')];
    if (change ? !change.members : relationship.total > chosen.size) return announce('This relationship has too many members to be changed here.');
    const draw = () => fill(list, chosen.size ? [...chosen].map(([id, member]) => h('li', {}, nameOf(member), h('span', {class: 'muted'}, ` ${member.entity} ${member.key ?? 'new'}`),
      button(`Remove ${nameOf(member)}`, 'close', () => { chosen.delete(id); removed.add(id); draw(); }, {iconOnly: true}))) : h('li', {class: 'muted'}, 'none'));
    const search = async text => {
      const entity = store.entity(relationship.destination);
      const name = store.namingAttribute(entity);
      const condition = text && name ? `${name} CONTAINS[cd] "${text.replace(/[\\"]/g, '\\$&')}"` : '';
      try {
        const {rows} = await post('rows', {entity: entity.name, text: condition, columns: name ? [name] : [], start: 0, count: 30});
        const unsaved = this.objects
          .filter(other => other.status === 'inserted' && !isSame(other.object, object) && store.isKind(other.object.entity, entity.name))
          .map(other => ({...other.object, name: other.name}))
          .filter(member => nameOf(member).toLowerCase().includes(text.toLowerCase()));
        const saved = rows.map(row => ({entity: row.entity, key: row.key, name: typeof row.cells?.[0] === 'string' ? row.cells[0] : null}));
        fill(results, [...unsaved, ...saved].map(member => {
          return h('li', {}, h('button', {type: 'button', class: 'pick', click: () => {
            if (!relationship.isToMany) chosen.clear();
            chosen.set(id(member), member);
            draw();
          }}, nameOf(member), h('span', {class: 'muted'}, ` ${member.entity} ${member.key ?? 'new'}`)));
        }));
      } catch (error) { fill(results, h('li', {}, error.message)); }
    };
    let timer;
    const dialog = h('dialog', {class: 'picker', 'aria-labelledby': 'picker-title'},
      h('h2', {id: 'picker-title'}, `${relationship.name} → ${relationship.destination}`), list,
      h('input', {type: 'search', class: 'filter', autofocus: true, placeholder: `Find ${relationship.destination}`, 'aria-label': `Find ${relationship.destination}`,
        input: event => { clearTimeout(timer); timer = setTimeout(() => search(event.target.value), 150); }}), results, problem,
      h('div', {class: 'dialog-buttons'}, h('button', {type: 'button', class: 'button', click: () => dialog.close()}, 'Cancel'),
        h('button', {type: 'button', class: 'button primary', click: async () => {
          // Members that another page adds in the meantime aren't removed by this choice. One that was removed and chosen
          // again goes to the end of an ordered relationship.
          const only = (some, others) => [...some].filter(([id]) => !others.has(id) || (relationship.isOrdered && removed.has(id)))
            .map(([, member]) => reference(member));
          const choice = relationship.isToMany ? {added: only(chosen, before), removed: only(before, chosen)}
            : {targets: [...chosen.values()].map(reference)};
          try {
            await this.apply({action: 'relate', object: reference(object), property: relationship.name, ...choice});
            dialog.close();
          } catch (error) { fill(problem, failure(error)); }
        }}, 'Set')));
    dialog.addEventListener('close', () => dialog.remove());
    document.body.append(dialog);
    draw();
    search('');
    dialog.showModal();
  },
};

const typed = ['int16', 'int32', 'int64', 'double', 'float', 'decimal', 'string', 'boolean', 'date', 'uuid', 'uri', 'binary'];

const shownText = 2000;

/** An unsaved value and the saved one; of long texts the beginning. */
function changeContent({text, was}) {
  const isLong = text?.length > shownText;
  return h('div', {}, h('span', {class: 'pending'}, isLong ? text.slice(0, shownText) + '…' : text ?? 'null'), h('span', {class: 'was'}, was ?? 'null'));
}

const editables = part => [...part.querySelectorAll('.editable')].map(element => element.editable);

/** Draws a part of the page anew. What is being typed in it stays. */
export function redraw(part, draw) {
  const open = editables(part).filter(editable => editable.input);
  const focused = document.activeElement;
  const selection = [focused.selectionStart, focused.selectionEnd];
  draw();
  const drawn = editables(part);
  for (const editable of open) editable.replace(drawn.find(other => other.id === editable.id));
  if (!open.some(editable => editable.element.contains(focused)) || !focused.isConnected) return;
  focused.focus();
  if (focused === focused.closest('.editable').editable.input) focused.setSelectionRange(...selection);
}

/** A value that can be changed where it is shown, and is checked while it is typed. */
export class Editable {
  constructor(value, object, change) {
    this.value = value;
    this.object = object;
    this.change = change;
    this.element = h('div', {class: 'editable'});
    this.element.editable = this;
    this.show();
  }

  get id() { return JSON.stringify([reference(this.object), this.value.name]); }

  /** Takes the place of the same value as it was drawn anew, and mentions what became of it. */
  replace(other) {
    if (!other?.canEdit) return;
    Object.assign(this, {value: other.value, object: other.object, change: other.change});
    const isSame = this.isNull === this.wasNull && this.text === this.original;
    fill(this.note, !isSame && `Meanwhile it was set to ${this.isNull ? 'null' : `“${this.text.slice(0, 200)}”`}.`);
    other.element.replaceWith(this.element);
  }

  get canEdit() {
    const isWhole = this.change ? !this.change.isCut
      : !this.value.isCut && !(this.value.kind === 'bytes' && this.value.bytes.count > 512);
    return typed.includes(this.value.type) && !this.value.isTransient && !this.value.isDerived && isWhole;
  }

  show() {
    const id = `edit-${this.value.name}`;
    this.input = null;
    fill(this.element, this.change ? changeContent(this.change) : valueContent(this.value, this.object),
      this.canEdit && button(`Change ${this.value.name}`, 'edit', () => this.edit(), {iconOnly: true, class: 'icon-button edit', id}));
  }

  get text() {
    if (this.change) return this.change.text ?? '';
    return this.value.kind === 'bytes' ? this.value.bytes.hexadecimal : this.value.exactText ?? this.value.text ?? '';
  }

  get isNull() { return this.change ? this.change.text === null : this.value.kind === 'null'; }

  edit() {
    const isLong = this.value.type === 'string';
    const problem = `value-problem-${++problems}`;
    const input = h(isLong ? 'textarea' : 'input', {class: 'value-input', 'aria-label': this.value.name, 'aria-describedby': problem, spellcheck: 'false', rows: isLong ? Math.min(8, 1 + this.text.split('\n').length) : null,
      input: () => this.check(input), keydown: event => {
        if (event.key === 'Escape') { event.stopPropagation(); this.end(); }
        if (event.key === 'Enter' && (!isLong || event.ctrlKey || event.metaKey)) { event.preventDefault(); this.set(input.value); }
      }});
    this.input = input;
    this.wasNull = this.isNull;
    input.value = this.original = this.text;
    // The field may have changed it.
    this.untouched = input.value;
    this.problem = h('div', {class: 'value-problem', id: problem, role: 'alert'});
    this.note = h('div', {class: 'value-note muted meanwhile', role: 'status'});
    fill(this.element, input, this.problem, this.note, h('div', {class: 'edit-buttons'},
      h('button', {type: 'button', class: 'button primary', click: () => this.set(input.value)}, 'Set'),
      this.value.isOptional && h('button', {type: 'button', class: 'button', click: () => this.set(null)}, 'Set to null'),
      h('button', {type: 'button', class: 'button', click: () => this.end()}, 'Cancel')));
    input.focus();
  }

  end() {
    this.show();
    this.element.querySelector('.edit')?.focus();
  }

  check(input) {
    clearTimeout(this.timer);
    this.timer = setTimeout(async () => {
      try {
        await post('edits/apply', this.form('check', input.value));
        fill(this.problem);
        input.removeAttribute('aria-invalid');
      } catch (error) {
        fill(this.problem, error.message);
        input.setAttribute('aria-invalid', 'true');
      }
    }, 150);
  }

  form(action, text) {
    return {action, object: reference(this.object), property: this.value.name, text: text === null ? null : restoringLineEnds(text, this.original)};
  }

  async set(text) {
    clearTimeout(this.timer);
    // Reading a text isn't always exact: what wasn't touched stays, unless it was set in the meantime.
    if (text === this.untouched && !this.isNull && this.text === this.original) return this.end();
    try {
      const state = await post('edits/apply', this.form('set', text));
      // This one isn't typed in any more when the page is drawn anew.
      this.input = null;
      editing.take(state);
    } catch (error) { fill(this.problem, error.message); }
  }
}

/** All unsaved changes, with undo, redo and the one save. */
export class EditsView {
  constructor(main) {
    this.title = 'Unsaved changes';
    this.main = main;
    if (!store.overview.isWritable) return fill(main, failure({message: 'The store was opened for reading.', fix: 'Start the studio with --write to change objects.'}));
    this.changed = () => this.show();
    document.addEventListener('editchange', this.changed);
    this.problem = h('div');
    this.show();
    editing.load().catch(error => announce(error.message));
  }

  close() { document.removeEventListener('editchange', this.changed); }

  async act(form) {
    fill(this.problem);
    try {
      await editing.apply(form);
      if (form.action === 'save') announce('Saved.');
    } catch (error) {
      fill(this.problem, failure(error));
      const isConflict = ['mergeConflict', 'constraintConflict'].includes(error.name);
      if (error.name === 'mergeConflict') this.problem.append(h('div', {class: 'dialog-buttons'},
        h('button', {type: 'button', class: 'button', click: () => this.act({action: 'save', resolution: 'mine'})}, 'Save my values'),
        h('button', {type: 'button', class: 'button', click: () => this.act({action: 'save', resolution: 'theirs'})}, 'Keep the store’s values')));
    }
  }

  show() { redraw(this.main, () => this.draw()); }

  draw() {
    const {objects, canUndo, canRedo} = editing;
    fill(this.main, h('div', {class: 'page'},
      h('header', {class: 'view-head'}, h('h2', {}, 'Unsaved changes', h('span', {class: 'row-count'}, plural(objects.length, 'object'))),
        h('div', {class: 'tools'},
          button('Undo', 'undo', () => this.act({action: 'undo'}), {disabled: !canUndo}),
          button('Redo', 'redo', () => this.act({action: 'redo'}), {disabled: !canRedo}),
          button('Discard all', 'discard', () => this.act({action: 'discard'}), {disabled: !objects.length}),
          h('button', {type: 'button', class: 'button primary', disabled: !objects.length, click: () => this.act({action: 'save'})}, 'Save'))),
      this.problem,
      objects.length === 0 ? h('p', {class: 'muted'}, 'There are no unsaved changes.') : h('ul', {class: 'edits'}, objects.map(change => this.change(change)))));
  }

  change(change) {
    const {object} = change;
    const name = nameOf({...object, name: change.name});
    const entity = store.entity(object.entity);
    return h('li', {class: `edit ${change.status}`},
      h('div', {class: 'edit-head'}, h('span', {class: `badge ${change.status}`}, statusWords[change.status] ?? change.status),
        object.key ? h('a', {href: link(object)}, name) : h('span', {}, name), h('span', {class: 'muted'}, object.entity)),
      change.status === 'inserted' ? this.newValues(change, entity)
        : h('dl', {class: 'values'}, change.values.map(value => h('div', {class: 'value-row'}, h('dt', {}, value.property),
          h('dd', {}, changeContent(value))))));
  }

  /** A new object's values, all of which can be set before it is saved. */
  newValues(change, entity) {
    const changes = new Map(change.values.map(value => [value.property, value]));
    const textOf = property => changes.get(property.name)?.text ?? null;
    return h('dl', {class: 'values'},
      entity.attributes.filter(attribute => !attribute.isTransient).map(attribute => {
        const text = textOf(attribute);
        const isCut = changes.get(attribute.name)?.isCut ?? false;
        const value = {...attribute, kind: text === null ? 'null' : 'text', text, length: isCut ? null : text?.length, isCut, isDerived: attribute.derivation !== null};
        return h('div', {class: 'value-row'}, h('dt', {}, attribute.name, h('span', {class: 'type'}, fullType(attribute))), h('dd', {}, new Editable(value, change.object, null).element));
      }),
      entity.relationships.filter(relationship => !relationship.isTransient).map(relationship => h('div', {class: 'value-row'},
        h('dt', {}, relationship.name, h('span', {class: 'type'}, relationship.destination)),
        h('dd', {}, h('div', {class: 'with-pencil'}, textOf(relationship) ?? h('span', {class: 'null'}, 'none'), button(`Change ${relationship.name}`, 'edit', () => editing.relate(change.object, {...relationship, members: [], total: 0}, changes.get(relationship.name)), {iconOnly: true, class: 'icon-button edit'}))))));
  }
}
