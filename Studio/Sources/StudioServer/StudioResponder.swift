import Foundation
import PersistStudioSession
import StudioPage

/// Answers the requests of the studio's page.
struct StudioResponder: HTTPResponder {
  let session: StudioSession
  let access: Guard
  /// A folder with the page's files, in place of the embedded ones.
  let pageFolder: URL?

  func respond(to request: HTTPRequest) async -> HTTPResponse {
    do {
      try access.checkPlace(request)
      if request.method == "GET", request.path == "/", let given = QueryParameters.read(request.query)["token"] {
        guard access.token.matches(given) else { throw Guard.Refusal.noToken }
        // The address without the secret is what stays in the browser's history.
        return response(303, text: "", [("Location", "/"), ("Set-Cookie", access.cookie)])
      }
      try access.checkToken(request)
      return await answer(request)
    } catch let refusal as Guard.Refusal {
      return response(403, text: refusal.words)
    } catch {
      return response(400, text: HTTPProblem.malformed.words)
    }
  }

  func respond(to problem: HTTPProblem) -> HTTPResponse { response(problem.status, text: problem.words) }

  private func answer(_ request: HTTPRequest) async -> HTTPResponse {
    let path = String(request.path.drop { $0 == "/" })
    guard path.hasPrefix("api/") else { return file(path.isEmpty ? "index.html" : path, request) }
    let method: StudioRequest.Method
    switch request.method {
    case "GET": method = .get
    case "POST": method = .post
    default: return response(405, text: "")
    }
    let answer = await session.answer(
      StudioRequest(
        method, String(path.dropFirst(4)), parameters: QueryParameters.read(request.query), body: request.body))
    return response(answer)
  }

  private func file(_ path: String, _ request: HTTPRequest) -> HTTPResponse {
    guard request.method == "GET", let file = StudioPage.file(path) else { return response(404, text: "") }
    let changed = pageFolder.flatMap { try? Data(contentsOf: $0.appendingPathComponent(path)) }
    return HTTPResponse(
      status: 200, fields: SafeHeaders.fields(isPage: true) + [("Content-Type", file.type)],
      body: .data(changed ?? file.content))
  }

  private func response(_ answer: StudioAnswer) -> HTTPResponse {
    var fields = SafeHeaders.fields(isPage: false) + [("Content-Type", answer.contentType)]
    if let name = answer.fileName { fields.append(("Content-Disposition", Self.disposition(name))) }
    let body: HTTPResponse.Body
    switch answer.body {
    case .data(let data): body = .data(data)
    case .pieces(let count, let next): body = .pieces(count: count, next: next)
    }
    return HTTPResponse(status: answer.status, fields: fields, body: body)
  }

  /// The header field for a file: names of entities can contain anything.
  private static func disposition(_ name: String) -> String {
    var allowed = CharacterSet.alphanumerics
    allowed.insert(charactersIn: "-_.")
    let plain = String(name.unicodeScalars.map { $0.isASCII && allowed.contains($0) ? Character($0) : "_" })
    let encoded = name.addingPercentEncoding(withAllowedCharacters: CharacterSet(charactersIn: plain)) ?? plain
    return "attachment; filename=\"\(plain)\"; filename*=UTF-8''\(encoded)"
  }

  private func response(
    _ status: Int, text: String, _ fields: [(name: String, value: String)] = []
  ) -> HTTPResponse {
    HTTPResponse(
      status: status,
      fields: SafeHeaders.fields(isPage: true) + [("Content-Type", "text/plain; charset=utf-8")] + fields,
      body: .data(Data(text.utf8)))
  }
}

extension Guard.Refusal {
  fileprivate var words: String {
    switch self {
    case .wrongHost: "This server answers under the names 127.0.0.1 and localhost only."
    case .wrongOrigin: "This request comes from another site."
    case .noToken: "Open the address that 'persist studio' has printed; it contains the key to this page."
    }
  }
}
