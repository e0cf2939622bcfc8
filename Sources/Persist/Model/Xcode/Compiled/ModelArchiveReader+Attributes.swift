import Foundation

extension ModelArchiveReader {
  /// The maximum nesting depth of composite attributes.
  private static let compositeLimit = 16

  /// - Parameter entity: the entity's name, joined with the composite attribute's for an element of one.
  func attribute(
    _ object: ArchivedObject, of entity: String, composites: inout [CompositeDescription], depth: Int = 0
  ) throws -> AttributeDescription {
    let name = try object.requiredText("NSPropertyName")
    let number = try object.integer("NSAttributeType")
    guard let type = Self.attributeType(number) else {
      throw PersistenceError(
        .malformedFile, at: object.place("NSAttributeType"),
        "The attribute \(entity).\(name) has the unknown type \(number).")
    }
    var attribute = AttributeDescription(
      name, type, isOptional: try object.flag("NSIsOptional"), isTransient: try object.flag("NSIsTransient"),
      renamingIdentifier: try renamingIdentifier(of: object, named: name),
      versionHashModifier: try object.text("NSVersionHashModifier"), userInfo: try userInfo(of: object),
      valueTransformerName: try object.text("NSValueTransformerName"), isIndexed: try object.flag("NSIsIndexed"),
      isIndexedBySpotlight: try object.flag("NSIndexedBySpotlight"))
    attribute.unknown = try unknown(in: object, besides: Self.attributeKeys)
    let className = try object.text("NSAttributeValueClassName")
    attribute.valueClassName = className == type.traits.className ? nil : className
    readFlags(try object.integer("NSFlagsKey"), into: &attribute)
    try readDefault(of: object, in: entity, into: &attribute)
    try readValidation(of: object, into: &attribute)
    if object.className == "NSDerivedAttributeDescription" { try readDerivation(of: object, into: &attribute) }
    if type == .composite {
      guard depth < Self.compositeLimit else {
        throw PersistenceError(
          .limitExceeded, at: object.place(),
          "Composite attributes are nested more than \(Self.compositeLimit) levels deep.")
      }
      try readComposite(object, of: entity, into: &attribute, composites: &composites, depth: depth)
    }
    return attribute
  }

  private static let attributeKeys: Set<String> = [
    "NSAttributeType", "NSAttributeValueClassName", "NSDefaultValue", "NSFlagsKey", "NSValueTransformerName",
  ]

  /// Returns the type for a number of `NSAttributeType`.
  static func attributeType(_ number: Int64) -> AttributeType? {
    AttributeType.allCases.first { $0.traits.archiveNumber == number }
  }

  private func readFlags(_ flags: Int64, into attribute: inout AttributeDescription) {
    attribute.allowsExternalStorage = flags & 4 != 0
    attribute.preservesValueOnDeletion = flags & 16 != 0
    let others = flags & ~(4 | 16)
    if others != 0 { attribute.unknown["NSFlagsKey"] = String(others) }
  }

  private func readDefault(
    of object: ArchivedObject, in entity: String, into attribute: inout AttributeDescription
  ) throws {
    guard let value = try object.member("NSDefaultValue") else { return }
    if let converted = try value.storedValue?.converted(to: attribute.type) {
      attribute.defaultValue = converted
    } else {
      let text = try summary(value)
      attribute.unknown["NSDefaultValue"] = text
      warnings.add(
        .property(entity, attribute.name),
        "The default, \(ValueWords.text(text ?? "")), is no value of type \(attribute.type.rawValue), so the attribute "
          + "has none.")
    }
  }

  /// Reads the derivation, the only member that is an expression.
  ///
  /// If the predicate language can't express it, the attribute is read as an ordinary one with a note: the store's
  /// triggers update its value regardless.
  private func readDerivation(of object: ArchivedObject, into attribute: inout AttributeDescription) throws {
    for key in object.keys where !Self.attributeKeys.contains(key) && !Self.propertyKeys.contains(key) {
      guard let member = try object.member(key), member.className?.hasSuffix("Expression") == true else { continue }
      do {
        attribute.derivation = try ArchivedFormat().expression(member)
        attribute.unknown[key] = nil
      } catch let error as UnsupportedExpression {
        attribute.unknown[key] = error.what
      }
      return
    }
    attribute.unknown["derived"] = "YES"
  }

  /// Reads the elements, the only member that contains attributes.
  private func readComposite(
    _ object: ArchivedObject, of entity: String, into attribute: inout AttributeDescription,
    composites: inout [CompositeDescription], depth: Int
  ) throws {
    var elements: [AttributeDescription] = []
    var name: String?
    for key in object.keys where !Self.attributeKeys.contains(key) && !Self.propertyKeys.contains(key) {
      guard let member = try object.member(key) else { continue }
      if let members = try member.elements ?? member.entries?.map(\.value),
        !members.isEmpty, members.allSatisfy({ $0.isKind(of: "NSAttributeDescription") })
      {
        let path = "\(entity)_\(attribute.name)"
        elements = try members.map { try self.attribute($0, of: path, composites: &composites, depth: depth + 1) }
        attribute.unknown[key] = nil
      } else if key.contains("Composite"), let text = try member.text {
        name = text
        attribute.unknown[key] = nil
      }
    }
    elements = elements.sorted(on: \.name)
    // An archive may contain the elements without the type's name; entity and attribute form a unique one.
    let compositeName = name ?? "\(entity)_\(attribute.name)"
    attribute.compositeName = compositeName
    composites.append(CompositeDescription(compositeName, elements: elements))
  }
}
