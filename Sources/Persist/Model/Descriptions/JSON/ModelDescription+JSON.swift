public import Foundation

/// A model as JSON: Persist's own file format, and the form in which a store contains its model.
///
/// ```json
/// {
///   "entities" : [
///     {
///       "attributes" : [
///         {
///           "default" : "New Item",
///           "name" : "name",
///           "optional" : false,
///           "type" : "string"
///         }
///       ],
///       "name" : "Item"
///     }
///   ],
///   "format" : 1
/// }
/// ```
///
/// Only values that differ from a description's defaults are written, with sorted keys, so that equal descriptions
/// produce equal text. Numbers are exact; dates are seconds since 2001, decimals strings, data base64. A default or
/// limit whose type isn't its attribute's is written with its kind, as in `{"integer": 5}`.
extension ModelDescription {
  /// The format number that is written, and the highest that can be read.
  static let jsonFormat = 1

  /// The description as canonical, human-readable JSON.
  public var json: String { jsonValue.text }

  /// The SHA-256 digest of ``json``.
  package var digest: Data { Data(SHA256.digest(json.utf8)) }

  /// Reads a description from its ``json``.
  ///
  /// - Parameters:
  ///   - json: the text, in UTF-8.
  ///   - url: the file to name in errors.
  /// - Throws: ``PersistenceError/Code/malformedFile`` with line and column, or with the key path of an unexpected
  ///   value; ``PersistenceError/Code/limitExceeded``.
  public init(json: Data, from url: URL? = nil) throws {
    var fields = try JSONFields(JSONReader.value(in: json, from: url), path: "", file: url)
    guard let format = try fields.integer("format") else {
      throw fields.error("format", "The key 'format' is missing; this isn't a model of Persist.")
    }
    guard (1...Self.jsonFormat).contains(format) else {
      throw fields.error(
        "format", "The model is in format \(format); this version reads up to \(Self.jsonFormat).",
        fix: "Use the version of Persist that wrote it, or a newer one.")
    }
    self.init(
      entities: [], versionIdentifiers: try fields.texts("versionIdentifiers"), unknown: Dictionary())
    entities = try fields.objects("entities", EntityDescription.init(json:))
    composites = try fields.objects("composites") { fields in
      CompositeDescription(
        try fields.requiredText("name"),
        elements: try fields.objects("elements", AttributeDescription.init(json:)),
        userInfo: try fields.textMap("userInfo"), unknown: try fields.textMap("unknown"))
    }
    configurations = try fields.map("configurations") { try $0.texts($1) }
    fetchRequestTemplates = try fields.map("fetchRequests") { fields, name in
      guard let request = try fields.object(name, FetchRequestDescription.init(json:)) else {
        throw fields.error(name, "The key '\(name)' is missing.")
      }
      return request
    }
    unknown = try fields.textMap("unknown")
    try fields.finish()
  }

  private var jsonValue: JSONElement {
    var object = JSONObjectBuilder()
    object.set("format", Self.jsonFormat)
    object.set("versionIdentifiers", versionIdentifiers.map(JSONElement.string))
    object.set("entities", entities.map(\.jsonValue))
    object.set("composites", composites.map { composite in
      var object = JSONObjectBuilder()
      object.set("name", composite.name)
      object.set("userInfo", texts: composite.userInfo)
      object.set("elements", composite.elements.map(\.jsonValue))
      object.set("unknown", texts: composite.unknown)
      return object.value
    })
    if !configurations.isEmpty {
      object.set("configurations", .object(configurations.mapValues { .array($0.map(JSONElement.string)) }))
    }
    if !fetchRequestTemplates.isEmpty {
      object.set("fetchRequests", .object(fetchRequestTemplates.mapValues(\.jsonValue)))
    }
    object.set("unknown", texts: unknown)
    return object.value
  }
}

