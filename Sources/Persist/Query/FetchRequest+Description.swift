extension FetchRequest: CustomStringConvertible {
  /// A readable form of the request: `Item where quantity < 5 sorted by name, limit 20`.
  public var description: String {
    var text = entityName
    if let predicate { text += " where \(predicate.format)" }
    if let objectIDs { text += " among \(objectIDs.count) objects" }
    if !sortDescriptors.isEmpty {
      let keys = sortDescriptors.map { $0.key + ($0.isAscending ? "" : " descending") }
      text += " sorted by " + keys.joined(separator: ", ")
    }
    if fetchLimit != 0 { text += ", limit \(fetchLimit)" }
    if fetchOffset != 0 { text += ", offset \(fetchOffset)" }
    if !includesSubentities { text += ", without subentities" }
    if !includesPendingChanges { text += ", as saved" }
    if ignoresDefaultFilters { text += ", without default filters" }
    return text
  }
}

extension FetchRequest {
  /// All objects of an entity and its subentities; the short form is `FetchRequest("Item")`.
  public init(entityName: String) { self.init(entityName) }
}
