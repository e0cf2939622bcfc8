public import Foundation

/// Sorting by Foundation's descriptors and comparators.
extension FetchRequest {
  /// The request with Foundation's sort descriptors appended to its own.
  ///
  /// ```swift
  /// let request = try FetchRequest("Item").sorted(using: [SortDescriptor(\Item.price), SortDescriptor(\Item.name)])
  /// ```
  ///
  /// - Throws: ``PersistenceError/Code/invalidRequest`` for a descriptor that no store can sort by.
  public func sorted<Object>(using descriptors: [Foundation.SortDescriptor<Object>]) throws -> FetchRequest {
    sorted(try descriptors.map { try FetchSortDescriptor($0) })
  }

  /// The request with one of Foundation's sort descriptors appended to its own.
  ///
  /// - Throws: ``PersistenceError/Code/invalidRequest`` for a descriptor that no store can sort by.
  public func sorted<Object>(using descriptor: Foundation.SortDescriptor<Object>) throws -> FetchRequest {
    try sorted(using: [descriptor])
  }

  /// The request with Foundation's comparators, as table views use them, appended to its own sort descriptors.
  ///
  /// - Throws: ``PersistenceError/Code/invalidRequest`` for a custom comparator.
  public func sorted<Object>(using comparators: [KeyPathComparator<Object>]) throws -> FetchRequest {
    sorted(try comparators.map { try FetchSortDescriptor($0) })
  }

  private func sorted(_ descriptors: [FetchSortDescriptor]) -> FetchRequest {
    var request = self
    request.sortDescriptors += descriptors
    return request
  }
}
