/// A removed property or entity that looks as if it had been renamed without a declaration.
public struct RenameHint: Sendable, Hashable {
  /// The entity in the new model; the former name of a renamed entity.
  public let entity: String
  /// The former name of the property; nil for an entity.
  public let property: String?
  /// The name that looks like the new one.
  public let newName: String
  /// Whether the property is a relationship.
  let isRelationship: Bool

  /// The name before the possible rename.
  var oldName: String { property ?? entity }

  /// A sentence with the lines that declare the rename.
  public var advice: String {
    let place = property.map { "\(entity).\($0)" } ?? entity
    let declaration =
      property == nil
      ? "static var entityTraits: EntityTraits { EntityTraits(of: \(newName).self, renamedFrom: \"\(oldName)\") }"
      : "@\(isRelationship ? "Relationship" : "Attribute")(renamedFrom: \"\(oldName)\") var \(newName)"
    let owner = property == nil ? "a class that conforms to DescribedEntity" : "a class"
    return "If '\(place)' was renamed to '\(newName)', declare it, and the values come back: \(declaration) "
      + "in \(owner), or the renaming ID \"\(oldName)\" of '\(newName)' in a model."
  }
}
