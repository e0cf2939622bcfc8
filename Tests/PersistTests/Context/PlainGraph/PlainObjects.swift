import Foundation
import Persist
import Testing

/// The framework's objects by the numbers that the plain graph gives them.
struct PlainObjects {
  let context: ManagedObjectContext
  var byNumber: [Int: ManagedObject] = [:]

  init(_ context: ManagedObjectContext) { self.context = context }

  /// All that a context finds, possibly with everything that is related to it.
  init(fetching context: ManagedObjectContext, prefetching: Bool = false) throws {
    self.context = context
    for root in PlainSchema.roots {
      var request = FetchRequest(root)
      if prefetching {
        let relationships = PlainSchema.relationships.filter { $0.entity == root }
        request.relationshipKeyPathsForPrefetching = relationships.map(\.name)
      }
      for object in try context.fetch(request) { try add(object) }
    }
  }

  mutating func add(_ object: ManagedObject) throws {
    let name = try demand(object["name"] as? String, "\(object) has no name")
    byNumber[try demand(Int(name), "\(name) is no number")] = object
  }

  /// The objects of another context that are alive there, as those of this one.
  mutating func add(contentsOf other: PlainObjects) {
    for (number, object) in other.byNumber where !object.isDeleted && object.managedObjectContext != nil {
      if byNumber[number]?.managedObjectContext == nil {
        byNumber[number] = context.registeredObject(for: object.objectID) ?? byNumber[number]
      }
    }
  }

  subscript(number: Int) -> ManagedObject {
    get throws { present(try demand(byNumber[number], "no object \(number)")) }
  }

  /// Lets go of every object and finds them again. Deleted ones are kept, since undo may bring them back.
  mutating func forget(prefetching: Bool) throws {
    byNumber = byNumber.filter { $0.value.isDeleted || $0.value.managedObjectContext == nil }
    let found = try PlainObjects(fetching: context, prefetching: prefetching).byNumber
    byNumber.merge(found) { $1 }
  }

  mutating func apply(_ edit: PlainEdit) throws {
    switch edit {
    case .make(let id, let entity):
      let object = try context.create(entity)
      object["name"] = "\(id)"
      object["value"] = 0
      byNumber[id] = object
    case .value(let id, let value): try self[id]["value"] = value
    case .note(let id, let note): try self[id]["note"] = note
    case .blob(let id, let blob): try self[id]["blob"] = blob.map(Self.data)
    case .set(let id, let name, let other): try self[id].setValue(try other.map { try self[$0] }, forKey: name)
    case .insert(let id, let name, let other, let index):
      let members = try self[id].related(name)
      guard let index else { return members.insert(try self[other]) }
      // A place that isn't there would stop the test.
      try demand(index <= members.count, "\(id).\(name) has only \(members.count) members")
      members.insert(try self[other], at: index)
    case .remove(let id, let name, let other): try self[id].related(name).remove(try self[other])
    case .replace(let id, let name, let members): try self[id].related(name).replace(with: members.map { try self[$0] })
    case .delete(let id): context.delete(try self[id])
    }
  }

  /// Odd numbers are large enough for a file of their own.
  private static func data(_ number: Int) -> Data {
    Data(repeating: UInt8(truncatingIfNeeded: number), count: number.isMultiple(of: 2) ? number : 110_000 + number)
  }

  private static func number(_ data: Data) -> String {
    let number = Int(data.first ?? 0)
    return data == self.data(number) ? "\(number)" : "damaged"
  }

  /// The object that took the place of one that left the context, as a child may have brought it back.
  private func present(_ object: ManagedObject) -> ManagedObject {
    guard object.managedObjectContext == nil, let other = context.registeredObject(for: object.objectID) else {
      return object
    }
    // A fault knows that its row is gone once it was read.
    _ = other["name"]
    return other.isDeleted ? object : other
  }

  private var alive: [(key: Int, value: ManagedObject)] {
    byNumber.mapValues(present).filter { $0.value.managedObjectContext === context && !$0.value.isDeleted }.sorted { $0.key < $1.key }
  }

  /// Every property of every object that is alive.
  func state() throws -> PlainState {
    var state = PlainState()
    for (number, object) in alive {
      var properties = [
        "entity": object.entity.name, "value": "\(object["value"] ?? "none")", "note": "\(object["note"] ?? "none")",
      ]
      properties["blob"] = (object["blob"] as? Data).map(Self.number) ?? "none"
      for side in PlainSchema.relationships(of: object.entity.name) {
        if side.isToMany {
          let names = try object.related(side.name).compactMap(name)
          let sorted = side.isOrdered ? names : names.sorted { (Int($0) ?? 0) < (Int($1) ?? 0) }
          properties[side.name] = sorted.joined(separator: ",")
        } else {
          properties[side.name] = (object[side.name] as? ManagedObject).flatMap(name) ?? "none"
        }
      }
      state.objects[number] = properties
    }
    return state
  }

  /// Nil for what is gone, which a fault only knows once it was read.
  private func name(_ object: ManagedObject) -> String? {
    let name = object["name"] as? String
    return object.isDeleted ? nil : name ?? "?"
  }

  /// To-many relationships that have members which are gone, or others than ``RelationshipSet/contains(_:)`` says.
  ///
  /// - Parameter isInStep: Whether the context has merged what others have deleted.
  func strays(isInStep: Bool = true) throws -> [String] {
    try alive.flatMap { number, object -> [String] in
      let sides = PlainSchema.relationships(of: object.entity.name).filter(\.isToMany)
      return try sides.filter { isInStep || $0.inverse != nil }.compactMap { side -> String? in
        let members = try object.related(side.name)
        guard members.contains(where: { $0.isDeleted || !members.contains($0) }) else { return nil }
        return "\(number).\(side.name) has \(members.map { "\($0["name"] ?? "?")\($0.isDeleted ? " gone" : "")" })"
      }
    }
  }
}
