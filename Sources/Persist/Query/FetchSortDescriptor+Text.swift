extension [FetchSortDescriptor] {
  /// An order parsed from text: keys separated by commas, each with an optional direction after a colon.
  ///
  /// ```swift
  /// let order = [FetchSortDescriptor](text: "group:YES,price:NO,name")
  /// ```
  ///
  /// - Parameters:
  ///   - text: Keys such as `name` or `group:YES,price:NO`; `YES`, `true`, `1` and `ascending` mean ascending, anything
  ///     else descending.
  ///   - isAscending: The direction of keys without one.
  public init(text: String, isAscending: Bool = true) {
    self = text.split(separator: ",").compactMap { part in
      let words = part.split(separator: ":", maxSplits: 1).map { $0.trimming() }
      guard let key = words.first, !key.isEmpty else { return nil }
      let direction = words.count > 1 ? ["yes", "true", "1", "ascending"].contains(words[1].lowercased()) : isAscending
      return FetchSortDescriptor(key, isAscending: direction)
    }
  }
}

extension Substring {
  fileprivate func trimming() -> String {
    String(drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
  }
}
