import Persist

/// The doc comments of generated code, derived from the model.
enum PropertyComment {
  /// The user info key of documentation by the model's author.
  private static let textKey = "documentation"

  static func lines(of property: Property, in model: ManagedObjectModel) -> [String] {
    switch property.kind {
    case .attribute(let attribute): text(of: attribute).map { "  /// \($0)" }
    case .relationship(let relationship): text(of: relationship, in: model).map { "  /// \($0)" }
    case .fetchedProperty(let fetched):
      (authored(fetched.userInfo)
        + ["The objects of `\(line(fetched.request.entity))` that the model's request fetches."])
        .map { "  /// \($0)" }
    }
  }

  static func lines(of entity: Entity) -> [String] {
    var text = authored(entity.description.userInfo)
    let abstract = entity.isAbstract ? "; only its subentities have objects" : ""
    text.append("An object of the entity `\(line(entity.name))`\(abstract).")
    for constraint in entity.description.uniquenessConstraints {
      let names = constraint.map { "`\(line($0))`" }.joined(separator: " and ")
      let conditions = entity.description.uniquenessConditions[constraint] ?? []
      let rows = conditions.isEmpty ? "objects" : "objects with `\(conditions.words)`"
      text.append("No two \(rows) have the same \(names).")
    }
    return text.map { "/// \($0)" }
  }

  private static func text(of attribute: AttributeDescription) -> [String] {
    var kind = attribute.isOptional ? "An optional attribute" : "A required attribute"
    kind += " of type \(attribute.type.rawValue)"
    if attribute.isTransient { kind += ", in memory only" }
    if attribute.allowsExternalStorage { kind += ", large values in separate files" }
    var text = authored(attribute.userInfo) + [kind + "."]
    if let derivation = attribute.derivation { text.append("The store computes it from `\(line(derivation))`.") }
    switch attribute.defaultValue {
    case .integer(let value): text.append("Default: \(value).")
    case .double(let value): text.append("Default: \(value).")
    case .boolean(let value): text.append("Default: \(value).")
    case .string(let value): text.append("Default: \(line(SwiftName.literal(value))).")
    default: break
    }
    let validation = attribute.validation
    if let length = validation.minimumLength { text.append("Minimum length: \(length).") }
    if let length = validation.maximumLength { text.append("Maximum length: \(length).") }
    if let pattern = validation.pattern { text.append("It matches `\(line(pattern))`.") }
    if let former = attribute.renamingIdentifier { text.append("It was `\(line(former))` in an older version.") }
    return text
  }

  private static func text(of relationship: RelationshipDescription, in model: ManagedObjectModel) -> [String] {
    var text = authored(relationship.userInfo)
    if let inverse = relationship.inverse {
      text.append("The inverse of `\(line(relationship.destination)).\(line(inverse))`.")
    } else {
      text.append("A relationship to `\(line(relationship.destination))` without an inverse.")
    }
    switch relationship.deleteRule {
    case .cascade: text.append("Deleted with the object.")
    case .deny: text.append("The object can't be deleted while this has objects.")
    case .noAction, .nullify: break
    }
    if let former = relationship.renamingIdentifier { text.append("It was `\(line(former))` in an older version.") }
    return text
  }

  private static func authored(_ userInfo: [String: String]) -> [String] {
    (userInfo[textKey] ?? "").split(whereSeparator: \.isNewline).map { line(String($0)) }
  }

  /// Text from a model on a single line, because a line break would end the comment.
  private static func line(_ text: String) -> String {
    String(text.map { $0.isNewline ? " " : $0 })
  }
}
