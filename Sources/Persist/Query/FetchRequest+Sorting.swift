public import Foundation

/// Foundation's orders.
extension FetchRequest {
  /// In the order of Foundation's descriptors, among objects that are equal in the orders given before.
  ///
  /// ```swift
  /// let request = try FetchRequest("Item").sorted(using: [SortDescriptor(\Item.price), SortDescriptor(\Item.name)])
  /// ```
  ///
  /// - Throws: ``PersistenceError/Code/invalidRequest`` for a descriptor that no store can sort by.
  public func sorted<Object>(using descriptors: [Foundation.SortDescriptor<Object>]) throws -> FetchRequest {
    sorted(try descriptors.map { try FetchSortDescriptor($0) })
  }

  /// In the order of one of Foundation's descriptors, among objects that are equal in the orders given before.
  ///
  /// - Throws: ``PersistenceError/Code/invalidRequest`` for a descriptor that no store can sort by.
  public func sorted<Object>(using descriptor: Foundation.SortDescriptor<Object>) throws -> FetchRequest {
    try sorted(using: [descriptor])
  }

  /// In the order of Foundation's comparators, as tables of views hold them, among objects that are equal in the orders
  /// given before.
  ///
  /// - Throws: ``PersistenceError/Code/invalidRequest`` for a comparator of the program's own.
  public func sorted<Object>(using comparators: [KeyPathComparator<Object>]) throws -> FetchRequest {
    sorted(try comparators.map { try FetchSortDescriptor($0) })
  }

  private func sorted(_ descriptors: [FetchSortDescriptor]) -> FetchRequest {
    var request = self
    request.sortDescriptors += descriptors
    return request
  }
}