extension EntityDescription {
  fileprivate init(json fields: inout JSONFields) throws {
    self.init(
      try fields.requiredText("name"), className: try fields.text("class"), moduleName: try fields.text("module"),
      isAbstract: try fields.flag("abstract", default: false), parent: try fields.text("parent"),
      renamingIdentifier: try fields.text("renamingIdentifier"),
      versionHashModifier: try fields.text("versionHashModifier"), userInfo: try fields.textMap("userInfo"))
    attributes = try fields.objects("attributes", AttributeDescription.init(json:))
    relationships = try fields.objects("relationships", RelationshipDescription.init(json:))
    fetchedProperties = try fields.objects("fetchedProperties", FetchedPropertyDescription.init(json:))
    uniquenessConstraints = try Self.lists("uniquenessConstraints", of: &fields)
    let conditions = try fields.objects("uniquenessConditions", ConditionsOfConstraint.init(json:))
    uniquenessConditions = Dictionary(conditions.map { ($0.names, $0.conditions) }, uniquingKeysWith: +)
    indexes = try fields.objects("indexes", FetchIndexDescription.init(json:))
    compoundIndexes = try Self.lists("compoundIndexes", of: &fields)
    unknown = try fields.textMap("unknown")
  }

  private static func lists(_ key: String, of fields: inout JSONFields) throws -> [[String]] {
    let lists = try fields.list(key)
    return try lists.enumerated().map { index, list in
      guard case .array(let values) = list.value else {
        throw fields.error("\(key)[\(index)]", "Expected a list, found \(list.value.kind).")
      }
      return try values.map { value in
        guard case .string(let text) = value else {
          throw fields.error("\(key)[\(index)]", "Expected strings, found \(value.kind).")
        }
        return text
      }
    }
  }

  fileprivate var jsonValue: JSONElement {
    func lists(_ lists: [[String]]) -> [JSONElement] { lists.map { .array($0.map(JSONElement.string)) } }
    var object = JSONObjectBuilder()
    object.set("name", name)
    object.set("class", className)
    object.set("module", moduleName)
    object.set("parent", parent)
    object.set("abstract", isAbstract, unless: false)
    object.set("renamingIdentifier", renamingIdentifier)
    object.set("versionHashModifier", versionHashModifier)
    object.set("userInfo", texts: userInfo)
    object.set("attributes", attributes.map(\.jsonValue))
    object.set("relationships", relationships.map(\.jsonValue))
    object.set("fetchedProperties", fetchedProperties.map(\.jsonValue))
    object.set("uniquenessConstraints", lists(uniquenessConstraints))
    object.set(
      "uniquenessConditions",
      uniquenessConstraints.compactMap { names in
        uniquenessConditions[names].map { ConditionsOfConstraint(names: names, conditions: $0).jsonValue }
      })
    object.set("indexes", indexes.map(\.jsonValue))
    object.set("compoundIndexes", lists(compoundIndexes))
    object.set("unknown", texts: unknown)
    return object.value
  }
}

extension FetchIndexDescription {
  fileprivate init(json fields: inout JSONFields) throws {
    self.init(
      try fields.requiredText("name"), elements: try fields.objects("elements", Self.element),
      partialPredicate: try fields.text("partialPredicate"), unknown: try fields.textMap("unknown"))
  }

  private static func element(json fields: inout JSONFields) throws -> Element {
    let subject: Element.Subject
    if let property = try fields.text("property") {
      subject = .property(property)
    } else {
      subject = .expression(try fields.requiredText("expression"), try AttributeType(json: &fields))
    }
    let kindName = try fields.text("kind") ?? Element.Kind.binary.rawValue
    guard let kind = Element.Kind(rawValue: kindName) else {
      throw fields.error("kind", "'\(kindName)' isn't a kind of index; expected binary or rTree.")
    }
    return Element(subject, kind: kind, isAscending: try fields.flag("ascending", default: true))
  }

  fileprivate var jsonValue: JSONElement {
    var object = JSONObjectBuilder()
    object.set("name", name)
    object.set("elements", elements.map { element in
      var object = JSONObjectBuilder()
      switch element.subject {
      case .property(let name): object.set("property", name)
      case .expression(let text, let type):
        object.set("expression", text)
        object.set("type", type.rawValue)
      }
      if element.kind != .binary { object.set("kind", element.kind.rawValue) }
      object.set("ascending", element.isAscending, unless: true)
      return object.value
    })
    object.set("partialPredicate", partialPredicate)
    object.set("unknown", texts: unknown)
    return object.value
  }
}
