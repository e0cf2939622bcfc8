import Foundation
import Persist
import PersistInspection
import PersistTools

extension StudioSession {
  /// The number of members that an object's answer contains.
  private static let shownMembers = 20
  private static let longestWindow = 500

  /// All values of an object, and its relationships in both directions.
  func object(_ request: StudioRequest) throws -> StudioAnswer {
    let form = try request.decoded(ObjectForm.self)
    let context = try store.context()
    let names = ObjectNames(chosen: form.naming ?? [:], store: store, context: context)
    let id = try existing(form)
    let reader = RelatedObjectsReader(context: context, id: id)
    let entity = try context.entity(named: id.entityName)
    let related = try entity.relationships.filter { !$0.isTransient }.map { relationship in
      (relationship, try reader.members(of: relationship, start: 0, count: Self.shownMembers))
    }
    let referrers = try reader.referrers(limit: Self.shownMembers)
    let known = try names.names(of: [id] + related.flatMap(\.1.ids) + referrers.flatMap(\.ids))
    return try store.withContents { contents in
      var answer: StudioAnswer?
      try contents.forEachObject([id]) { object in
        answer = try StudioAnswer.json { json in
          json.field("entity", id.entityName)
          json.field("key", id.keyText)
          json.field("uri", id.description)
          json.field("name", known[id])
          json.field("naming", names.attribute(of: entity)?.name)
          try json.field("attributes", of: entity.properties.filter { $0.attribute != nil }) {
            try $0.attribute($1, of: object)
          }
          json.field("relationships", of: related) { json, related in
            json.object { json in
              json.fields(of: related.0)
              json.members(related.1.ids, total: related.1.total, known)
            }
          }
          json.field("referrers", of: referrers) { json, referrer in
            json.object { json in
              json.field("entity", referrer.entity.name)
              json.field("name", referrer.name)
              json.members(referrer.ids, total: referrer.total, known)
            }
          }
        }
      }
      guard let answer else { throw Self.notFound(form) }
      return answer
    }
  }

  /// A window of the members of a relationship.
  func members(_ request: StudioRequest) throws -> StudioAnswer {
    let form = try request.decoded(ObjectForm.self)
    let context = try store.context()
    let id = try existing(form)
    let entity = try context.entity(named: id.entityName)
    guard let name = form.property, let relationship = entity.relationship(named: name) else {
      throw PersistenceError(
        .unknownProperty, at: .entity(entity.name), "\(entity.name) has no relationship '\(form.property ?? "")'.")
    }
    let count = form.count ?? Self.shownMembers
    guard let start = form.start, (0...Int.max - Self.longestWindow).contains(start),
      (0...Self.longestWindow).contains(count)
    else {
      throw PersistenceError(
        .invalidRequest, "A window begins within the members and has at most \(Self.longestWindow) of them.")
    }
    let members = try RelatedObjectsReader(context: context, id: id).members(
      of: relationship, start: start, count: count)
    let names = try ObjectNames(chosen: form.naming ?? [:], store: store, context: context).names(of: members.ids)
    return StudioAnswer.json { $0.members(members.ids, total: members.total, names) }
  }

  /// The whole value of an attribute: shown if it is a picture, otherwise for storing as a file.
  func value(_ request: StudioRequest) throws -> StudioAnswer {
    let form = ObjectForm(entity: try request.parameter("entity"), key: ObjectKey(value: try request.number("key")))
    let name = try request.parameter("property")
    let id = try existing(form)
    let value = try store.withContents { contents in
      var found: StoreContents.Content?
      try contents.forEachObject([id]) { object in
        guard let property = object.entity.property(named: name), property.attribute != nil else {
          throw PersistenceError(
            .unknownProperty, at: .property(id.entityName, name), "\(id.entityName) has no attribute '\(name)'.")
        }
        found = try object.value(of: property)
      }
      return found
    }
    let fileName = "\(id.entityName)-\(form.key.value)-\(name)"
    switch value {
    case .value(.data(let data))?:
      if request.parameters["shows"] != nil, let type = BytesDescription.pictureType(of: data) {
        return StudioAnswer(contentType: type, body: .streaming(data))
      }
      return StudioAnswer(contentType: "application/octet-stream", fileName: fileName, body: .streaming(data))
    case .value(let value)?:
      let text = Data((ValueText.text(value) ?? "").utf8)
      return StudioAnswer(
        contentType: "text/plain; charset=utf-8", fileName: fileName + ".txt", body: .streaming(text))
    case .missingFile(let file)?:
      throw PersistenceError(
        .objectNotFound, at: .property(id.entityName, name), "The value's file '\(file)' is missing.",
        fix: "Restore it from a backup, beside the store.")
    case nil: throw Self.notFound(form)
    }
  }

  /// The identifier of an object under its own entity, which may be a subentity of the named one.
  private func existing(_ form: ObjectForm) throws -> ManagedObjectID {
    guard let id = try found(form) else { throw Self.notFound(form) }
    return id
  }

  /// - Returns: nil if there is no such object.
  func found(_ form: ObjectForm) throws -> ManagedObjectID? {
    let named = try store.model.entity(named: form.entity)
    let candidates = [named] + store.model.entities.filter { $0 != named && $0.isKind(of: named) }
    let ids = candidates.map { store.identifier($0.name, form.key.value) }
    return try store.withContents { contents in
      for id in ids {
        var isThere = false
        try contents.forEachObject([id]) { _ in isThere = true }
        if isThere { return id }
      }
      return nil
    }
  }

  private static func notFound(_ form: ObjectForm) -> PersistenceError {
    PersistenceError(
      .objectNotFound, at: .entity(form.entity), "The store has no object \(form.entity) \(form.key.value).",
      fix: "It may have been deleted.")
  }
}

extension JSONText {
  fileprivate mutating func fields(of relationship: RelationshipDescription) {
    field("name", relationship.name)
    field("destination", relationship.destination)
    field("inverse", relationship.inverse)
    field("isToMany", relationship.isToMany)
    field("isOrdered", relationship.isOrdered)
    field("isOptional", relationship.isOptional)
    field("deleteRule", String(describing: relationship.deleteRule))
  }

  fileprivate mutating func members(_ ids: [ManagedObjectID], total: Int, _ names: [ManagedObjectID: String]) {
    field("total", total)
    field("members", of: ids) { $0.link($1, names) }
  }
}

extension StudioAnswer.Body {
  private static let pieceSize = 256 << 10

  /// Data that is sent in pieces, so that it isn't copied as a whole.
  static func streaming(_ data: Data) -> StudioAnswer.Body {
    guard data.count > pieceSize else { return .data(data) }
    let position = LockProtected(0)
    return .pieces(count: data.count) {
      let start = position.withLock { position in
        defer { position += pieceSize }
        return position
      }
      return start < data.count ? data.dropFirst(start).prefix(pieceSize) : nil
    }
  }
}
