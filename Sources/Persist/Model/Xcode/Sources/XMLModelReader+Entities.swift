extension XMLModelReader {
  func entity(_ element: MarkupElement) -> EntityDescription? {
    var fields = XMLFields(element, log: log)
    guard let name = fields.required("name") else { return nil }
    var entity = EntityDescription(name)
    (entity.moduleName, entity.className) = Self.moduleAndClass(fields.text("representedClassName"))
    entity.isAbstract = fields.layoutFlag("isAbstract")
    entity.parent = fields.text("parentEntity")
    entity.renamingIdentifier = fields.text("elementID")
    entity.versionHashModifier = fields.text("versionHashModifier")
    entity.userInfo = fields.userInfo()
    for child in element.children {
      switch child.name {
      case "attribute": attribute(child).map { entity.attributes.append($0) }
      case _ where Self.isComposite(child): compositeAttribute(child).map { entity.attributes.append($0) }
      case "relationship": relationship(child).map { entity.relationships.append($0) }
      case "fetchedProperty":
        if let property = fetchedProperty(child) {
          entity.fetchedProperties.append(property)
        } else {
          fields.keepUnknown(child)
        }
      case "fetchIndex":
        if let index = fetchIndex(child) { entity.indexes.append(index) } else { fields.keepUnknown(child) }
      case "uniquenessConstraints":
        let (constraints, problems) = lists(in: child, each: "uniquenessConstraint", of: "constraint")
        entity.uniquenessConstraints += constraints
        // Without its constraint a store would accept objects that it must reject.
        for problem in problems { log.report(problem.message, line: problem.line) }
      case "compoundIndexes":
        let (indexes, problems) = lists(in: child, each: "compoundIndex", of: "index")
        entity.compoundIndexes += indexes
        for problem in problems { log.warn("\(problem.message) The index is left out.", line: problem.line) }
      case "userInfo": break
      default: fields.keepUnknown(child)
      }
    }
    entity.unknown = fields.unknown
    return entity
  }

  /// Splits `Shop.Item` into module and class. `.Item`, which refers to the application's own module, has an empty
  /// module name.
  private static func moduleAndClass(_ name: String?) -> (module: String?, name: String?) {
    guard let name, name != "NSManagedObject" else { return (nil, nil) }
    guard let dot = name.lastIndex(of: ".") else { return (nil, name) }
    return (String(name[..<dot]), String(name[name.index(after: dot)...]))
  }

  /// Reads lists of names two levels down, as in constraints and old indexes.
  private func lists(
    in element: MarkupElement, each list: String, of item: String
  ) -> (lists: [[String]], problems: [(message: String, line: Int)]) {
    var result: (lists: [[String]], problems: [(message: String, line: Int)]) = ([], [])
    for child in element.children {
      guard child.name == list else {
        result.problems.append(("<\(element.name)> contains <\(child.name)>; expected <\(list)>.", child.line))
        continue
      }
      let names = child.children(named: item).compactMap { $0.attributes["value"] }
      if !names.isEmpty, names.count == child.children.count {
        result.lists.append(names)
      } else {
        result.problems.append(
          ("<\(list)> must contain <\(item) value=\"…\"/> elements and nothing else.", child.line))
      }
    }
    return result
  }

  func relationship(_ element: MarkupElement) -> RelationshipDescription? {
    var fields = XMLFields(element, log: log)
    guard let name = fields.required("name"), let destination = fields.required("destinationEntity") else { return nil }
    let toMany = fields.layoutFlag("toMany")
    let inverse = fields.text("inverseName")
    // The inverse's entity is normally the destination; it is significant only if it differs.
    if element.attributes["inverseEntity"] == destination { _ = fields.verbatim("inverseEntity") }
    var relationship = RelationshipDescription(
      name: name, destination: destination, inverse: inverse, minimumCount: fields.bound("minCount") ?? 0,
      maximumCount: fields.bound("maxCount") ?? (toMany ? 0 : 1), isOptional: fields.flag("optional"),
      isTransient: fields.layoutFlag("transient"), isOrdered: fields.layoutFlag("ordered"),
      renamingIdentifier: fields.text("elementID"), versionHashModifier: fields.text("versionHashModifier"),
      userInfo: fields.userInfo(), isIndexedBySpotlight: fields.flag("spotlightIndexingEnabled"))
    if let text = fields.text("deletionRule") {
      if let rule = Self.deleteRules[text.filter { $0 != " " }.lowercased()] {
        relationship.deleteRule = rule
      } else {
        fields.report("'deletionRule' is \(ValueWords.text(text)); expected Nullify, Cascade, Deny or No Action.")
      }
    }
    for child in element.children where child.name != "userInfo" { fields.keepUnknown(child) }
    relationship.unknown = fields.unknown
    return relationship
  }

  private static let deleteRules: [String: DeleteRule] = [
    "nullify": .nullify, "cascade": .cascade, "deny": .deny, "noaction": .noAction,
  ]

  /// Reads an index; nil with a warning if an element of it can't be read.
  ///
  /// A store without one of its indexes is slower, but correct.
  private func fetchIndex(_ element: MarkupElement) -> FetchIndexDescription? {
    var fields = XMLFields(element, log: log)
    guard let name = fields.text("name") else {
      fields.warn("A <fetchIndex> has no 'name' and is left out.")
      return nil
    }
    var index = FetchIndexDescription(name, elements: [])
    index.partialPredicate = fields.text(
      "partialIndexPredicate", "partialIndexPredicateString", "partialPredicate", "predicateString")
    for child in element.children {
      guard child.name == "fetchIndexElement" else {
        fields.keepUnknown(child)
        continue
      }
      guard let element = indexElement(child, of: name) else { return nil }
      index.elements.append(element)
    }
    index.unknown = fields.unknown
    return index
  }

  private func indexElement(_ element: MarkupElement, of index: String) -> FetchIndexDescription.Element? {
    var fields = XMLFields(element, log: log)
    var result: FetchIndexDescription.Element
    if let property = fields.text("property") {
      result = .init(.property(property))
    } else if let expression = fields.text("expression") {
      let typeName = fields.text("expressionType", "expressionResultType") ?? "Undefined"
      let type = Self.attributeType(typeName)
      if type == nil {
        fields.warn("'expressionType' is '\(typeName)', which isn't an attribute type. It has no effect.")
      }
      result = .init(.expression(expression, type ?? .undefined))
    } else {
      fields.warn(
        "<fetchIndexElement> has neither 'property' nor 'expression', so the index '\(index)' is left out.")
      return nil
    }
    switch fields.text("type")?.filter({ $0 != "-" && $0 != " " }).lowercased() {
    case nil, "binary": break
    case "rtree": result.kind = .rTree
    case let other?: fields.warn("'type' is '\(other)'; expected Binary or R-Tree, so it counts as Binary.")
    }
    switch fields.text("order")?.lowercased() {
    case nil, "ascending": break
    case "descending": result.isAscending = false
    case let other?:
      fields.warn("'order' is '\(other)'; expected ascending or descending, so it counts as ascending.")
    }
    return result
  }
}
