public import Foundation
import Persist
public import PersistSync

/// A request to a hub over HTTP, in a form that every server can make of its own.
public struct SyncHubRequest: Sendable {
  /// The method, in capital letters.
  public var method: String
  /// The path below the hub's own, without a leading slash: `changes/6F1C…/17`.
  public var path: String
  /// The header fields; names in lower-case letters.
  public var headers: [String: String]
  /// The body.
  public var body: Data

  /// Creates a request from its parts.
  public init(method: String, path: String, headers: [String: String] = [:], body: Data = Data()) {
    (self.method, self.path, self.body) = (method, path, body)
    self.headers = Dictionary(headers.map { ($0.key.lowercased(), $0.value) }, uniquingKeysWith: { $1 })
  }
}

/// The response of a hub over HTTP.
public struct SyncHubResponse: Sendable {
  /// The status code.
  public var status: Int
  /// The header fields.
  public var headers: [String: String]
  /// The body.
  public var body: Data

  /// Creates a response from its parts.
  public init(status: Int, headers: [String: String] = [:], body: Data = Data()) {
    (self.status, self.headers, self.body) = (status, headers, body)
  }
}

/// The server's side of a hub over HTTP, for any server to mount.
///
/// ```swift
/// let server = SyncHubServer(FolderHub(folder)) { request in
///   tokens.contains(request.headers["authorization"] ?? "")
/// }
/// let response = await server.response(to: request)
/// ```
///
/// | request | response |
/// |---|---|
/// | `POST entries`, body: lines of a replica and its last known number | lines of later entries |
/// | `GET changes/REPLICA/NUMBER` | the content; 404 |
/// | `HEAD changes/REPLICA/NUMBER` | 200; 404 |
/// | `PUT changes/REPLICA/NUMBER` | 204; 409 for other content; 422 if it is no set of this entry; 426 if too new |
/// | `DELETE changes/REPLICA/NUMBER` | 204 |
/// | `GET parts` | lines of the parts of large values |
/// | `GET positions` | the positions as JSON |
/// | `PUT positions/REPLICA` | 204 |
/// | `DELETE positions/REPLICA` | 204 |
///
/// The statuses 403, 422 and 426 have a reason as text.
public struct SyncHubServer: Sendable {
  private let hub: @Sendable (SyncHubRequest) async throws -> (any SyncHub)?
  private let maximumSize: Int

  /// Creates the server's side of a hub.
  ///
  /// - Parameters:
  ///   - hub: The hub where everything is stored.
  ///   - maximumSize: The maximum size of a body in bytes.
  ///   - allows: Whether to serve a request; others get the status 403. Authenticate the user, and decide whether
  ///     to allow the deletion of change sets, which a compaction needs.
  public init(
    _ hub: any SyncHub, maximumSize: Int = 64 << 20, allows: @escaping @Sendable (SyncHubRequest) async throws -> Bool
  ) {
    self.init(maximumSize: maximumSize) { try await allows($0) ? hub : nil }
  }

  /// Creates the server's side of hubs that depend on the user.
  ///
  /// ```swift
  /// let server = SyncHubServer { request in
  ///   guard let user = users[request.headers["authorization"] ?? ""] else { return nil }
  ///   return try ScopedHub(hub, server: replica, user: user.name, scope: user.scope)
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - maximumSize: The maximum size of a body in bytes.
  ///   - hub: Returns the hub that serves a request, for the user whom the request's header fields authenticate; nil to
  ///     respond with the status 403.
  public init(
    maximumSize: Int = 64 << 20, hub: @escaping @Sendable (SyncHubRequest) async throws -> (any SyncHub)?
  ) {
    (self.maximumSize, self.hub) = (maximumSize, hub)
  }

  /// Serves a request. An error of the hub becomes the status 500 without further information.
  public func response(to request: SyncHubRequest) async -> SyncHubResponse {
    do {
      guard let hub = try await hub(request) else { return SyncHubResponse(status: 403) }
      guard request.body.count <= maximumSize else { return SyncHubResponse(status: 413) }
      return try await serve(request, hub)
    } catch let error as PersistenceError where Self.statuses[error.code] != nil {
      return SyncHubResponse(
        status: Self.statuses[error.code] ?? 500, headers: ["content-type": "text/plain; charset=utf-8"],
        body: Data(error.message.utf8))
    } catch {
      return SyncHubResponse(status: 500)
    }
  }

