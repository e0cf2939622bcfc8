import {h, fill, failure, grouped, bytes, icon} from './dom.js';
import {post} from './api.js';
import {store, link, title} from './model.js';

const verbs = {insert: 'created', update: 'changed', delete: 'deleted'};

/** An object's past: what each transaction changed, with the values where the store keeps old ones. */
export class Past {
  constructor() {
    this.list = h('div', {class: 'past-content'});
    this.element = h('details', {class: 'past', open: store.setting('showsPast', false), toggle: () => this.toggled()},
      h('summary', {}, h('h3', {}, 'History')), this.list);
  }

  show(object) {
    this.object = object;
    this.isLoaded = false;
    if (this.element.open) this.load();
  }

  toggled() {
    store.set('showsPast', this.element.open);
    if (this.element.open && !this.isLoaded && this.object) this.load();
  }

  async load() {
    this.isLoaded = true;
    const {object} = this;
    try {
      const past = await post('past', {entity: object.entity, key: object.key, naming: store.naming});
      if (object === this.object) fill(this.list, this.content(past));
    } catch (error) {
      if (object === this.object) fill(this.list, failure(error));
    }
  }

  content(past) {
    if (!past.hasHistory) return h('p', {class: 'muted'}, 'The store has no history.');
    if (!past.entries.length) return h('p', {class: 'muted'}, 'The history has no change of this object.');
    return [
      !past.keepsValues && h('p', {class: 'muted'}, 'The history keeps no old values: only the changed properties are known.'),
      h('ol', {class: 'past-list'}, past.entries.map(entry => this.entry(entry))),
      !past.isWhole && h('p', {class: 'muted'}, `The last ${grouped(past.entries.length)} changes are shown.`)];
  }

  entry(entry) {
    const by = [entry.author, entry.contextName, entry.processID, entry.bundleID].filter(Boolean).join(', ');
    return h('li', {class: `past-entry ${entry.type}`},
      h('p', {class: 'transaction-head'}, h('span', {class: 'mark', 'aria-hidden': 'true'}, {insert: '+', update: '~', delete: '−'}[entry.type]),
        h('strong', {}, verbs[entry.type] ?? entry.type), h('time', {datetime: entry.date}, new Date(entry.date).toLocaleString()),
        by && h('span', {}, by), h('span', {class: 'muted'}, `#${entry.number}`)),
      (entry.values.length > 0 || entry.members.length > 0) && h('dl', {class: 'past-values'},
        entry.values.map(value => [h('dt', {}, value.property), h('dd', {},
          h('span', {class: 'before'}, content(value.before)),
          entry.type === 'update' && [h('span', {class: 'arrow', role: 'img', 'aria-label': 'became'}, '→'), h('span', {class: 'after'}, content(value.after))])]),
        entry.members.map(members => [h('dt', {}, members.property), h('dd', {},
          members.added.map(member => h('span', {class: 'added'}, '+ ', objectLink(member))),
          members.removed.map(member => h('span', {class: 'removed'}, '− ', objectLink(member))))])),
      entry.type === 'update' && (entry.others === null ? h('p', {class: 'muted'}, 'The changed properties aren’t known.')
        : entry.others.length > 0 && h('p', {class: 'muted'}, `Without old values: ${entry.others.join(', ')}`)));
  }
}

const objectLink = object => h('a', {href: link(object)}, title(object));

function content(value) {
  switch (value.kind) {
    case 'unknown': return h('span', {class: 'null'}, 'unknown');
    case 'null': return h('span', {class: 'null'}, 'null');
    case 'bytes': return bytes(value.count);
    case 'object': return objectLink(value.object);
    default: return value.text === '' ? h('span', {class: 'null'}, 'empty text') : h('span', {class: 'text'}, value.text);
  }
}
