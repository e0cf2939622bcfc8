extension FetchedResultsController {
  /// The sections in order; nil before ``performFetch()``.
  ///
  /// Without a section key path there is one, named "", also where there are no results.
  public var sections: [FetchedResultsSection<Object>]? { results?.sections.map(section) }

  /// All results in order; nil before ``performFetch()``.
  ///
  /// - Complexity: O(*results*).
  public var fetchedObjects: [Object]? {
    results?.sections.flatMap { $0.items.compactMap { try? Self.typed($0.object) } }
  }

  /// How many results there are; 0 before ``performFetch()``.
  public var numberOfObjects: Int { results?.count ?? 0 }

  /// The object at a place.
  ///
  /// - Parameter indexPath: of a section and a row that there are; another one stops the program.
  public func object(at indexPath: ResultIndexPath) -> Object {
    guard let item = results?.item(at: indexPath), let object = try? Self.typed(item.object) else {
      preconditionFailure("There is no result at \(indexPath).")
    }
    readRows(around: indexPath)
    return object
  }

  /// The place of an object; nil where it is no result.
  ///
  /// - Complexity: O(log *results*).
  public func indexPath(forObject object: ManagedObject) -> ResultIndexPath? {
    results?.item(of: object).flatMap { results?.path(of: $0) }
  }

  /// The letters of an index beside a list: those of the sections, each once.
  public var sectionIndexTitles: [String] {
    var seen: Set<String> = []
    return results?.sections.compactMap { sectionIndexTitle(forSectionName: $0.name) }
      .filter { seen.insert($0).inserted } ?? []
  }

  /// The title of a section in the index: what the delegate says, else the name's first letter as a capital; nil for a
  /// section without a name.
  public func sectionIndexTitle(forSectionName name: String) -> String? {
    delegate?.controller(self, sectionIndexTitleForSectionName: name) ?? name.first.map { String($0).uppercased() }
  }

  /// The first section with a title of the index.
  ///
  /// - Parameters:
  ///   - title: one of ``sectionIndexTitles``.
  ///   - index: its place among them.
  /// - Returns: nil where there is no section with it.
  public func section(forSectionIndexTitle title: String, at index: Int) -> Int? {
    guard sectionIndexTitles.indices.contains(index) else { return nil }
    return results?.sections.firstIndex { sectionIndexTitle(forSectionName: $0.name) == title }
  }

  func section(_ section: ResultArrangement.Section) -> FetchedResultsSection<Object> {
    FetchedResultsSection(
      name: section.name, indexTitle: sectionIndexTitle(forSectionName: section.name), items: section.items)
  }
}

/// A section of results, as it was when it was asked for.
public struct FetchedResultsSection<Object: ManagedObject> {
  public let name: String
  /// What stands for it in an index beside the list.
  public let indexTitle: String?
  let items: [ResultItem]

  public var numberOfObjects: Int { items.count }
  /// The section's results in order.
  ///
  /// - Complexity: O(*objects of the section*).
  public var objects: [Object] { items.compactMap { try? FetchedResultsController<Object>.typed($0.object) } }
}
