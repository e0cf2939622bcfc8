import Foundation
import Persist
import PersistInspection
import PersistTools

extension StudioStore {
  /// The store and its model, without any row.
  func overview() throws -> StudioAnswer {
    let bytes = url.isFileURL ? Self.size(ofStoreAt: url) : nil
    return StudioAnswer.json { json in
      json.field("name", StoreArgument.shortName(of: url))
      json.field("path", StoreArgument.name(of: url))
      json.field("bytes", bytes)
      json.field("identifier", metadata.identifier)
      json.field("type", metadata.type)
      json.field("version", versionName)
      json.field("versionIdentifiers", strings: metadata.versionIdentifiers.filter { !$0.isEmpty })
      json.field("modelFrom", origin.rawValue)
      json.field("isWritable", isWritable)
      json.field("hasHistory", hasHistory)
      json.field("hasModels", registry != nil)
      json.field("gaps", strings: gaps)
      json.field("notes", strings: notes.map(\.message))
      json.field("entities", of: model.entities.sorted { $0.name < $1.name }) { json, entity in
        json.object { $0.fields(of: entity) }
      }
    }
  }

  private static func size(ofStoreAt url: URL) -> Int {
    let files = ["", "-wal"].map { URL(fileURLWithPath: url.path + $0) }
    return files.compactMap { try? $0.resourceValues(forKeys: [.fileSizeKey]).fileSize }.reduce(0, +)
  }

  /// The number of objects of each entity, without those of its subentities.
  func counts() throws -> StudioAnswer {
    let counts = try withContents { contents in
      try contents.model.entities.map { ($0.name, try contents.count(of: $0)) }
    }
    lastCounts.withLock { $0 = Dictionary(uniqueKeysWithValues: counts) }
    return StudioAnswer.json { json in
      json.key("counts")
      json.object { json in
        for (name, count) in counts { json.field(name, count) }
      }
    }
  }

  /// The number of objects of an entity and its subentities when they were last counted; nil if they never were.
  func lastCount(of entity: Entity) -> Int? {
    let counts = lastCounts.withLock { $0 }
    guard !counts.isEmpty else { return nil }
    return model.entities.filter { $0.isKind(of: entity) }.reduce(0) { $0 + (counts[$1.name] ?? 0) }
  }
}

extension JSONText {
  fileprivate mutating func fields(of entity: Entity) {
    field("name", entity.name)
    field("parent", entity.superentity?.name)
    field("isAbstract", entity.isAbstract)
    field("naming", NamingAttribute.guess(for: entity))
    field("attributes", of: entity.properties.compactMap { $0.attribute == nil ? nil : $0 }) { json, property in
      guard let attribute = property.attribute else { return }
      let marks = PropertyMarks(of: property, in: entity)
      json.object { json in
        json.field("name", attribute.name)
        json.field("type", attribute.type.rawValue)
        json.field("isOptional", attribute.isOptional)
        json.field("isTransient", attribute.isTransient)
        json.field("isFullText", marks.isFullText)
        json.field("marks", strings: marks.words)
        json.field("derivation", attribute.derivation)
        json.field("declaredIn", property.declaringEntity)
        json.field("elements", of: property.elements) { json, element in
          json.object {
            $0.field("path", element.path.dropFirst().joined(separator: "."))
            $0.field("type", element.attribute.type.rawValue)
          }
        }
      }
    }
    field("relationships", of: entity.properties.filter { $0.relationship != nil }) { json, property in
      guard let relationship = property.relationship else { return }
      json.object { json in
        json.field("name", relationship.name)
        json.field("destination", relationship.destination)
        json.field("inverse", relationship.inverse)
        json.field("isToMany", relationship.isToMany)
        json.field("isOrdered", relationship.isOrdered)
        json.field("isOptional", relationship.isOptional)
        json.field("isTransient", relationship.isTransient)
        json.field("deleteRule", String(describing: relationship.deleteRule))
        json.field("declaredIn", property.declaringEntity)
      }
    }
  }
}
