extension XMLModelReader {
  func fetchedProperty(_ element: MarkupElement) -> FetchedPropertyDescription? {
    var fields = XMLFields(element, log: log)
    guard let name = fields.required("name") else { return nil }
    let requests = element.children(named: "fetchRequest")
    guard requests.count == 1, let request = requests.first.flatMap(fetchRequest) else {
      fields.report("The fetched property '\(name)' must hold one <fetchRequest>; it holds \(requests.count).")
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

  /// A request; its name is the caller's affair.
  func fetchRequest(_ element: MarkupElement) -> FetchRequestDescription? {
    var fields = XMLFields(element, log: log)
    _ = fields.verbatim("name")
    guard let entity = fields.required("entity") else { return nil }
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
        fields.report("'resultType' is \(number); expected 0, 1, 2 or 4.")
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
    guard let key = fields.required("key") else { return [] }
    return [.init(key, isAscending: fields.flag("ascending", default: true), selector: fields.text("selector"))]
  }
}
