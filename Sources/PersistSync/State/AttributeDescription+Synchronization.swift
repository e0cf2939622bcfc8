public import Persist

extension AttributeDescription {
  /// The key of ``isSynchronizedAsWhole`` in the user info.
  public static let synchronizedAsWholeKey = "PersistSynchronizedAsWhole"

  /// Whether replicas replace JSON values of the attribute as a whole. Stored in ``userInfo``.
  ///
  /// Otherwise, the members of an object in JSON, as attributes of a `JSONValue` type have it, are like attributes of
  /// their own: if two replicas change different ones, both changes hold. Set it if the members depend on each other:
  ///
  /// ```swift
  /// var range = AttributeDescription("range", .string)
  /// range.isSynchronizedAsWhole = true
  /// ```
  ///
  /// In a model file, the attribute's user info has the same setting under the key `PersistSynchronizedAsWhole`: `YES`,
  /// `1` or `true`.
  public var isSynchronizedAsWhole: Bool {
    get { ["yes", "1", "true"].contains(userInfo[Self.synchronizedAsWholeKey]?.lowercased()) }
    set { userInfo[Self.synchronizedAsWholeKey] = newValue ? "YES" : nil }
  }
}
