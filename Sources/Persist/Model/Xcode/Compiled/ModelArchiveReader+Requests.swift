extension ModelArchiveReader {
  /// Reads a fetch request. The prefixes of keys differ between versions; the rest determines the meaning.
  ///
  /// Nil if the object isn't a fetch request or doesn't name an entity.
  func fetchRequest(_ object: ArchivedObject) throws -> FetchRequestDescription? {
    guard object.isKind(of: "NSFetchRequest") else { return nil }
    var request = FetchRequestDescription(entity: "")
    for key in object.keys {
      try read(key, of: object, into: &request)
    }
    return request.entity.isEmpty ? nil : request
  }

  private func read(_ key: String, of object: ArchivedObject, into request: inout FetchRequestDescription) throws {
    guard let member = try object.member(key) else { return }
    func flag(_ fallback: Bool) throws -> Bool { try object.flag(key, default: fallback) }
    switch key.drop(while: { $0 == "_" }).replacingPrefix("NS", with: "").lowercased() {
    case "entity", "entityname":
      if let name = try member.text ?? member.text("NSEntityName") { request.entity = name }
    case "predicate":
      do {
        request.predicate = try ArchivedFormat().predicate(member)
      } catch let error as UnsupportedExpression {
        request.unknown[key] = error.what
      }
    case "sortdescriptors":
      let descriptors = try object.elements(key).map(sortDescriptor)
      request.sort = descriptors.compactMap(\.self)
      // If one descriptor is missing, those after it have a different effect.
      if descriptors.contains(nil) { (request.sort, request.unknown[key]) = ([], try summary(member)) }
    case "fetchlimit": request.fetchLimit = Int(clamping: try object.integer(key))
    case "fetchbatchsize", "batchsize": request.fetchBatchSize = Int(clamping: try object.integer(key))
    case "includessubentities": request.includesSubentities = try flag(true)
    case "includespropertyvalues": request.includesPropertyValues = try flag(true)
    case "includespendingchanges": request.includesPendingChanges = try flag(true)
    case "returnsobjectsasfaults": request.returnsObjectsAsFaults = try flag(true)
    case "returnsdistinctresults": request.returnsDistinctResults = try flag(false)
    case "resulttype":
      let number = Int(clamping: try object.integer(key))
      if let type = FetchRequestDescription.ResultType(rawValue: number) {
        request.resultType = type
      } else {
        request.unknown[key] = String(number)
      }
    default: request.unknown[key] = try summary(member)
    }
  }

  /// Nil for a descriptor without a key, which sorts by a block in a program.
  private func sortDescriptor(_ object: ArchivedObject) throws -> FetchRequestDescription.Sort? {
    guard let key = try object.text("NSKey") else { return nil }
    return FetchRequestDescription.Sort(
      key, isAscending: try object.flag("NSAscending", default: true),
      selector: try object.text("NSSelector").flatMap { $0 == "compare:" ? nil : $0 })
  }
}

extension Substring {
  fileprivate func replacingPrefix(_ prefix: String, with replacement: String) -> String {
    hasPrefix(prefix) ? replacement + dropFirst(prefix.count) : String(self)
  }
}
