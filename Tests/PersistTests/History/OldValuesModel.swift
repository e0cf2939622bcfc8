import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistModel

/// The model of histories with everything else whose old values are kept: composite, decimal and derived attributes, a
/// relationship without an inverse, one-to-one, into a hierarchy, and ordered ones.
enum OldValuesModel {
  static func description() -> ModelDescription {
    var description = HistoryModel.description
    for index in description.entities.indices {
      switch description.entities[index].name {
      case "Person":
        description.entities[index].attributes += [
          .init("home", .composite, compositeName: "Place"), .init("wealth", .decimal), .init("born", .date),
        ]
      case "Team":
        description.entities[index].relationships.append(.init("notes", toMany: "Note"))
      case "Tag":
        description.entities[index].relationships.append(.init("chief", to: "Person", inverse: "chiefTag"))
      default: break
      }
      if description.entities[index].name == "Person" {
        description.entities[index].relationships.append(.init("chiefTag", to: "Tag", inverse: "chief"))
      }
    }
    description.entities.append(EntityDescription("Note", attributes: [.init("text", .string)]))
    description.composites = [
      CompositeDescription("Place", elements: [.init("city", .string), .init("height", .double)])
    ]
    return description
  }

  static func make() throws -> ManagedObjectModel { try ManagedObjectModel(description()) }
}

/// Everything that a store holds: by identifier, attributes, destinations and members.
func contents(_ coordinator: PersistentStoreCoordinator) throws -> [String: [String: String]] {
  let context = ManagedObjectContext(coordinator)
  var contents: [String: [String: String]] = [:]
  for entity in coordinator.managedObjectModel.entities where entity.superentity == nil {
    for object in try context.fetch(FetchRequest(entity.name)) {
      var values: [String: String] = [:]
      for property in object.entity.properties {
        if let attribute = property.attribute {
          let elements = object[property.name] as? [String: Any]
          values[property.name] = attribute.type == .composite
            ? elements?.map { "\($0.key) \($0.value)" }.sorted().joined(separator: ", ") ?? "nil"
            : object[property.name].map { "\($0)" } ?? "nil"
        }
        guard let relationship = property.relationship else { continue }
        if relationship.isToMany {
          values[property.name] = try object.many(property.name).map(\.objectID.description).sorted()
            .joined(separator: " ")
        } else {
          values[property.name] = object.one(property.name)?.objectID.description ?? "nil"
        }
      }
      contents[object.objectID.description] = values
    }
  }
  return contents
}
