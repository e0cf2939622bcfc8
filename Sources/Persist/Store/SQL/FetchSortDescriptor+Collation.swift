extension FetchSortDescriptor.Comparison {
  /// The name of the collation that Persist defines on each connection, for its own statements' orders only.
  var collation: StaticString {
    switch self {
    case .values: "BINARY"
    case .caseInsensitive: "PERSIST_CASE_INSENSITIVE"
    case .localized: "PERSIST_LOCALIZED"
    case .localizedCaseInsensitive: "PERSIST_LOCALIZED_CASE_INSENSITIVE"
    case .localizedStandard: "PERSIST_LOCALIZED_STANDARD"
    }
  }
}
