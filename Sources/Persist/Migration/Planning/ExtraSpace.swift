/// The additional disk space of a migration in bytes: the figure that its plan states and that its check requires.
enum ExtraSpace {
  /// The minimum of every migration: pages of the schema and of the metadata.
  static let base = 64 * 1024

  /// The space of simultaneous copies of a store, including partial ones.
  ///
  /// - Parameter size: The size of the store.
  static func copies(_ count: Int, ofSize size: Int) -> Int { size * count + base }
}
