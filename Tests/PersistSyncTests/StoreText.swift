import Foundation
import Persist

extension Device {
  /// Everything in the store, without the keys of rows.
  func contents() throws -> [String] { try coordinator.contents() }
}

extension PersistentStoreCoordinator {
  /// Everything in the store, without the keys of rows.
  func contents() throws -> [String] {
    let context = ManagedObjectContext(self)
    return try managedObjectModel.entities.filter { $0.superentity == nil }.flatMap { entity in
      try context.fetch(FetchRequest<ManagedObject>(entity.name)).map { try Self.text(of: $0) }
    }.sorted()
  }

  /// A composite value in one order.
  private static func text(_ parts: [String: Any]) -> String {
    let parts = parts.sorted { $0.key < $1.key }.map { name, part in
      "\(name): \((part as? [String: Any]).map(text) ?? "\(part)")"
    }
    return "[\(parts.joined(separator: ", "))]"
  }

  private static func values(of object: ManagedObject) -> String {
    object.entity.attributes.filter { !$0.isTransient }.sorted { $0.name < $1.name }.map { attribute in
      switch object[attribute.name] {
      case nil: "\(attribute.name)=nil"
      case let data as Data: "\(attribute.name)=\(data.count) bytes"
      case let parts as [String: Any]: "\(attribute.name)=\(text(parts))"
      case let date as Date: "\(attribute.name)=\(date.timeIntervalSinceReferenceDate)"
      case let value?: "\(attribute.name)=\(value)"
      }
    }.joined(separator: " ")
  }

  private static func text(of object: ManagedObject) throws -> String {
    let related = try object.entity.relationships.sorted { $0.name < $1.name }.map { relationship in
      guard relationship.isToMany else {
        let other = object[relationship.name] as? ManagedObject
        return "\(relationship.name): \(other.map(values) ?? "nil")"
      }
      let members = try object.many(relationship.name).map(values)
      return "\(relationship.name): [\((relationship.isOrdered ? members : members.sorted()).joined(separator: "; "))]"
    }
    return "\(object.entity.name) \(values(of: object)) | \(related.joined(separator: " | "))"
  }
}
