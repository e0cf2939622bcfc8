extension XMLModelReader {
  /// Reads a fetched property; nil with a warning if it has no request. Stores contain nothing of it.
  func fetchedProperty(_ element: MarkupElement) -> FetchedPropertyDescription? {
    var fields = XMLFields(element, log: log)
    guard let name = fields.text("name") else {
      fields.warn("A <fetchedProperty> has no 'name' and is left out.")
      return nil
    }
    guard let request = element.children(named: "fetchRequest").first.flatMap(fetchRequest) else {
      fields.warn("The fetched property '\(name)' has no <fetchRequest> of an entity and is left out.")
      return nil
    }
    var property = FetchedPropertyDescription(
      name, request: request, isOptional: fields.flag("optional"), renamingIdentifier: fields.text("elementID"),
      userInfo: fields.userInfo())
    for child in element.children where child.name != "fetchRequest" && child.name != "userInfo" {
      fields.keepUnknown(child)
    }
    property.unknown = fields.unknown
    return property
  }

  /// Reads a request without its name; nil if it names no entity.
  func fetchRequest(_ element: MarkupElement) -> FetchRequestDescription? {
    var fields = XMLFields(element, log: log)
    _ = fields.verbatim("name")
    guard let entity = fields.text("entity") else { return nil }
    var request = FetchRequestDescription(entity: entity)
    request.predicate = fields.text("predicateString")
    request.fetchLimit = fields.count("fetchLimit") ?? 0
    request.fetchBatchSize = fields.count("fetchBatchSize") ?? 0
    request.includesSubentities = fields.flag("includeSubentities", "includesSubentities", default: true)
    request.includesPropertyValues = fields.flag("includePropertyValues", "includesPropertyValues", default: true)
    request.includesPendingChanges = fields.flag("includesPendingChanges", "includePendingChanges", default: true)
    request.returnsObjectsAsFaults = fields.flag("returnObjectsAsFaults", "returnsObjectsAsFaults", default: true)
    request.returnsDistinctResults = fields.flag("returnDistinctResults", "returnsDistinctResults")
    if let number = fields.count("resultType") {
      if let type = FetchRequestDescription.ResultType(rawValue: number) {
        request.resultType = type
      } else {
        fields.ignore("resultType", of: "\(number)", consequence: "expected 0, 1, 2 or 4, so it counts as 0.")
      }
    }
    for child in element.children {
      if child.name == "sortDescriptor" || child.name == "sortDescriptors" {
        request.sort += sortDescriptors(in: child)
      } else {
        fields.keepUnknown(child)
      }
    }
    request.unknown = fields.unknown
    return request
  }

  private func sortDescriptors(in element: MarkupElement) -> [FetchRequestDescription.Sort] {
    if element.name == "sortDescriptors" { return element.children.flatMap(sortDescriptors) }
    var fields = XMLFields(element, log: log)
    guard let key = fields.text("key") else {
      fields.warn("A <sortDescriptor> has no 'key' and is left out.")
      return []
    }
    return [.init(key, isAscending: fields.flag("ascending", default: true), selector: fields.text("selector"))]
  }
}
