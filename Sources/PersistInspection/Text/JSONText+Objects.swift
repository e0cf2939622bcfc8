import Foundation
package import Persist
package import PersistTools

extension JSONText {
  /// An object in the format of `dump`.
  package mutating func value(_ object: StoreContents.Object, properties: DumpedProperties) throws {
    try self.object { json in
      json.field("entity", object.entity.name)
      json.field("pk", object.key)
      json.key("attributes")
      try json.object { json in
        for property in properties.attributes {
          json.key(property.name)
          if property.attribute?.type == .decimal, let text = object.decimalText(of: property) {
            json.value(text)
          } else {
            json.value(try object.value(of: property))
          }
        }
      }
      json.key("relationships")
      try json.object { json in
        for property in properties.relationships {
          json.key(property.name)
          if property.isToMany {
            try json.array(of: object.members(of: property)) { $0.value($1) }
          } else if let target = object.target(of: property) {
            json.value(target)
          } else {
            json.null()
          }
        }
      }
    }
  }

  private mutating func value(_ id: ManagedObjectID) {
    object {
      $0.field("entity", id.entityName)
      $0.field("pk", id.primaryKey)
    }
  }

  /// A value, or the name of its missing file.
  package mutating func value(_ content: StoreContents.Content) {
    switch content {
    case .value(let value): self.value(value)
    case .missingFile(let name): object { $0.field("missingFile", name) }
    }
  }

  package mutating func value(_ value: StoredValue) {
    switch value {
    case .null: null()
    case .boolean(let value): self.value(value)
    case .integer(let value): self.value(value)
    case .double(let value): self.value(value)
    case .decimal(let value): self.value(value.description)
    case .string(let value), .uri(let value): self.value(value)
    case .date(let value): self.value(value.timeIntervalSinceReferenceDate)
    case .data(let value): self.value(value)
    case .uuid(let value): self.value(value.uuidString)
    case .objectID(let value): self.value(value)
    case .composite(let elements):
      object { json in
        for (name, element) in elements.sorted(by: { $0.key < $1.key }) {
          json.key(name)
          json.value(element)
        }
      }
    }
  }
}

/// The persistent properties of an entity in the order of `dump`: by name.
package struct DumpedProperties {
  package let attributes: [Property]
  package let relationships: [Property]

  package init(_ entity: Entity) {
    let persistent = entity.properties.filter { !$0.isTransient }.sorted { $0.name < $1.name }
    attributes = persistent.filter { $0.attribute != nil }
    relationships = persistent.filter { $0.relationship != nil }
  }

  /// The name of a table's column of keys: `pk`, or `_pk` if a property is named so.
  package var keyColumn: String {
    Self.free("pk", besides: (attributes + relationships).map(\.name))
  }

  /// A column's name with as many underscores before it as distinguish it from others.
  package static func free(_ column: String, besides names: some Sequence<String>) -> String {
    let names = Set(names)
    var column = column
    while names.contains(column) { column = "_" + column }
    return column
  }
}
