import Foundation
import HTTPTypes
import Hummingbird
import Notes

/// | route | does |
/// |---|---|
/// | `GET /notes?limit=20&offset=0` | lists notes, the oldest first |
/// | `POST /notes` | creates one with an identifier of the server's |
/// | `GET /notes/ID` | `If-None-Match` spares the client what it has |
/// | `PUT /notes/ID` | changes one, of the version in `If-Match`; creates one with `If-None-Match: *` |
/// | `DELETE /notes/ID` | deletes one, of the version in `If-Match` where there is one |
/// | `POST /backups` | copies the store; a real server asks who is calling |
struct NoteRoutes {
  let notes: NoteStore
  let backups: URL

  func add(to router: Router<BasicRequestContext>) {
    router.group("notes")
      .get(use: list)
      .post(use: create)
      .get(":id", use: get)
      .put(":id", use: put)
      .delete(":id", use: delete)
    router.post("backups", use: backUp)
  }

  @Sendable private func list(_ request: Request, _ context: BasicRequestContext) async throws -> [SavedNote] {
    let limit = request.uri.queryParameters.get("limit", as: Int.self) ?? 20
    let offset = request.uri.queryParameters.get("offset", as: Int.self) ?? 0
    guard (1...100).contains(limit), (0...1_000_000).contains(offset) else {
      throw HTTPError(.badRequest, message: "The limit is from 1 to 100, the offset from 0.")
    }
    return try await notes.notes(limit: limit, offset: offset)
  }

  @Sendable private func create(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
    let content = try await request.decode(as: NoteContent.self, context: context)
    return try answer(await notes.create(content), .created, to: request, context)
  }

  @Sendable private func get(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
    let note = try await notes.note(context.parameters.require("id", as: UUID.self))
    guard !request.matches(.ifNoneMatch, note) else {
      return Response(status: .notModified, headers: [.eTag: note.entityTag])
    }
    return try answer(note, .ok, to: request, context)
  }

  @Sendable private func put(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
    let id = try context.parameters.require("id", as: UUID.self)
    let content = try await request.decode(as: NoteContent.self, context: context)
    if request.headers[.ifNoneMatch] == "*" {
      return try answer(await notes.create(content, id: id), .created, to: request, context)
    }
    guard let version = try request.expectedVersion() else {
      throw HTTPError(.preconditionRequired, message: "Send If-Match with the entity tag that you have read.")
    }
    return try answer(await notes.update(id, to: content, ifVersion: version), .ok, to: request, context)
  }

  @Sendable private func delete(
    _ request: Request, _ context: BasicRequestContext
  ) async throws -> HTTPResponse.Status {
    let id = try context.parameters.require("id", as: UUID.self)
    try await notes.delete(id, ifVersion: request.expectedVersion())
    return .noContent
  }

  @Sendable private func backUp(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
    let name = "Notes-\(UUID().uuidString).sqlite"
    try await notes.backUp(to: backups.appendingPathComponent(name))
    return Response(status: .created, body: .init(byteBuffer: ByteBuffer(string: name)))
  }

  private func answer(
    _ note: SavedNote, _ status: HTTPResponse.Status, to request: Request, _ context: BasicRequestContext
  ) throws -> Response {
    var response = try context.responseEncoder.encode(note, from: request, context: context)
    response.status = status
    response.headers[.eTag] = note.entityTag
    response.headers[.location] = "/notes/\(note.id.uuidString)"
    return response
  }
}

extension SavedNote {
  /// A version of the row is a strong validator: each change of the note is another one.
  fileprivate var entityTag: String { "\"\(version)\"" }
}

extension Request {
  private func tags(_ header: HTTPField.Name) -> [String] {
    (headers[header] ?? "").split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
  }

  fileprivate func matches(_ header: HTTPField.Name, _ note: SavedNote) -> Bool {
    // Tags are compared weakly here, as RFC 9110 has it for this header: W/"3" is "3".
    tags(header).contains { $0 == "*" || $0 == note.entityTag || $0 == "W/\(note.entityTag)" }
  }

  /// The version that `If-Match` names; nil where there is no such header.
  fileprivate func expectedVersion() throws -> Int64? {
    let tags = tags(.ifMatch)
    guard let tag = tags.first else { return nil }
    guard tags.count == 1, tag.count > 2, tag.first == "\"", tag.last == "\"",
      let version = Int64(tag.dropFirst().dropLast())
    else { throw HTTPError(.preconditionFailed, message: "If-Match has none of this server's entity tags.") }
    return version
  }
}
