import {h, fill, failure, plural, bytes, duration, announce, Progress} from './dom.js';
import {get, post} from './api.js';

/** The part of the export menu that writes what is shown to a new store. */
export class StoreExport {
  /** `form` returns the request whose objects are exported. */
  constructor(form) {
    this.form = form;
    this.button = h('button', {type: 'button', class: 'choice', click: () => this.start()}, 'New store');
    this.result = h('div', {class: 'store-export'});
    this.element = h('div', {}, this.button,
      h('p', {class: 'muted note'}, 'With all values of these objects, those that they require, and the relationships among them.'),
      this.result);
  }

  async start() {
    this.button.disabled = true;
    try {
      await post('export/store/start', this.form());
      await this.poll();
    } catch (error) {
      fill(this.result, failure(error));
    }
    this.button.disabled = false;
  }

  async poll() {
    const progress = new Progress(() => post('export/store/stop'));
    fill(this.result, progress.element);
    for (;;) {
      const state = await get('export/store');
      if (state.state !== 'writing') return this.finish(state);
      if (!this.element.isConnected) return;
      const fraction = state.total ? state.written / state.total : null;
      progress.show('Writing the store', fraction, plural(state.written, 'object'));
      await new Promise(resolve => setTimeout(resolve, 150));
    }
  }

  finish(state) {
    if (state.state === 'failed') return fill(this.result, failure(state));
    if (state.state !== 'done') return fill(this.result, h('p', {class: 'muted'}, 'Stopped.'));
    const more = state.required > 0 ? `, ${plural(state.required, 'of them', 'of them')} because others require them` : '';
    const save = h('a', {href: '/api/export/store/file', download: '', class: 'button primary'}, `Save (${bytes(state.bytes)})`);
    fill(this.result, h('p', {}, `${plural(state.objects, 'object')} in ${duration(state.seconds)}${more}.`), save);
    announce('The new store is ready.');
    save.focus();
  }
}
