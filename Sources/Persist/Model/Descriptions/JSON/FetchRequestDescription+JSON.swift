extension FetchRequestDescription {
  init(json fields: inout JSONFields) throws {
    self.init(entity: try fields.requiredText("entity"), predicate: try fields.text("predicate"))
    sort = try fields.objects("sort") { fields in
      Sort(
        try fields.requiredText("key"), isAscending: try fields.flag("ascending", default: true),
        selector: try fields.text("selector"))
    }
    fetchLimit = try fields.integer("limit") ?? 0
    fetchBatchSize = try fields.integer("batchSize") ?? 0
    includesSubentities = try fields.flag("includesSubentities", default: true)
    includesPropertyValues = try fields.flag("includesPropertyValues", default: true)
    includesPendingChanges = try fields.flag("includesPendingChanges", default: true)
    returnsObjectsAsFaults = try fields.flag("returnsObjectsAsFaults", default: true)
    returnsDistinctResults = try fields.flag("returnsDistinctResults", default: false)
    if let name = try fields.text("resultType") {
      guard let type = ResultType.allCases.first(where: { $0.jsonName == name }) else {
        throw fields.error(
          "resultType", "'\(name)' isn't a result type; expected objects, objectIDs, dictionaries or count.")
      }
      resultType = type
    }
    unknown = try fields.textMap("unknown")
  }

  var jsonValue: JSONElement {
    var object = JSONObjectBuilder()
    object.set("entity", entity)
    object.set("predicate", predicate)
    object.set("sort", sort.map { sort in
      var object = JSONObjectBuilder()
      object.set("key", sort.key)
      object.set("ascending", sort.isAscending, unless: true)
      object.set("selector", sort.selector)
      return object.value
    })
    object.set("limit", fetchLimit, unless: 0)
    object.set("batchSize", fetchBatchSize, unless: 0)
    object.set("includesSubentities", includesSubentities, unless: true)
    object.set("includesPropertyValues", includesPropertyValues, unless: true)
    object.set("includesPendingChanges", includesPendingChanges, unless: true)
    object.set("returnsObjectsAsFaults", returnsObjectsAsFaults, unless: true)
    object.set("returnsDistinctResults", returnsDistinctResults, unless: false)
    if resultType != .objects { object.set("resultType", resultType.jsonName) }
    object.set("unknown", texts: unknown)
    return object.value
  }
}

extension FetchRequestDescription.ResultType {
  fileprivate var jsonName: String {
    switch self {
    case .objects: "objects"
    case .objectIDs: "objectIDs"
    case .dictionaries: "dictionaries"
    case .count: "count"
    }
  }
}
