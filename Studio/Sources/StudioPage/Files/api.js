/** An error of the server: a message, what to do, and perhaps a place in the line that was typed. */
export class StudioError extends Error {
  constructor(fields, status) {
    super(fields.message ?? 'The studio gives no answer.');
    Object.assign(this, fields);
    this.status = status;
  }
}

async function answer(response) {
  const text = await response.text();
  if (!response.ok) throw refusal(text, response);
  try { return JSON.parse(text); } catch { throw new StudioError({message: text || response.statusText}, response.status); }
}

/** The error that an answer consists of. */
function refusal(text, {status, statusText}) {
  let content;
  try { content = JSON.parse(text); } catch { return new StudioError({message: text || statusText}, status); }
  return new StudioError(content?.error ?? {}, status);
}

async function send(path, options) {
  let response;
  try {
    response = await fetch(path, options);
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new StudioError({message: 'The studio has ended.', fix: 'Start it again, and open the address that it prints.'}, 0);
  }
  return answer(response);
}

export function get(resource, parameters = {}, signal) {
  return send(address(resource, parameters), {signal});
}

export function post(resource, body = {}, signal) {
  return send(`/api/${resource}`, {
    method: 'POST', headers: {'Content-Type': 'application/json'}, body: JSON.stringify(body), signal,
  });
}

export function address(resource, parameters = {}) {
  const query = new URLSearchParams(Object.entries(parameters).filter(([, value]) => value !== null && value !== undefined));
  return `/api/${resource}${query.size ? '?' + query : ''}`;
}

/** A picture as a document. The browser parses it as XML, without a way for scripts to run. */
export function picture(resource, parameters) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('GET', address(resource, parameters));
    request.responseType = 'document';
    request.overrideMimeType('image/svg+xml');
    // An error is a text. Its type can still be chosen before its content arrives.
    request.onreadystatechange = () => {
      if (request.readyState === XMLHttpRequest.HEADERS_RECEIVED && request.status !== 200) request.responseType = 'text';
    };
    request.onload = () => {
      if (request.status !== 200) return reject(refusal(request.responseText, request));
      if (request.responseXML) return resolve(request.responseXML);
      reject(new StudioError({message: 'The picture can\u2019t be drawn.'}, request.status));
    };
    request.onerror = () => reject(new StudioError({message: 'The studio has ended.'}, 0));
    request.send();
  });
}