  /// The errors that are the device's.
  private static let statuses: [PersistenceError.Code: Int] = [
    .malformedFile: 422, .newerStore: 426, .incompatibleModel: 426, .invalidRequest: 403,
  ]

  private func serve(_ request: SyncHubRequest, _ hub: any SyncHub) async throws -> SyncHubResponse {
    let parts = request.path.split(separator: "/", omittingEmptySubsequences: true).map(String.init)
    switch (request.method, parts.first, parts.count) {
    case ("POST", "entries"?, 1):
      guard let numbers = SyncEntryLines.numbers(in: request.body) else { return SyncHubResponse(status: 400) }
      return SyncHubResponse(
        status: 200, headers: ["content-type": "text/plain"],
        body: SyncEntryLines.data(try await hub.entries(after: numbers)))
    case (_, "changes"?, 3):
      guard let replica = UUID(uuidString: parts[1]), let number = Int64(parts[2]), number > 0 else {
        return SyncHubResponse(status: 400)
      }
      return try await serve(request, SyncEntry(replica: replica, number: number), hub)
    case ("GET", "parts"?, 1):
      return SyncHubResponse(
        status: 200, headers: ["content-type": "text/plain"], body: SyncEntryLines.data(try await hub.parts()))
    case ("GET", "positions"?, 1):
      return SyncHubResponse(
        status: 200, headers: ["content-type": "application/json"],
        body: try JSONEncoder().encode(try await hub.positions()))
    case ("PUT", "positions"?, 2):
      guard let position = try? JSONDecoder().decode(ReplicaPosition.self, from: request.body),
        position.replica.uuidString == parts[1].uppercased()
      else { return SyncHubResponse(status: 400) }
      try await hub.setPosition(position)
      return SyncHubResponse(status: 204)
    case ("DELETE", "positions"?, 2):
      guard let replica = UUID(uuidString: parts[1]) else { return SyncHubResponse(status: 400) }
      try await hub.removePositions(of: [replica])
      return SyncHubResponse(status: 204)
    default: return SyncHubResponse(status: 404)
    }
  }

  private func serve(
    _ request: SyncHubRequest, _ entry: SyncEntry, _ hub: any SyncHub
  ) async throws -> SyncHubResponse {
    switch request.method {
    case "GET":
      guard let content = try await hub.content(of: entry) else { return SyncHubResponse(status: 404) }
      return SyncHubResponse(status: 200, headers: ["content-type": "application/octet-stream"], body: content)
    case "HEAD": return SyncHubResponse(status: try await hub.contains(entry) ? 200 : 404)
    case "PUT" where entry.isPart:
      guard entry.isPart(of: request.body) else { return SyncHubResponse(status: 422) }
      return SyncHubResponse(status: try await hub.put(request.body, as: entry) ? 204 : 409)
    case "PUT":
      guard let set = try? ChangeSet(request.body), set.entry == entry else { return SyncHubResponse(status: 422) }
      return SyncHubResponse(status: try await hub.put(request.body, as: entry) ? 204 : 409)
    case "DELETE":
      try await hub.remove([entry])
      return SyncHubResponse(status: 204)
    default: return SyncHubResponse(status: 405)
    }
  }
}

/// Entries as lines of text: a replica, a space and a number.
enum SyncEntryLines {
  static func data(_ entries: [SyncEntry]) -> Data {
    Data(entries.map { "\($0.replica.uuidString) \($0.number)\n" }.joined().utf8)
  }

  static func data(_ numbers: [UUID: Int64]) -> Data {
    data(numbers.map { SyncEntry(replica: $0.key, number: $0.value) }.sorted())
  }

  /// Nil if a line is something else.
  static func entries(in data: Data) -> [SyncEntry]? {
    var entries: [SyncEntry] = []
    for line in String(decoding: data, as: UTF8.self).split(separator: "\n") {
      let parts = line.split(separator: " ")
      guard parts.count == 2, let replica = UUID(uuidString: String(parts[0])), let number = Int64(parts[1]),
        number > 0
      else { return nil }
      entries.append(SyncEntry(replica: replica, number: number))
    }
    return entries
  }

  static func numbers(in data: Data) -> [UUID: Int64]? {
    entries(in: data).map { Dictionary($0.map { ($0.replica, $0.number) }, uniquingKeysWith: max) }
  }
}
