/// The classes and extensions that Xcode generates from a model with the entities' setting "Codegen".
///
/// They use `@NSManaged`, as Xcode's do; the pass turns that into accessors.
package struct GeneratedClasses {
  private let entities: [XcodeModel.Entity]
  private let byName: [String: XcodeModel.Entity]

  package init(_ model: XcodeModel) {
    entities = model.entities
    byName = Dictionary(model.entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// The source as Xcode writes it.
  package var source: String {
    var text = "// Generated from the model's current version. Changes are lost with the next build.\n\n"
    text += "import CoreData\nimport Foundation\n"
    var written: Set<String> = []
    for entity in entities {
      // Several entities may share a class, whose first entity describes it, as in Xcode.
      guard let name = entity.className, entity.codegen != .manual, written.insert(name).inserted else { continue }
      if entity.codegen == .classDefinition {
        text += "\n@objc(\(name))\npublic class \(Self.written(name)): \(superclass(of: entity)) {}\n"
      }
      text += properties(of: entity, name)
      for relationship in entity.relationships where relationship.isToMany {
        text += accessors(of: relationship, name)
      }
      if !isIdentifiable(entity) { text += "\nextension \(Self.written(name)): Identifiable {}\n" }
    }
    return text
  }

  private func className(ofEntity name: String) -> String {
    byName[name]?.className.map(Self.written) ?? "NSManagedObject"
  }

  private func superclass(of entity: XcodeModel.Entity) -> String {
    entity.parent.map(className) ?? "NSManagedObject"
  }

  /// Whether an ancestor's generated class conforms already.
  private func isIdentifiable(_ entity: XcodeModel.Entity) -> Bool {
    var seen: Set<String> = [entity.name]
    var parent = entity.parent
    while let name = parent, seen.insert(name).inserted, let ancestor = byName[name] {
      if ancestor.codegen != .manual, ancestor.className != nil { return true }
      parent = ancestor.parent
    }
    return false
  }

  private func properties(of entity: XcodeModel.Entity, _ name: String) -> String {
    let name = Self.written(name)
    var text = "\nextension \(name) {\n"
    text += "    @nonobjc public class func fetchRequest() -> NSFetchRequest<\(name)> {\n"
    text += "        return NSFetchRequest<\(name)>(entityName: \"\(entity.name)\")\n    }\n\n"
    for attribute in entity.attributes.sorted(by: { $0.name < $1.name }) {
      text += "    @NSManaged public var \(Self.written(attribute.name)): \(Self.type(of: attribute))\n"
    }
    for relationship in entity.relationships.sorted(by: { $0.name < $1.name }) {
      let type =
        relationship.isToMany
        ? relationship.isOrdered ? "NSOrderedSet" : "NSSet" : className(ofEntity: relationship.destination)
      text += "    @NSManaged public var \(Self.written(relationship.name)): \(type)?\n"
    }
    for property in entity.fetchedProperties.sorted(by: { $0.name < $1.name }) {
      text += "    @NSManaged public var \(Self.written(property.name)): [\(className(ofEntity: property.entity))]?\n"
    }
    return text + "}\n"
  }

  private func accessors(of relationship: XcodeModel.Relationship, _ name: String) -> String {
    let key = relationship.name.prefix(1).uppercased() + relationship.name.dropFirst()
    let member = className(ofEntity: relationship.destination)
    let set = relationship.isOrdered ? "NSOrderedSet" : "NSSet"
    var methods: [(selector: String, method: String)] = []
    if relationship.isOrdered {
      methods = [
        ("insertObject:in\(key)AtIndex:", "insertInto\(key)(_ value: \(member), at idx: Int)"),
        ("removeObjectFrom\(key)AtIndex:", "removeFrom\(key)(at idx: Int)"),
        ("insert\(key):atIndexes:", "insertInto\(key)(_ values: [\(member)], at indexes: NSIndexSet)"),
        ("remove\(key)AtIndexes:", "removeFrom\(key)(at indexes: NSIndexSet)"),
        ("replaceObjectIn\(key)AtIndex:withObject:", "replace\(key)(at idx: Int, with value: \(member))"),
        ("replace\(key)AtIndexes:with\(key):", "replace\(key)(at indexes: NSIndexSet, with values: [\(member)])"),
      ]
    }
    methods += [
      ("add\(key)Object:", "addTo\(key)(_ value: \(member))"),
      ("remove\(key)Object:", "removeFrom\(key)(_ value: \(member))"),
      ("add\(key):", "addTo\(key)(_ values: \(set))"),
      ("remove\(key):", "removeFrom\(key)(_ values: \(set))"),
    ]
    let lines = methods.map { "    @objc(\($0.selector))\n    @NSManaged public func \($0.method)\n" }
    return "\n// MARK: Generated accessors for \(relationship.name)\nextension \(Self.written(name)) {\n"
      + lines.joined(separator: "\n") + "}\n"
  }

  /// Optional unless it is a scalar, even for a required attribute: an object has no values before they are set.
  private static func type(of attribute: XcodeModel.Attribute) -> String {
    switch attribute.type {
    case "Integer 16": attribute.usesScalarType ? "Int16" : "NSNumber?"
    case "Integer 32": attribute.usesScalarType ? "Int32" : "NSNumber?"
    case "Integer 64": attribute.usesScalarType ? "Int64" : "NSNumber?"
    case "Double": attribute.usesScalarType ? "Double" : "NSNumber?"
    case "Float": attribute.usesScalarType ? "Float" : "NSNumber?"
    case "Boolean": attribute.usesScalarType ? "Bool" : "NSNumber?"
    case "Date": attribute.usesScalarType ? "TimeInterval" : "Date?"
    case "Decimal": "NSDecimalNumber?"
    case "String": "String?"
    case "Binary": "Data?"
    case "UUID": "UUID?"
    case "URI": "URL?"
    case "Composite": "[String: Any]?"
    case "ObjectID": "NSManagedObjectID?"
    case "Transformable": "\(attribute.className.map { $0.isEmpty ? "NSObject" : $0 } ?? "NSObject")?"
    default: "NSObject?"
    }
  }

  /// A name as an identifier of Swift.
  private static func written(_ name: String) -> String { keywords.contains(name) ? "`\(name)`" : name }

  private static let keywords: Set<String> = [
    "as", "associatedtype", "break", "case", "catch", "class", "continue", "default", "defer", "deinit", "do", "else",
    "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard", "if", "import", "in", "init",
    "inout", "internal", "is", "let", "nil", "operator", "precedencegroup", "private", "protocol", "public", "repeat",
    "rethrows", "return", "self", "static", "struct", "subscript", "super", "switch", "throw", "throws", "true", "try",
    "typealias", "var", "where", "while", "Any", "Self", "Type", "Protocol",
  ]
}
