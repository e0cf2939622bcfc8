extension FetchedResultsController {
  /// The sections in order; nil before ``performFetch()``.
  ///
  /// Without a section key path there is a single section named "", even if there are no results.
  public var sections: [FetchedResultsSection<Object>]? { arrangement?.sections.map(section) }

  /// All results in order; nil before ``performFetch()``.
  ///
  /// - Complexity: O(*results*).
  public var fetchedObjects: [Object]? {
    arrangement?.sections.flatMap { $0.items.compactMap { try? Self.typed($0.object) } }
  }

  /// The number of results; 0 before ``performFetch()``.
  public var numberOfObjects: Int { arrangement?.count ?? 0 }

  /// Returns the object at an index path.
  ///
  /// - Parameter indexPath: The path of an existing section and row; any other path traps.
  public func object(at indexPath: ResultIndexPath) -> Object {
    guard let item = arrangement?.item(at: indexPath), let object = try? Self.typed(item.object) else {
      preconditionFailure("There is no result at \(indexPath).")
    }
    readRows(around: indexPath)
    return object
  }

  /// Returns the index path of an object, or nil if it isn't a result.
  ///
  /// - Complexity: O(log *results*).
  public func indexPath(forObject object: ManagedObject) -> ResultIndexPath? {
    arrangement?.item(of: object).flatMap { arrangement?.path(of: $0) }
  }

  /// The titles of an index beside a list: those of the sections, without duplicates.
  public var sectionIndexTitles: [String] {
    var seen: Set<String> = []
    return arrangement?.sections.compactMap { sectionIndexTitle(forSectionName: $0.name) }
      .filter { seen.insert($0).inserted } ?? []
  }

  /// Returns the index title of a section: the delegate's, or else the first letter of the name, uppercased; nil for a
  /// section without a name.
  public func sectionIndexTitle(forSectionName name: String) -> String? {
    delegate?.controller(self, sectionIndexTitleForSectionName: name) ?? name.first.map { String($0).uppercased() }
  }

  /// Returns the first section with an index title.
  ///
  /// - Parameters:
  ///   - title: One of ``sectionIndexTitles``.
  ///   - index: The position of the title in ``sectionIndexTitles``.
  /// - Returns: Nil if no section has the title.
  public func section(forSectionIndexTitle title: String, at index: Int) -> Int? {
    guard sectionIndexTitles.indices.contains(index) else { return nil }
    return arrangement?.sections.firstIndex { sectionIndexTitle(forSectionName: $0.name) == title }
  }

  func section(_ section: ResultArrangement.Section) -> FetchedResultsSection<Object> {
    FetchedResultsSection(
      name: section.name, indexTitle: sectionIndexTitle(forSectionName: section.name), items: section.items)
  }
}

/// A section of results at the time of the request.
public struct FetchedResultsSection<Object: ManagedObject> {
  /// The section's name, unique among the sections: the value of the section key path as text, or the closure's.
  public let name: String
  /// The section's title in an index beside the list.
  public let indexTitle: String?
  let items: [ResultItem]

  /// The number of results in the section; takes constant time.
  public var numberOfObjects: Int { items.count }
  /// The section's results in order.
  ///
  /// - Complexity: O(*objects in the section*).
  public var objects: [Object] { items.compactMap { try? FetchedResultsController<Object>.typed($0.object) } }
}
