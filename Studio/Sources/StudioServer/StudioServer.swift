public import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
public import PersistStudioSession
import StudioPage

/// Serves the studio's page on the loopback interface.
public struct StudioServer: Sendable {
  private let session: StudioSession
  private let token: AccessToken
  private let port: Int
  /// A folder with the page's files, in place of the embedded ones: for work on the page.
  private let pageFolder: URL?

  /// Creates a server.
  ///
  /// - Parameters:
  ///   - session: The open store.
  ///   - port: The port; 0 for a free one.
  ///   - token: The secret in the page's address.
  ///   - pageFolder: A folder with the page's files, for work on the page; nil for the embedded ones.
  public init(_ session: StudioSession, port: Int, token: AccessToken = AccessToken(), pageFolder: URL? = nil) {
    self.session = session
    self.token = token
    self.port = port
    self.pageFolder = pageFolder
  }

  /// Serves until the program is told to end.
  ///
  /// - Parameter started: Called once with the address to open.
  public func run(_ started: @escaping @Sendable (URL) -> Void) async throws {
    var logger = Logger(label: "persist-studio")
    logger.logLevel = .error
    let bound = BoundPort()
    let application = Application(
      responder: CallbackResponder<BasicRequestContext> { request, _ in
        await respond(to: request, on: await bound.value)
      },
      configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port), serverName: nil),
      onServerRunning: { channel in
        let port = channel.localAddress?.port ?? port
        await bound.set(port)
        if let url = URL(string: "http://127.0.0.1:\(port)/?token=\(token.text)") { started(url) }
      },
      logger: logger)
    try await application.runService()
  }

  // MARK: Requests

  private func respond(to request: Request, on port: Int) async -> Response {
    let access = Guard(token: token, port: port)
    do {
      try access.checkPlace(request)
      if request.method == .get, request.uri.path == "/", let given = request.uri.queryParameters["token"] {
        guard token.matches(String(given)) else { throw Guard.Refusal.noToken }
        // The address without the secret is what stays in the browser's history.
        return response(.seeOther, text: "", [.location: "/", .setCookie: access.cookie])
      }
      try access.checkToken(request)
      return try await answer(request)
    } catch let refusal as Guard.Refusal {
      return response(.forbidden, text: refusal.words)
    } catch {
      return response(.badRequest, text: "The request can't be understood.")
    }
  }

  private func answer(_ request: Request) async throws -> Response {
    let path = String(request.uri.path.drop { $0 == "/" })
    guard path.hasPrefix("api/") else { return file(path.isEmpty ? "index.html" : path, request) }
    let method: StudioRequest.Method
    switch request.method {
    case .get: method = .get
    case .post: method = .post
    default: return response(.methodNotAllowed, text: "")
    }
    let body = method == .post ? try await request.body.collect(upTo: 16 << 20) : ByteBuffer()
    let answer = await session.answer(
      StudioRequest(
        method, String(path.dropFirst(4)), parameters: QueryParameters.read(request.uri.query ?? ""),
        body: Data(body.readableBytesView)))
    return response(answer)
  }

  private func file(_ path: String, _ request: Request) -> Response {
    guard request.method == .get, let file = StudioPage.file(path) else { return response(.notFound, text: "") }
    var bytes = file.bytes
    if let pageFolder, let changed = try? Data(contentsOf: pageFolder.appendingPathComponent(path)) {
      bytes = Array(changed)
    }
    var headers = SafeHeaders.fields(isPage: true)
    headers[.contentType] = file.type
    return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
  }

  // MARK: Responses

  private func response(_ answer: StudioAnswer) -> Response {
    var headers = SafeHeaders.fields(isPage: false)
    headers[.contentType] = answer.contentType
    if let name = answer.fileName { headers[.contentDisposition] = Self.disposition(name) }
    let body: ResponseBody
    switch answer.body {
    case .data(let data): body = ResponseBody(byteBuffer: ByteBuffer(bytes: data))
    case .pieces(let count, let next):
      body = ResponseBody(contentLength: count) { writer in
        while let piece = try await next() { try await writer.write(ByteBuffer(bytes: piece)) }
        try await writer.finish(nil)
      }
    }
    return Response(status: HTTPResponse.Status(code: answer.status), headers: headers, body: body)
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
    _ status: HTTPResponse.Status, text: String, _ fields: HTTPFields = [:]
  ) -> Response {
    var headers = SafeHeaders.fields(isPage: true)
    headers[.contentType] = "text/plain; charset=utf-8"
    for field in fields { headers[field.name] = field.value }
    return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
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

/// The port, known once the server is bound; requests wait for it.
private actor BoundPort {
  private var port: Int?
  private var waiting: [CheckedContinuation<Int, Never>] = []

  var value: Int {
    get async {
      if let port { return port }
      return await withCheckedContinuation { waiting.append($0) }
    }
  }

  func set(_ port: Int) {
    self.port = port
    for continuation in waiting { continuation.resume(returning: port) }
    waiting = []
  }
}
