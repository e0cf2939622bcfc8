import Foundation
import Persist
import PersistInspection
import PersistTools

extension JSONText {
  private static let longestText = 65536

  /// An attribute of an object: its type, and its value in a form from which nothing is lost.
  mutating func attribute(_ property: Property, of object: StoreContents.Object) throws {
    guard let attribute = property.attribute else { return }
    try self.object { json in
      json.field("name", attribute.name)
      json.field("type", attribute.type.rawValue)
      json.field("isOptional", attribute.isOptional)
      json.field("isTransient", attribute.isTransient)
      json.field("isDerived", attribute.isDerived)
      guard !attribute.isTransient else { return }
      if attribute.type == .decimal {
        let text = object.decimalText(of: property)
        json.field("kind", text == nil ? "null" : "decimal")
        json.field("text", text)
      } else {
        switch try object.value(of: property) {
        case .missingFile(let name):
          json.field("kind", "missingFile")
          json.field("text", name)
        case .value(let value): json.fields(of: value)
        }
      }
    }
  }

  /// The fields of a value: its kind, and what this kind of value needs.
  private mutating func fields(of value: StoredValue) {
    switch value {
    case .null: field("kind", "null")
    case .boolean, .integer, .double, .decimal, .uuid, .objectID:
      field("kind", value.kindName)
      field("text", ValueText.text(value))
    case .date(let date):
      field("kind", "date")
      let text = DateText.iso8601(date)
      let exactText = DateText.exactText(date)
      field("text", text)
      if exactText != text { field("exactText", exactText) }
      field("seconds", date.timeIntervalSinceReferenceDate)
    case .string(let text), .uri(let text):
      field("kind", value.kindName)
      field("length", text.utf16.count)
      let shown = text.prefix(Self.longestText)
      field("text", String(shown))
      field("isCut", shown.endIndex != text.endIndex)
    case .data(let data):
      field("kind", "bytes")
      key("bytes")
      self.value(BytesDescription(data))
    case .composite(let elements):
      field("kind", "composite")
      field("elements", of: elements.sorted { $0.key < $1.key }) { json, element in
        json.object { json in
          json.field("name", element.key)
          json.fields(of: element.value)
        }
      }
    }
  }

  /// An object as a link: its identifier and its name.
  mutating func link(_ id: ManagedObjectID, _ names: [ManagedObjectID: String]) {
    object {
      $0.field("entity", id.entityName)
      $0.field("key", id.keyText)
      $0.field("name", names[id])
    }
  }
}

extension StoredValue {
  fileprivate var kindName: String {
    switch self {
    case .null: "null"
    case .boolean: "boolean"
    case .integer: "integer"
    case .double: "double"
    case .decimal: "decimal"
    case .string: "text"
    case .date: "date"
    case .data: "bytes"
    case .uuid: "uuid"
    case .uri: "uri"
    case .objectID: "objectID"
    case .composite: "composite"
    }
  }
}
