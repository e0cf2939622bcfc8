extension XMLModelReader {
  func entity(_ element: MarkupElement) -> EntityDescription? {
    var fields = XMLFields(element, log: log)
    guard let name = fields.required("name") else { return nil }
    var entity = EntityDescription(name)
    (entity.moduleName, entity.className) = Self.moduleAndClass(fields.text("representedClassName"))
    entity.isAbstract = fields.flag("isAbstract")
    entity.parent = fields.text("parentEntity")
    entity.renamingIdentifier = fields.text("elementID")
    entity.versionHashModifier = fields.text("versionHashModifier")
    entity.userInfo = fields.userInfo()
    for child in element.children {
      switch child.name {
      case "attribute": attribute(child).map { entity.attributes.append($0) }
      case _ where Self.isComposite(child): compositeAttribute(child).map { entity.attributes.append($0) }
      case "relationship": relationship(child).map { entity.relationships.append($0) }
      case "fetchedProperty": fetchedProperty(child).map { entity.fetchedProperties.append($0) }
      case "fetchIndex": fetchIndex(child).map { entity.indexes.append($0) }
      case "uniquenessConstraints":
        entity.uniquenessConstraints += lists(in: child, each: "uniquenessConstraint", of: "constraint")
      case "compoundIndexes":
        entity.compoundIndexes += lists(in: child, each: "compoundIndex", of: "index")
      case "userInfo": break
      default: fields.keepUnknown(child)
      }
    }
    entity.unknown = fields.unknown
    return entity
  }

  /// Takes `Shop.Item` apart. `.Item`, for the application's own module, has the empty text as module.
  private static func moduleAndClass(_ name: String?) -> (module: String?, name: String?) {
    guard let name, name != "NSManagedObject" else { return (nil, nil) }
    guard let dot = name.lastIndex(of: ".") else { return (nil, name) }
    return (String(name[..<dot]), String(name[name.index(after: dot)...]))
  }

  /// Lists of names two levels down, as constraints and old indexes have them.
  private func lists(in element: MarkupElement, each list: String, of item: String) -> [[String]] {
    element.children.compactMap { child in
      guard child.name == list else {
        log.report("<\(child.name)> stands in <\(element.name)>; expected <\(list)>.", line: child.line)
        return nil
      }
      let names = child.children(named: item).compactMap { $0.attributes["value"] }
      guard !names.isEmpty, names.count == child.children.count else {
        log.report("<\(list)> must hold <\(item) value=\"…\"/> elements and nothing else.", line: child.line)
        return nil
      }
      return names
    }
  }

  func relationship(_ element: MarkupElement) -> RelationshipDescription? {
    var fields = XMLFields(element, log: log)
    guard let name = fields.required("name"), let destination = fields.required("destinationEntity") else { return nil }
    let toMany = fields.flag("toMany")
    let inverse = fields.text("inverseName")
    // The inverse's entity is the destination itself; only another one says something.
    if element.attributes["inverseEntity"] == destination { _ = fields.verbatim("inverseEntity") }
    var relationship = RelationshipDescription(
      name: name, destination: destination, inverse: inverse, minimumCount: fields.count("minCount") ?? 0,
      maximumCount: fields.count("maxCount") ?? (toMany ? 0 : 1), isOptional: fields.flag("optional"),
      isTransient: fields.flag("transient"), isOrdered: fields.flag("ordered"),
      renamingIdentifier: fields.text("elementID"), versionHashModifier: fields.text("versionHashModifier"),
      userInfo: fields.userInfo(), isIndexedBySpotlight: fields.flag("spotlightIndexingEnabled"))
    if let text = fields.text("deletionRule") {
      if let rule = Self.deleteRules[text.filter { $0 != " " }.lowercased()] {
        relationship.deleteRule = rule
      } else {
        fields.report("'deletionRule' is '\(text)'; expected Nullify, Cascade, Deny or No Action.")
      }
    }
    for child in element.children where child.name != "userInfo" { fields.keepUnknown(child) }
    relationship.unknown = fields.unknown
    return relationship
  }

  private static let deleteRules: [String: DeleteRule] = [
    "nullify": .nullify, "cascade": .cascade, "deny": .deny, "noaction": .noAction,
  ]

  private func fetchIndex(_ element: MarkupElement) -> FetchIndexDescription? {
    var fields = XMLFields(element, log: log)
    guard let name = fields.required("name") else { return nil }
    var index = FetchIndexDescription(name, elements: [])
    index.partialPredicate = fields.text(
      "partialIndexPredicate", "partialIndexPredicateString", "partialPredicate", "predicateString")
    for child in element.children {
      if child.name == "fetchIndexElement" {
        indexElement(child).map { index.elements.append($0) }
      } else {
        fields.keepUnknown(child)
      }
    }
    index.unknown = fields.unknown
    return index
  }

  private func indexElement(_ element: MarkupElement) -> FetchIndexDescription.Element? {
    var fields = XMLFields(element, log: log)
    var result: FetchIndexDescription.Element
    if let property = fields.text("property") {
      result = .init(.property(property))
    } else if let expression = fields.text("expression") {
      let typeName = fields.text("expressionType", "expressionResultType") ?? "Undefined"
      guard let type = Self.attributeType(typeName) else {
        fields.report("'expressionType' is '\(typeName)', which is no type of attributes.")
        return nil
      }
      result = .init(.expression(expression, type))
    } else {
      fields.report("<fetchIndexElement> has neither 'property' nor 'expression'.")
      return nil
    }
    switch fields.text("type")?.filter({ $0 != "-" && $0 != " " }).lowercased() {
    case nil, "binary": break
    case "rtree": result.kind = .rTree
    case let other?: fields.report("'type' is '\(other)'; expected Binary or R-Tree.")
    }
    switch fields.text("order")?.lowercased() {
    case nil, "ascending": break
    case "descending": result.isAscending = false
    case let other?: fields.report("'order' is '\(other)'; expected ascending or descending.")
    }
    return result
  }
}
