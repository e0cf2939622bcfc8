import Foundation
import Persist

/// Converts documents to XML and back.
struct MarkupDocument {
  private let url: URL

  init(_ url: URL) { self.url = url }

  // MARK: Writing

  /// The document as XML, with one object after another.
  func text(of document: StoreDocument) throws -> String {
    var root = """
      <?xml version="1.0" encoding="UTF-8"?>
      <document format="\(StoreDocument.format)" identifier="\(document.identifier.escapedForMarkup)">
      <model>\(document.model.json.escapedForMarkup)</model>

      """
    if let metadata = try document.metadataText() { root += "<metadata>\(metadata)</metadata>\n" }
    for (entity, key) in document.lastKeys.sorted(by: { $0.key < $1.key }) {
      root += "<last entity=\"\(entity.escapedForMarkup)\" key=\"\(key)\"/>\n"
    }
    for object in document.objects { root += Self.element(object).markup + "\n" }
    return root + "</document>\n"
  }

  private static func element(_ object: StoreDocument.Object) -> MarkupElement {
    var element = MarkupElement(
      name: "object",
      attributes: ["entity": object.entity, "key": "\(object.key)", "version": "\(object.version)"], line: 0)
    for (name, value) in object.values.sorted(by: { $0.key < $1.key }) {
      element.children.append(Self.element(value, named: name))
    }
    for (name, reference) in object.references.sorted(by: { $0.key < $1.key }) {
      element.children.append(
        MarkupElement(
          name: "reference",
          attributes: ["name": name, "entity": reference.entity, "key": "\(reference.key)"], line: 0))
    }
    for (name, keys) in object.members.sorted(by: { $0.key < $1.key }) {
      var members = MarkupElement(name: "members", attributes: ["name": name], line: 0)
      members.text = keys.map(String.init).joined(separator: " ")
      element.children.append(members)
    }
    return element
  }

  private static func element(_ value: StoredValue, named name: String) -> MarkupElement {
    func element(_ type: String, _ text: String) -> MarkupElement {
      var element = MarkupElement(name: "value", attributes: ["name": name, "type": type], line: 0)
      element.text = text
      return element
    }
    switch value {
    case .null: return element("null", "")
    case .boolean(let flag): return element("boolean", "\(flag)")
    case .integer(let number): return element("integer", "\(number)")
    case .double(let number): return element("double", "\(number)")
    case .date(let date): return element("date", "\(date.timeIntervalSinceReferenceDate)")
    case .decimal(let number): return element("decimal", number.description)
    case .string(let text):
      // XML has no form for other control characters.
      let isPlain = text.unicodeScalars.allSatisfy {
        $0.value >= 0x20 && $0.value & 0xFFFE != 0xFFFE || ["\t", "\n", "\r"].contains($0)
      }
      return isPlain ? element("string", text) : element("bytes", Data(text.utf8).base64EncodedString())
    case .data(let data): return element("data", data.base64EncodedString())
    case .uuid(let uuid): return element("uuid", uuid.uuidString)
    case .uri(let text): return element("uri", Data(text.utf8).base64EncodedString())
    case .objectID(let id):
      return element("uri", Data(id.uriRepresentation().absoluteString.utf8).base64EncodedString())
    case .composite(let elements):
      var composite = element("composite", "")
      composite.children = elements.sorted { $0.key < $1.key }.map { Self.element($0.value, named: $0.key) }
      return composite
    }
  }

  // MARK: Reading

  func document(_ root: MarkupElement) throws -> StoreDocument {
    guard root.name == "document" else { throw malformed("The root element is <\(root.name)>, not <document>.", root) }
    try StoreDocument.requireFormat(try number(root, "format"))
    guard let model = root.children(named: "model").first else { throw malformed("There is no <model>.", root) }
    var lastKeys: [String: Int64] = [:]
    for last in root.children(named: "last") { lastKeys[try text(last, "entity")] = try number(last, "key") }
    return StoreDocument(
      identifier: try text(root, "identifier"),
      model: try ModelDescription(json: Data(model.text.utf8), from: url),
      metadata: try StoreDocument.metadata(root.children(named: "metadata").first?.text), lastKeys: lastKeys,
      objects: try root.children(named: "object").map(object))
  }

  private func object(_ element: MarkupElement) throws -> StoreDocument.Object {
    var object = StoreDocument.Object(
      entity: try text(element, "entity"), key: try number(element, "key"), version: try number(element, "version"))
    for child in element.children {
      let name = try text(child, "name")
      switch child.name {
      case "value": object.values[name] = try value(child)
      case "reference":
        object.references[name] = StoreDocument.Reference(
          entity: try text(child, "entity"), key: try number(child, "key"))
      case "members":
        object.members[name] = try child.text.split(separator: " ").map { word in
          guard let key = Int64(word) else { throw malformed("'\(word)' isn't a key.", child) }
          return key
        }
      default: throw malformed("An object has no <\(child.name)>.", child)
      }
    }
    return object
  }

  private func value(_ element: MarkupElement) throws -> StoredValue {
    let (type, text) = (try self.text(element, "type"), element.text)
    let value: StoredValue? =
      switch type {
      case "null": .null
      case "boolean": Bool(text).map(StoredValue.boolean)
      case "integer": Int64(text).map(StoredValue.integer)
      case "double": StoredValue.double(inDocument: text).map(StoredValue.double)
      case "date":
        StoredValue.double(inDocument: text).map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
      case "decimal": StoredValue.decimal(inDocument: text).map(StoredValue.decimal)
      case "string": .string(text)
      case "bytes": Data(base64Encoded: text).map { .string(String(decoding: $0, as: UTF8.self)) }
      case "data": Data(base64Encoded: text).map(StoredValue.data)
      case "uuid": UUID(uuidString: text).map(StoredValue.uuid)
      case "uri": Data(base64Encoded: text).map { .uri(String(decoding: $0, as: UTF8.self)) }
      case "composite": .composite(try elements(element))
      default: nil
      }
    guard let value else { throw malformed("'\(text.prefix(100))' isn't a value of the type '\(type)'.", element) }
    return value
  }

  private func elements(_ composite: MarkupElement) throws -> [String: StoredValue] {
    var elements: [String: StoredValue] = [:]
    // The reader bounds the depth of elements.
    for child in composite.children { elements[try text(child, "name")] = try value(child) }
    return elements
  }

  private func text(_ element: MarkupElement, _ name: String) throws -> String {
    guard let text = element.attributes[name] else { throw malformed("<\(element.name)> has no '\(name)'.", element) }
    return text
  }

  private func number<Number: FixedWidthInteger>(_ element: MarkupElement, _ name: String) throws -> Number {
    let text = try text(element, name)
    guard let number = Number(text) else { throw malformed("'\(text)' isn't a number for '\(name)'.", element) }
    return number
  }

  private func malformed(_ message: String, _ element: MarkupElement) -> PersistenceError {
    PersistenceError(
      .malformedFile, at: PersistenceError.Place(store: url, line: element.line), message,
      fix: "Restore the document from a backup, or name another file.")
  }
}
