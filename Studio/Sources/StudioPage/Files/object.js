import {h, fill, icon, button, failure, grouped, plural, announce} from './dom.js';
import {post} from './api.js';
import {store, fullType, link, rowsLink, title, typeWord} from './model.js';
import {valueContent} from './values.js';
import {Neighbours} from './neighbours.js';
import {Past} from './past.js';
import {editing, Editable, redraw} from './editing.js';

/** All values of one object, and its relationships in both directions. */
export class ObjectView {
  constructor(main, place) {
    this.main = main;
    this.entity = place.parts[0];
    this.key = place.parts[1];
    this.title = `${this.entity} ${this.key}`;
    this.past = new Past();
    this.load();
    this.changed = () => this.load();
    document.addEventListener('storechange', this.changed);
    document.addEventListener('editchange', this.changed);
  }

  close() {
    this.isClosed = true;
    document.removeEventListener('storechange', this.changed);
    document.removeEventListener('editchange', this.changed);
  }

  /** Of several answers the last counts. */
  async load() {
    const number = this.loads = (this.loads ?? 0) + 1;
    const isWanted = () => !this.isClosed && number === this.loads;
    try {
      const object = await post('object', {entity: this.entity, key: this.key, naming: store.naming});
      if (isWanted()) redraw(this.main, () => this.show(object));
    } catch (error) {
      if (!isWanted()) return;
      // What is being typed can still be copied.
      if (this.main.querySelector('.value-input')) return announce(error.message);
      fill(this.main, h('div', {class: 'object-view'}, h('header', {class: 'view-head'}, h('h2', {}, this.title)), h('div', {class: 'object-section'}, failure(error)),
        // A deleted object still has a past.
        error.status === 404 && store.overview.hasHistory && h('section', {'aria-label': 'History', class: 'object-section'}, this.past.element)));
      this.past.show({entity: this.entity, key: this.key});
    }
  }

  show(object) {
    const focus = document.activeElement?.id;
    this.object = object;
    document.title = `${title(object)} – ${store.overview.name}`;
    const pending = editing.changesOf(object);
    const neighbours = this.neighbours ??= new Neighbours();
    neighbours.start(object);
    fill(this.main, h('div', {class: 'object-view'},
      h('header', {class: 'view-head'},
        h('div', {class: 'object-title'},
          h('p', {class: 'path'}, h('a', {href: rowsLink(object.entity)}, object.entity), h('span', {class: 'muted'}, ` ${object.key}`),
            pending && h('span', {class: `badge ${pending.status}`}, pending.status === 'deleted' ? 'Deleted when you save' : 'Unsaved changes')),
          h('h2', {}, title(object))),
        h('div', {class: 'tools'},
          button('Back', 'back', () => history.back(), {iconOnly: true}), button('Forward', 'forward', () => history.forward(), {iconOnly: true}),
          button('Copy the URI', 'link', () => navigator.clipboard?.writeText(object.uri).then(() => announce('The URI is copied.')), {iconOnly: true}),
          store.overview.isWritable && [
            button('Duplicate', 'copy', () => editing.duplicate(object)),
            button('Delete', 'trash', () => editing.delete(object), {class: 'button danger'})])),
      h('div', {class: 'object-columns'},
        h('section', {'aria-label': 'Attributes', class: 'attributes'}, h('h3', {}, 'Attributes'),
          h('dl', {class: 'values'}, object.attributes.map(value => this.attribute(value, object, pending)))),
        h('section', {'aria-label': 'Relationships', class: 'relationships'}, h('h3', {}, 'Relationships'),
          object.relationships.length === 0 && object.referrers.length === 0 && h('p', {class: 'muted'}, 'This entity has no relationships.'),
          object.relationships.map(relationship => this.relationship(relationship, object, pending)),
          object.referrers.length > 0 && h('h3', {}, 'Referred to by'),
          object.referrers.map(referrer => this.referrer(referrer)))),
      h('section', {'aria-label': 'Objects around it', class: 'neighborhood'}, h('h3', {}, 'Objects around it'), neighbours.element),
      store.overview.hasHistory && h('section', {'aria-label': 'History', class: 'object-section'}, this.past.element)));
    this.past.show(object);
    if (focus) document.getElementById(focus)?.focus();
  }

  attribute(value, object, pending) {
    const change = pending?.values.find(change => change.property === value.name);
    return h('div', {class: 'value-row'},
      h('dt', {}, value.name, h('span', {class: 'type'}, fullType({...value, marks: this.marksOf(value.name)}))),
      h('dd', {}, store.overview.isWritable && pending?.status !== 'deleted' ? new Editable(value, object, change).element : valueContent(value, object)));
  }

  marksOf(name) { return store.entity(this.object.entity)?.attributes.find(attribute => attribute.name === name)?.marks; }

  relationship(relationship, object, pending) {
    const list = h('ul', {class: 'members'}, relationship.members.map(member => this.member(member)));
    const more = h('button', {type: 'button', class: 'value-link', click: () => this.more(relationship, list, more)});
    this.showMore(relationship, list, more);
    const change = pending?.values.find(change => change.property === relationship.name);
    return h('div', {class: 'relationship'},
      h('h4', {}, relationship.name,
        h('span', {class: 'type'}, typeWord(relationship)),
        relationship.isToMany && h('span', {class: 'count'}, grouped(relationship.total)),
        store.overview.isWritable && pending?.status !== 'deleted'
          && button(`Change ${relationship.name}`, 'edit', () => editing.relate(object, relationship, change), {iconOnly: true, class: 'icon-button edit'})),
      change && h('p', {class: 'pending'}, `Unsaved change: ${change.text ?? 'none'}`),
      relationship.total === 0 ? h('p', {class: 'muted none'}, 'none') : list, more);
  }

  referrer(referrer) {
    return h('div', {class: 'relationship'},
      h('h4', {}, `${referrer.entity}.${referrer.name}`, h('span', {class: 'count'}, grouped(referrer.total))),
      h('ul', {class: 'members'}, referrer.members.map(member => this.member(member))));
  }

  member(member) {
    return h('li', {}, h('a', {href: link(member)}, title(member)), h('span', {class: 'muted'}, ` ${member.name ? member.entity + ' ' : ''}${member.name ? member.key : ''}`));
  }

  showMore(relationship, list, more) {
    const rest = relationship.total - list.children.length;
    more.hidden = rest <= 0;
    more.textContent = `Show ${Math.min(rest, 200)} of ${grouped(rest)} more`;
  }

  async more(relationship, list, more) {
    const answer = await post('members', {
      entity: this.object.entity, key: this.object.key, property: relationship.name, naming: store.naming,
      start: list.children.length, count: 200,
    }).catch(error => { announce(error.message); return null; });
    if (!answer) return;
    list.append(...answer.members.map(member => this.member(member)));
    this.showMore(relationship, list, more);
  }
}
