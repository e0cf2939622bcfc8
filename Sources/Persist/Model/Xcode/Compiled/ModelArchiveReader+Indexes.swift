extension ModelArchiveReader {
  /// Reads uniqueness constraints and indexes.
  ///
  /// For its earlier versions, Core Data also derives compound indexes and flags on single properties from fetch
  /// indexes, and from such a flag an index with the property's name. These repeat a fetch index and are omitted.
  func readIndexes(of object: ArchivedObject, into entity: inout EntityDescription) throws {
    entity.uniquenessConstraints = try propertyLists(object, "NSUniqueTuples")
    var indexes: [FetchIndexDescription] = []
    for index in try object.elements("NSFetchIndexDescriptions") {
      do {
        indexes.append(try fetchIndex(index))
      } catch let error as UnsupportedExpression {
        entity.unknown["index \(try index.requiredText("NSIndexName"))"] = error.what
      }
    }
    let indexed = Set(indexes.map(Self.propertyNames))
    for position in entity.attributes.indices where indexed.contains([entity.attributes[position].name]) {
      entity.attributes[position].isIndexed = false
    }
    entity.compoundIndexes = try propertyLists(object, "NSCompoundIndexes").filter { !indexed.contains($0) }
    let namedOtherwise = Set(indexes.filter { [$0.name] != Self.propertyNames($0) }.map(Self.propertyNames))
    entity.indexes = indexes.filter { [$0.name] != Self.propertyNames($0) || !namedOtherwise.contains([$0.name]) }
  }

  /// Returns the names of an index's properties; empty strings represent expressions.
  private static func propertyNames(_ index: FetchIndexDescription) -> [String] {
    index.elements.map { if case .property(let name) = $0.subject { name } else { "" } }
  }

  private func propertyLists(_ object: ArchivedObject, _ key: String) throws -> [[String]] {
    try object.elements(key).map { list in
      guard let members = try list.elements else { throw object.expected("Lists of properties", for: key) }
      return try members.map { try propertyName($0) }
    }
  }

  /// - Throws: ``UnsupportedExpression``, or ``PersistenceError`` if the archive is damaged.
  private func fetchIndex(_ object: ArchivedObject) throws -> FetchIndexDescription {
    FetchIndexDescription(
      try object.requiredText("NSIndexName"), elements: try object.elements("NSIndexElements").map(indexElement),
      partialPredicate: try object.member("NSPartialIndexPredicate").map(ArchivedFormat().predicate))
  }

  private func indexElement(_ object: ArchivedObject) throws -> FetchIndexDescription.Element {
    let kind: FetchIndexDescription.Element.Kind
    switch try object.integer("NSFetchIndexElementType") {
    case 0: kind = .binary
    case 1: kind = .rTree
    case let type: throw UnsupportedExpression(what: "an index of type \(type)")
    }
    return FetchIndexDescription.Element(
      try indexSubject(object), kind: kind, isAscending: try object.flag("NSAscending", default: true))
  }

  /// Returns a property's name, or an expression with the type of its result.
  private func indexSubject(_ object: ArchivedObject) throws -> FetchIndexDescription.Element.Subject {
    var expression: ArchivedObject?
    for key in object.keys {
      guard let member = try object.member(key) else { continue }
      if member.className == "NSExpressionDescription" {
        expression = member
      } else if member.className?.hasSuffix("Expression") == true {
        return .expression(try ArchivedFormat().expression(member), .undefined)
      }
    }
    guard let expression else { return .property(try object.requiredText("NSPropertyName")) }
    for key in expression.keys {
      if let member = try expression.member(key), member.className?.hasSuffix("Expression") == true {
        let number = try expression.integer("NSExpressionResultType", default: expression.integer("NSAttributeType"))
        return .expression(try ArchivedFormat().expression(member), Self.attributeType(number) ?? .undefined)
      }
    }
    throw UnsupportedExpression(what: "an index over nothing")
  }
}
