/// A part of a stored value that the type of a declared property can't read.
package struct UnreadablePart {
  /// The names that lead to the part from the property's value; none for the whole value.
  package let path: [String]
  let value: StoredValue
  let type: Any.Type

  package init(path: [String], value: StoredValue, type: Any.Type) {
    self.path = path
    self.value = value
    self.type = type
  }

  /// The names that lead to the part from the object.
  package func keyPath(_ property: String) -> String { ([property] + path).joined(separator: ".") }

  /// The value and the type that can't read it, as the end of a sentence.
  package var reason: String { "is \(value), which \(type) can't read" }

  func error(_ property: String, of objectID: ManagedObjectID) -> PersistenceError {
    let name = keyPath(property)
    return PersistenceError(
      .typeMismatch, at: .property(objectID.entityName, name),
      "'\(name)' of \(objectID) \(reason). It reads as its default.",
      fix: "Make the type read the value, or set '\(name)'. Until then the store keeps the value, also if other parts "
        + "change.")
  }
}

/// The errors of getters, until the context's next call that can throw.
struct DeferredErrors {
  /// The first error other than that of an unreadable value.
  private var error: (any Error)?
  /// The unreadable values that were reported, by object and slot. Each is reported once while its object is loaded, so
  /// that a program that has handled the error can go on.
  private var reported: [ObjectIdentifier: Set<Int>] = Dictionary()
  private var unreadable: [PersistenceError] = []
  private var unreadableCount = 0

  /// The number of unreadable values that an error names; more are only counted.
  private static let limit = 100

  mutating func insert(_ error: any Error) {
    if self.error == nil { self.error = error }
  }

  /// Adds the unreadable parts of a property's value.
  ///
  /// - Parameter errors: Creates an error for each part; not called if the property was reported before.
  mutating func insert(_ slot: Int, of object: ManagedObject, _ errors: () -> [PersistenceError]) {
    guard reported[ObjectIdentifier(object), default: []].insert(slot).inserted else { return }
    for error in errors() {
      unreadableCount += 1
      if unreadable.count < Self.limit { unreadable.append(error) }
    }
  }

  mutating func forgetReports(of object: ManagedObject) { reported[ObjectIdentifier(object)] = nil }

  /// Removes the error to throw: what the getters have reported since the last call.
  mutating func take() -> (any Error)? {
    if let error {
      self.error = nil
      return error
    }
    guard !unreadable.isEmpty else { return nil }
    defer { (unreadable, unreadableCount) = ([], 0) }
    return PersistenceError.combining(
      unreadable, as: .typeMismatch, "\(unreadableCount) values can't be read as their types.")
  }
}

extension ManagedObjectContext {
  /// Saves the first error of a getter for the next call that can throw.
  package func deferError(_ error: any Error) { deferred.insert(error) }

  package func throwDeferredError() throws {
    if let error = deferred.take() { throw error }
  }
}

extension ManagedObject.Marks {
  /// The context's ``DeferredErrors`` have reported values of the object.
  static let unreadable = Self(rawValue: 16)
}

extension ManagedObject {
  /// Reports parts of a property's value that its type can't read to the context, whose next call that can throw throws
  /// them.
  package final func reportUnreadable(_ parts: [UnreadablePart], at slot: Int) {
    guard !parts.isEmpty, let context = table?.context else { return }
    markUnreadable(true)
    context.deferred.insert(slot, of: self) {
      parts.map { $0.error(layout.properties[slot].name, of: objectID) }
    }
  }

  /// Reports a property whose value its type can't read, unless there is no value.
  @inlinable @inline(__always)
  public final func reportUnlessNull(at slot: Int, as type: Any.Type) {
    if !hasLooseValues, let row, row.isNull(slot, of: rowSlotCount) { return }
    reportUnreadable(at: slot, as: type)
  }

  @usableFromInline @inline(never)
  final func reportUnreadable(at slot: Int, as type: Any.Type) {
    guard table != nil, slot < layout.properties.count else { return }
    let value = unobservedValue(at: slot)
    if !value.isNull { reportUnreadable([UnreadablePart(path: [], value: value, type: type)], at: slot) }
  }

  /// The value of an attribute that may contain more than its type can read: one from a row, or based on one; nil for a
  /// new object, and for no value.
  package final func valueBeneathChanges(at slot: Int) -> StoredValue? {
    guard table != nil, change != .inserted else { return nil }
    let value = unobservedValue(at: slot)
    return value.isNull ? nil : value
  }

  /// Forgets what was reported, when the object discards its row or leaves its context.
  final func forgetUnreadable() {
    guard marks.contains(.unreadable) else { return }
    markUnreadable(false)
    tableReference?._withUnsafeGuaranteedRef { table in
      table.contextReference._withUnsafeGuaranteedRef { $0.deferred.forgetReports(of: self) }
    }
  }
}
